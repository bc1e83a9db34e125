//! The guard: how much a session has lost by being compacted, and when a fresh
//! start is the better idea.
//!
//! What counts is what the audits found. Where there is none, nobody knows what
//! was lost, and the number of compactions stands for it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::audit::Audit;

/// How worn a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Nothing is lost, and all that the user said is in the context; or up to
    /// one compaction without an audit.
    Low,
    /// Some of what the user said can only be recalled; or two.
    Medium,
    /// Something was lost; or three or four.
    High,
    /// Something was lost again and again; or five and more.
    Critical,
}

/// How compactions are read.
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
    /// The level of so many compactions of which nothing is known.
    fn guessed(&self, compactions: u32) -> Risk {
        match compactions {
            n if n >= self.critical_at => Risk::Critical,
            n if n >= self.high_at => Risk::High,
            n if n >= self.medium_at => Risk::Medium,
            _ => Risk::Low,
        }
    }

    /// The level by what audits measured.
    fn measured(&self, wear: &Wear) -> Risk {
        match wear.lossy {
            0 if wear.words_left => Risk::Medium,
            0 => Risk::Low,
            n if n >= self.critical_at => Risk::Critical,
            _ => Risk::High,
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

/// What the compactions of a session came to. Each entry of ours carries it, so
/// that it is known without reading those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Wear {
    /// Compactions whose audit found something lost.
    pub lossy: u32,
    /// Compactions without an audit.
    pub unaudited: u32,
    /// Whether the latest left some of what the user said out of the context.
    pub words_left: bool,
    /// The share of facts that are not in the context, by the latest audit.
    pub loss_percent: Option<u32>,
}

impl Wear {
    /// The same after one more compaction.
    pub fn after(self, audit: Option<&Audit>) -> Wear {
        match audit {
            Some(audit) => Wear {
                lossy: self.lossy + u32::from(audit.lost_something()),
                words_left: !audit.is_whole(),
                loss_percent: Some(audit.loss_percent()),
                ..self
            },
            None => Wear {
                unaudited: self.unaudited + 1,
                loss_percent: None,
                ..self
            },
        }
    }

    /// The compactions that the guard counts: those that lost something, or of
    /// which nobody knows.
    pub fn counted(&self) -> u32 {
        self.lossy + self.unaudited
    }
}

/// The state of a session after a number of compactions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Degradation {
    /// Compactions so far.
    pub compactions: u32,
    /// Those that lost something, or of which nobody knows.
    pub lossy: u32,
    /// The level.
    pub risk: Risk,
    /// Loss of information in percent, measured or estimated.
    pub loss_percent: u32,
    /// What to do.
    pub recommendation: String,
}

impl Degradation {
    /// Judges a session by what its audits measured, and by the number of its
    /// compactions where there are none.
    pub fn of(compactions: u32, wear: &Wear, rules: &RiskRules) -> Degradation {
        let risk = rules.guessed(wear.unaudited).max(rules.measured(wear));
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
                 one in a fresh session (`longhaul context export`, then `session import`)"
            ),
            Risk::Critical => format!(
                "compacted {compactions} times; start a fresh session now: `longhaul context \
                 export`, then `session import`, or `session handoff` for another agent"
            ),
        };
        Degradation {
            compactions,
            lossy: wear.counted(),
            risk,
            loss_percent: wear
                .loss_percent
                .unwrap_or_else(|| rules.loss_percent(compactions)),
            recommendation,
        }
    }
}

/// When and how an agent is warned of its many compactions.
#[derive(Debug, Clone, PartialEq)]
pub struct SpiralWarning {
    /// From this compaction on.
    pub from: u32,
    /// How compactions are judged.
    pub rules: RiskRules,
}

