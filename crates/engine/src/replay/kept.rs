//! The checkpoints of a replay, kept in memory: nothing is written.

use longhaul_checkpoint::{Checkpoint, CheckpointId, Policy};
use longhaul_tokens::CheckpointNote;

use crate::checkpoints::{Occasion, Whose, clean_draft};
use crate::event::{CheckpointEvent, Event};
use crate::live::Live;

/// Every checkpoint that would have been written, oldest first.
#[derive(Debug)]
pub(super) struct Kept {
    whose: Whose,
    policy: Policy,
    list: Vec<Checkpoint>,
}

impl Kept {
    pub(super) fn new(whose: Whose, policy: Policy) -> Kept {
        Kept {
            whose,
            policy,
            list: Vec::new(),
        }
    }

    /// Makes a checkpoint as the store would, or finds that the last one says
    /// the same.
    pub(super) fn write(&mut self, live: &Live, occasion: &Occasion) -> (CheckpointId, Event) {
        // Whoever asked for the replay may keep them.
        let draft = clean_draft(live, &self.whose, occasion);
        let last = self.list.last();
        let previous = last.map(|last| last.meta.checkpoint_id);
        if let (Some(last), Some(id)) = (last, previous)
            && draft.repeats(last, &self.policy)
        {
            let unchanged = Event::CheckpointUnchanged {
                checkpoint: id.to_string(),
                tokens: occasion.tokens,
            };
            return (id, unchanged);
        }
        let id = previous.map_or(CheckpointId::FIRST, CheckpointId::next);
        let checkpoint = draft.numbered(id, previous);
        let written = Event::CheckpointWritten(Box::new(CheckpointEvent::of(&checkpoint)));
        self.list.push(checkpoint);
        (id, written)
    }

    /// What the gauge says in an epoch.
    pub(super) fn note(&self, epoch: u32) -> CheckpointNote {
        match self.list.last() {
            Some(last) if last.meta.compaction_count == epoch => CheckpointNote::Saved,
            _ => CheckpointNote::None,
        }
    }

    pub(super) fn into_list(self) -> Vec<Checkpoint> {
        self.list
    }
}
