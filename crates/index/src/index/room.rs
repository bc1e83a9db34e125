//! How much room vectors have: what texts and words leave of one and a half times
//! the text.
//!
//! The vector of a text of a few words is as large as the text, however few bits
//! a dimension has. So where whole vectors do not fit, the shortest texts have
//! sketches instead, and as few of them as will do; where sketches do not fit
//! either, the shortest have none and are found by their words.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::bits::{SKETCH, bits_for, stored_length};
use super::write::changed;
use super::{IndexError, SqliteIndex, packs};

/// What vectors may take whatever the text: with few texts there is little to save,
/// and each of them counts.
const FLOOR: u64 = 32 * 1024;

/// No text of so many bytes has a sketch: its vector is a fifth of it.
pub(super) const SHORT: u64 = 256;

/// By how many bytes the lengths go up below which texts have sketches or nothing.
const STEP: usize = 16;

/// How much is saved: from 0, where every text has a whole vector, to [`SHORT`],
/// where all short ones have sketches, and on to twice that, where they have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Thrift(u64);

/// What stands for a text in the space of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A vector.
    Whole,
    /// A sketch, or a vector where there is one.
    Sketch,
    /// Nothing.
    Bare,
}

impl Thrift {
    const MOST: Thrift = Thrift(2 * SHORT);

    fn all() -> impl Iterator<Item = Thrift> {
        (0..=Thrift::MOST.0).step_by(STEP).map(Thrift)
    }

    /// As it was last chosen.
    pub(super) fn stored(connection: &Connection) -> rusqlite::Result<Thrift> {
        connection
            .prepare_cached("SELECT value FROM meta WHERE name = 'sketched'")?
            .query_row([], |row| row.get::<_, i64>(0))
            .optional()
            // In a damaged file it may be any number.
            .map(|number| number.unwrap_or(0).clamp(0, Thrift::MOST.0 as i64) as u64)
            .map(Thrift)
    }

    /// What a text of so many bytes has.
    pub(super) fn form(self, length: u64) -> Form {
        if length < self.0.saturating_sub(SHORT) {
            Form::Bare
        } else if length < self.0.min(SHORT) {
            Form::Sketch
        } else {
            Form::Whole
        }
    }
}

/// What the vectors of these texts take.
fn taken(lengths: &[u64], thrift: Thrift, dimensions: usize) -> u64 {
    let bytes = |length: &u64| {
        let bits = match thrift.form(*length) {
            Form::Bare => return 0,
            Form::Sketch => SKETCH,
            Form::Whole => bits_for(*length, dimensions),
        };
        packs::taken(bits, stored_length(dimensions, bits))
    };
    lengths.iter().map(bytes).sum()
}

/// As little thrift as will do. It goes down only where a tenth of the room is
/// left then, so that it does not go up again with the next note: whole vectors
/// have to be made for what had sketches.
fn chosen(lengths: &[u64], now: Thrift, dimensions: usize, room: u64) -> Thrift {
    if taken(lengths, now, dimensions) > room {
        let fits = |more: &Thrift| *more > now && taken(lengths, *more, dimensions) <= room;
        return Thrift::all().find(fits).unwrap_or(Thrift::MOST);
    }
    let spared = room - room / 10;
    let fits = |less: &Thrift| *less < now && taken(lengths, *less, dimensions) <= spared;
    Thrift::all().find(fits).unwrap_or(now)
}

impl SqliteIndex {
    /// Chooses which texts have sketches for vectors of a model, and which none.
    pub(super) fn make_room(&mut self, model: &str, dimensions: usize) -> Result<(), IndexError> {
        let shape = self.shape_now()?;
        let room = self.room(model).map_err(self.sqlite())?;
        // What is said twice has one vector.
        let extents = shape.extents.iter();
        let lengths = extents.map(|extent| (extent.hash, extent.length));
        let lengths: HashMap<u64, u64> = lengths.collect();
        let lengths: Vec<u64> = lengths.into_values().collect();
        let thrift = chosen(&lengths, shape.thrift, dimensions, room);
        if thrift == shape.thrift {
            return Ok(());
        }
        let sqlite = self.sqlite();
        let mut note = || -> rusqlite::Result<()> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT OR REPLACE INTO meta VALUES ('sketched', ?1)",
                [thrift.0 as i64],
            )?;
            changed(&transaction)?;
            transaction.commit()
        };
        note().map_err(sqlite)
    }

    /// What vectors of a model may take.
    fn room(&self, model: &str) -> rusqlite::Result<u64> {
        let number = |sql: &str| -> rusqlite::Result<u64> {
            self.connection
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .map(|number| number.max(0) as u64)
        };
        let text = number("SELECT coalesce(sum(bytes), 0) FROM leaf")?;
        let pages = number("PRAGMA page_count")?.saturating_sub(number("PRAGMA freelist_count")?);
        let file = pages.saturating_mul(number("PRAGMA page_size")?);
        let own = match packs::model(&self.connection, model)? {
            Some(model) => packs::bytes(&self.connection, model)?,
            None => 0,
        };
        // A fiftieth is for what pages cost that are not full.
        let most = text.saturating_add(text / 2 - text / 50);
        Ok(most.saturating_sub(file.saturating_sub(own)).max(FLOOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_texts_have_sketches_or_nothing_and_no_more_of_them_than_must() {
        let lengths: Vec<u64> = (0..2_000).map(|at| 20 + at % 200).collect();
        let whole = taken(&lengths, Thrift(0), 384);
        assert_eq!(chosen(&lengths, Thrift(0), 384, whole), Thrift(0));
        let sketched = taken(&lengths, Thrift(SHORT), 384);
        assert!(chosen(&lengths, Thrift(0), 384, sketched) <= Thrift(SHORT));
        assert!(chosen(&lengths, Thrift(0), 384, sketched - 1) > Thrift(SHORT));
        let mut last = Thrift(0);
        for part in (0..=20).rev() {
            let room = whole * part / 20;
            let thrift = chosen(&lengths, Thrift(0), 384, room);
            assert!(taken(&lengths, thrift, 384) <= room);
            assert!(thrift >= last);
            let less = Thrift(thrift.0.saturating_sub(STEP as u64));
            assert!(thrift == Thrift(0) || taken(&lengths, less, 384) > room);
            last = thrift;
        }
        assert_eq!(taken(&lengths, last, 384), 0);
        // What is longer has a vector whatever the room.
        assert_eq!(Thrift::MOST.form(SHORT), Form::Whole);
    }

    #[test]
    fn what_was_chosen_stays_until_there_is_room_to_spare() {
        let lengths: Vec<u64> = (0..2_000).map(|at| 20 + at % 200).collect();
        let step = STEP as u64;
        for now in [96, SHORT + 96] {
            let at = |number: u64| taken(&lengths, Thrift(number), 384);
            let chosen = |room: u64| chosen(&lengths, Thrift(now), 384, room).0;
            assert_eq!(chosen(at(now)), now);
            assert_eq!(chosen(at(now - step)), now);
            assert!(chosen(at(now - step) * 10 / 9 + 10) < now);
            assert!(chosen(at(now) - 1) > now);
        }
    }
}
