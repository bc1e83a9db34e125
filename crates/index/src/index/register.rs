//! The records of a source: where each one's text and chunks are.
//!
//! Rows of the table hold as many records as go on a few pages. The id of a row
//! says with which source it begins, so that no index need tell: a row has
//! records of that source and of those behind it, up to the one with which the
//! next row begins. So small sources, of which there may be thousands, share
//! rows; only the last one of a row goes on in the next. A source is read whole
//! and known whole while it is written to.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::leaf::{self, Entry, Group};

/// What a row may have.
const ROW: usize = 3_900;

/// What a row may have so that another source comes into it. Whatever is written
/// to a small source writes the whole row.
const SHARED: usize = 1_400;

/// The numbers that the rows of a source have.
const ROWS: i64 = 1 << 24;

/// What a group takes beside its records.
const GROUP: usize = 4;

/// A row.
#[derive(Default)]
struct Row {
    id: i64,
    /// Records of sources before and behind this one.
    before: Vec<Group>,
    entries: Vec<Entry>,
    behind: Vec<Group>,
    /// Whether the source has, or had, records in it.
    ours: bool,
    size: usize,
    changed: bool,
}

impl Row {
    fn of(source: i64, id: i64, blob: &[u8]) -> rusqlite::Result<Row> {
        let mut row = Row {
            id,
            size: blob.len(),
            ..Row::default()
        };
        for group in leaf::decoded(id / ROWS, blob)? {
            match group.source.cmp(&source) {
                std::cmp::Ordering::Less => row.before.push(group),
                std::cmp::Ordering::Equal => row.entries.extend(group.entries),
                std::cmp::Ordering::Greater => row.behind.push(group),
            }
        }
        row.ours = !row.entries.is_empty();
        Ok(row)
    }

    /// Whether it has room for so many bytes more of its source.
    fn has_room(&self, bytes: usize) -> bool {
        let alone = self.before.is_empty() && self.behind.is_empty();
        if alone && self.entries.is_empty() {
            return true;
        }
        let most = if alone || self.ours { ROW } else { SHARED };
        self.size + bytes <= most
    }
}

/// All records of one source.
pub(super) struct Register {
    source: i64,
    rows: Vec<Row>,
    /// Rows of the sources behind it, for which there was no room any more.
    parted: Vec<(i64, Vec<Group>)>,
    /// The row of each record.
    places: HashMap<Box<str>, usize>,
}

