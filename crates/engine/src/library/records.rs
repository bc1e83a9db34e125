//! Sessions as texts for the index.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_index::{Record, RecordKind};
use longhaul_transcript::{Entry, EntryId, Result, Session};

use crate::recall::{Said, UNVOUCHED, brought, each, each_stored};
use crate::survey::{Keep, Survey, Wanted, redactor};

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
    /// These, which have left its context. All are in whose text so many secrets
    /// were known; none where nobody knows.
    These(&'a HashSet<EntryId>, Option<u64>),
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
    let which = ids.map_or(Which::All, |ids| Which::These(ids, None));
    records_of(session, &Keep::nowhere(), which, take)?;
    Ok(())
}

/// The same; says how many secrets were known.
pub(super) fn records_of(
    session: &Session,
    keep: &Keep,
    which: Which<'_>,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<u64> {
    // A session that cannot be read to its end is told by the second reading,
    // which hands over what comes before.
    let redactor = redactor(session, keep).unwrap_or_default();
    let mut document = redactor.document();
    let learnt = document.learnt();
    let clean = document.is_clean();
    let source = session_name(session);
    let mut said = Said::default();
    let survey = Survey::of(session, keep, Wanted::Path)?;
    if let Which::These(ids, known) = which
        && (clean || known == Some(learnt))
        && survey.pick(session, ids, &mut |position, entry| {
            said.hear(&entry);
            let text = said.kept_text(&entry, &mut document);
            let record = record(RecordKind::Transcript, &source, &entry, text, position);
            record.map_or(ControlFlow::Continue(()), &mut *take)
        })?
    {
        return Ok(learnt);
    }
    let present: HashSet<EntryId> = match which {
        Which::These(..) if clean => HashSet::new(),
        // A damaged file may have no context; nothing of it is in one then.
        Which::These(..) | Which::All => session
            .context()
            .unwrap_or_default()
            .messages
            .into_iter()
            .filter(|message| !message.edited)
            .map(|message| message.entry)
            .collect(),
    };
    let brought = match survey.is_imported() {
        true => brought(session),
        false => HashSet::new(),
    };
    let mut seen: HashSet<EntryId> = HashSet::new();
    let mut position = 0;
    let each = match survey.is_changed() {
        true => each,
        false => each_stored,
    };
    each(session, &mut |entry| {
        position += 1;
        said.hear(&entry);
        let (wanted, has_left) = match which {
            Which::These(ids, _) => (ids.contains(&entry.id), ids.contains(&entry.id)),
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
    })?;
    Ok(learnt)
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
