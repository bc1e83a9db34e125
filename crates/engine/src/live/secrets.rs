//! The secrets of a session, for what is made of it.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use longhaul_memory::Redactor;
use longhaul_transcript::{Entry, EntryId, Loaded, Result, Session, SessionRef};

use super::Live;

/// What the entries that were read so far gave away. A session grows at its end,
/// and what was read once need not be read again.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Read>);

#[derive(Debug, Default, Clone)]
struct Read {
    redactor: Redactor,
    /// What comes before the entries in memory, until it was read.
    before: Option<Before>,
    /// The entries that were read, the first and the last of them.
    count: usize,
    ends: Option<[EntryId; 2]>,
}

/// The part of a path that is only in its file.
#[derive(Debug, Clone)]
struct Before {
    session: SessionRef,
    leaf: EntryId,
    /// The first entry that is in memory.
    first: EntryId,
}

impl Known {
    /// Nothing yet of a session of which so much was loaded.
    pub(super) fn of(session: &Session, loaded: &Loaded) -> Known {
        let ends = ends(&loaded.entries, loaded.entries.len());
        let before = ends.map(|[first, leaf]| Before {
            session: session.reference().clone(),
            leaf,
            first,
        });
        let before = before.filter(|_| !loaded.complete || loaded.boundary.is_some());
        Known(Mutex::new(Read {
            before,
            ..Read::default()
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was known stays known when the entries begin elsewhere.
    pub(super) fn cut(&mut self, entries: &[Entry]) {
        let read = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        read.count = entries.len();
        read.ends = ends(entries, read.count);
    }
}

impl Clone for Known {
    /// What the copy reads from now on is its own.
    fn clone(&self) -> Known {
        Known(Mutex::new(self.lock().clone()))
    }
}

impl Read {
    /// Reads what comes before the entries in memory. A file that cannot be read
    /// now is tried again the next time.
    fn look_back(&mut self) {
        let Some(before) = &self.before else {
            return;
        };
        let mut document = self.redactor.document();
        let learnt = before.each(&mut |entry| {
            document.json(entry.raw());
        });
        if learnt.is_ok() {
            self.redactor = document.into_redactor();
            self.before = None;
        }
    }

    fn look_at(&mut self, entries: &[Entry]) {
        if self.ends != ends(entries, self.count) {
            self.count = 0;
        }
        if self.count == entries.len() {
            return;
        }
        let mut document = self.redactor.document();
        for entry in &entries[self.count..] {
            document.json(entry.raw());
        }
        self.redactor = document.into_redactor();
        self.count = entries.len();
        self.ends = ends(entries, self.count);
    }
}

impl Before {
    fn each(&self, visit: &mut dyn FnMut(Entry)) -> Result<()> {
        let session = Session::open_ref(&self.session)?;
        let tree = session.tree()?;
        let path = tree.path_to(&self.leaf).unwrap_or_else(|| tree.path());
        let ids = path.into_iter().map(|at| &tree.nodes()[at].id);
        let ids: HashSet<&EntryId> = ids.take_while(|id| **id != self.first).collect();
        session.each(&mut |entry| {
            if ids.contains(&entry.id) {
                visit(entry);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}

/// The first of so many entries and the last of them.
fn ends(entries: &[Entry], count: usize) -> Option<[EntryId; 2]> {
    let ends = entries.first().zip(entries.get(count.checked_sub(1)?));
    ends.map(|(first, last)| [first.id.clone(), last.id.clone()])
}

impl Live {
    /// A redactor that knows every secret which the path shows. Ledgers,
    /// summaries and notes quote them in lines and cut them, and a piece of a
    /// secret cannot be known by itself. What comes before the boundary is read
    /// from the file the first time that this is asked.
    pub fn redactor(&self) -> Redactor {
        let mut read = self.known.lock();
        read.look_back();
        read.look_at(self.entries());
        read.redactor.clone()
    }
}
