//! What one pass over a session's file finds out about its entries.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use longhaul_compaction::Wear;
use longhaul_ledger::is_brought;
use longhaul_transcript::{Body, Entry, EntryId, Place, Result, Session};
use serde::{Deserialize, Serialize};

use super::Failure;
use super::store::Store;
use crate::changes::changed_by;
use crate::marks::after;

/// What is known of a session without its entries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) leaf: Option<EntryId>,
    /// Every compaction that is on any path.
    compactions: Vec<Compacted>,
    /// The latest of them on the path to the leaf.
    latest: Option<usize>,
    pub(super) labels: BTreeMap<EntryId, String>,
    pub(super) entries: u64,
    /// The line that comes next.
    pub(super) line: u64,
    /// Whether a mark of an import stands in it.
    pub(super) imported: bool,
    /// The entries that a host has changed.
    pub(super) changed: BTreeSet<EntryId>,
    /// Whether every entry has a place, and the file can be read on from there.
    pub(super) placed: bool,
}

/// A compaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Compacted {
    pub(super) id: EntryId,
    pub(super) place: Place,
    /// Where its text ends in the file.
    pub(super) end: u64,
    /// What it and those before it came to.
    wear: Wear,
    /// The one before it on its path.
    above: Option<usize>,
}

impl State {
    /// Of a file that is read line by line, before its first line.
    pub(super) fn of_lines() -> State {
        State {
            line: 1,
            placed: true,
            ..State::default()
        }
    }

    /// That of a file where entries do not say by themselves what they follow: the
    /// tree says it at its end.
    pub(super) fn of_tree(session: &Session, leaf: Option<&EntryId>) -> Result<State> {
        let tree = session.tree()?;
        let path = leaf.and_then(|leaf| tree.path_to(leaf));
        let path = path.unwrap_or_else(|| tree.path());
        let id = |at: &usize| &tree.nodes()[*at].id;
        let on_path: HashSet<&EntryId> = path.iter().map(id).collect();
        let mut state = State {
            leaf: path.last().map(id).cloned(),
            labels: tree.labels().clone().into_iter().collect(),
            ..State::default()
        };
        session.each(&mut |entry| {
            state.note(&entry);
            if on_path.contains(&entry.id) {
                state.compacted(&entry);
            }
            ControlFlow::Continue(())
        })?;
        Ok(state)
    }

    /// Follows the next entry of a file of lines.
    pub(super) fn take(&mut self, entry: &Entry, store: &Store) -> Result<(), Failure> {
        self.note(entry);
        self.label(entry);
        // What the first one follows is in the archive, if anywhere.
        if self.leaf.is_some() && entry.parent != self.leaf {
            self.go_to(entry.parent.as_ref(), store)?;
        }
        self.leaf = Some(entry.id.clone());
        self.compacted(entry);
        Ok(())
    }

    /// Takes in the next entry of a file that tells by itself which are on the path.
    pub(super) fn take_whole(&mut self, entry: &Entry, is_on_path: bool) {
        self.note(entry);
        self.label(entry);
        if is_on_path {
            self.leaf = Some(entry.id.clone());
            self.compacted(entry);
        }
    }

    fn label(&mut self, entry: &Entry) {
        if let Body::Label { target, label } = &entry.body {
            match label {
                Some(label) => self.labels.insert(target.clone(), label.clone()),
                None => self.labels.remove(target),
            };
        }
    }

    /// Makes another entry the leaf.
    pub(super) fn go_to(&mut self, leaf: Option<&EntryId>, store: &Store) -> Result<(), Failure> {
        self.latest = match leaf {
            Some(leaf) => self.latest_above(leaf, store)?,
            None => None,
        };
        self.leaf = leaf.cloned();
        Ok(())
    }

    fn latest_above(&self, leaf: &EntryId, store: &Store) -> Result<Option<usize>, Failure> {
        store.sort()?;
        let (mut at, mut below) = (leaf.clone(), u64::MAX);
        loop {
            let compactions = &mut self.compactions.iter();
            if let Some(found) = compactions.rposition(|one| one.id == at) {
                return Ok(Some(found));
            }
            match store.link(&at)? {
                Some((number, Some(parent))) if number < below => (at, below) = (parent, number),
                Some((number, None)) if number < below => return Ok(None),
                // What the first one follows is in the archive.
                None if below != u64::MAX => return Ok(None),
                _ => return Err(Failure::Astray),
            }
        }
    }

    /// The compactions on the path, oldest first.
    pub(super) fn on_path(&self) -> Vec<&Compacted> {
        let above = |one: &&Compacted| one.above.map(|above| &self.compactions[above]);
        let mut found: Vec<_> = std::iter::successors(self.latest(), above).collect();
        found.reverse();
        found
    }

    fn latest(&self) -> Option<&Compacted> {
        self.latest.map(|at| &self.compactions[at])
    }

    /// What they came to.
    pub(super) fn wear(&self) -> Wear {
        self.latest().map_or_else(Wear::default, |one| one.wear)
    }

    fn compacted(&mut self, entry: &Entry) {
        if !matches!(entry.body, Body::Compaction(_)) {
            return;
        }
        let compacted = Compacted {
            id: entry.id.clone(),
            place: entry.place,
            end: entry.place.offset + entry.raw().len() as u64,
            wear: after(self.wear(), entry),
            above: self.latest,
        };
        self.latest = Some(self.compactions.len());
        self.compactions.push(compacted);
    }

    /// What holds wherever an entry stands.
    fn note(&mut self, entry: &Entry) {
        self.entries += 1;
        self.imported |= is_brought(entry);
        self.changed.extend(changed_by(entry));
    }
}
