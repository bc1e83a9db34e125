//! What is known, as it is kept.

use std::collections::BTreeMap;

use longhaul_tokens::Spent;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::change::Change;

/// All that a workspace's dreams know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    pub(super) version: u32,
    pub(super) candidates: Vec<Candidate>,
    /// Promotions and what took them back; the first has the number 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<Change>,
    /// Whether the last change is being carried out: what a crash leaves of it is
    /// completed by whoever comes next.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unfinished: bool,
    /// The sessions that a backfill has read, each with its leaf and the number of its
    /// entries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sessions: BTreeMap<String, String>,
    /// What the models of all dreams took.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub(super) paid: Spent,
}

impl State {
    /// The number of the next change.
    pub(super) fn next_change(&self) -> u32 {
        self.changes.len() as u32 + 1
    }

    /// The change that is being carried out.
    pub(super) fn begun(&self) -> Option<&Change> {
        self.changes.last().filter(|_| self.unfinished)
    }

    /// What took a change back.
    pub(super) fn undone_by(&self, number: u32) -> Option<u32> {
        let mut changes = self.changes.iter();
        let undoing = changes.find(|change| change.undoes == Some(number))?;
        Some(undoing.number)
    }

    /// Promotions, the latest first.
    pub(super) fn promotions(&self) -> impl Iterator<Item = &Change> {
        let changes = self.changes.iter().rev();
        changes.filter(|change| change.undoes.is_none())
    }
}
