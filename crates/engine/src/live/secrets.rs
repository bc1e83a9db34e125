//! The secrets of a session, for what is made of it.

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use longhaul_redact::Redactor;
use longhaul_transcript::{Entry, EntryId, Loaded, Result, Session, SessionRef};

use super::Live;
use crate::survey::{Keep, redactor};

/// A file shorter than this is read in no time.
const LONG: u64 = 2 << 20;

/// What the entries that were read so far gave away. A session grows at its end,
/// and what was read once need not be read again.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Read>);

#[derive(Debug, Default, Clone)]
struct Read {
    redactor: Redactor,
    /// What is in the session's file, until it was read. Copies share it.
    backlog: Option<Arc<Backlog>>,
    /// The last entry that was read.
    last: Option<EntryId>,
}

/// The part of a session that is in its file.
#[derive(Debug)]
struct Backlog {
    session: SessionRef,
    keep: Keep,
    read: Mutex<Option<Redactor>>,
}

impl Backlog {
    /// Whether reading it takes a moment.
    fn is_long(&self) -> bool {
        fs::metadata(&self.session.path).is_ok_and(|meta| meta.len() >= LONG)
    }

    /// A redactor that knows every secret in the file. Whoever asks first reads
    /// it, and others wait.
    fn redactor(&self) -> Result<Redactor> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(redactor) = &*read {
            return Ok(redactor.clone());
        }
        let found = redactor(&Session::open_ref(&self.session)?, &self.keep)?;
        Ok(read.insert(found).clone())
    }
}

impl Known {
    /// Nothing yet of a session of which so much was loaded.
    pub(super) fn of(session: &Session, loaded: &Loaded, keep: &Keep) -> Known {
        let backlog = Backlog {
            session: session.reference().clone(),
            keep: keep.clone(),
            read: Mutex::new(None),
        };
        Known(Mutex::new(Read {
            backlog: Some(Arc::new(backlog)),
            last: loaded.entries.last().map(|entry| entry.id.clone()),
            ..Read::default()
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all that was read is in memory, and nowhere else.
    pub(super) fn is_in_memory(&self) -> bool {
        self.lock().backlog.is_none()
    }
}

impl Clone for Known {
    /// What the copy reads from now on is its own.
    fn clone(&self) -> Known {
        Known(Mutex::new(self.lock().clone()))
    }
}

impl Read {
    /// Reads the session's file. Where that is not possible, what is in memory
    /// has to do, and the file is tried again the next time.
    fn look_back(&mut self) {
        let Some(backlog) = &self.backlog else {
            return;
        };
        match backlog.redactor() {
            Ok(redactor) => {
                self.redactor = redactor;
                self.backlog = None;
            }
            Err(_) => self.last = None,
        }
    }

    fn look_at(&mut self, entries: &[Entry]) {
        // Where the last one is no longer there, all are read once more.
        let is_last = |entry: &Entry| Some(&entry.id) == self.last.as_ref();
        let from = entries.iter().rposition(is_last).map_or(0, |at| at + 1);
        if from == entries.len() {
            return;
        }
        let mut document = self.redactor.document();
        for entry in &entries[from..] {
            document.json(entry.raw());
        }
        self.redactor = document.into_redactor();
        // Until the file was read, these are not known to be in it.
        if self.backlog.is_none() {
            self.last = entries.last().map(|entry| entry.id.clone());
        }
    }
}

impl Live {
    /// Looks for the secrets in the session's file while other work goes on, so
    /// that whoever asks for a [`Live::redactor`] does not wait.
    pub fn learn_secrets(&self) {
        let backlog = self.known.lock().backlog.clone();
        if let Some(backlog) = backlog.filter(|backlog| backlog.is_long()) {
            // Where no thread can be had, it is read when it is needed.
            let _ = thread::Builder::new()
                .name("longhaul-secrets".into())
                .spawn(move || backlog.redactor().is_ok());
        }
    }

    /// A redactor that knows every secret which the session shows. Ledgers,
    /// summaries and notes quote them in lines and cut them, and a piece of a
    /// secret cannot be known by itself. The session's file is read for that the
    /// first time that this is asked.
    pub fn redactor(&self) -> Redactor {
        let mut read = self.known.lock();
        read.look_back();
        read.look_at(self.entries());
        read.redactor.clone()
    }
}
