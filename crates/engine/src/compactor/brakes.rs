//! What keeps compaction from happening by itself, as every door shows it.

use std::fmt;

use longhaul_compaction::Wear;
use serde::Serialize;

use crate::config::Config;
use crate::state::SessionState;

/// The guard was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Guarded {
    /// Compactions that lost something, or of which nobody knows.
    pub lossy: u32,
    /// As many are allowed.
    pub most: u32,
}

impl fmt::Display for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Guarded { lossy, most } = self;
        write!(
            f,
            "{lossy} compactions lost something or were not audited, and \
             `compaction.maxAutoCompactions` allows {most}; start a fresh session: `longhaul \
             context export`, then `session import`, or `session handoff` for another agent"
        )
    }
}

/// What keeps compaction from happening by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Brakes {
    /// Whether it happens by itself at all.
    pub autocompact: bool,
    /// Why it was given up, if it was.
    pub breaker: Option<Vec<String>>,
    /// The guard, if it was reached.
    pub guard: Option<Guarded>,
}

impl Brakes {
    /// What is on for a session.
    pub fn of(config: &Config, state: &SessionState, wear: &Wear) -> Brakes {
        let compaction = &config.compaction;
        let guarded = Guarded {
            lossy: wear.counted(),
            most: compaction.max_auto_compactions,
        };
        let breaker = &state.breaker;
        Brakes {
            autocompact: state.autocompact.unwrap_or(compaction.auto_enabled),
            breaker: breaker
                .is_open(compaction.breaker)
                .then(|| breaker.reasons.clone()),
            guard: Some(guarded).filter(|guarded| guarded.lossy >= guarded.most),
        }
    }

    /// Each in a sentence with what to do about it.
    pub fn lines(&self) -> Vec<String> {
        let off = "automatic compaction is off; `longhaul context autocompact on` switches it on";
        let mut lines = Vec::new();
        lines.extend((!self.autocompact).then(|| off.to_owned()));
        lines.extend(self.breaker.as_ref().map(|reasons| {
            format!(
                "compaction was given up: {}; `longhaul compact --reset-breaker` lets it be tried \
                 again",
                reasons.join("; ")
            )
        }));
        lines.extend(self.guard.map(|guarded| guarded.to_string()));
        lines
    }
}
