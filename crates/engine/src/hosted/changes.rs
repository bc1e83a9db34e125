//! What a host said in the end: entries whose text it rewrote or took out are
//! read with what it put in their place. The old bytes stay in the file, but
//! neither the ledger nor a summary nor recall is to bring them up again.

use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{
    Body, Draft, Entry, EntryId, Format, Millis, Replacement, Result, Session, Stamp,
};

use super::mirror::CHANGE_MARK;

/// What stands for a message that the host took out.
const TAKEN_OUT: &str = "[taken out by the host]";

/// Entries that say something else now, and what, as JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes(HashMap<EntryId, String>);

impl Changes {
    /// Those of a session. For one that no host ever changed, this is a glance
    /// at its bytes.
    pub(crate) fn of(session: &Session) -> Result<Changes> {
        if session.format() != Format::Pi || !has_mark(session.path()) {
            return Ok(Changes::default());
        }
        let mut reading = Reading::default();
        session.each(&mut |entry| {
            reading.take(&entry);
            ControlFlow::Continue(())
        })?;
        Ok(Changes(reading.changes))
    }

    /// Those among some entries.
    pub(crate) fn among(entries: &[Entry]) -> Changes {
        let mut reading = Reading::default();
        for entry in entries {
            reading.take(entry);
        }
        Changes(reading.changes)
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
struct Reading {
    changes: HashMap<EntryId, String>,
    edits: HashMap<EntryId, String>,
}

impl Reading {
    fn take(&mut self, entry: &Entry) {
        match &entry.body {
            Body::ContextEdit(edit) => {
                let content = match &edit.replacement {
                    Replacement::Content(content) => content.to_string(),
                    _ => json::quote(TAKEN_OUT),
                };
                self.edits.insert(edit.target.clone(), content);
            }
            Body::Custom { custom_type } if custom_type == CHANGE_MARK => {
                let object = Object::parse(entry.raw()).unwrap_or_default();
                let data = object.object("data").unwrap_or_default();
                let Some(target) = data.str("entry") else {
                    return;
                };
                let target = EntryId::new(target.into_owned());
                if let Some(content) = self.edits.get(&target) {
                    self.changes.insert(target, content.clone());
                }
            }
            _ => {}
        }
    }
}

/// Whether the mark of a change stands anywhere in a file.
fn has_mark(path: &Path) -> bool {
    let Ok(mut file) = longhaul_files::open(path) else {
        return false;
    };
    let finder = memchr::memmem::Finder::new(CHANGE_MARK);
    let mut held = vec![0; 1 << 18];
    let mut kept = 0;
    loop {
        let Ok(read) = file.read(&mut held[kept..]) else {
            return false;
        };
        if read == 0 {
            return false;
        }
        let end = kept + read;
        if finder.find(&held[..end]).is_some() {
            return true;
        }
        // A mark may begin at the end of one piece.
        kept = end.min(CHANGE_MARK.len() - 1);
        held.copy_within(end - kept..end, 0);
    }
}
