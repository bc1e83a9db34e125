//! The guard: how much a session has lost by being compacted, and when a fresh
//! start is the better idea.

use std::fmt;

use serde::Serialize;

/// How worn a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Up to one compaction.
    Low,
    /// Two.
    Medium,
    /// Three or four.
    High,
    /// Five and more.
    Critical,
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        })
    }
}

/// The state of a session after a number of compactions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Degradation {
    /// Compactions so far.
    pub compactions: u32,
    /// The level.
    pub risk: Risk,
    /// Estimated loss of information in percent.
    pub loss_percent: u32,
    /// What to do.
    pub recommendation: String,
}

impl Degradation {
    /// Judges a session by its number of compactions; `measured_loss` replaces
    /// the rule of thumb of 10 % a compaction where an audit has measured it.
    pub fn of(compactions: u32, measured_loss: Option<u32>) -> Degradation {
        let risk = match compactions {
            0..=1 => Risk::Low,
            2 => Risk::Medium,
            3..=4 => Risk::High,
            _ => Risk::Critical,
        };
        let recommendation = match risk {
            Risk::Low | Risk::Medium => "nothing to do; the context is healthy".to_owned(),
            Risk::High => format!(
                "compacted {compactions} times; when this piece of work is done, start the next \
                 one in a fresh session (`longhaul context export`, then `context import`)"
            ),
            Risk::Critical => format!(
                "compacted {compactions} times; start a fresh session now: `longhaul context \
                 export`, then `context import`, or `session handoff` for another agent"
            ),
        };
        Degradation {
            compactions,
            risk,
            loss_percent: measured_loss.unwrap_or_else(|| compactions.saturating_mul(10).min(90)),
            recommendation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_the_table() {
        let table: Vec<(u32, Risk, u32)> = (0..=12)
            .map(|n| {
                let state = Degradation::of(n, None);
                (n, state.risk, state.loss_percent)
            })
            .collect();
        assert_eq!(
            table,
            [
                (0, Risk::Low, 0),
                (1, Risk::Low, 10),
                (2, Risk::Medium, 20),
                (3, Risk::High, 30),
                (4, Risk::High, 40),
                (5, Risk::Critical, 50),
                (6, Risk::Critical, 60),
                (7, Risk::Critical, 70),
                (8, Risk::Critical, 80),
                (9, Risk::Critical, 90),
                (10, Risk::Critical, 90),
                (11, Risk::Critical, 90),
                (12, Risk::Critical, 90),
            ]
        );
    }

    #[test]
    fn a_measured_loss_replaces_the_estimate() {
        assert_eq!(Degradation::of(4, Some(3)).loss_percent, 3);
    }
}
