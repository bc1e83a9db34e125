//! Numbers and short hashes in texts that are full of them: see `text::codes`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::Connection;

use crate::index::{IndexError, Shape, SqliteIndex};
use crate::text::{self, Code, Term};

/// So many texts are read for one query,
const MOST_READ: usize = 4_000;

/// and for one code of it. A class has one in fifty of the texts that are full of
/// codes, so that only a huge table has more.
const MOST_OF_ONE: usize = 1_000;

/// So many texts of a short code are taken.
const MOST_SHORT: usize = 10_000;

/// So many codes of a query are looked for.
const MOST_CODES: usize = 96;

/// Where the codes of a query stand in texts that are full of them.
#[derive(Debug, Default)]
pub(super) struct Coded {
    /// By token: the slots that have it, and how often.
    pub(super) rows: HashMap<String, Vec<(u32, u32)>>,
    /// Words of the query that may stand in more such texts than were looked at.
    pub(super) half_read: Vec<String>,
}

/// A code of a query whose class is noted, and the slots that may have it.
struct Classed<'a> {
    word: &'a str,
    code: &'a str,
    slots: Vec<u32>,
}

impl SqliteIndex {
    /// Where the codes of a query stand in texts that are full of them, of those
    /// that are allowed.
    pub(super) fn coded(
        &mut self,
        terms: &[Term],
        shape: &Shape,
        allowed: &[bool],
    ) -> Result<Coded, IndexError> {
        let mut coded = Coded::default();
        let mut classed = Vec::new();
        for (at, (word, code, kind)) in codes(terms).enumerate() {
            let noted = match kind {
                Code::Short => code.to_owned(),
                Code::Classed => text::class(code),
            };
            let is_sought = at < MOST_CODES;
            let most = if is_sought { MOST_SHORT + 1 } else { 1 };
            let slots = full_of_codes(self.database(), shape, allowed, &noted, most);
            let mut slots = slots.map_err(self.failed())?;
            if !is_sought {
                let is_there = !slots.is_empty();
                coded.half_read.extend(is_there.then(|| word.to_owned()));
                continue;
            }
            if let Code::Classed = kind {
                classed.push(Classed { word, code, slots });
                continue;
            }
            if slots.len() > MOST_SHORT {
                coded.half_read.push(word.to_owned());
                slots.truncate(MOST_SHORT);
            }
            let rows = slots.into_iter().map(|slot| (slot, 1));
            coded.rows.insert(code.to_owned(), rows.collect());
        }
        share(&mut classed, &mut coded.half_read);
        self.read_classed(&classed, shape, &mut coded)?;
        Ok(coded)
    }

