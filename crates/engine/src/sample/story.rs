//! The story as it stands in its file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    pub(super) cwd: String,
    pub(super) provider: String,
    pub(super) model: String,
    /// What the agent says of what left its context, where it compacts itself.
    pub(super) summary: String,
    pub(super) topics: Vec<BTreeMap<String, String>>,
    pub(super) words: BTreeMap<String, Vec<String>>,
    pub(super) lines: BTreeMap<String, Vec<String>>,
    pub(super) first: Turn,
    pub(super) turns: Vec<Turn>,
    pub(super) last: Turn,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    /// How long the user is away before.
    #[serde(default)]
    pub(super) minutes: i64,
    pub(super) user: Vec<String>,
    pub(super) rounds: Vec<Round>,
    pub(super) answer: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Round {
    #[serde(default)]
    pub(super) say: String,
    pub(super) calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Value,
    /// The kind of lines it prints, about so many of them.
    pub(super) prints: Option<String>,
    #[serde(default)]
    pub(super) lines: u64,
    /// What it prints instead.
    #[serde(default)]
    pub(super) result: String,
    /// The status it fails with.
    pub(super) fails: Option<u8>,
}

impl Story {
    pub(super) fn read() -> Story {
        serde_saphyr::from_str(include_str!("story.yaml")).expect("the story is read by a test")
    }
}
