//! Numbers and short hashes in texts that are full of them: see `text::codes`.

use std::collections::BTreeSet;

use super::words::{self, Coded};
use crate::index::{IndexError, Shape, SqliteIndex};
use crate::text::{self, Code, Term};

/// So many texts are read for one query. A class has one in fifty of the texts that
/// are full of codes, so that only a huge table has more.
const MOST_READ: usize = 1_000;

/// So many texts of a short code are taken.
const MOST_SHORT: usize = 10_000;

/// So many codes of a query are looked for.
const MOST_CODES: usize = 32;

impl SqliteIndex {
    /// Where the codes of a query stand in texts that are full of them.
    pub(super) fn coded(&mut self, terms: &[Term], shape: &Shape) -> Result<Coded, IndexError> {
        let mut coded = Coded::new();
        let tokens = terms.iter().flat_map(|term| &term.tokens);
        let codes = tokens.filter_map(|token| Some((token, Code::of(token)?)));
        let codes: BTreeSet<(&String, Code)> = codes.take(MOST_CODES).collect();
        let mut left = MOST_READ;
        for (code, kind) in codes {
            let (noted, most) = match kind {
                Code::Short => (code.clone(), MOST_SHORT),
                Code::Classed => (text::class(code), left),
            };
            let slots = words::full_of_codes(self.database(), shape, &noted, most);
            let slots = slots.map_err(self.failed())?;
            let mut rows = Vec::new();
            for slot in slots {
                let often = match kind {
                    Code::Short => 1,
                    Code::Classed => {
                        left = left.saturating_sub(1);
                        let text = self.text_of(shape, slot)?;
                        self.often(&text, code)
                    }
                };
                rows.extend((often > 0).then_some((slot, often)));
            }
            coded.insert(code.clone(), rows);
        }
        Ok(coded)
    }

    /// How often a text has a token; of a date or a time, whether it does.
    fn often(&mut self, text: &str, wanted: &str) -> u32 {
        if text::numbers(wanted).is_some() {
            return u32::from(text::has_joined(text, wanted));
        }
        let mut tokens = String::with_capacity(text.len());
        text::prepare(text, text::tongue(text), self.stems(), &mut tokens);
        let same = tokens.split(' ').filter(|token| *token == wanted);
        same.count() as u32
    }
}
