//! The shape of an index in memory: which chunk is where, who said it and when.
//!
//! A search scores all chunks at once, and neighbours must be neighbours in
//! memory; the texts stay on disk. Some fifty bytes a chunk.

use std::ops::Range;
use std::sync::OnceLock;

use rusqlite::Connection;

use super::quoted::Quoting;

/// No slot, no role.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What every search asks of a chunk; the less it is, the faster it is read.
pub(crate) struct Slot {
    /// How many tokens it has.
    pub(crate) words: u32,
    /// What is ranked as one: an entry of a session, a chunk of a file.
    pub(crate) unit: u32,
}

/// A chunk of a text.
#[derive(Clone)]
pub(crate) struct Extent {
    pub(crate) id: i64,
    pub(crate) bytes: u64,
    pub(crate) lines: (u32, u32),
    pub(super) hash: i64,
}

/// What is ranked as one.
#[derive(Clone)]
pub(crate) struct Unit {
    pub(crate) slots: Range<u32>,
    pub(crate) source: u32,
    pub(crate) kind: u8,
    pub(crate) role: u32,
    pub(crate) time: Option<i64>,
    pub(crate) entry: String,
    /// The stretch it is in; [`NOTHING`] in a long source.
    pub(crate) stretch: u32,
}

/// A session or file.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) units: Range<u32>,
}

/// A session or file that is short enough to be about one thing. What a long
/// one says as a whole tells nothing of its parts.
pub(crate) struct Stretch {
    pub(crate) bytes: u64,
}

/// A source of more units than this is no stretch.
const LONGEST_STRETCH: u32 = 48;

/// All of it.
pub(crate) struct Shape {
    pub(crate) changes: i64,
    pub(crate) slots: Vec<Slot>,
    /// By slot.
    pub(crate) extents: Vec<Extent>,
    pub(crate) units: Vec<Unit>,
    /// By unit: how long it was until the next one was said, in milliseconds. What
    /// has no time was said at once, and behind the last of a source is for ever.
    pauses: Vec<u64>,
    pub(crate) sources: Vec<Source>,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) roles: Vec<String>,
    /// By role: whether it is the user's.
    users: Vec<bool>,
    /// How many tokens a chunk has on average.
    pub(crate) average: f32,
    /// What pages of the memory quote, once a search has looked.
    pub(crate) quoting: OnceLock<Quoting>,
    /// The slots of chunks by id, in the order of ids.
    by_id: Vec<(i64, u32)>,
}

impl Shape {
    /// The slot of a chunk.
    pub(crate) fn slot_of(&self, id: i64) -> Option<u32> {
        let first = self.by_id.first()?.0;
        // Where nothing was taken out, an id says where it is.
        let direct = usize::try_from(id.checked_sub(first)?).ok()?;
        match self.by_id.get(direct) {
            Some((known, slot)) if *known == id => Some(*slot),
            _ => {
                let at = self.by_id.binary_search_by_key(&id, |(known, _)| *known);
                at.ok().map(|at| self.by_id[at].1)
            }
        }
    }

    /// Whether the user said it.
    pub(crate) fn is_user(&self, unit: u32) -> bool {
        let role = self.units[unit as usize].role;
        self.users.get(role as usize).copied().unwrap_or(false)
    }

    /// Whether the unit behind this one is of the same conversation: of the same
    /// source, with no longer pause between them.
    pub(crate) fn goes_on(&self, unit: u32, pause: i64) -> bool {
        let until_next = self.pauses.get(unit as usize);
        until_next.is_some_and(|until_next| *until_next <= pause.unsigned_abs())
    }

