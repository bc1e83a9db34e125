//! The checkpoints of a replay, kept in memory: nothing is written.

use std::sync::{Mutex, PoisonError};

use longhaul_checkpoint::{
    Checkpoint, CheckpointId, CheckpointStore, Draft, Error, Latest, Listed, Outcome, Policy,
    Recovery, Result, State, Written,
};
use longhaul_tokens::CheckpointNote;
use longhaul_transcript::SessionKey;

/// Every checkpoint that would have been written, oldest first.
#[derive(Debug)]
pub(super) struct Kept {
    policy: Policy,
    list: Mutex<Vec<Checkpoint>>,
}

impl Kept {
    pub(super) fn new(policy: Policy) -> Kept {
        Kept {
            policy,
            list: Mutex::default(),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<Checkpoint>) -> T) -> T {
        work(&mut self.list.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the gauge says in an epoch.
    pub(super) fn note(&self, epoch: u32) -> CheckpointNote {
        self.with(|list| match list.last() {
            Some(last) if last.meta.compaction_count == epoch => CheckpointNote::Saved,
            _ => CheckpointNote::None,
        })
    }

    pub(super) fn take(&self) -> Vec<Checkpoint> {
        self.with(std::mem::take)
    }
}

impl CheckpointStore for Kept {
    fn recover(&self, _: &SessionKey) -> Result<Recovery> {
        Ok(Recovery::default())
    }

    fn state(&self, _: &SessionKey) -> Result<Option<State>> {
        Ok(None)
    }

    fn save_state(&self, _: &SessionKey, _: &State) -> Result<()> {
        Ok(())
    }

    fn write(&self, _: &SessionKey, draft: Draft) -> Result<Written> {
        let outcome = self.with(|list| {
            let last = list.last();
            let previous = last.map(|last| last.meta.checkpoint_id);
            if let (Some(last), Some(id)) = (last, previous)
                && draft.repeats(last, &self.policy)
            {
                return Outcome::Unchanged(id);
            }
            let id = previous.map_or(CheckpointId::FIRST, CheckpointId::next);
            let checkpoint = draft.numbered(id, previous);
            list.push(checkpoint.clone());
            Outcome::Stored(Box::new(checkpoint))
        });
        Ok(Written {
            outcome,
            recovery: Recovery::default(),
        })
    }

    fn latest(&self, _: &SessionKey) -> Result<Latest> {
        Ok(Latest {
            checkpoint: self.with(|list| list.last().cloned()),
            passed_over: Vec::new(),
        })
    }

    fn list(&self, _: &SessionKey) -> Result<Vec<Listed>> {
        Ok(Vec::new())
    }

    fn get(&self, key: &SessionKey, id: CheckpointId) -> Result<Checkpoint> {
        let found = self.with(|list| {
            let mut list = list.iter();
            list.find(|one| one.meta.checkpoint_id == id).cloned()
        });
        found.ok_or_else(|| Error::NoSuchCheckpoint {
            key: key.clone(),
            id,
        })
    }
}
