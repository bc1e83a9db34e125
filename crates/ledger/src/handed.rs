//! Work that was handed over: the task and the rules that came with it.
//!
//! A person accepted the hand-off, so its task and rules hold for the session
//! until the user takes them back. They are another agent's account all the same:
//! they stand by themselves, with who gave them, and never as the user's words.

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Entry, EntryId};
use serde::{Deserialize, Serialize};

use crate::facts::{Provenance, Rule, RuleKind};
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
    /// Rules that came with it, those taken back marked.
    pub rules: Vec<Rule>,
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
        let object = Object::parse(entry.raw()).ok()?;
        let data = object.object("data")?;
        let text = |name: &str| data.str(name).map(|text| text.trim().to_owned());
        let rules: Vec<String> = serde_json::from_str(data.raw("rules")?).ok()?;
        let rule = |text: String| Rule {
            text,
            kind: RuleKind::Constraint,
            provenance: Provenance::new(entry.id.clone()),
            revoked: None,
            pasted: false,
            frame: None,
        };
        Some(Handed {
            agent: text("fromAgent")?,
            session: text("fromSession")?,
            task: text("task")?,
            rules: rules.into_iter().map(rule).collect(),
            entry: entry.id.clone(),
        })
    }

    /// Rules that hold.
    pub fn live_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.revoked.is_none())
    }
}
