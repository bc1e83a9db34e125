//! What the engine remembers about a session beside its transcript: the
//! breaker, the flush, the switch. One small file a session, old or new.

use std::path::{Path, PathBuf};

use longhaul_compaction::Breaker;
use longhaul_transcript::{Result, SessionKey};
use serde::{Deserialize, Serialize};

use crate::spending::Spending;

/// No state has more.
const MOST_BYTES: u64 = 16 << 20;

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

/// The file of a session's state below the state folder.
pub fn state_path(state_dir: &Path, key: &str) -> PathBuf {
    state_dir
        .join("context/state")
        .join(SessionKey::new(key).folder_name())
        .join("engine.json")
}

impl SessionState {
    /// Reads the state; a missing file is an empty state. A damaged one is
    /// set aside and reported, never merged.
    pub fn load(state_dir: &Path, key: &str) -> (SessionState, Option<String>) {
        let path = state_path(state_dir, key);
        let fresh = SessionState {
            session_key: key.to_owned(),
            ..SessionState::default()
        };
        let text = match longhaul_files::optional(longhaul_files::read_text(&path, MOST_BYTES)) {
            Ok(Some(text)) => text,
            Ok(None) => return (fresh, None),
            Err(error) => return (fresh, Some(error.to_string())),
        };
        match serde_json::from_str::<SessionState>(&text) {
            Ok(state) => (state, None),
            Err(error) => {
                let aside = path.with_extension("json.damaged");
                let moved = longhaul_files::rename(&path, &aside);
                let kept = match moved {
                    Ok(()) => format!("kept as {}", aside.display()),
                    Err(error) => format!("and could not be set aside ({})", error.into_io()),
                };
                (
                    fresh,
                    Some(format!("{} is damaged ({error}), {kept}", path.display())),
                )
            }
        }
    }

    /// Writes the state.
    pub fn save(&self, state_dir: &Path) -> Result<()> {
        let path = state_path(state_dir, &self.session_key);
        if let Some(folder) = path.parent() {
            longhaul_files::create_folder(folder)?;
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        Ok(longhaul_files::replace(&path, text.as_bytes())?)
    }
}
