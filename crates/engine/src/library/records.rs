//! Sessions as texts for the index.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_index::{Record, RecordKind};
use longhaul_redact::Redactor;
use longhaul_transcript::{Entry, EntryId, Result, Session};

use crate::recall::{Said, UNVOUCHED, brought, each, learn_secrets};

/// The name of a session in the index: its file, and of a store the session.
pub fn session_name(session: &Session) -> String {
    name_of(session.path(), session.reference().session.as_deref())
}

/// The same of a session that is not open.
pub(super) fn name_of(path: &Path, session: Option<&str>) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = path.to_string_lossy().into_owned();
    if let Some(id) = session {
        name.push('#');
        name.push_str(id);
    }
    name
}

/// How the place of a secret begins.
const REDACTED: &str = "[redacted:";

/// Which entries of a session are meant.
#[derive(Clone, Copy)]
pub(super) enum Which<'a> {
    /// These, which have left its context.
    These(&'a HashSet<EntryId>),
    /// All of them.
    All,
}

/// The texts of a session's entries, one by one: the ones that are asked for,
/// which have left the context, else all, each by whether it has. The archive
/// comes first. What only looked back is left out.
///
/// All are taken, so that what is indexed depends on the files alone and not on
/// who looked how far; whoever wants what left the context asks for that kind.
/// For the same reason a secret that any entry gives away is in none of them,
/// and what has one comes along whichever are asked for: it may be in the index
/// from the time before somebody said what it is.
pub fn session_records(
    session: &Session,
    ids: Option<&HashSet<EntryId>>,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<()> {
    records_of(session, ids.map_or(Which::All, Which::These), take)
}

pub(super) fn records_of(
    session: &Session,
    which: Which<'_>,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<()> {
    let redactor = Redactor::default();
    let mut document = redactor.document();
    // A session that cannot be read to its end is told by the second reading,
    // which hands over what comes before.
    let _ = learn_secrets(session, &mut document);
    let clean = document.is_clean();
    let present: HashSet<EntryId> = match which {
        Which::These(_) if clean => HashSet::new(),
        // A damaged file may have no context; nothing of it is in one then.
        Which::These(_) | Which::All => session
            .context()
            .unwrap_or_default()
            .messages
            .into_iter()
            .filter(|message| !message.edited)
            .map(|message| message.entry)
            .collect(),
    };
    let brought = brought(session);
    let mut seen: HashSet<EntryId> = HashSet::new();
    let source = session_name(session);
    let mut position = 0;
    let mut said = Said::default();
    each(session, &mut |entry| {
        position += 1;
        said.hear(&entry);
        let (wanted, has_left) = match which {
            Which::These(ids) => (ids.contains(&entry.id), ids.contains(&entry.id)),
            Which::All => (true, false),
        };
        // A copy written by an undo is the same thing said once.
        if !wanted && clean || !seen.insert(entry.id.clone()) {
            return ControlFlow::Continue(());
        }
        let text = said.kept_text(&entry, &mut document);
        if !wanted && !text.contains(REDACTED) {
            return ControlFlow::Continue(());
        }
        let kind = match !has_left && present.contains(&entry.id) {
            true => RecordKind::Present,
            false => RecordKind::Transcript,
        };
        let Some(mut record) = record(kind, &source, &entry, text, position) else {
            return ControlFlow::Continue(());
        };
        if brought.contains(&entry.id) {
            let role = record.role.take();
            let role = role.unwrap_or_else(|| entry.kind().as_str().to_owned());
            record.role = Some(role + UNVOUCHED);
        }
        take(record)
    })
}

fn record(
    kind: RecordKind,
    source: &str,
    entry: &Entry,
    text: String,
    position: u64,
) -> Option<Record> {
    (!text.trim().is_empty()).then(|| Record {
        kind,
        source: source.to_owned(),
        entry: entry.id.to_string(),
        role: entry.role().map(ToString::to_string),
        time: entry.time,
        position,
        text,
    })
}
