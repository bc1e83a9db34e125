//! The shape of an index in memory: which chunk is where, who said it and when.
//!
//! A search scores all chunks at once, and neighbours must be neighbours in
//! memory; the texts stay on disk. Some fifty bytes a chunk.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use rusqlite::Connection;

use super::leaf::Entry;
use super::packs::Known;
use super::register;
use super::room::{Form, Thrift};

use crate::search::Quoting;

/// No slot, no role.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What every search asks of a chunk; the less it is, the faster it is read.
pub(crate) struct Slot {
    /// How many tokens it has.
    pub(crate) words: u32,
    /// What is ranked as one: an entry of a session, a chunk of a file.
    pub(crate) unit: u32,
}

/// Where the text of a chunk is.
pub(crate) struct Extent {
    /// Where among all texts it begins.
    pub(crate) at: u64,
    pub(crate) length: u64,
    pub(crate) lines: (u32, u32),
    pub(super) hash: u64,
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
    /// By slot.
    pub(crate) extents: Vec<Extent>,
    pub(crate) units: Vec<Unit>,
    /// By unit: how long it was until the next one was said, in milliseconds. What
    /// has no time was said at once, and behind the last of a source is for ever.
    pauses: Vec<u64>,
    pub(crate) sources: Vec<Source>,
    pub(crate) stretches: Vec<Stretch>,
    /// Which texts have sketches for vectors, and which none.
    pub(super) thrift: Thrift,
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

    /// Whether the unit behind this one is of the same conversation: of the same
    /// source, with no longer pause between them.
    pub(crate) fn goes_on(&self, unit: u32, pause: i64) -> bool {
        let until_next = self.pauses.get(unit as usize);
        until_next.is_some_and(|until_next| *until_next <= pause.unsigned_abs())
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
            extents: Vec::new(),
            units: Vec::new(),
            pauses: Vec::new(),
            sources: Vec::new(),
            stretches: Vec::new(),
            thrift: Thrift::stored(connection)?,
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
        let mut of_source: Vec<Entry> = Vec::new();
        let mut last = None;
        register::each(connection, |source, entries| {
            if last != Some(source) {
                let name = last.and_then(|last| names.remove(&last));
                shape.add(name, &mut of_source, &role_ids);
                last = Some(source);
            }
            of_source.extend(entries);
        })?;
        let name = last.and_then(|last| names.remove(&last));
        shape.add(name, &mut of_source, &role_ids);
        shape.by_id.sort_unstable();
        let words: u64 = shape.slots.iter().map(|slot| u64::from(slot.words)).sum();
        shape.average = (words as f32 / shape.slots.len().max(1) as f32).max(1.0);
        shape.divide();
        Ok(shape)
    }

    /// Adds a source with its records.
    fn add(&mut self, name: Option<String>, entries: &mut Vec<Entry>, roles: &HashMap<i64, u32>) {
        entries.retain(|entry| !entry.chunks.is_empty());
        if entries.is_empty() {
            return;
        }
        entries.sort_by_key(|entry| (entry.position, entry.at));
        let source = self.sources.len() as u32;
        let first = self.units.len() as u32;
        for entry in entries.drain(..) {
            let role = entry.role.and_then(|role| roles.get(&role.into()).copied());
            for (id, chunk) in entry.numbered() {
                let number = self.slots.len() as u32;
                // Each chunk of a file is one, all of an entry are.
                if entry.name.is_empty() || id == entry.first {
                    self.units.push(Unit {
                        slots: number..number,
                        source,
                        kind: entry.kind,
                        role: role.unwrap_or(NOTHING),
                        time: entry.time,
                        entry: entry.name.clone(),
                        stretch: NOTHING,
                    });
                }
                if let Some(unit) = self.units.last_mut() {
                    unit.slots.end = number + 1;
                }
                self.by_id.push((id as i64, number));
                self.slots.push(Slot {
                    words: chunk.words,
                    unit: self.units.len() as u32 - 1,
                });
                self.extents.push(Extent {
                    at: entry.at + chunk.start,
                    length: chunk.length,
                    lines: (chunk.line, chunk.line.saturating_add(chunk.lines)),
                    hash: chunk.hash,
                });
            }
        }
        let times = self.units[first as usize..].windows(2).map(|units| {
            let [one, next] = units else { return u64::MAX };
            one.time
                .zip(next.time)
                .map_or(0, |(one, next)| next.abs_diff(one))
        });
        self.pauses.extend(times);
        self.pauses.push(u64::MAX);
        self.sources.push(Source {
            name: name.unwrap_or_default(),
            units: first..self.units.len() as u32,
        });
    }

    /// How many chunks have no vector because there is no room for one.
    pub(crate) fn bare(&self) -> usize {
        let bare = |extent: &&Extent| self.form(extent) == Form::Bare;
        self.extents.iter().filter(bare).count()
    }

    /// How many chunks have no vector because the model refused them.
    pub(super) fn refused(&self, known: &Known) -> usize {
        let refused = |extent: &&Extent| known.is_refused(extent.hash, self.form(extent));
        self.extents.iter().filter(refused).count()
    }

    /// What a chunk has for a vector.
    pub(super) fn form(&self, extent: &Extent) -> Form {
        self.thrift.form(extent.length)
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
                    .map(|extent| extent.length)
                    .fold(bytes, u64::saturating_add);
            }
            self.stretches.push(Stretch { bytes });
        }
    }
}
