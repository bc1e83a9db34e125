//! Sessions as texts for the index.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_index::{Record, RecordKind};
use longhaul_transcript::{Body, Entry, EntryId, Result, Session};

use crate::recall::{PARTS, Part, Said, UNVOUCHED, brought, each, each_stored};
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
            let parts = said.kept(&entry, &mut document);
            let place = (RecordKind::Transcript, source.as_str(), position);
            records(place, &entry, parts).try_for_each(&mut *take)
        })?
    {
        return Ok(learnt);
    }
    let present = match which {
        Which::These(..) if clean => HashSet::new(),
        Which::These(..) | Which::All => in_context(session),
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
        let parts = said.kept(&entry, &mut document);
        if !wanted && !parts.iter().any(|(_, text)| text.contains(REDACTED)) {
            return ControlFlow::Continue(());
        }
        let kind = kind_of(!has_left && present.contains(&entry.id));
        records((kind, &source, position), &entry, parts).try_for_each(|mut record| {
            if brought.contains(&entry.id) {
                record.kind = kind;
                let role = record.role.take();
                let role = role.unwrap_or_else(|| entry.kind().as_str().to_owned());
                record.role = Some(role + UNVOUCHED);
            }
            take(record)
        })
    })?;
    Ok(learnt)
}

/// What came to a session since it was indexed.
pub(super) struct Since<'a> {
    /// Its file was indexed up to there.
    pub(super) from: u64,
    /// How many secrets were known then; none where nothing was indexed.
    pub(super) learnt: Option<u64>,
    /// It is to be indexed up to there at most.
    pub(super) to: u64,
    /// The length of its file.
    pub(super) size: u64,
    /// What its context has.
    pub(super) present: &'a HashSet<EntryId>,
    /// What came into its context or left it.
    pub(super) moved: &'a HashSet<EntryId>,
}

/// How far a session was indexed.
pub(super) struct Reached {
    pub(super) upto: u64,
    /// How many secrets were known.
    pub(super) learnt: u64,
}

/// Calls may stand so many entries before their results.
const HEARD: u64 = 16;

/// The texts of what came to a session; none where all of it is to be read again.
pub(super) fn records_since(
    session: &Session,
    keep: &Keep,
    since: &Since<'_>,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<Option<Reached>> {
    let survey = Survey::of(session, keep, Wanted::Path)?;
    let redactor = redactor(session, keep)?;
    let mut document = redactor.document();
    let learnt = document.learnt();
    if !survey.is_plain(session) || since.learnt.is_some_and(|known| known != learnt) {
        return Ok(None);
    }
    // Where an entry begins, so that none is cut through.
    let to = match since.to < since.size {
        true => survey
            .before_offset(since.to, 0)
            .map(|(_, place)| place.offset),
        false => Some(since.size),
    };
    let Some(to) = to.filter(|to| *to > since.from || *to == since.size) else {
        return Ok(None);
    };
    let source = session_name(session);
    let mut said = Said::default();
    let mut put = |position: u64, entry: &Entry| {
        said.hear(entry);
        let parts = said.kept(entry, &mut document);
        let kind = kind_of(since.present.contains(&entry.id));
        records((kind, &source, position), entry, parts).try_for_each(&mut *take)
    };
    survey.pick(session, since.moved, &mut |position, entry| {
        put(position, &entry)
    })?;
    let Some((mut position, place)) = survey.before_offset(since.from, HEARD) else {
        return Ok(None);
    };
    let reached = session.stretch(place, to, &mut |entry, _| {
        position += 1;
        put(position - 1, &entry)
    })?;
    Ok(Some(Reached {
        upto: reached.offset,
        learnt,
    }))
}

/// The entries that the context of a session has as they were said. A damaged file
/// may have no context; nothing of it is in one then.
pub(super) fn in_context(session: &Session) -> HashSet<EntryId> {
    let context = session.context().unwrap_or_default();
    let messages = context.messages.into_iter();
    let unedited = messages.filter(|message| !message.edited);
    unedited.map(|message| message.entry).collect()
}

fn kind_of(is_present: bool) -> RecordKind {
    match is_present {
        true => RecordKind::Present,
        false => RecordKind::Transcript,
    }
}

/// The role of what was only thought.
pub(super) const THOUGHT: &str = "thinking";

/// The records of an entry. What is done with tools, and what was thought of it, has
/// the words of everything that was talked about, and many more of them: it is no
/// part of what was said.
fn records<'a>(
    (kind, source, position): (RecordKind, &'a str, u64),
    entry: &'a Entry,
    parts: Vec<(Part, String)>,
) -> impl Iterator<Item = Record> + 'a {
    // It says again what others said; those are to be found.
    let kind = match entry.body {
        Body::Compaction(_) | Body::BranchSummary { .. } => RecordKind::Summary,
        _ => kind,
    };
    let role = entry.role().map(|role| role.to_string());
    let [calls, thinking] = PARTS.map(|part| format!("{}:{part}", entry.id));
    parts.into_iter().map(move |(part, text)| {
        let (name, role) = match part {
            Part::Said => (entry.id.to_string(), role.clone()),
            Part::Calls => (calls.clone(), Some(String::from("toolCall"))),
            Part::Thinking => (thinking.clone(), Some(String::from(THOUGHT))),
        };
        Record {
            kind,
            source: source.to_owned(),
            entry: name,
            role,
            time: entry.time,
            position,
            text,
        }
    })
}

/// The entry of a record.
pub(super) fn entry_of(name: &str) -> EntryId {
    let whole = name
        .rsplit_once(':')
        .filter(|(_, part)| PARTS.contains(part));
    EntryId::new(whole.map_or(name, |(id, _)| id).to_owned())
}
