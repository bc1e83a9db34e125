//! Where checkpoints are kept, in terms of plain data.

use longhaul_ledger::Capture;
use longhaul_transcript::SessionKey;

use crate::{Checkpoint, CheckpointId, Draft, Error, Result, State};

/// A place for the checkpoints and the incremental state of many sessions.
///
/// Every method may be called from several threads and processes at once. Each
/// write either happened or did not; what a crash left half done between two
/// writes is completed by the next [`recover`](CheckpointStore::recover) or
/// [`write`](CheckpointStore::write) of that session.
pub trait CheckpointStore: Send + Sync {
    /// Completes what a crash interrupted and says what was done.
    fn recover(&self, key: &SessionKey) -> Result<Recovery>;

    /// The incremental state, if there is any that no checkpoint holds yet.
    fn state(&self, key: &SessionKey) -> Result<Option<State>>;

    /// Replaces the incremental state. What another session of the same key
    /// left behind is kept beside it for the next checkpoint.
    fn save_state(&self, key: &SessionKey, state: &State) -> Result<()>;

    /// Stores a checkpoint and resets the state it bundles, unless the last
    /// checkpoint says the same.
    fn write(&self, key: &SessionKey, draft: Draft) -> Result<Written>;

    /// The newest checkpoint that can be read.
    fn latest(&self, key: &SessionKey) -> Result<Latest>;

    /// Every checkpoint kept, newest first.
    fn list(&self, key: &SessionKey) -> Result<Vec<Listed>>;

    /// One checkpoint.
    fn get(&self, key: &SessionKey, id: CheckpointId) -> Result<Checkpoint>;
}

/// What is written and kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// A checkpoint is skipped while token use moved less than this percentage
    /// and the state is unchanged.
    pub minimum_change_percent: f64,
    /// The newest readable checkpoints kept for each session; at least one.
    /// Damaged ones are not counted among them.
    pub keep: u32,
    /// How much of what earlier sessions left behind is carried on.
    pub capture: Capture,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            minimum_change_percent: 5.0,
            keep: 5,
            capture: Capture::default(),
        }
    }
}

/// What became of a draft.
#[derive(Debug)]
pub struct Written {
    /// Whether it was stored.
    pub outcome: Outcome,
    /// What had to be completed or passed over first.
    pub recovery: Recovery,
}

/// Whether a draft was stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is stored, as this checkpoint.
    Stored(Box<Checkpoint>),
    /// The last checkpoint, of this name, says the same.
    Unchanged(CheckpointId),
}

impl Outcome {
    /// The checkpoint that holds the work now.
    pub fn id(&self) -> CheckpointId {
        match self {
            Outcome::Stored(checkpoint) => checkpoint.meta.checkpoint_id,
            Outcome::Unchanged(id) => *id,
        }
    }
}

/// The newest checkpoint that can be read.
#[derive(Debug, Default)]
pub struct Latest {
    /// The checkpoint, if there is any.
    pub checkpoint: Option<Checkpoint>,
    /// Newer ones that are damaged.
    pub passed_over: Vec<Error>,
}

/// One checkpoint of a list.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub id: CheckpointId,
    /// What it holds, or what is wrong with it.
    pub checkpoint: Result<Checkpoint>,
}

/// What [`CheckpointStore::recover`] found and did.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Half-written leftovers removed.
    pub swept: u32,
    /// The checkpoint that the pointer was moved to, if it did not name the
    /// newest one that can be read.
    pub pointer_moved: Option<CheckpointId>,
    /// State that belongs to no coming checkpoint.
    pub set_aside: Vec<SetAside>,
    /// Checkpoints older than those kept, removed.
    pub retired: Vec<CheckpointId>,
    /// Damaged checkpoints that are passed over.
    pub passed_over: Vec<Error>,
}

impl Recovery {
    /// Whether nothing had to be done.
    pub fn is_clean(&self) -> bool {
        self.swept == 0
            && self.pointer_moved.is_none()
            && self.set_aside.is_empty()
            && self.retired.is_empty()
            && self.passed_over.is_empty()
    }
}

/// A part of the state that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The name of the part, as `decisions.json`.
    pub part: &'static str,
    /// Why.
    pub reason: String,
}
