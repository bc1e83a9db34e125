//! The guard: how much a session has lost by being compacted, and when a fresh
//! start is the better idea.

use std::fmt;

use serde::Serialize;

/// How worn a session is, with the numbers of compactions by default.
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

/// How a number of compactions is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskRules {
    /// Medium from so many on.
    pub medium_at: u32,
    /// High from so many on.
    pub high_at: u32,
    /// Critical from so many on.
    pub critical_at: u32,
    /// Loss of each compaction in percent, where none was measured.
    pub loss_percent_each: f64,
    /// The estimated loss is never above this.
    pub loss_percent_most: f64,
    /// The recommendation warns from so many on.
    pub warn_at: u32,
}

impl Default for RiskRules {
    fn default() -> RiskRules {
        RiskRules {
            medium_at: 2,
            high_at: 3,
            critical_at: 5,
            loss_percent_each: 10.0,
            loss_percent_most: 90.0,
            warn_at: 3,
        }
    }
}

impl RiskRules {
    fn risk(&self, compactions: u32) -> Risk {
        match compactions {
            n if n >= self.critical_at => Risk::Critical,
            n if n >= self.high_at => Risk::High,
            n if n >= self.medium_at => Risk::Medium,
            _ => Risk::Low,
        }
    }

    fn loss_percent(&self, compactions: u32) -> u32 {
        let loss = f64::from(compactions) * self.loss_percent_each;
        loss.min(self.loss_percent_most).round() as u32
    }
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
    /// the rule of thumb of so many percent a compaction where an audit has
    /// measured it.
    pub fn of(compactions: u32, measured_loss: Option<u32>, rules: &RiskRules) -> Degradation {
        let risk = rules.risk(compactions);
        let warns = compactions >= rules.warn_at;
        let recommendation = match risk {
            Risk::Low | Risk::Medium if !warns => {
                "nothing to do; the context is healthy".to_owned()
            }
            // The level is said beside it; only the warning was put off.
            Risk::High | Risk::Critical if !warns => {
                format!("compacted {compactions} times; nothing to do yet")
            }
            Risk::Low | Risk::Medium | Risk::High => format!(
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
            loss_percent: measured_loss.unwrap_or_else(|| rules.loss_percent(compactions)),
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
                let state = Degradation::of(n, None, &RiskRules::default());
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
        let measured = Degradation::of(4, Some(3), &RiskRules::default());
        assert_eq!(measured.loss_percent, 3);
    }

    #[test]
    fn the_rules_move_the_levels_the_loss_and_the_warning() {
        let rules = RiskRules {
            medium_at: 1,
            high_at: 4,
            critical_at: 6,
            loss_percent_each: 2.5,
            loss_percent_most: 12.0,
            warn_at: 2,
        };
        let seen: Vec<(Risk, u32, bool)> = (0..=6)
            .map(|n| {
                let state = Degradation::of(n, None, &rules);
                let warns = state.recommendation.contains("fresh session");
                (state.risk, state.loss_percent, warns)
            })
            .collect();
        assert_eq!(
            seen,
            [
                (Risk::Low, 0, false),
                (Risk::Medium, 3, false),
                (Risk::Medium, 5, true),
                (Risk::Medium, 8, true),
                (Risk::High, 10, true),
                (Risk::High, 12, true),
                (Risk::Critical, 12, true),
            ]
        );
        let late = RiskRules {
            warn_at: 9,
            ..rules
        };
        let quiet = Degradation::of(8, None, &late);
        assert_eq!(quiet.risk, Risk::Critical);
        assert_eq!(quiet.recommendation, "compacted 8 times; nothing to do yet");
    }
}
