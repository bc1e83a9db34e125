//! The secrets of a session, for what is made of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use longhaul_memory::Redactor;
use longhaul_transcript::EntryId;

use super::Live;

/// What the entries that were read so far gave away. A session grows at its end,
/// and what was read once need not be read again.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Read>);

#[derive(Debug, Default, Clone)]
struct Read {
    redactor: Redactor,
    /// The entries that were read, the first and the last of them.
    count: usize,
    ends: Option<[EntryId; 2]>,
}

impl Known {
    fn lock(&self) -> MutexGuard<'_, Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Known {
    /// What the copy reads from now on is its own.
    fn clone(&self) -> Known {
        Known(Mutex::new(self.lock().clone()))
    }
}

impl Live {
    /// A redactor that knows every secret which the entries since the boundary
    /// show. Ledgers, summaries and notes quote them in lines and cut them, and
    /// a piece of a secret cannot be known by itself.
    pub fn redactor(&self) -> Redactor {
        let mut read = self.known.lock();
        let entries = self.entries();
        let ends = |count: usize| {
            let ends = entries.first().zip(entries.get(count.checked_sub(1)?));
            ends.map(|(first, last)| [first.id.clone(), last.id.clone()])
        };
        if read.ends != ends(read.count) {
            *read = Read::default();
        }
        if read.count < entries.len() {
            let mut document = read.redactor.document();
            for entry in &entries[read.count..] {
                document.json(entry.raw());
            }
            let redactor = document.into_redactor();
            *read = Read {
                redactor,
                count: entries.len(),
                ends: ends(entries.len()),
            };
        }
        read.redactor.clone()
    }
}
