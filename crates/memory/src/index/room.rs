//! How much room vectors have: what texts and words leave of one and a half times
//! the text.
//!
//! The vector of a text of a few words is as large as the text, however few bits
//! a dimension has. So where whole vectors do not fit, the shortest texts have
//! sketches instead, and as few of them as will do.

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

/// By how many bytes the length goes up below which texts have sketches.
const STEP: u64 = 16;

/// The length below which a sketch is enough, as it was last chosen.
pub(super) fn sketched_below(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE name = 'sketched'")?
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()
        // In a damaged file it may be any number.
        .map(|below| below.unwrap_or(0).clamp(0, SHORT as i64) as u64)
}

/// What the vectors of these texts take, where shorter ones have sketches.
fn taken(lengths: &[u64], below: u64, dimensions: usize) -> u64 {
    let bytes = |length: &u64| {
        let bits = match *length < below {
            true => SKETCH,
            false => bits_for(*length, dimensions),
        };
        packs::taken(bits, stored_length(dimensions, bits))
    };
    lengths.iter().map(bytes).sum()
}

/// The length below which a sketch is enough. It goes down only where a tenth of
/// the room is left then, so that it does not go up again with the next note:
/// whole vectors have to be made for what had sketches.
fn chosen(lengths: &[u64], now: u64, dimensions: usize, room: u64) -> u64 {
    let mut steps = (0..=SHORT).step_by(STEP as usize);
    if taken(lengths, now, dimensions) > room {
        let fits = |below: &u64| *below > now && taken(lengths, *below, dimensions) <= room;
        return steps.find(fits).unwrap_or(SHORT);
    }
    let spared = room - room / 10;
    let fits = |below: &u64| *below < now && taken(lengths, *below, dimensions) <= spared;
    steps.find(fits).unwrap_or(now)
}

impl SqliteIndex {
    /// Chooses which texts have sketches for vectors of a model.
    pub(super) fn make_room(&mut self, model: &str, dimensions: usize) -> Result<(), IndexError> {
        let shape = self.shape_now()?;
        let room = self.room(model).map_err(self.sqlite())?;
        // What is said twice has one vector.
        let extents = shape.extents.iter();
        let lengths = extents.map(|extent| (extent.hash, extent.length));
        let lengths: HashMap<u64, u64> = lengths.collect();
        let lengths: Vec<u64> = lengths.into_values().collect();
        let below = chosen(&lengths, shape.sketched_below, dimensions, room);
        if below == shape.sketched_below {
            return Ok(());
        }
        let sqlite = self.sqlite();
        let mut note = || -> rusqlite::Result<()> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT OR REPLACE INTO meta VALUES ('sketched', ?1)",
                [below as i64],
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
    fn the_shortest_texts_have_sketches_and_no_more_of_them_than_must() {
        let lengths: Vec<u64> = (0..2_000).map(|at| 20 + at % 200).collect();
        let whole = taken(&lengths, 0, 384);
        let least = taken(&lengths, SHORT, 384);
        assert_eq!(chosen(&lengths, 0, 384, whole), 0);
        assert_eq!(chosen(&lengths, 0, 384, least - 1), SHORT);
        let mut last = 0;
        for part in (0..=10).rev() {
            let room = least + (whole - least) * part / 10;
            let below = chosen(&lengths, 0, 384, room);
            assert!(taken(&lengths, below, 384) <= room);
            assert!(below >= last);
            assert!(below == 0 || taken(&lengths, below - STEP, 384) > room);
            last = below;
        }
    }

    #[test]
    fn what_was_chosen_stays_until_there_is_room_to_spare() {
        let lengths: Vec<u64> = (0..2_000).map(|at| 20 + at % 200).collect();
        let at = |below: u64| taken(&lengths, below, 384);
        let below = 96;
        assert_eq!(chosen(&lengths, below, 384, at(below)), below);
        assert_eq!(chosen(&lengths, below, 384, at(below - STEP)), below);
        assert!(chosen(&lengths, below, 384, at(below - STEP) * 10 / 9 + 10) < below);
        assert!(chosen(&lengths, below, 384, at(below) - 1) > below);
    }
}
