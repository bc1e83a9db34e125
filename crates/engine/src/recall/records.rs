//! What left the context, as the index takes it.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_memory::{Record, RecordKind};
use longhaul_transcript::{EntryId, Result, Session};

use super::{each, full_text};

/// Gives every entry of a session that is no longer in its context, under the
/// session's `name`. Entries that are still shown as they are need no search.
pub fn left_the_context(
    session: &Session,
    name: &str,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<()> {
    let context = session.context().unwrap_or_default();
    let shown = context
        .messages
        .into_iter()
        .filter(|message| !message.edited);
    // A copy written by an undo is the same thing said once.
    let mut seen: HashSet<EntryId> = shown.map(|message| message.entry).collect();
    let mut position = 0;
    each(session, &mut |entry| {
        position += 1;
        if !seen.insert(entry.id.clone()) {
            return ControlFlow::Continue(());
        }
        let text = full_text(&entry);
        if text.trim().is_empty() {
            return ControlFlow::Continue(());
        }
        take(Record {
            kind: RecordKind::Transcript,
            source: name.to_owned(),
            entry: entry.id.as_str().to_owned(),
            role: entry.role().map(|role| role.to_string()),
            time: entry.time,
            position,
            text,
        })
    })
}