    /// Reads the texts that may have codes, each once and in the order in which they
    /// lie together.
    fn read_classed(
        &mut self,
        classed: &[Classed<'_>],
        shape: &Shape,
        coded: &mut Coded,
    ) -> Result<(), IndexError> {
        let mut wanted: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for one in classed {
            for slot in &one.slots {
                wanted.entry(*slot).or_default().push(one.code);
            }
        }
        for (slot, codes) in wanted {
            let text = self.text_of(shape, slot)?;
            for code in codes {
                let often = self.often(&text, code);
                if often > 0 {
                    let rows = coded.rows.entry(code.to_owned()).or_default();
                    rows.push((slot, often));
                }
            }
        }
        Ok(())
    }

    /// How often a text has a token; of a date or a time, whether it does.
    fn often(&mut self, text: &str, wanted: &str) -> u32 {
        if text::numbers(wanted).is_some() {
            return u32::from(text::has_joined(text, wanted));
        }
        if !may_have(text, wanted) {
            return 0;
        }
        let mut tokens = String::with_capacity(text.len());
        text::prepare(text, text::tongue(text), self.stems(), &mut tokens);
        let same = tokens.split(' ').filter(|token| *token == wanted);
        same.count() as u32
    }
}

/// The codes of a query, each once, with the word that it stands for.
fn codes(terms: &[Term]) -> impl Iterator<Item = (&str, &str, Code)> {
    let mut seen = HashSet::new();
    let tokens = terms.iter().flat_map(|term| {
        let tokens = term.tokens.iter();
        tokens.map(|token| (term.word.as_str(), token.as_str()))
    });
    tokens.filter_map(move |(word, token)| {
        let kind = Code::of(token)?;
        seen.insert(token).then_some((word, token, kind))
    })
}

/// Whether a text has the digits of a code. Nearly all that only have its class have
/// not, and need not be taken apart.
fn may_have(text: &str, code: &str) -> bool {
    let mut digits = code.split(|c: char| !c.is_ascii_digit());
    // `12_345` is 12345, and so it is in digits of other widths.
    text.contains('_') || !text.is_ascii() || digits.all(|digits| text.contains(digits))
}

/// Leaves of each code no more texts than may be read. Those that few texts may have
/// are looked for in all of them, and the others have the same part of the rest each,
/// first where several codes may stand together.
fn share(classed: &mut [Classed<'_>], half_read: &mut Vec<String>) {
    let mut together: HashMap<u32, usize> = HashMap::new();
    for slot in classed.iter().flat_map(|one| &one.slots) {
        *together.entry(*slot).or_default() += 1;
    }
    classed.sort_by_key(|one| one.slots.len());
    let mut left = MOST_READ;
    let mut others = classed.len();
    for one in classed {
        let most = (left / others).min(MOST_OF_ONE);
        if one.slots.len() > most {
            half_read.push(one.word.to_owned());
            one.slots.sort_by_key(|slot| Reverse(together.get(slot)));
            one.slots.truncate(most);
        }
        left -= one.slots.len();
        others -= 1;
    }
}

/// The first `most` slots that are full of codes and have this one, or one of this
/// class, of those that are allowed.
fn full_of_codes(
    connection: &Connection,
    shape: &Shape,
    allowed: &[bool],
    code: &str,
    most: usize,
) -> rusqlite::Result<Vec<u32>> {
    let mut statement = connection.prepare_cached("SELECT doc FROM temp.pair WHERE term = ?1")?;
    let mut rows = statement.query([code])?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        let slot = shape.slot_of(row.get(0)?);
        found.extend(slot.filter(|slot| allowed[shape.slots[*slot as usize].unit as usize]));
        found.dedup();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn texts_are_read_for_every_code_and_first_where_several_may_stand() {
        let classed = |code: &'static str, slots: Range<u32>| Classed {
            word: code,
            code,
            slots: slots.collect(),
        };
        let mut all = vec![
            classed("10001", 0..900),
            classed("10002", 2_000..2_900),
            classed("10003", 4_000..4_900),
            classed("10004", 6_000..6_900),
            classed("10005", 4_890..6_890),
            classed("90000", 880..900),
        ];
        let mut half_read = Vec::new();
        share(&mut all, &mut half_read);
        let read: Vec<(&str, usize)> = all.iter().map(|one| (one.code, one.slots.len())).collect();
        assert_eq!(
            read,
            [
                ("90000", 20),
                ("10001", 796),
                ("10002", 796),
                ("10003", 796),
                ("10004", 796),
                ("10005", 796)
            ]
        );
        assert_eq!(half_read, ["10001", "10002", "10003", "10004", "10005"]);
        assert_eq!(all[1].slots[..2], [880, 881]);
        assert_eq!(all[5].slots[9..12], [4_899, 6_000, 6_001]);
        let mut few = [classed("10001", 0..5), classed("10002", 0..5_000)];
        half_read.clear();
        share(&mut few, &mut half_read);
        assert_eq!(half_read, ["10002"]);
        assert_eq!(few[1].slots.len(), MOST_OF_ONE);
    }

    #[test]
    fn a_text_that_has_a_code_in_any_spelling_may_have_it() {
        for (text, code) in [
            ("7,48213,9", "48213"),
            ("7,12.50,9", "12v50"),
            ("A1B2C3D", "a1b2c3d"),
            ("48_213", "48213"),
            ("４８２１３", "48213"),
        ] {
            assert!(may_have(text, code), "{text}");
        }
        assert!(!may_have("4821,3,148", "48213"));
    }
}
