//! What the best texts say besides the words of the query.
//!
//! Who asks for "the woman of 36" wants what is said of her elsewhere, by her
//! name. So the telling words of the best texts are searched as well, at a
//! small part of what the query itself counts.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::words::Words;
use crate::error::IndexError;
use crate::store::{Shape, SqliteIndex};
use crate::text::{self, Term};

/// How many texts are read.
const TEXTS: usize = 6;

/// How many of their words are looked up.
const TOKENS: usize = 24;

impl SqliteIndex {
    pub(super) fn feed_back(
        &mut self,
        words: &mut Words,
        terms: &[Term],
        shape: &Shape,
        allowed: &[bool],
    ) -> Result<(), IndexError> {
        let settings = self.settings.search;
        let best = words.leading(TEXTS, shape);
        let Some(&(_, top)) = best.first() else {
            return Ok(());
        };
        let mut parts: HashMap<String, f32, RandomState> = HashMap::default();
        for (slot, score) in best {
            let text = self.text_of(shape, slot)?;
            let mut tokens = Vec::new();
            text::tokens(&text, &mut self.stems, &mut |token| {
                tokens.push(token.to_owned())
            });
            let part = score / top / tokens.len().max(1) as f32;
            for token in tokens {
                *parts.entry(token).or_default() += part;
            }
        }
        for token in terms.iter().flat_map(|term| &term.tokens) {
            parts.remove(token);
        }
        let mut parts: Vec<(String, f32)> = parts.into_iter().collect();
        parts.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        parts.truncate(TOKENS);
        words
            .expand(&self.connection, shape, allowed, &parts, &settings)
            .map_err(self.sqlite())
    }
}
