//! The shape of an index in memory: which chunk is where, who said it and when.
//!
//! A search scores all chunks at once, and neighbours must be neighbours in
//! memory; the texts stay on disk. Some fifty bytes a chunk.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use rusqlite::Connection;

use crate::search::Quoting;

/// No slot, no role.
pub(crate) const NOTHING: u32 = u32::MAX;

/// A chunk.
pub(crate) struct Slot {
    /// Where among all texts it begins.
    pub(crate) at: u64,
    pub(crate) length: u64,
    pub(crate) lines: (u32, u32),
    /// How many tokens it has.
    pub(crate) words: u32,
    pub(crate) hash: i64,
    /// What is ranked as one: an entry of a session, a chunk of a file.
    pub(crate) unit: u32,
}

/// What is ranked as one.
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
    pub(crate) units: Vec<Unit>,
    pub(crate) sources: Vec<Source>,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) roles: Vec<String>,
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

    /// Whether two units are of two conversations: of two sources, or with a
    /// longer pause between them.
    pub(crate) fn is_apart(&self, a: u32, b: u32, pause: i64) -> bool {
        let (a, b) = (&self.units[a as usize], &self.units[b as usize]);
        let paused = match (a.time, b.time) {
            (Some(a), Some(b)) => a.abs_diff(b) > pause.unsigned_abs(),
            _ => false,
        };
        a.source != b.source || paused
    }

    pub(super) fn load(connection: &Connection, changes: i64) -> rusqlite::Result<Shape> {
        let mut roles: Vec<String> = Vec::new();
        let mut role_ids: HashMap<i64, u32> = HashMap::new();
        let mut statement = connection.prepare_cached("SELECT id, name FROM role")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            role_ids.insert(row.get(0)?, roles.len() as u32);
            roles.push(row.get(1)?);
        }
        let mut shape = Shape {
            changes,
            slots: Vec::new(),
            units: Vec::new(),
            sources: Vec::new(),
            stretches: Vec::new(),
            roles,
            average: 1.0,
            quoting: OnceLock::new(),
            by_id: Vec::new(),
        };
        let mut names: HashMap<i64, String> = HashMap::new();
        let mut statement = connection.prepare_cached("SELECT id, name FROM source")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            names.insert(row.get(0)?, row.get(1)?);
        }
        let mut statement = connection.prepare_cached(
            "SELECT c.id, r.id, c.at, c.length, c.line, c.lines, c.hash,
                    r.source, r.entry, r.kind, r.role, r.time, c.words
             FROM record r CROSS JOIN chunk c
             WHERE c.id >= r.chunk AND c.id < r.chunk + r.chunks
             ORDER BY r.source, r.position, r.id, c.at",
        )?;
        let mut rows = statement.query([])?;
        let mut source_id = None;
        let mut last_record = None;
        while let Some(row) = rows.next()? {
            let number = shape.slots.len() as u32;
            let record: i64 = row.get(1)?;
            let source: i64 = row.get(7)?;
            if source_id != Some(source) {
                source_id = Some(source);
                let units = shape.units.len() as u32;
                shape.sources.push(Source {
                    name: names.get(&source).cloned().unwrap_or_default(),
                    units: units..units,
                });
            }
            let entry = row.get_ref(8)?.as_str()?;
            let same = !entry.is_empty() && last_record == Some(record);
            last_record = Some(record);
            if !same {
                shape.units.push(Unit {
                    slots: number..number,
                    source: shape.sources.len() as u32 - 1,
                    kind: row.get(9)?,
                    role: row
                        .get::<_, Option<i64>>(10)?
                        .and_then(|role| role_ids.get(&role).copied())
                        .unwrap_or(NOTHING),
                    time: row.get(11)?,
                    entry: entry.to_owned(),
                    stretch: NOTHING,
                });
            }
            let unit = shape.units.len() as u32 - 1;
            let line: u32 = row.get(4)?;
            let slot = Slot {
                at: row.get::<_, i64>(2)? as u64,
                length: row.get::<_, i64>(3)? as u64,
                lines: (line, line.saturating_add(row.get(5)?)),
                words: row.get(12)?,
                hash: row.get(6)?,
                unit,
            };
            if let Some(last) = shape.units.last_mut() {
                last.slots.end = number + 1;
            }
            if let Some(last) = shape.sources.last_mut() {
                last.units.end = unit + 1;
            }
            shape.by_id.push((row.get(0)?, number));
            shape.slots.push(slot);
        }
        shape.by_id.sort_unstable();
        let words: u64 = shape.slots.iter().map(|slot| u64::from(slot.words)).sum();
        shape.average = (words as f32 / shape.slots.len().max(1) as f32).max(1.0);
        shape.divide();
        Ok(shape)
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
                bytes = self.slots[slots]
                    .iter()
                    .map(|slot| slot.length)
                    .fold(bytes, u64::saturating_add);
            }
            self.stretches.push(Stretch { bytes });
        }
    }
}
