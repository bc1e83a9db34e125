//! The language of replies: asked for in one language, changed in another.

use super::words::{Class, SPEAKING};
use super::{Claim, Verdict};
use crate::dream::likeness::is_unspaced;

/// By which lines about the language of replies are found.
const REPLIES: &str = "§Language";

impl Claim {
    /// Notes whether all that it says is in which language to reply.
    pub(super) fn note_language_of_replies(&mut self) {
        let is_class = |word: &String| self.classes.iter().any(|one| one.2 == *word);
        let mut classes = self.classes.iter();
        let named = !self.classes.is_empty() && classes.all(|one| one.0 == Class::Language);
        let rest = |word: &&String| !is_class(word) && !is_of_replies(word);
        if named && !self.tells && self.said.iter().find(rest).is_none() {
            self.manners.push(REPLIES.to_owned());
        }
    }

    /// Another language for replies, in whatever language that is said.
    pub(super) fn answered_otherwise(&self, newer: &Claim) -> Verdict {
        let both = self.is_of_replies() && newer.is_of_replies();
        let asks = self.negative == newer.negative && !newer.adds;
        match both && asks && self.names_others(newer) {
            true => Verdict::Perhaps,
            false => Verdict::Nothing,
        }
    }

    pub(super) fn is_of_replies(&self) -> bool {
        self.manners.iter().any(|one| one == REPLIES)
    }
}

/// Whether a word says no more than that something is to be said.
fn is_of_replies(word: &str) -> bool {
    let says = |c: char| "答回复覆返信願お".contains(c);
    let hiragana = |c: char| ('ぁ'..='ん').contains(&c);
    match word.chars().any(is_unspaced) {
        // Pairs of characters run over the borders of words.
        true => word.chars().any(says) || word.chars().all(hiragana),
        false => SPEAKING.iter().any(|root| word.starts_with(root)),
    }
}