impl Register {
    pub(super) fn load(connection: &Connection, source: i64) -> rusqlite::Result<Register> {
        let mut register = Register {
            source,
            rows: Vec::new(),
            parted: Vec::new(),
            places: HashMap::new(),
        };
        let [first, end] = span(source);
        // The row that has its first records, or would have.
        let begins = connection
            .prepare_cached("SELECT id, records FROM leaf WHERE id <= ?1 ORDER BY id DESC LIMIT 1")?
            .query_row([first], |row| {
                Row::of(source, row.get(0)?, row.get_ref(1)?.as_blob()?)
            })
            .optional()?;
        register.rows.extend(begins);
        let mut statement = connection
            .prepare_cached("SELECT id, records FROM leaf WHERE id > ?1 AND id < ?2 ORDER BY id")?;
        let mut rows = statement.query([first, end])?;
        while let Some(row) = rows.next()? {
            let row = Row::of(source, row.get(0)?, row.get_ref(1)?.as_blob()?)?;
            register.rows.push(row);
        }
        for (at, row) in register.rows.iter().enumerate() {
            for entry in &row.entries {
                register.places.insert(entry.name.as_str().into(), at);
            }
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
        let entry = row.entries.remove(at);
        let last = at.checked_sub(1).map(|last| &row.entries[last]);
        let size = leaf::size_behind(last, &entry);
        row.size = row.size.saturating_sub(size);
        Some(entry)
    }

    /// Puts a record behind all others. One of its name must have been taken.
    pub(super) fn put(&mut self, entry: Entry) {
        let last = self.rows.last().and_then(|row| row.entries.last());
        let mut size = leaf::size_behind(last, &entry);
        if last.is_none() {
            size += GROUP;
        }
        let name = entry.name.as_str().into();
        match self.rows.last_mut() {
            Some(row) if row.has_room(size) => {
                row.entries.push(entry);
                row.ours = true;
                row.size += size;
                row.changed = true;
            }
            last => {
                let mut id = self.source.saturating_mul(ROWS);
                if let Some(last) = last {
                    // Where it begins in the row of another, its first number is
                    // left to be a row of its own once they have to part.
                    if last.id >= id {
                        id = last.id + 1;
                    } else if last.ours {
                        id += 1;
                    }
                    // What lies behind it must stay behind it.
                    if let Some(next) = last.behind.first() {
                        let next = next.source.saturating_mul(ROWS);
                        self.parted.push((next, std::mem::take(&mut last.behind)));
                        last.changed = true;
                    }
                }
                self.rows.push(Row {
                    id,
                    entries: vec![entry],
                    ours: true,
                    size: size + GROUP,
                    changed: true,
                    ..Row::default()
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
            let mut groups = std::mem::take(&mut row.before);
            let (before, own) = (groups.len(), usize::from(!row.entries.is_empty()));
            if own == 1 {
                groups.push(Group {
                    source: self.source,
                    entries: std::mem::take(&mut row.entries),
                });
            }
            groups.append(&mut row.behind);
            write(transaction, row.id, &groups)?;
            row.behind = groups.split_off(before + own);
            if own == 1 {
                row.entries = groups.pop().map(|own| own.entries).unwrap_or_default();
            }
            row.before = groups;
            row.changed = false;
        }
        for (id, groups) in self.parted.drain(..) {
            write(transaction, id, &groups)?;
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
fn write(transaction: &Transaction<'_>, id: i64, groups: &[Group]) -> rusqlite::Result<()> {
    if groups.is_empty() {
        return transaction
            .prepare_cached("DELETE FROM leaf WHERE id = ?1")?
            .execute([id])
            .map(drop);
    }
    let entries = || groups.iter().flat_map(|group| &group.entries);
    let chunks: usize = entries().map(|entry| entry.chunks.len()).sum();
    // In a damaged file they may be any numbers.
    let bytes = entries().map(|entry| entry.bytes);
    let bytes = bytes.fold(0, u64::saturating_add);
    transaction
        .prepare_cached("INSERT OR REPLACE INTO leaf VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            id,
            entries().count() as i64,
            chunks as i64,
            bytes.min(i64::MAX as u64) as i64,
            leaf::encoded(id / ROWS, groups)
        ])
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
        for group in leaf::decoded(id / ROWS, row.get_ref(1)?.as_blob()?)? {
            take(group.source, group.entries);
        }
    }
    Ok(())
}

/// The rows of all sources, so that texts can be moved.
pub(super) struct Everything(Vec<(i64, Vec<Group>, bool)>);

/// Where in them a record is: its row, its group, its place there.
pub(super) type Place = (usize, usize, usize);

impl Everything {
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Everything> {
        let mut all = Vec::new();
        let mut statement = connection.prepare_cached("SELECT id, records FROM leaf")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let groups = leaf::decoded(id / ROWS, row.get_ref(1)?.as_blob()?)?;
            all.push((id, groups, false));
        }
        Ok(Everything(all))
    }

    /// Every record with its place.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Place, &Entry)> {
        let rows = self.0.iter().enumerate();
        let groups = rows.flat_map(|(row, (_, groups, _))| {
            let groups = groups.iter().enumerate();
            groups.map(move |(group, records)| (row, group, records))
        });
        groups.flat_map(|(row, group, records)| {
            let entries = records.entries.iter().enumerate();
            entries.map(move |(at, entry)| ((row, group, at), entry))
        })
    }

    /// Notes where a record's text is now.
    pub(super) fn move_to(&mut self, (row, group, at): Place, to: u64) {
        let (_, groups, changed) = &mut self.0[row];
        groups[group].entries[at].at = to;
        *changed = true;
    }

    pub(super) fn save(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let changed = self.0.iter().filter(|(_, _, changed)| *changed);
        for (id, groups, _) in changed {
            write(transaction, *id, groups)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn entry(name: u8, length: usize) -> Entry {
        Entry {
            // A name that cannot be packed, so that rows are soon full.
            name: format!("{name:<length$}~"),
            bytes: 7,
            ..Entry::default()
        }
    }

    proptest! {
        /// Whatever shares a row with what, grows, or goes.
        #[test]
        fn a_source_has_the_records_that_were_put_into_it(
            steps in prop::collection::vec(
                (1i64..9, prop::collection::vec((0u8..12, 3usize..700, any::<bool>()), 1..9)),
                1..40,
            )
        ) {
            let mut connection = Connection::open_in_memory().unwrap();
            crate::index::schema::create(&connection).unwrap();
            let mut all: BTreeMap<i64, BTreeMap<u8, String>> = BTreeMap::new();
            for (source, changes) in steps {
                let transaction = connection.transaction().unwrap();
                let mut register = Register::load(&transaction, source).unwrap();
                let own = all.entry(source).or_default();
                for (name, length, stays) in changes {
                    if let Some(old) = own.remove(&name) {
                        prop_assert!(register.take(&old).is_some());
                    }
                    if stays {
                        let entry = entry(name, length);
                        own.insert(name, entry.name.clone());
                        register.put(entry);
                    }
                }
                register.save(&transaction).unwrap();
                transaction.commit().unwrap();
                for (source, own) in &all {
                    let register = Register::load(&connection, *source).unwrap();
                    let mut found: Vec<String> =
                        register.entries().map(|entry| entry.name.clone()).collect();
                    let mut wanted: Vec<String> = own.values().cloned().collect();
                    found.sort();
                    wanted.sort();
                    prop_assert_eq!(found, wanted);
                }
                let mut order = Vec::new();
                each(&connection, |source, entries| {
                    assert!(!entries.is_empty());
                    order.push(source);
                }).unwrap();
                prop_assert!(order.is_sorted());
                let count = all.values().map(BTreeMap::len).sum::<usize>() as i64;
                let counted = connection.query_row(
                    "SELECT coalesce(sum(count), 0) FROM leaf", [], |row| row.get::<_, i64>(0),
                );
                prop_assert_eq!(counted.unwrap(), count);
            }
        }
    }

    #[test]
    fn small_sources_share_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::index::schema::create(&connection).unwrap();
        let transaction = connection.transaction().unwrap();
        for source in 1..=500 {
            let mut register = Register::load(&transaction, source).unwrap();
            register.put(Entry::default());
            register.save(&transaction).unwrap();
        }
        let sql = "SELECT count(*), max(length(records)) FROM leaf";
        let (rows, longest): (i64, i64) = transaction
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert!(rows < 10, "{rows}");
        assert!(longest <= SHARED as i64, "{longest}");
    }
}
