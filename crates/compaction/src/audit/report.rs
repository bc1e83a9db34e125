//! The result of an audit.

use std::collections::BTreeMap;
use std::fmt;

use longhaul_ledger::Category;
use longhaul_transcript::EntryId;
use serde::{Deserialize, Serialize};

use super::facts::{Fact, label};
use super::search::{Needle, occurring};

/// How the facts of one category fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// All of them.
    pub total: u32,
    /// Those in the context.
    pub in_context: u32,
    /// Those that are not, but can be had back.
    pub recallable: u32,
    /// Those that are lost.
    pub nowhere: u32,
}

/// A fact that is not in the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// What kind.
    pub category: Category,
    /// Its text, shortened.
    pub text: String,
    /// Where it can be had back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
}

/// What of a session's facts is in a context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// By category; those without facts are left out.
    pub categories: BTreeMap<Category, Tally>,
    /// Facts that only recall can bring back; at most [`Audit::LISTED`].
    pub recallable: Vec<Missing>,
    /// How many more of them there are.
    pub recallable_unlisted: u32,
    /// Facts that are lost, all of them.
    pub nowhere: Vec<Missing>,
}

impl Audit {
    /// How many recallable facts are listed.
    pub const LISTED: usize = 50;
    const TEXT_CHARS: usize = 200;

    /// The sum over all categories.
    pub fn total(&self) -> Tally {
        self.categories
            .values()
            .fold(Tally::default(), |sum, tally| Tally {
                total: sum.total + tally.total,
                in_context: sum.in_context + tally.in_context,
                recallable: sum.recallable + tally.recallable,
                nowhere: sum.nowhere + tally.nowhere,
            })
    }

    /// The share of facts that are not in the context, rounded up: a loss is
    /// never shown as none.
    pub fn loss_percent(&self) -> u32 {
        let total = self.total();
        let missing = total.total - total.in_context;
        (u64::from(missing) * 100)
            .div_ceil(u64::from(total.total.max(1)))
            .try_into()
            .unwrap_or(100)
    }
}

/// `rules 3/3 · decisions 12/12 · files read 30/34 · nowhere 0`.
impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (category, tally) in &self.categories {
            let name = label(*category);
            write!(f, "{name} {}/{} · ", tally.in_context, tally.total)?;
        }
        write!(f, "nowhere {}", self.nowhere.len())
    }
}

/// Looks for every fact in the text of a context: the plain text that the model
/// sees, not its JSON.
pub fn audit(
    facts: &[Fact<'_>],
    context_text: &str,
    is_stored: &dyn Fn(&EntryId) -> bool,
) -> Audit {
    let mut audit = Audit::default();
    for (fact, here) in facts.iter().zip(present(facts, context_text)) {
        let tally = audit.categories.entry(fact.category).or_default();
        tally.total += 1;
        if here {
            tally.in_context += 1;
            continue;
        }
        let stored = fact.entries.iter().find(|entry| is_stored(entry));
        let missing = || Missing {
            category: fact.category,
            text: fact.text.chars().take(Audit::TEXT_CHARS).collect(),
            entry: stored.map(|entry| (*entry).clone()),
        };
        if stored.is_none() {
            tally.nowhere += 1;
            audit.nowhere.push(missing());
        } else {
            tally.recallable += 1;
            if audit.recallable.len() < Audit::LISTED {
                audit.recallable.push(missing());
            } else {
                audit.recallable_unlisted += 1;
            }
        }
    }
    audit
}

/// For each fact, whether it stands in the text.
pub fn present(facts: &[Fact<'_>], text: &str) -> Vec<bool> {
    let needles: Vec<Needle<'_>> = facts
        .iter()
        .flat_map(|fact| &fact.proofs)
        .flat_map(|proof| proof.texts.iter().map(|text| Needle::new(text, proof.edge)))
        .collect();
    let mut found = occurring(&needles, text).into_iter();
    facts
        .iter()
        .map(|fact| {
            // Every proof has to take its own results, so none is skipped.
            fact.proofs.iter().fold(false, |any, proof| {
                let all = found
                    .by_ref()
                    .take(proof.texts.len())
                    .fold(true, |all, here| all & here);
                any | all
            })
        })
        .collect()
}
