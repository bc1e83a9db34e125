//! The whole summary: essentials, prose, the rest, within one total.

use longhaul_tokens::{ContentKind, Counter, Tokens};

use super::continuation::continuation;
use super::limits::Limits;
use super::material::Material;
use super::mechanical::{Draft, Note};
use super::model::{Outcome, Summarizer, Task};
use super::text::within;

/// A finished summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The text of the compaction entry.
    pub text: String,
    /// Its size by the counter that was used; never above the limit.
    pub tokens: Tokens,
    /// The size of the prose.
    pub prose_tokens: Tokens,
    /// Who wrote the prose, and how that went.
    pub outcome: Outcome,
    /// What found no room although it should have.
    pub notes: Vec<Note>,
}

/// Makes a summary of at most `limits.total` tokens.
///
/// The essentials of the ledger's part come first. The prose may have half of
/// what they leave, at most its cap; the rest of the ledger's part fills up.
pub fn summarize(
    summarizer: &mut dyn Summarizer,
    material: &Material<'_>,
    limits: &Limits,
    counter: &dyn Counter,
) -> Summary {
    let count = |text: &str| counter.count(text, ContentKind::Prose);
    let kept = material.kept_entries();
    let frame = count(&continuation(material, "", "")) + Tokens(4);
    let room = limits.total - frame;

    let mut draft = Draft::new(material.ledger, &kept, limits, room, counter);
    draft.essentials();
    let budget = limits.prose.min(Tokens(draft.left().0 / 2));
    draft.set_aside(budget);
    draft.rest("");
    let mut outcome = summarizer.prose(&Task {
        material,
        budget,
        limits,
        ledger_text: &draft.text(),
        counter,
    });
    if count(&outcome.text) > budget {
        outcome.text = within(&outcome.text, budget, counter).unwrap_or_default();
    }

    // Lines are counted one by one, the whole may differ by a few tokens.
    let mut room = room;
    loop {
        let mut draft = Draft::new(material.ledger, &kept, limits, room, counter);
        draft.essentials();
        draft.rest(&outcome.text);
        let made = draft.finish();
        let text = continuation(material, &outcome.text, &made.text);
        let tokens = count(&text);
        let excess = tokens - limits.total;
        if excess == Tokens::ZERO || room == Tokens::ZERO {
            return Summary {
                text,
                tokens,
                prose_tokens: count(&outcome.text),
                outcome,
                notes: made.notes,
            };
        }
        room -= excess + Tokens(4);
    }
}