impl SpiralWarning {
    /// What the agent is told when its state is put back: what is known of what
    /// the compactions cost, and what to do.
    pub fn text(&self, compactions: u32, wear: &Wear) -> Option<String> {
        if compactions < self.from {
            return None;
        }
        let (cost, advice) = match Degradation::of(compactions, wear, &self.rules).risk {
            Risk::Low => ("nothing was lost by their audits", LATER),
            Risk::Medium => (
                "some of what the user said is not in the summary; `recall` brings it back",
                LATER,
            ),
            Risk::High => (
                "they lost something or were not audited; check files and `recall` before you \
                 rely on early work",
                SOON,
            ),
            Risk::Critical => (
                "they lost something time and again or were not audited; do not rely on early \
                 work, check files and `recall`",
                SOON,
            ),
        };
        Some(format!(
            "this session was compacted {compactions} times: {cost}. {advice}"
        ))
    }
}

const LATER: &str = "Finish what is in hand; the next piece of work belongs in a fresh session.";
const SOON: &str = "Finish what is open in small steps, and tell the user that a fresh session \
                    (`longhaul session handoff`) would serve better.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Kept, UserTextTally};

    fn unaudited(compactions: u32, rules: &RiskRules) -> Degradation {
        let wear = (0..compactions).fold(Wear::default(), |wear, _| wear.after(None));
        Degradation::of(compactions, &wear, rules)
    }

    /// Four texts of the user and four changed files, so many of each in the context.
    fn audit(texts: u32, files: u32) -> Audit {
        Audit {
            user_text: UserTextTally {
                total: 4,
                whole: texts,
                recallable: 4 - texts,
                ..UserTextTally::default()
            },
            files_changed: Kept {
                total: 4,
                kept: files,
            },
            ..Audit::default()
        }
    }

    #[test]
    fn without_audits_levels_follow_the_number_of_compactions() {
        let table: Vec<(u32, Risk, u32)> = (0..=12)
            .map(|n| {
                let state = unaudited(n, &RiskRules::default());
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
    fn audits_decide_the_level_and_what_counts() {
        let (whole, recallable, lossy) = (audit(4, 4), audit(3, 4), audit(4, 3));
        let table: [(&[&Audit], Risk, u32); 5] = [
            (&[&whole; 40], Risk::Low, 0),
            (&[&whole, &recallable], Risk::Medium, 0),
            (&[&recallable, &whole], Risk::Low, 0),
            (&[&lossy, &whole, &whole], Risk::High, 1),
            (&[&lossy; 5], Risk::Critical, 5),
        ];
        for (audits, risk, counted) in table {
            let wear = audits
                .iter()
                .fold(Wear::default(), |wear, audit| wear.after(Some(audit)));
            let state = Degradation::of(audits.len() as u32, &wear, &RiskRules::default());
            assert_eq!((state.risk, state.lossy), (risk, counted), "{wear:?}");
        }
        let measured = Wear::default().after(Some(&recallable));
        let state = Degradation::of(1, &measured, &RiskRules::default());
        assert_eq!(state.loss_percent, 25);
    }

    #[test]
    fn one_that_recall_cannot_bring_back_is_lost() {
        let mut audit = audit(4, 4);
        assert!(!audit.lost_something());
        audit.recallable = Kept { total: 9, kept: 8 };
        assert!(audit.lost_something());
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
                let state = unaudited(n, &rules);
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
        let quiet = unaudited(8, &late);
        assert_eq!(quiet.risk, Risk::Critical);
        assert_eq!(quiet.recommendation, "compacted 8 times; nothing to do yet");
    }

    #[test]
    fn the_warning_is_worded_by_what_is_known() {
        let warning = SpiralWarning {
            from: 4,
            rules: RiskRules::default(),
        };
        let lossless = (0..6).fold(Wear::default(), |wear, _| wear.after(Some(&audit(4, 4))));
        let unknown = (0..6).fold(Wear::default(), |wear, _| wear.after(None));
        assert_eq!(warning.text(3, &unknown), None);
        let said = |wear: &Wear| warning.text(6, wear).unwrap();
        assert!(said(&lossless).contains("6 times: nothing was lost"));
        assert!(said(&unknown).contains("do not rely on early work"));
    }
}
