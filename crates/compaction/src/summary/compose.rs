//! The whole summary: frame, prose, mechanical part.

use longhaul_tokens::{ContentKind, Counter, Tokens};

use super::continuation::continuation;
use super::limits::Limits;
use super::material::Material;
use super::mechanical::{Note, mechanical};
use super::model::{Outcome, Summarizer, Task};
use super::text::within;

/// A summary, ready to take the place of what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The whole text.
    pub text: String,
    /// Its size by the counter that was used.
    pub tokens: Tokens,
    /// The size of the prose.
    pub prose_tokens: Tokens,
    /// How the prose came about.
    pub outcome: Outcome,
    /// What should be known about it.
    pub notes: Vec<Note>,
}

/// Writes a summary within its limits.
pub fn summarize(
    summarizer: &mut dyn Summarizer,
    material: &Material<'_>,
    limits: &Limits,
    counter: &dyn Counter,
) -> Summary {
    let count = |text: &str| counter.count(text, ContentKind::Prose);
    let frame = count(&continuation(material, "", "")) + Tokens(4);
    let mut outcome = summarizer.prose(&Task {
        material,
        budget: limits.prose,
        counter,
    });
    if count(&outcome.text) > limits.prose {
        outcome.text = within(&outcome.text, limits.prose, counter).unwrap_or_default();
    }
    let prose_tokens = count(&outcome.text);
    // In a small window the user's words have what prose leaves.
    let mut limits = *limits;
    if limits.shares_words {
        limits.words += limits.prose - prose_tokens;
    }
    let mut less = frame;
    loop {
        let made = mechanical(material, &limits, less, counter);
        let text = continuation(material, &outcome.text, &made.text);
        let tokens = count(&text);
        let excess = tokens - limits.total;
        if excess == Tokens::ZERO || less >= limits.rest {
            return Summary {
                text,
                tokens,
                prose_tokens,
                outcome,
                notes: made.notes,
            };
        }
        less += excess + Tokens(4);
    }
}
