//! What we leave in a session beside its messages, and what it says.
//!
//! A mark is an entry that never enters a context: it records what was done to
//! the entries around it, so that whoever reads the file later knows.

use std::ops::Range;

use longhaul_compaction::Wear;
use longhaul_compaction::audit::Audit;
use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, Entry};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The `customType` of the entry that records a durable pruning.
pub const PRUNE_MARK: &str = "longhaul:prune";
/// The `customType` of the entry that takes a compaction or pruning back.
pub const UNDO_MARK: &str = "longhaul:undo";
/// The `customType` of the entry that takes an undo back.
pub const REDO_MARK: &str = "longhaul:redo";
/// The `customType` of the entry that a turn has: before its messages where a
/// host commits them, behind them elsewhere.
pub const TURN_MARK: &str = "longhaul:turn";
/// The `customType` of the entry that says what a host changed.
pub const CHANGE_MARK: &str = "longhaul:host-change";
/// The `customType` of the entry that holds a message which has no place of its
/// own on the path: it came in front of what was there already.
pub const ASIDE_MARK: &str = "longhaul:aside";
/// The `customType` of the entry from which a path goes on that left another.
pub const BRANCH_MARK: &str = "longhaul:branch";
/// The kind of the entry that says what a silent turn before a compaction took.
pub(crate) const FLUSH_USAGE: &str = "memory-flush";

/// A mark of a kind, to be appended.
pub(crate) fn mark(kind: &str, data: &impl Serialize) -> Draft {
    Draft::Custom {
        custom_type: kind.to_owned(),
        data: serde_json::to_string(data).unwrap_or_default(),
    }
}

/// Whether an entry is a mark of this kind.
pub(crate) fn is_mark(entry: &Entry, kind: &str) -> bool {
    matches!(&entry.body, Body::Custom { custom_type } if custom_type == kind)
}

/// What an entry says, if it is a mark of this kind.
pub(crate) fn said<T: DeserializeOwned>(entry: &Entry, kind: &str) -> Option<T> {
    if !is_mark(entry, kind) {
        return None;
    }
    let object = Object::of(entry.raw())?;
    serde_json::from_str(object.raw("data")?).ok()
}

/// A field of what a compaction carries beside its summary.
pub(crate) fn detail<T: DeserializeOwned>(compaction: &Entry, field: &str) -> Option<T> {
    let object = Object::of(compaction.raw())?;
    serde_json::from_str(object.object("details")?.raw(field)?).ok()
}

/// What one of our own compactions says about what it kept.
pub fn fidelity(entry: &Entry) -> Option<Audit> {
    detail(entry, "fidelity")
}

/// What the compactions of a session came to, with one more.
pub(crate) fn after(wear: Wear, entry: &Entry) -> Wear {
    detail(entry, "wear").unwrap_or_else(|| wear.after(fidelity(entry).as_ref()))
}

/// Where a path has entries that were written again when a compaction was
/// taken back or forward. The answers among them were given to another context.
pub(crate) fn copied(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let within = spans.last().is_some_and(|span| at < span.end);
        if !within && (is_mark(entry, UNDO_MARK) || is_mark(entry, REDO_MARK)) {
            spans.push(span_of(entries, at));
        }
    }
    spans
}

/// The copies that a mark says follow it.
pub(crate) fn span_of(entries: &[Entry], mark: usize) -> Range<usize> {
    #[derive(serde::Deserialize)]
    struct Copied {
        copied: usize,
    }
    let says = |kind| said::<Copied>(&entries[mark], kind);
    let copied = says(UNDO_MARK).or_else(|| says(REDO_MARK));
    let start = mark + 1;
    let end = start.saturating_add(copied.map_or(0, |it| it.copied));
    start..end.min(entries.len())
}
