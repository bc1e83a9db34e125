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
use memchr::memmem::Finder;
use serde::Deserialize;

use crate::marks::{CHANGE_MARK, said};

/// What stands for a message that the host took out.
const TAKEN_OUT: &str = "[taken out by the host]";

/// Entries that say something else now, and what, as JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes(HashMap<EntryId, String>);

impl Changes {
    /// Those of a session. For one that no host ever changed, this is a glance
    /// at its bytes.
    pub(crate) fn of(session: &Session) -> Result<Changes> {
        let mut changing = Changing::default();
        if session.format() == Format::Pi && mentions(session.path(), CHANGE_MARK) {
            session.each(&mut |entry| {
                changing.take(&entry);
                ControlFlow::Continue(())
            })?;
        }
        Ok(changing.done())
    }

    /// Those among some entries.
    pub(crate) fn among(entries: &[Entry]) -> Changes {
        let mut changing = Changing::default();
        entries.iter().for_each(|entry| changing.take(entry));
        changing.done()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry as the host has it now.
    pub(crate) fn apply(&self, entry: Entry) -> Entry {
        self.changed(&entry).unwrap_or(entry)
    }

    fn changed(&self, entry: &Entry) -> Option<Entry> {
        let content = self.0.get(&entry.id)?;
        let object = Object::parse(entry.raw()).ok()?;
        let fields = Object::parse(entry.message_json()?).ok()?;
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

/// Changes as they come: the new text, and then the mark that says whose it is.
#[derive(Default)]
pub(crate) struct Changing {
    changes: HashMap<EntryId, String>,
    edits: HashMap<EntryId, String>,
}

impl Changing {
    /// Takes in the next entry of a session.
    pub(crate) fn take(&mut self, entry: &Entry) {
        if let Body::ContextEdit(edit) = &entry.body {
            let content = match &edit.replacement {
                Replacement::Content(content) => content.to_string(),
                _ => json::quote(TAKEN_OUT),
            };
            self.edits.insert(edit.target.clone(), content);
        } else if let Some(target) = changed_by(entry)
            && let Some(content) = self.edits.get(&target)
        {
            self.changes.insert(target, content.clone());
        }
    }

    /// What came of all of them.
    pub(crate) fn done(self) -> Changes {
        Changes(self.changes)
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

/// Whether a file has these words in it. That takes a fraction of reading it as a
/// session, and hardly any session is an import or was changed.
pub(crate) fn mentions(path: &Path, words: &str) -> bool {
    const PART: usize = 1 << 20;
    let Ok(mut file) = longhaul_files::open(path) else {
        return false;
    };
    let finder = Finder::new(words);
    let mut part = vec![0; PART];
    // What the last part ended with, in which the words may have begun.
    let mut kept = 0;
    loop {
        let read = match file.read(&mut part[kept..]) {
            Ok(0) | Err(_) => return false,
            Ok(read) => read,
        };
        let end = kept + read;
        if finder.find(&part[..end]).is_some() {
            return true;
        }
        kept = end.min(words.len() - 1);
        part.copy_within(end - kept..end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_in_a_file_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for at in [0, 7, (1 << 20) - 5, (1 << 20) + 3, 3 << 20] {
            let mut text = vec![b'x'; at];
            text.extend(b"longhaul:import");
            text.extend([b'x'; 9]);
            std::fs::write(&path, &text).unwrap();
            assert!(mentions(&path, "longhaul:import"), "{at}");
            assert!(!mentions(&path, "longhaul:export"), "{at}");
        }
        assert!(!mentions(&folder.path().join("none"), "x"));
    }
}
