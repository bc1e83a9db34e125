//! Layouts: how a file says which entry follows which.

use std::collections::HashMap;

use crate::entry::{Body, Boundary, Entry, EntryId, OldRoles};
use crate::header::Header;
use crate::lines::Record;

/// Who wrote a native file, and so whose rules decide what is in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// pi, versions 2 and 3: parents as stored, the last entry is the leaf.
    Pi,
    /// OpenClaw, version 4: `reset`, `leaf` and side entries move the leaf.
    OpenClaw,
    /// Version 1 and the flat layouts without a header: one entry follows another.
    Linear,
}

impl Dialect {
    /// The dialect a header announces. Entries that only OpenClaw writes can
    /// still turn a `Pi` file into an `OpenClaw` one.
    pub(crate) fn of(header: &Header) -> Dialect {
        match header.version {
            0 | 1 => Dialect::Linear,
            2 | 3 => Dialect::Pi,
            _ => Dialect::OpenClaw,
        }
    }
}

/// The id and parent a record states itself.
pub(crate) fn stated(record: &Record<'_>) -> (Option<EntryId>, Option<EntryId>) {
    let id = |key| {
        record
            .object
            .str(key)
            .filter(|id| !id.is_empty())
            .map(|id| EntryId::new(id.into_owned()))
    };
    (id("id"), id("parentId"))
}

/// The id a record of a tree-shaped file has: its own, or one made from its place.
pub(crate) fn id_of(record: &Record<'_>, header: &Header) -> EntryId {
    stated(record)
        .0
        .unwrap_or_else(|| synthetic_id(&header.id, record.place.offset))
}

/// Reads a record of a tree-shaped file.
pub(crate) fn tree_entry(record: &Record<'_>, header: &Header) -> Entry {
    let (id, parent) = stated(record);
    let id = id.unwrap_or_else(|| synthetic_id(&header.id, record.place.offset));
    Entry::from_record(
        record.text,
        &record.object,
        record.place,
        id,
        parent,
        old_roles(header),
    )
}

fn old_roles(header: &Header) -> OldRoles {
    if header.version < 3 {
        OldRoles::Rename
    } else {
        OldRoles::Keep
    }
}

/// An id for an entry that has none: the same for the same place of the same
/// session, whenever it is read.
pub(crate) fn synthetic_id(session: &str, number: u64) -> EntryId {
    let hash = blake3::hash(format!("{session}:{number}").as_bytes());
    EntryId::new(&hash.to_hex()[..16])
}

/// Chains the records of a linear file and gives them ids.
#[derive(Debug)]
pub(crate) struct LinearReader<'h> {
    header: &'h Header,
    /// Ids by line index as version 1 counts it: the header is 0, damaged and
    /// blank lines do not count.
    ids: Vec<EntryId>,
    taken: HashMap<EntryId, ()>,
    last: Option<EntryId>,
}

impl<'h> LinearReader<'h> {
    pub(crate) fn new(header: &'h Header) -> Self {
        LinearReader {
            header,
            ids: Vec::new(),
            taken: HashMap::new(),
            last: None,
        }
    }

    /// The header's line counts, and nothing follows it as a parent.
    pub(crate) fn skip_header(&mut self) {
        self.ids.push(EntryId::new(""));
    }

    pub(crate) fn read(&mut self, record: &Record<'_>) -> Entry {
        let number = self.ids.len() as u64;
        let id = match stated(record).0 {
            Some(id) if !self.taken.contains_key(&id) => id,
            _ => self.fresh(number),
        };
        let mut entry = Entry::from_record(
            record.text,
            &record.object,
            record.place,
            id.clone(),
            self.last.take(),
            old_roles(self.header),
        );
        if let Body::Compaction(compaction) = &mut entry.body {
            let kept = match &compaction.boundary {
                Boundary::Index(index) => Some(*index as usize),
                Boundary::After(last) => {
                    self.ids.iter().rposition(|id| id == last).map(|at| at + 1)
                }
                Boundary::FirstKept(_) | Boundary::Nothing => None,
            };
            if let Some(at) = kept {
                compaction.boundary = match self.ids.get(at) {
                    Some(id) if !id.as_str().is_empty() => Boundary::FirstKept(id.clone()),
                    _ => Boundary::Nothing,
                };
            }
        }
        self.taken.insert(id.clone(), ());
        self.ids.push(id.clone());
        self.last = Some(id);
        entry
    }

    fn fresh(&self, number: u64) -> EntryId {
        let mut salt = number;
        loop {
            let id = synthetic_id(&self.header.id, salt);
            if !self.taken.contains_key(&id) {
                return id;
            }
            salt = salt.wrapping_add(1 << 40);
        }
    }
}
