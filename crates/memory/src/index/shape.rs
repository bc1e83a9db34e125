//! The shape of an index in memory: which chunk is where, who said it and when.
//!
//! A search scores all chunks at once, and neighbours must be neighbours in
//! memory; the texts stay on disk. Some fifty bytes a chunk.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use rusqlite::Connection;

use super::hash::joined;
use super::leaf::Entry;
use super::register;

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
    pub(super) hash: u64,
    /// What is ranked as one: an entry of a session, a chunk of a file.
    pub(crate) unit: u32,
    /// What it has its vector with.
    pub(super) passage: u32,
}

/// What has one vector: a chunk, or several short messages of a session. Of a
/// few words a vector tells little without those around them, and takes more
/// room than they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Passage {
    /// The hash of its text.
    pub(super) key: u64,
    pub(super) bytes: u64,
    /// How many slots have a part in it.
    pub(super) slots: u32,
    /// Where they begin among the members.
    pub(super) first: u32,
}

impl Passage {
    fn of(slot: &Slot) -> Passage {
        Passage {
            key: slot.hash,
            bytes: slot.length,
            slots: 1,
            first: 0,
        }
    }

    fn take(&mut self, slot: &Slot) {
        self.key = joined(self.key, slot.hash);
        self.bytes = self.bytes.saturating_add(slot.length);
        self.slots += 1;
    }
}

/// A message of fewer bytes shares its vector with those beside it, in a session
/// whose messages have no more than [`TERSE`] bytes on average: elsewhere there is
/// room for each to have its own.
const SHORT: u64 = 100;
const TERSE: u64 = 120;

/// What messages that share a vector have together, at least.
const SHARED: u64 = 480;

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
    pub(super) passages: Vec<Passage>,
    /// The slots of passages, one passage behind the other.
    members: Vec<u32>,
    pub(crate) roles: Vec<String>,
    /// How many tokens a chunk has on average.
    pub(crate) average: f32,
    /// What pages of the memory quote, once a search has looked.
    pub(crate) quoting: OnceLock<Quoting>,
    /// The slots of chunks by id, in the order of ids.
    by_id: Vec<(i64, u32)>,
}

/// How many of these slots, from the first on, make a passage. What would be left
/// at the end goes with it where it is too little for one of its own.
fn enough(short: &[u32], slots: &[Slot]) -> usize {
    let length = |at: &u32| slots[*at as usize].length;
    let mut sum = 0;
    let has_enough = |at: &u32| {
        sum += length(at);
        sum >= SHARED
    };
    let Some(last) = short.iter().position(has_enough) else {
        return short.len();
    };
    let mut left = 0;
    let is_more = |at: &u32| {
        left += length(at);
        left >= SHARED / 2
    };
    match short[last + 1..].iter().any(is_more) {
        true => last + 1,
        false => short.len(),
    }
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
            passages: Vec::new(),
            members: Vec::new(),
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
        shape.put_together();
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
                    at: entry.at + chunk.start,
                    length: chunk.length,
                    lines: (chunk.line, chunk.line.saturating_add(chunk.lines)),
                    words: chunk.words,
                    hash: chunk.hash,
                    unit: self.units.len() as u32 - 1,
                    passage: NOTHING,
                });
            }
        }
        self.sources.push(Source {
            name: name.unwrap_or_default(),
            units: first..self.units.len() as u32,
        });
    }

    /// Gives each slot its passage. Longer messages between short ones do not
    /// part them.
    fn put_together(&mut self) {
        let slots = &mut self.slots;
        for source in &self.sources {
            let mut short: Vec<u32> = Vec::new();
            let units = &self.units[source.units.start as usize..source.units.end as usize];
            let bytes = units.iter().flat_map(|unit| unit.slots.clone());
            let bytes = bytes.fold(0u64, |sum, at| {
                sum.saturating_add(slots[at as usize].length)
            });
            let terse = bytes <= TERSE * units.len() as u64;
            for unit in units {
                let is_message = !unit.entry.is_empty() && unit.slots.len() == 1;
                for at in unit.slots.clone() {
                    let slot = &mut slots[at as usize];
                    if terse && is_message && slot.length < SHORT {
                        short.push(at);
                        continue;
                    }
                    slot.passage = self.passages.len() as u32;
                    self.passages.push(Passage::of(slot));
                }
            }
            let mut rest = &short[..];
            while !rest.is_empty() {
                let (together, others) = rest.split_at(enough(rest, slots));
                rest = others;
                let mut passage = Passage::of(&slots[together[0] as usize]);
                for at in &together[1..] {
                    passage.take(&slots[*at as usize]);
                }
                for at in together {
                    slots[*at as usize].passage = self.passages.len() as u32;
                }
                self.passages.push(passage);
            }
        }
        let mut first = 0;
        for passage in &mut self.passages {
            passage.first = first;
            first += passage.slots;
        }
        let mut next: Vec<u32> = self.passages.iter().map(|one| one.first).collect();
        self.members = vec![0; slots.len()];
        for (slot, number) in slots.iter().zip(0u32..) {
            let next = &mut next[slot.passage as usize];
            self.members[*next as usize] = number;
            *next += 1;
        }
    }

    /// The slots of a passage, in their order.
    pub(super) fn members(&self, passage: &Passage) -> &[u32] {
        let first = passage.first as usize;
        &self.members[first..first + passage.slots as usize]
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
