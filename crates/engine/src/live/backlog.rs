//! What a session's file shows of secrets, read once.
//!
//! Looking for secrets takes time in a long file, so it is noted which of its
//! lines showed one and how far it was read. The next process reads those lines
//! again and what has come since. The note itself has no secret in it.

use std::fs;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use longhaul_redact::{Redactor, rules_version};
use longhaul_transcript::{Record, Result, Session, SessionRef, each_archived};
use serde::{Deserialize, Serialize};

use crate::checkpoints::{FileNotebook, Notebook};

/// The note's name.
const NOTE: &str = "redaction.json";
/// After every so many bytes it is noted how far the file was read, also for a
/// process that is not given the time to read all of it. Less is read in no time.
const STRETCH: u64 = 2 << 20;

/// The part of a session that is in its file.
#[derive(Debug)]
pub(super) struct Backlog {
    session: SessionRef,
    /// Where the note is kept, if it is.
    notebook: Option<FileNotebook>,
    read: Mutex<Option<Redactor>>,
}

/// Where a file shows secrets.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    rules: String,
    /// The last line that was read.
    last: Option<Line>,
    /// Where the lines begin that showed something new.
    shown: Vec<u64>,
}

/// A line and what is in it, by which a file that was written anew is noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    offset: u64,
    print: String,
}

impl Line {
    fn of(record: &Record<'_>) -> Line {
        Line {
            offset: record.place.offset,
            print: blake3::hash(record.text.as_bytes()).to_string(),
        }
    }
}

impl Backlog {
    pub(super) fn new(session: SessionRef, notebook: Option<FileNotebook>) -> Backlog {
        Backlog {
            session,
            notebook,
            read: Mutex::new(None),
        }
    }

    /// The same, with a note kept.
    pub(super) fn kept_in(&self, notebook: FileNotebook) -> Backlog {
        Backlog::new(self.session.clone(), Some(notebook))
    }

    /// Whether reading it takes a moment.
    pub(super) fn is_long(&self) -> bool {
        fs::metadata(&self.session.path).is_ok_and(|meta| meta.len() >= STRETCH)
    }

    /// A redactor that knows every secret in the file. Whoever asks first reads
    /// it, and others wait.
    pub(super) fn redactor(&self) -> Result<Redactor> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(redactor) = &*read {
            return Ok(redactor.clone());
        }
        let session = Session::open_ref(&self.session)?;
        let redactor = match session.is_one_file() {
            true => self.read_lines(&session)?,
            false => read_all(&session)?,
        };
        Ok(read.insert(redactor).clone())
    }

    /// Reads the lines that showed secrets before, and what came since.
    fn read_lines(&self, session: &Session) -> Result<Redactor> {
        let empty = Redactor::default();
        let mut note = self.noted(session);
        let mut document = empty.document();
        for offset in &note.shown {
            session.records_from(*offset, &mut |record| {
                if record.place.offset > *offset {
                    return ControlFlow::Break(());
                }
                document.json(record.text);
                ControlFlow::Continue(())
            })?;
        }
        let from = note.last.as_ref().map_or(0, |line| line.offset);
        let mut noted = from;
        session.records_from(from, &mut |record| {
            let offset = record.place.offset;
            let before = document.learnt();
            document.json(record.text);
            if document.learnt() > before && note.shown.last() != Some(&offset) {
                note.shown.push(offset);
            }
            if offset >= noted + STRETCH {
                noted = offset;
                note.last = Some(Line::of(&record));
                self.keep(&note);
            }
            ControlFlow::Continue(())
        })?;
        Ok(document.into_redactor())
    }

    /// The note, if it is of this file and by these rules.
    fn noted(&self, session: &Session) -> Note {
        let notebook = self.notebook.as_ref();
        let text = notebook.and_then(|notebook| notebook.read(NOTE).ok()?);
        let note = text.and_then(|text| serde_json::from_str::<Note>(&text).ok());
        note.filter(|note| *note.rules == *rules_version() && is_of(note, session))
            .unwrap_or_else(|| Note {
                rules: rules_version().to_string(),
                ..Note::default()
            })
    }

    /// Keeps the note. Without it the next process takes longer, no more.
    fn keep(&self, note: &Note) {
        if let Some(notebook) = &self.notebook
            && let Ok(text) = serde_json::to_string(note)
        {
            let _ = notebook.write(NOTE, &text);
        }
    }
}

/// Whether the last line that was read still stands where it did.
fn is_of(note: &Note, session: &Session) -> bool {
    let Some(last) = &note.last else {
        return false;
    };
    let mut found = false;
    let read = session.records_from(last.offset, &mut |record| {
        if record.place.offset == last.offset {
            // Of several records in one line the last one counts.
            found = Line::of(&record) == *last;
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    });
    read.is_ok() && found
}

/// Reads what is not one file, the archive beside it first.
fn read_all(session: &Session) -> Result<Redactor> {
    let empty = Redactor::default();
    let mut document = empty.document();
    if session.format().is_writable() {
        each_archived(session.path(), &mut |entry| {
            document.json(entry.raw());
            ControlFlow::Continue(())
        })?;
    }
    session.each(&mut |entry| {
        document.json(entry.raw());
        ControlFlow::Continue(())
    })?;
    Ok(document.into_redactor())
}
