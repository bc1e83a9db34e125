//! The role of a subagent: its task and its limits.

use longhaul_tokens::Tokens;
use serde::Serialize;

use crate::fence::{fenced, one_line};

const ROLE: &str = include_str!("text/subagent.md");

/// What a subagent is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subagent {
    /// What it is to do, in the words of the agent that started it.
    pub task: String,
    /// A short name for it.
    pub label: Option<String>,
    /// The session that started it.
    pub requester: Option<String>,
    /// Its own session.
    pub session: Option<String>,
    /// How far it may go.
    pub limits: SubagentLimits,
}

/// How far a subagent may go; what is absent is not limited here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentLimits {
    /// Tokens it may spend.
    pub tokens: Option<Tokens>,
    /// Model calls.
    pub rounds: Option<u32>,
    /// Seconds.
    pub seconds: Option<u32>,
}

impl Subagent {
    pub(super) fn text(&self) -> String {
        let mut text = ROLE.to_owned();
        for (name, value) in [
            ("Label", &self.label),
            ("Started by", &self.requester),
            ("Session", &self.session),
        ] {
            if let Some(value) = value {
                text.push_str(&format!("- {name}: {}\n", one_line(value)));
            }
        }
        let SubagentLimits {
            tokens,
            rounds,
            seconds,
        } = self.limits;
        let limits = [
            tokens.map(|n| format!("{n} tokens")),
            rounds.map(|n| format!("{n} model calls")),
            seconds.map(|n| format!("{n} seconds")),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        if !limits.is_empty() {
            text.push_str(&format!("- Limits: {}\n", limits.join(", ")));
        }
        fenced(&mut text, "task", &[], &self.task);
        text
    }
}
