//! What the engine remembers about a session beside its transcript: the
//! breaker, the flush, the switch. One small file a session, old or new.

use std::path::Path;

use longhaul_compaction::Breaker;
use longhaul_transcript::SessionKey;
use serde::{Deserialize, Serialize};

use crate::checkpoints::{FileNotebook, Result, read_note, write_note};
use crate::spending::Spending;

/// The engine's own state of one session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionState {
    /// The session this belongs to, since folder names are shortened.
    pub session_key: String,
    /// Failures of compaction.
    pub breaker: Breaker,
    /// The epoch in which memory was last flushed; absent at first.
    pub memory_flush_compaction_count: Option<u32>,
    /// The epoch whose flush began and did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_begun: Option<u32>,
    /// What the session cost.
    #[serde(skip_serializing_if = "is_nothing")]
    pub spending: Spending,
    /// Whether automatic compaction was switched on or off for this session.
    pub autocompact: Option<bool>,
}

fn is_nothing(spending: &Spending) -> bool {
    *spending == Spending::default()
}

/// The name of the note that holds it.
const NOTE: &str = "engine.json";

fn notebook(state_dir: &Path, key: &str) -> FileNotebook {
    FileNotebook::new(state_dir, &SessionKey::new(key))
}

impl SessionState {
    /// Reads the state; a missing file is an empty state. A damaged one is
    /// set aside and reported, never merged.
    pub fn load(state_dir: &Path, key: &str) -> (SessionState, Option<String>) {
        let (state, damage) = match read_note(&notebook(state_dir, key), NOTE) {
            Ok(state) => (state, None),
            Err(error) => {
                let remedy = error.remedy().unwrap_or_default();
                (None, Some(format!("{error}; {remedy}")))
            }
        };
        let fresh = || SessionState {
            session_key: key.to_owned(),
            ..SessionState::default()
        };
        (state.unwrap_or_else(fresh), damage)
    }

    /// Writes the state.
    pub fn save(&self, state_dir: &Path) -> Result<()> {
        write_note(&notebook(state_dir, &self.session_key), NOTE, self)
    }
}
