//! Work that was handed over: the task and the user's words that came with it.
//!
//! A person accepted the hand-off, so they go on with the session. They are
//! another agent's account all the same, and are marked as handed over wherever
//! they stand.

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Entry, EntryId};
use serde::{Deserialize, Serialize};

use crate::ours;

/// Work that another agent handed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handed {
    /// The agent who gave it.
    pub agent: String,
    /// The session it was done in before.
    pub session: String,
    /// What is to be done.
    pub task: String,
    /// The user's words that came with it.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// The entry that says so.
    pub entry: EntryId,
}

impl Handed {
    /// What an entry says was handed over, if it is such an entry.
    pub(crate) fn of(entry: &Entry) -> Option<Handed> {
        let is_handoff =
            matches!(&entry.body, Body::Custom { custom_type } if custom_type == ours::HANDOFF);
        if !is_handoff {
            return None;
        }
        let object = Object::of(entry.raw())?;
        let data = object.object("data")?;
        let text = |name: &str| data.str(name).map(|text| text.trim().to_owned());
        // Earlier versions called them rules.
        let constraints = data.raw("constraints").or_else(|| data.raw("rules"))?;
        let constraints: Vec<String> = serde_json::from_str(constraints).ok()?;
        Some(Handed {
            agent: text("fromAgent")?,
            session: text("fromSession")?,
            task: text("task")?,
            constraints,
            entry: entry.id.clone(),
        })
    }
}
