//! The end of the path: what of it can still change.

use longhaul_transcript::{Body, Boundary, Entry, EntryId, Loaded, Place};
use serde::{Deserialize, Serialize};

/// The path from the latest boundary to the leaf, followed entry by entry.
///
/// What is before it is settled: a branch that goes back there cannot be
/// followed, and the whole tree has to be asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Path {
    pub(super) stops: Vec<Stop>,
    /// Where among them the compaction stands that set the boundary.
    pub(super) compacted: Option<usize>,
    /// Whether the path began before the first of them.
    pub(super) begun: bool,
}

/// An entry on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stop {
    pub(super) id: EntryId,
    pub(super) place: Place,
}

/// What an entry does to the path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It follows what is there.
    On,
    /// It follows what was there, after so many stops were left.
    Back(usize),
    /// It follows nothing.
    Anew,
}

impl Path {
    /// The path of a session that was loaded.
    pub(super) fn of(loaded: &Loaded) -> Path {
        let stop = |entry: &Entry| Stop {
            id: entry.id.clone(),
            place: entry.place,
        };
        Path {
            stops: loaded.entries.iter().map(stop).collect(),
            compacted: loaded.boundary,
            begun: true,
        }
    }

    /// Follows an entry; none where that cannot be done from here.
    pub(super) fn follow(&mut self, entry: &Entry) -> Option<Step> {
        let step = self.step(entry)?;
        match step {
            Step::On => {}
            Step::Back(left) => self.stops.truncate(self.stops.len() - left),
            Step::Anew => *self = Path::default(),
        }
        self.stops.push(Stop {
            id: entry.id.clone(),
            place: entry.place,
        });
        Some(step)
    }

    fn step(&self, entry: &Entry) -> Option<Step> {
        let Some(parent) = &entry.parent else {
            let first = self.stops.is_empty() && !self.begun;
            return Some(if first { Step::On } else { Step::Anew });
        };
        let Some(last) = self.stops.last() else {
            // What it follows is not in the file, or is no longer.
            return (!self.begun).then_some(Step::On);
        };
        if last.id == *parent {
            return Some(Step::On);
        }
        let at = self.stops.iter().rposition(|stop| stop.id == *parent)?;
        // A compaction that is left gives back what it took away.
        let holds = self.compacted.is_none_or(|compacted| compacted <= at);
        holds.then(|| Step::Back(self.stops.len() - 1 - at))
    }

    /// Where the kept part begins if the entry that was followed last is a
    /// boundary. None if it is none; nothing in it where that is before all that
    /// is known.
    pub(super) fn boundary(&self, entry: &Entry) -> Option<Option<usize>> {
        let at = self.stops.len().checked_sub(1)?;
        let find = |id: &EntryId| self.stops.iter().position(|stop| stop.id == *id);
        let Body::Compaction(compaction) = &entry.body else {
            return None;
        };
        let found = match &compaction.boundary {
            Boundary::FirstKept(id) => find(id),
            Boundary::After(id) => find(id).map(|last| last + 1),
            Boundary::Index(_) | Boundary::Nothing => Some(at),
        };
        // What is nowhere on the path keeps nothing.
        Some(found.or_else(|| (!self.begun).then_some(at)))
    }

    /// Leaves what is before a stop; the last one is the boundary now.
    pub(super) fn cut(&mut self, first: usize) {
        self.stops.drain(..first);
        self.begun |= first > 0;
        self.compacted = self.stops.len().checked_sub(1);
    }

    /// Leaves the oldest stops, which are no longer to be changed.
    pub(super) fn settle(&mut self, count: usize) {
        self.stops.drain(..count);
        self.begun |= count > 0;
        self.compacted = self.compacted.and_then(|at| at.checked_sub(count));
    }
}
