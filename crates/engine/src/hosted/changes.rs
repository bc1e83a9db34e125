//! What a host said in the end: entries whose text it rewrote or took out are
//! read with what it put in their place. The old bytes stay in the file, but
//! neither the ledger nor a summary nor recall is to bring them up again.

use std::collections::HashMap;
use std::ops::ControlFlow;

use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{
    Body, Draft, Entry, EntryId, Format, Millis, Replacement, Result, Session, Stamp,
};

use super::mirror::CHANGE_MARK;
use crate::recall::mentions;

/// What stands for a message that the host took out.
const TAKEN_OUT: &str = "[taken out by the host]";

/// Entries that say something else now, and what, as JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes(HashMap<EntryId, String>);

impl Changes {
    /// Those of a session. For one that no host ever changed, this is a glance
    /// at its bytes.
    pub(crate) fn of(session: &Session) -> Result<Changes> {
        if session.format() != Format::Pi || !mentions(session.path(), CHANGE_MARK) {
            return Ok(Changes::default());
        }
        let mut changing = Changing::default();
        session.each(&mut |entry| {
            changing.take(&entry);
            ControlFlow::Continue(())
        })?;
        Ok(changing.done())
    }

    /// Those among some entries.
    pub(crate) fn among(entries: &[Entry]) -> Changes {
        let mut changing = Changing::default();
        for entry in entries {
            changing.take(entry);
        }
        changing.done()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry as the host has it now.
    pub(crate) fn apply(&self, entry: Entry) -> Entry {
        let Some(content) = self.0.get(&entry.id) else {
            return entry;
        };
        let (Some(message), Ok(object)) = (entry.message_json(), Object::parse(entry.raw())) else {
            return entry;
        };
        let Ok(fields) = Object::parse(message) else {
            return entry;
        };
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
        changed
    }
}

/// Changes as they come: the new text, and then the mark that says whose it is.
#[derive(Default)]
pub(crate) struct Changing {
    changes: HashMap<EntryId, String>,
    edits: HashMap<EntryId, String>,
}

impl Changing {
    /// Takes in the next entry of a session.
    pub(crate) fn take(&mut self, entry: &Entry) {
        match &entry.body {
            Body::ContextEdit(edit) => {
                let content = match &edit.replacement {
                    Replacement::Content(content) => content.to_string(),
                    _ => json::quote(TAKEN_OUT),
                };
                self.edits.insert(edit.target.clone(), content);
            }
            Body::Custom { .. } => {
                let Some(target) = changed_by(entry) else {
                    return;
                };
                if let Some(content) = self.edits.get(&target) {
                    self.changes.insert(target, content.clone());
                }
            }
            _ => {}
        }
    }

    /// What came of all of them.
    pub(crate) fn done(self) -> Changes {
        Changes(self.changes)
    }
}

/// The entry that a mark says was changed.
pub(crate) fn changed_by(entry: &Entry) -> Option<EntryId> {
    let is_mark = matches!(&entry.body, Body::Custom { custom_type } if custom_type == CHANGE_MARK);
    let object = Object::parse(entry.raw()).ok().filter(|_| is_mark)?;
    let target = object.object("data")?.str("entry")?.into_owned();
    Some(EntryId::new(target))
}
