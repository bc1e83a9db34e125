//! What FTS5 is told of chunks that come and go.

use std::cell::RefCell;

use rusqlite::{Transaction, params};

use super::leaf::Entry;
use super::texts::{self, Stretch, Unpacked};
use crate::text::{self, Stems, Stored, Tongue};

/// Takes records out of what is searched, and notes where their texts were.
pub(super) struct Taker<'a> {
    texts: &'a mut Unpacked,
    stems: Stems,
    pub(super) holes: Vec<Stretch>,
}

impl<'a> Taker<'a> {
    pub(super) fn new(texts: &'a mut RefCell<Unpacked>) -> Taker<'a> {
        Taker {
            texts: texts.get_mut(),
            stems: Stems::default(),
            holes: Vec::new(),
        }
    }

    /// FTS5 does not know what words a text had and has to be told them again.
    pub(super) fn take_out(
        &mut self,
        transaction: &Transaction<'_>,
        entry: &Entry,
    ) -> rusqlite::Result<()> {
        let tongue = Tongue::from_number(entry.tongue)
            .ok_or_else(|| texts::damaged("a text of an unknown language"))?;
        for (id, chunk) in entry.numbered() {
            let at = entry.at + chunk.start;
            let text = self.texts.read(transaction, at..at + chunk.length)?;
            let tokens = text::stored(&text, tongue, &mut self.stems);
            tell(transaction, TAKE_OUT, id, &tokens)?;
        }
        self.holes.push(texts::taken_by(entry.at, entry.bytes));
        Ok(())
    }
}

/// What FTS5 is told where a chunk comes, for its words and its pairs.
pub(super) const PUT_IN: [&str; 2] = [
    "INSERT INTO words (rowid, tokens) VALUES (?1, ?2)",
    "INSERT INTO pairs (rowid, tokens) VALUES (?1, ?2)",
];

/// What it is told where one goes.
const TAKE_OUT: [&str; 2] = [
    "INSERT INTO words (words, rowid, tokens) VALUES ('delete', ?1, ?2)",
    "INSERT INTO pairs (pairs, rowid, tokens) VALUES ('delete', ?1, ?2)",
];

pub(super) fn tell(
    transaction: &Transaction<'_>,
    what: [&str; 2],
    id: u64,
    tokens: &Stored,
) -> rusqlite::Result<()> {
    for (sql, tokens) in what.into_iter().zip([&tokens.words, &tokens.pairs]) {
        if !tokens.is_empty() {
            transaction
                .prepare_cached(sql)?
                .execute(params![id as i64, tokens])?;
        }
    }
    Ok(())
}
