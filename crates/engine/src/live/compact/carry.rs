//! What a compaction carries on: pins, the summary before it, the ledger.

use std::collections::HashSet;

use longhaul_compaction::pinned;
use longhaul_ledger::Ledger;
use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::{Body, ContextMessage, Entry, EntryId};

use super::super::Live;
use super::request::CompactionFailure;
use crate::recall::message_text;

impl Live {
    /// The ledger of everything before the new boundary.
    pub(super) fn base_after(&self, first_kept: Option<&EntryId>) -> Ledger {
        let mut base = self.base.clone();
        for entry in &self.loaded.entries {
            if Some(&entry.id) == first_kept {
                break;
            }
            base.observe(entry);
        }
        base
    }

    /// Pinned entries that do not stay by themselves, word for word.
    pub(super) fn pins_to_carry(&self, kept: &[ContextMessage]) -> Vec<(EntryId, String)> {
        let staying: HashSet<&EntryId> = kept.iter().map(|message| &message.entry).collect();
        let pins = self.pins();
        let mut carried: Vec<(EntryId, String)> =
            carried_pins(&self.loaded.entries, self.loaded.boundary);
        let pinned = |id: &EntryId| pins.contains(id) && !staying.contains(id);
        carried.retain(|(id, _)| pinned(id));
        for entry in self.loaded.entries.iter().filter(|entry| pinned(&entry.id)) {
            if let Some(message) = entry.message() {
                carried.push((entry.id.clone(), message_text(&message)));
            }
        }
        carried
    }
}

/// The summary in force, and who wrote it.
pub(super) fn previous(entries: &[Entry], boundary: Option<usize>) -> Option<(String, String)> {
    match &entries.get(boundary?)?.body {
        Body::Compaction(compaction) => Some((
            compaction.summary.clone(),
            match &compaction.summarizer {
                Some(_) => "longhaul".to_owned(),
                None => "the agent".to_owned(),
            },
        )),
        _ => None,
    }
}

/// Pinned texts that the summary in force carries.
fn carried_pins(entries: &[Entry], boundary: Option<usize>) -> Vec<(EntryId, String)> {
    match previous(entries, boundary) {
        Some((text, _)) => pinned::read(&text),
        None => Vec::new(),
    }
}

/// Pinned entries as a section of a summary, if they leave room for the rest.
pub(super) fn pinned_text(
    mut carried: Vec<(EntryId, String)>,
    counter: &dyn Counter,
    room: Tokens,
) -> Result<String, CompactionFailure> {
    if carried.is_empty() {
        return Ok(String::new());
    }
    let text = pinned::render(&carried);
    let size = counter.count(&text, ContentKind::Prose);
    if size <= room {
        return Ok(text);
    }
    carried.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let largest = carried.iter().take(3).map(|(id, _)| id.to_string());
    Err(CompactionFailure::PinsTooLarge {
        pinned: size,
        room,
        largest: largest.collect(),
    })
}
