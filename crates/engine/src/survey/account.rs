//! What a path held before the latest boundary: the ledger of it, and what the
//! audit looks for.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use longhaul_compaction::audit::Source;
use longhaul_ledger::{Capture, Ledger};
use longhaul_transcript::{Entry, EntryId, Result, Session};
use serde::{Deserialize, Serialize};

use super::archived;
use super::path::{Path, Step};
use crate::changes::{Changes, changed_by};

/// Entries behind the boundary are held until another one divides them, but no
/// more bytes of them than this: the oldest are folded in before that.
const HELD: usize = 16 << 20;

/// The fold over everything before the kept part of a path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) ledger: Ledger,
    pub(super) source: Source,
    /// The stops that are not folded in yet: the kept part, or the end of it.
    pub(super) path: Path,
    /// The last of them, as far as they were read.
    #[serde(skip)]
    held: VecDeque<Entry>,
    #[serde(skip)]
    held_bytes: usize,
    #[serde(skip)]
    capture: Capture,
}

/// What becomes of an account with one more entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    /// It goes back before the boundary.
    Astray,
}

impl Account {
    pub(super) fn new(session: &Session, capture: Capture) -> Account {
        let cwd = session.header().cwd.as_ref();
        let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
        Account {
            ledger: Ledger::new(cwd.clone()).capturing(capture),
            source: Source::new(cwd),
            path: Path::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            capture,
        }
    }

    /// The first entry that is not folded in.
    pub(super) fn start(&self) -> Option<&EntryId> {
        self.path.stops.first().map(|stop| &stop.id)
    }

    /// The compaction that set the boundary.
    pub(super) fn compaction(&self) -> Option<&EntryId> {
        let stop = self.path.stops.get(self.path.compacted?)?;
        Some(&stop.id)
    }

    /// Takes in an entry; `changed` says whether a host changed any.
    pub(super) fn take(&mut self, session: &Session, entry: Entry, changed: bool) -> Result<Taken> {
        // What a host changed must not be folded in as it was.
        let is_late = |target: EntryId| !self.path.stops.iter().any(|stop| stop.id == target);
        if self.path.begun && changed_by(&entry).is_some_and(is_late) {
            return Ok(Taken::Astray);
        }
        let Some(step) = self.path.follow(&entry) else {
            return Ok(Taken::Astray);
        };
        match step {
            Step::On if self.path.stops.len() == 1 && !self.path.begun => {
                archived::observe(session, entry.parent.clone(), &mut self.source)?;
            }
            Step::On => {}
            Step::Back(left) => {
                for _ in 0..left {
                    let dropped = self.held.pop_back();
                    self.held_bytes -= dropped.map_or(0, |entry| entry.raw().len());
                }
            }
            Step::Anew => {
                let cwd = self.ledger.cwd.take();
                let fresh = Ledger::new(cwd.clone()).capturing(self.capture);
                self.ledger = fresh;
                self.source = Source::new(cwd);
                self.held.clear();
                self.held_bytes = 0;
            }
        }
        let boundary = self.path.boundary(&entry);
        self.held_bytes += entry.raw().len();
        self.held.push_back(entry);
        match boundary {
            Some(Some(first)) => self.cut(session, first, changed)?,
            Some(None) => return Ok(Taken::Astray),
            None => self.make_room(changed),
        }
        Ok(Taken::Yes)
    }

    /// Folds in what a new boundary leaves behind.
    fn cut(&mut self, session: &Session, first: usize, changed: bool) -> Result<()> {
        self.hold_all(session)?;
        self.fold(first, changed);
        self.path.cut(first);
        Ok(())
    }

    fn fold(&mut self, count: usize, changed: bool) {
        let changes = match changed {
            true => Changes::among(self.held.make_contiguous()),
            false => Changes::default(),
        };
        for entry in self.held.drain(..count) {
            self.held_bytes -= entry.raw().len();
            let entry = changes.apply(entry);
            self.ledger.observe(&entry);
            self.source.observe(&entry);
            self.source.settle(None);
        }
    }

    fn make_room(&mut self, changed: bool) {
        if self.held_bytes <= HELD || self.held.len() < self.path.stops.len() {
            return;
        }
        let mut left = self.held_bytes;
        let many = self.held.iter().take_while(|entry| {
            left -= entry.raw().len();
            left > HELD / 2
        });
        let count = many.count();
        self.fold(count, changed);
        self.path.settle(count);
    }

    /// Reads the stops again that an earlier process had read.
    fn hold_all(&mut self, session: &Session) -> Result<()> {
        let missing = self.path.stops.len() - self.held.len();
        let Some(first) = self.path.stops[..missing].first() else {
            return Ok(());
        };
        let to = match self.path.stops.get(missing) {
            Some(stop) => stop.place.offset,
            None => u64::MAX,
        };
        let mut wanted = self.path.stops[..missing].iter();
        let mut next = wanted.next();
        let mut read: Vec<Entry> = Vec::with_capacity(missing);
        session.stretch(first.place, to, &mut |entry, _| {
            if next.is_some_and(|stop| stop.id == entry.id) {
                read.push(entry);
                next = wanted.next();
            }
            match next {
                Some(_) => ControlFlow::Continue(()),
                None => ControlFlow::Break(()),
            }
        })?;
        if read.len() < missing {
            return Err(longhaul_transcript::Error::Changed {
                path: session.path().to_owned(),
            });
        }
        for entry in read.into_iter().rev() {
            self.held_bytes += entry.raw().len();
            self.held.push_front(entry);
        }
        Ok(())
    }

    /// The same, with so much captured from here on.
    pub(super) fn capturing(mut self, capture: Capture) -> Account {
        self.ledger = self.ledger.capturing(capture);
        self.capture = capture;
        self
    }

    /// Folds in an entry of the path that is known to be before its kept part.
    pub(super) fn fold_known(&mut self, entry: &Entry) {
        self.ledger.observe(entry);
        self.source.observe(entry);
        self.source.settle(None);
    }
}
