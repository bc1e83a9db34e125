//! Native entries made from foreign records, in an order that ends at the leaf.
//!
//! A native file says what its leaf is by ending with it, and foreign files do
//! not: notes, progress and abandoned branches follow the last message. The
//! [`Lineup`] therefore holds the newest message back until it knows that
//! another one follows, and lets everything beside the path go first.

use std::ops::ControlFlow;

use crate::entry::{Entry, EntryId, OldRoles, Place};
use crate::json::{self, Object, ObjectWriter};

/// What an entry hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parent {
    /// The newest message of the path.
    Tip,
    /// This entry.
    Of(EntryId),
    /// Nothing: it starts a tree of its own.
    Root,
}

/// An entry that does not know its parent yet.
#[derive(Debug)]
pub(super) struct Imported {
    kind: &'static str,
    pub(super) id: EntryId,
    /// The raw JSON of its timestamp.
    timestamp: Option<Box<str>>,
    place: Place,
    /// The fields after the common ones, as an object's text.
    fields: String,
}

impl Imported {
    pub(super) fn new(
        kind: &'static str,
        id: EntryId,
        timestamp: Option<&str>,
        place: Place,
        fields: ObjectWriter,
    ) -> Imported {
        Imported {
            kind,
            id,
            timestamp: timestamp.map(Into::into),
            place,
            fields: fields.finish(),
        }
    }

    /// A message from its JSON text.
    pub(super) fn message(
        id: EntryId,
        timestamp: Option<&str>,
        place: Place,
        message: &str,
    ) -> Imported {
        let fields = ObjectWriter::new().raw("message", message);
        Imported::new("message", id, timestamp, place, fields)
    }

    /// A record that has no native counterpart, whole.
    pub(super) fn custom(
        id: EntryId,
        timestamp: Option<&str>,
        place: Place,
        custom_type: &str,
        data: &str,
    ) -> Imported {
        let fields = ObjectWriter::new()
            .str("customType", custom_type)
            .raw("data", data);
        Imported::new("custom", id, timestamp, place, fields)
    }

    pub(super) fn into_entry(self, parent: Option<EntryId>) -> Entry {
        let head = ObjectWriter::new()
            .str("type", self.kind)
            .str("id", self.id.as_str())
            .raw(
                "parentId",
                &parent
                    .as_ref()
                    .map_or_else(|| String::from("null"), |id| json::quote(id.as_str())),
            )
            .raw_opt("timestamp", self.timestamp.as_deref())
            .finish();
        let mut text = String::with_capacity(head.len() + self.fields.len());
        text.push_str(&head[..head.len() - 1]);
        if self.fields.len() > 2 {
            text.push(',');
        }
        text.push_str(&self.fields[1..]);
        let object = Object::parse(&text).unwrap_or_default();
        Entry::from_record(&text, &object, self.place, self.id, parent, OldRoles::Keep)
    }
}

/// Whether an entry belongs to the conversation's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Path,
    Beside,
}

/// What a lineup calls with every finished entry.
pub(super) type Emit<'v> = dyn FnMut(Entry, Lane) -> ControlFlow<()> + 'v;

/// Puts entries in order; see the module.
#[derive(Default)]
pub(super) struct Lineup {
    tip: Option<EntryId>,
    held: Option<(Imported, Option<EntryId>)>,
    waiting: Vec<(Imported, Parent)>,
}

impl Lineup {
    /// The newest entry of the path.
    pub(super) fn tip(&self) -> Option<&EntryId> {
        self.tip.as_ref()
    }

    /// Adds an entry to the path.
    pub(super) fn follow(&mut self, draft: Imported, emit: &mut Emit<'_>) -> ControlFlow<()> {
        self.release(emit)?;
        let parent = self.tip.replace(draft.id.clone());
        self.held = Some((draft, parent));
        ControlFlow::Continue(())
    }

    /// Adds an entry beside the path.
    pub(super) fn beside(
        &mut self,
        draft: Imported,
        parent: Parent,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        let held = self.held.as_ref().map(|(held, _)| &held.id);
        match parent {
            Parent::Root => emit(draft.into_entry(None), Lane::Beside),
            Parent::Of(id) if Some(&id) != held => emit(draft.into_entry(Some(id)), Lane::Beside),
            Parent::Tip if held.is_none() => {
                let parent = self.tip.clone();
                emit(draft.into_entry(parent), Lane::Beside)
            }
            parent => {
                self.waiting.push((draft, parent));
                ControlFlow::Continue(())
            }
        }
    }

    /// Lets the path go on from an earlier entry; what came since is a branch.
    pub(super) fn go_back(&mut self, to: Option<EntryId>, emit: &mut Emit<'_>) -> ControlFlow<()> {
        self.release(emit)?;
        self.tip = to;
        ControlFlow::Continue(())
    }

    fn release(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        if let Some((draft, parent)) = self.held.take() {
            emit(draft.into_entry(parent), Lane::Path)?;
        }
        for (draft, _) in std::mem::take(&mut self.waiting) {
            emit(draft.into_entry(self.tip.clone()), Lane::Beside)?;
        }
        ControlFlow::Continue(())
    }

    /// Emits what is left, the leaf last.
    pub(super) fn finish(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        let held = self.held.take();
        let before = held.as_ref().and_then(|(_, parent)| parent.clone());
        for (draft, _) in std::mem::take(&mut self.waiting) {
            emit(draft.into_entry(before.clone()), Lane::Beside)?;
        }
        match held {
            Some((draft, parent)) => emit(draft.into_entry(parent), Lane::Path),
            None => ControlFlow::Continue(()),
        }
    }
}

/// An id for a record that has none. Longer than the native synthetic ids:
/// foreign files hold tens of thousands of such records, and 32 bits collide.
pub(super) fn made_id(session: &str, place: Place, ordinal: usize) -> EntryId {
    let hash = blake3::hash(format!("{session}:{}:{ordinal}", place.offset).as_bytes());
    EntryId::new(&hash.to_hex()[..16])
}

/// A text block from a raw JSON string.
pub(super) fn text_block(raw: &str) -> String {
    ObjectWriter::new()
        .str("type", "text")
        .raw("text", raw)
        .finish()
}

/// An image block from raw JSON strings.
pub(super) fn image_block(data: &str, mime: &str) -> String {
    ObjectWriter::new()
        .str("type", "image")
        .raw("data", data)
        .raw("mimeType", mime)
        .finish()
}

/// A JSON array of raw values.
pub(super) fn list(items: &[String]) -> String {
    let mut text =
        String::with_capacity(items.iter().map(|item| item.len() + 1).sum::<usize>() + 2);
    text.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(item);
    }
    text.push(']');
    text
}

/// Token counts as native messages state them, and the window where the agent
/// names it. Foreign files hold no prices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) total: u64,
    pub(super) window: Option<u64>,
}

impl Usage {
    pub(super) fn to_json(self) -> String {
        let window = self.window.map(|window| window.to_string());
        ObjectWriter::new()
            .num("input", self.input)
            .num("output", self.output)
            .num("cacheRead", self.cache_read)
            .num("cacheWrite", self.cache_write)
            .num("totalTokens", self.total)
            .raw_opt("contextWindow", window.as_deref())
            .raw(
                "cost",
                r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}"#,
            )
            .finish()
    }
}
