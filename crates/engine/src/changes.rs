//! What a host said in the end: entries whose text it rewrote or took out are
//! read with what it put in their place. The old bytes stay in the file, but
//! neither the ledger nor a summary nor recall is to bring them up again.

use std::collections::HashMap;
use std::ops::ControlFlow;

use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{
    Body, Draft, Entry, EntryId, Millis, Replacement, Result, Session, Stamp,
};
use serde::Deserialize;

use crate::marks::{CHANGE_MARK, said};

/// What stands for a message that the host took out.
const TAKEN_OUT: &str = "[taken out by the host]";

/// Entries that say something else now, and what, as JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    changed: HashMap<EntryId, String>,
    /// What edits put in the place of entries: only a mark behind says whose it is.
    edited: HashMap<EntryId, String>,
}

impl Changes {
    /// Those of a session, of which the survey knows that there are any.
    pub(crate) fn of(session: &Session) -> Result<Changes> {
        let mut changes = Changes::default();
        session.each(&mut |entry| {
            changes.take(&entry);
            ControlFlow::Continue(())
        })?;
        Ok(changes)
    }

    /// Those among some entries.
    pub(crate) fn among(entries: &[Entry]) -> Changes {
        let mut changes = Changes::default();
        entries.iter().for_each(|entry| changes.take(entry));
        changes
    }

    fn take(&mut self, entry: &Entry) {
        if let Body::ContextEdit(edit) = &entry.body {
            let content = match &edit.replacement {
                Replacement::Content(content) => content.to_string(),
                _ => json::quote(TAKEN_OUT),
            };
            self.edited.insert(edit.target.clone(), content);
        } else if let Some(target) = changed_by(entry)
            && let Some(content) = self.edited.get(&target)
        {
            self.changed.insert(target, content.clone());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// The entry as the host has it now.
    pub(crate) fn apply(&self, entry: Entry) -> Entry {
        self.as_changed(&entry).unwrap_or(entry)
    }

    fn as_changed(&self, entry: &Entry) -> Option<Entry> {
        let content = self.changed.get(&entry.id)?;
        let object = Object::of(entry.raw())?;
        let fields = Object::of(entry.message_json()?)?;
        let message = json::with_field(&fields, "content", content);
        let again = Draft::Again {
            raw: json::with_field(&object, "message", &message),
            target: None,
        };
        let stamp = Stamp {
            id: entry.id.clone(),
            time: entry.time.unwrap_or(Millis(0)),
        };
        let mut changed = again.to_entry(&stamp, entry.parent.as_ref());
        changed.place = entry.place;
        Some(changed)
    }
}

/// The entry that a mark says was changed.
pub(crate) fn changed_by(entry: &Entry) -> Option<EntryId> {
    #[derive(Deserialize)]
    struct Changed {
        entry: EntryId,
    }
    said(entry, CHANGE_MARK).map(|changed: Changed| changed.entry)
}