    pub(super) fn load(connection: &Connection, changes: i64) -> rusqlite::Result<Shape> {
        let mut shape = Shape {
            changes,
            slots: Vec::new(),
            extents: Vec::new(),
            units: Vec::new(),
            pauses: Vec::new(),
            sources: Vec::new(),
            stretches: Vec::new(),
            roles: Vec::new(),
            users: Vec::new(),
            average: 1.0,
            quoting: OnceLock::new(),
            by_id: Vec::new(),
        };
        let chunks = chunks(connection)?;
        let sql = "SELECT name, entry, kind, role, time, first, chunks FROM record
                   JOIN source ON source.id = source ORDER BY source, position, record.id";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let role = row.get_ref(3)?.as_str_or_null()?;
            let unit = Unit {
                slots: 0..0,
                source: 0,
                kind: row.get(2)?,
                role: role.map_or(NOTHING, |role| shape.role(role)),
                time: row.get(4)?,
                entry: row.get(1)?,
                stretch: NOTHING,
            };
            let (first, count): (i64, i64) = (row.get(5)?, row.get(6)?);
            let begin = chunks.partition_point(|(extent, _)| extent.id < first);
            let own = chunks[begin..].iter();
            let own = own.take_while(|(extent, _)| extent.id < first.saturating_add(count));
            shape.add(row.get_ref(0)?.as_str()?, &unit, own);
        }
        shape.by_id.sort_unstable();
        let words: u64 = shape.slots.iter().map(|slot| u64::from(slot.words)).sum();
        shape.average = (words as f32 / shape.slots.len().max(1) as f32).max(1.0);
        shape.pause();
        shape.divide();
        Ok(shape)
    }

    fn role(&mut self, name: &str) -> u32 {
        let known = self.roles.iter().position(|role| role == name);
        let at = known.unwrap_or_else(|| {
            self.roles.push(name.to_owned());
            self.users.push(name.eq_ignore_ascii_case("user"));
            self.roles.len() - 1
        });
        at as u32
    }

    /// Adds the chunks of a record.
    fn add<'a>(
        &mut self,
        source: &str,
        record: &Unit,
        chunks: impl Iterator<Item = &'a (Extent, u32)>,
    ) {
        for (number, (extent, words)) in chunks.enumerate() {
            let slot = self.slots.len() as u32;
            if self.sources.last().is_none_or(|last| last.name != source) {
                self.sources.push(Source {
                    name: source.to_owned(),
                    units: self.units.len() as u32..self.units.len() as u32,
                });
            }
            // Each chunk of a file is one, all of an entry are.
            if record.entry.is_empty() || number == 0 {
                self.units.push(Unit {
                    slots: slot..slot,
                    source: self.sources.len() as u32 - 1,
                    ..record.clone()
                });
            }
            if let (Some(unit), Some(source)) = (self.units.last_mut(), self.sources.last_mut()) {
                unit.slots.end = slot + 1;
                source.units.end = self.units.len() as u32;
            }
            self.by_id.push((extent.id, slot));
            self.slots.push(Slot {
                words: *words,
                unit: self.units.len() as u32 - 1,
            });
            self.extents.push(extent.clone());
        }
    }

    fn pause(&mut self) {
        for source in &self.sources {
            let units = &self.units[source.units.start as usize..source.units.end as usize];
            let pauses = units.windows(2).map(|units| {
                let [one, next] = units else { return u64::MAX };
                one.time
                    .zip(next.time)
                    .map_or(0, |(one, next)| next.abs_diff(one))
            });
            self.pauses.extend(pauses);
            self.pauses.push(u64::MAX);
        }
    }

    fn divide(&mut self) {
        for source in &self.sources {
            let Range { start, end } = source.units;
            if end - start > LONGEST_STRETCH {
                continue;
            }
            let number = self.stretches.len() as u32;
            let mut bytes = 0u64;
            for unit in &mut self.units[start as usize..end as usize] {
                unit.stretch = number;
                let slots = unit.slots.start as usize..unit.slots.end as usize;
                bytes = self.extents[slots]
                    .iter()
                    .map(|extent| extent.bytes)
                    .fold(bytes, u64::saturating_add);
            }
            self.stretches.push(Stretch { bytes });
        }
    }
}

/// All chunks, with how many tokens each has, in the order of their ids.
fn chunks(connection: &Connection) -> rusqlite::Result<Vec<(Extent, u32)>> {
    let sql = "SELECT id, bytes, line, last, hash, words FROM chunk ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let chunks = statement.query_map([], |row| {
        let extent = Extent {
            id: row.get(0)?,
            bytes: row.get::<_, i64>(1)?.unsigned_abs(),
            lines: (row.get(2)?, row.get(3)?),
            hash: row.get(4)?,
        };
        Ok((extent, row.get(5)?))
    })?;
    chunks.collect()
}
