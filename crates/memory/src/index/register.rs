//! The records of a source: where each one's text and chunks are.
//!
//! Rows of the table hold as many records as go on a page; their ids say which
//! source they are of, so that no index need tell. A source is read whole and
//! known whole while it is written to.

use std::collections::HashMap;

use rusqlite::{Connection, Transaction, params};

use super::leaf::{self, Entry};

/// What a row may have, so that a page has room for it beside what SQLite notes
/// of it.
const ROW: usize = 3_900;

/// The numbers that the rows of a source have.
const ROWS: i64 = 1 << 24;

/// A row.
struct Row {
    id: i64,
    entries: Vec<Entry>,
    size: usize,
    changed: bool,
}

/// All records of one source.
pub(super) struct Register {
    source: i64,
    rows: Vec<Row>,
    /// The row of each record.
    places: HashMap<Box<str>, usize>,
}

impl Register {
    pub(super) fn load(connection: &Connection, source: i64) -> rusqlite::Result<Register> {
        let mut register = Register {
            source,
            rows: Vec::new(),
            places: HashMap::new(),
        };
        let mut statement = connection.prepare_cached(
            "SELECT id, records FROM leaf WHERE id >= ?1 AND id < ?2 ORDER BY id",
        )?;
        let mut rows = statement.query(span(source))?;
        while let Some(row) = rows.next()? {
            let blob = row.get_ref(1)?.as_blob()?;
            let entries = leaf::decoded(blob)?;
            for entry in &entries {
                let name = entry.name.as_str().into();
                register.places.insert(name, register.rows.len());
            }
            register.rows.push(Row {
                id: row.get(0)?,
                entries,
                size: blob.len(),
                changed: false,
            });
        }
        Ok(register)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        let row = &self.rows[*self.places.get(name)?];
        row.entries.iter().find(|entry| entry.name == name)
    }

    /// All of them, in no order.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rows.iter().flat_map(|row| &row.entries)
    }

    /// A record to be changed in all but its name.
    pub(super) fn change(&mut self, name: &str) -> Option<&mut Entry> {
        let row = &mut self.rows[*self.places.get(name)?];
        row.changed = true;
        row.entries.iter_mut().find(|entry| entry.name == name)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Entry> {
        let row = &mut self.rows[self.places.remove(name)?];
        row.changed = true;
        let at = row.entries.iter().position(|entry| entry.name == name)?;
        Some(row.entries.remove(at))
    }

    /// Puts a record behind all others. One of its name must have been taken.
    pub(super) fn put(&mut self, entry: Entry) {
        let last = self.rows.last().and_then(|row| row.entries.last());
        let size = leaf::size_behind(last, &entry);
        let fits = |row: &&mut Row| row.entries.is_empty() || row.size + size <= ROW;
        let name = entry.name.as_str().into();
        match self.rows.last_mut().filter(fits) {
            Some(row) => {
                row.entries.push(entry);
                row.size += size;
                row.changed = true;
            }
            None => {
                let id = self
                    .rows
                    .last()
                    .map_or(self.source * ROWS, |row| row.id + 1);
                self.rows.push(Row {
                    id,
                    entries: vec![entry],
                    size,
                    changed: true,
                });
            }
        }
        self.places.insert(name, self.rows.len() - 1);
    }

    /// Writes what changed.
    pub(super) fn save(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        if !self.rows.iter().any(|row| row.changed) {
            return Ok(());
        }
        for row in self.rows.iter_mut().filter(|row| row.changed) {
            write(transaction, row.id, &row.entries)?;
            row.changed = false;
        }
        let kinds = self
            .entries()
            .fold(0i64, |kinds, one| kinds | 1 << one.kind);
        transaction
            .prepare_cached("UPDATE source SET kinds = ?2 WHERE id = ?1 AND kinds <> ?2")?
            .execute([self.source, kinds])
            .map(drop)
    }
}

/// From the first row of a source to that of the next.
fn span(source: i64) -> [i64; 2] {
    let first = source.saturating_mul(ROWS);
    [first, first.saturating_add(ROWS)]
}

/// Writes a row; one without records goes.
fn write(transaction: &Transaction<'_>, id: i64, entries: &[Entry]) -> rusqlite::Result<()> {
    if entries.is_empty() {
        return transaction
            .prepare_cached("DELETE FROM leaf WHERE id = ?1")?
            .execute([id])
            .map(drop);
    }
    let chunks: usize = entries.iter().map(|entry| entry.chunks.len()).sum();
    // In a damaged file they may be any numbers.
    let bytes = entries.iter().map(|entry| entry.bytes);
    let bytes = bytes.fold(0, u64::saturating_add);
    transaction
        .prepare_cached("INSERT OR REPLACE INTO leaf VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            id,
            entries.len() as i64,
            chunks as i64,
            bytes.min(i64::MAX as u64) as i64,
            leaf::encoded(entries)
        ])
        .map(drop)
}

/// Takes all records of a source out.
pub(super) fn clear(transaction: &Transaction<'_>, source: i64) -> rusqlite::Result<()> {
    transaction
        .execute("DELETE FROM leaf WHERE id >= ?1 AND id < ?2", span(source))
        .map(drop)
}

/// Hands on the records of every row, with the source they are of, in the order
/// of sources.
pub(super) fn each(
    connection: &Connection,
    mut take: impl FnMut(i64, Vec<Entry>),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT id, records FROM leaf ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        take(id / ROWS, leaf::decoded(row.get_ref(1)?.as_blob()?)?);
    }
    Ok(())
}

/// The rows of all sources, so that texts can be moved.
pub(super) struct Everything(Vec<(i64, Vec<Entry>, bool)>);

/// Where in them a record is.
pub(super) type Place = (usize, usize);

impl Everything {
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Everything> {
        let mut all = Vec::new();
        let mut statement = connection.prepare_cached("SELECT id, records FROM leaf")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let entries = leaf::decoded(row.get_ref(1)?.as_blob()?)?;
            all.push((row.get(0)?, entries, false));
        }
        Ok(Everything(all))
    }

    /// Every record with its place.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Place, &Entry)> {
        let rows = self.0.iter().enumerate();
        rows.flat_map(|(row, (_, entries, _))| {
            let entries = entries.iter().enumerate();
            entries.map(move |(at, entry)| ((row, at), entry))
        })
    }

    /// Notes where a record's text is now.
    pub(super) fn move_to(&mut self, (row, at): Place, to: u64) {
        let (_, entries, changed) = &mut self.0[row];
        entries[at].at = to;
        *changed = true;
    }

    pub(super) fn save(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let changed = self.0.iter().filter(|(_, _, changed)| *changed);
        for (id, entries, _) in changed {
            write(transaction, *id, entries)?;
        }
        Ok(())
    }
}
