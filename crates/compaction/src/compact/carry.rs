//! What a compaction carries on: pins, the summary before it, the ledger.

use std::collections::HashSet;

use longhaul_ledger::Ledger;
use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::{ContextMessage, EntryId};

use super::request::CompactionFailure;
use super::work::Work;
use crate::pinned;

impl Work<'_> {
    /// The ledger of everything before the new boundary.
    pub(super) fn base_after(&self, first_kept: Option<&EntryId>) -> Ledger {
        let mut base = self.base.clone();
        let entries = self.entries.iter();
        let leaving = entries.take_while(|entry| Some(&entry.id) != first_kept);
        leaving.for_each(|entry| base.observe(entry));
        base
    }

    /// Pinned entries that do not stay by themselves, word for word.
    pub(super) fn pins_to_carry(&self, kept: &[ContextMessage]) -> Vec<(EntryId, String)> {
        let staying: HashSet<&EntryId> = kept.iter().map(|message| &message.entry).collect();
        let pinned = |id: &EntryId| self.pins.contains(id) && !staying.contains(id);
        let previous = self.previous();
        let mut carried = previous.map_or_else(Vec::new, |previous| pinned::read(previous.text));
        carried.retain(|(id, _)| pinned(id));
        for entry in self.entries.iter().filter(|entry| pinned(&entry.id)) {
            if let Some(message) = entry.message() {
                carried.push((entry.id.clone(), (self.text)(&message)));
            }
        }
        carried
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
