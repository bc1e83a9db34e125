//! Pages of the memory that were found only for what is found elsewhere.

use super::Candidate;
use crate::error::IndexError;
use crate::store::{Shape, SqliteIndex};
use crate::text::{self, Term};

impl SqliteIndex {
    /// Drops pages that were found only for lines which are found elsewhere.
    pub(super) fn drop_quoting(
        &mut self,
        candidates: &mut Vec<Candidate>,
        shape: &Shape,
        allowed: &[bool],
        terms: &[Term],
    ) -> Result<(), IndexError> {
        let quoting = self.quoting(shape)?;
        for found in std::mem::take(candidates) {
            // Found by its meaning or its neighbours, it may be for any line.
            let by_words = found.why.words > 0.0 && quoting.was_promoted(found.slot);
            if !by_words || self.says_itself(shape, found.slot, allowed, terms)? {
                candidates.push(found);
            }
        }
        Ok(())
    }

    /// Whether a line of a page that says what no other text does has a word of a
    /// query.
    fn says_itself(
        &mut self,
        shape: &Shape,
        slot: u32,
        allowed: &[bool],
        terms: &[Term],
    ) -> Result<bool, IndexError> {
        let text = self.text_of(shape, slot)?;
        let mut has_word = false;
        for line in self.quoting(shape)?.own_lines(slot, &text, allowed) {
            let mut take = |token: &str| {
                let mut wanted = terms.iter().flat_map(|term| &term.tokens);
                has_word |= wanted.any(|wanted| match text::begins_longer(wanted) {
                    Some(beginning) => token.starts_with(beginning),
                    None => wanted == token,
                });
            };
            text::tokens(line, &mut self.stems, &mut take);
        }
        Ok(has_word)
    }
}
