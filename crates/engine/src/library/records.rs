//! Sessions as texts for the index.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_index::{Record, RecordKind};
use longhaul_redact::{Document, Redactor};
use longhaul_transcript::{Body, Entry, EntryId, Result, Session};

use crate::recall::{PARTS, Part, Said, UNVOUCHED};
use crate::survey::{Keep, Survey, redactor};

/// The texts of a session's entries, one by one, each by whether it has left the
/// context. The archive comes first. What only looked back is left out, and a secret
/// that any entry gives away is in none of them.
pub fn session_records(
    session: &Session,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<()> {
    all_records(session, &Keep::nowhere(), &in_context(session), take).map(drop)
}

/// How entries become records, in stored order.
struct Reader<'a> {
    source: String,
    said: Said,
    document: Document<'a>,
    /// What the context has.
    present: &'a HashSet<EntryId>,
}

impl<'a> Reader<'a> {
    fn new(session: &Session, redactor: &'a Redactor, present: &'a HashSet<EntryId>) -> Reader<'a> {
        Reader {
            source: session.reference().name(),
            said: Said::default(),
            document: redactor.document(),
            present,
        }
    }

    /// The records of an entry. What is done with tools, and what was thought of it,
    /// has the words of everything that was talked about, and many more of them: it
    /// is no part of what was said.
    fn records(&mut self, position: u64, entry: &Entry) -> Vec<Record> {
        self.said.hear(entry);
        let kind = match entry.body {
            // It says again what others said; those are to be found.
            Body::Compaction(_) | Body::BranchSummary { .. } => RecordKind::Summary,
            _ if self.present.contains(&entry.id) => RecordKind::Present,
            _ => RecordKind::Transcript,
        };
        let [calls, thinking] = PARTS;
        let parts = self.said.kept(entry, &mut self.document).into_iter();
        let record = |(part, text): (Part, String)| {
            let (entry_name, role) = match part {
                Part::Said => (entry.id.to_string(), entry.role().map(ToString::to_string)),
                Part::Calls => (format!("{}:{calls}", entry.id), Some("toolCall".to_owned())),
                Part::Thinking => (format!("{}:{thinking}", entry.id), Some(THOUGHT.to_owned())),
            };
            Record {
                kind,
                source: self.source.clone(),
                entry: entry_name,
                role,
                time: entry.time,
                position,
                text,
            }
        };
        parts.map(record).collect()
    }
}

/// The texts of all entries; says how many secrets were known, and whether all of
/// it could be read.
pub(super) fn all_records(
    session: &Session,
    keep: &Keep,
    present: &HashSet<EntryId>,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<(u64, bool)> {
    // A session that cannot be read to its end is told by the second reading,
    // which hands over what comes before.
    let redactor = redactor(session, keep).unwrap_or_default();
    let mut reader = Reader::new(session, &redactor, present);
    let learnt = reader.document.learnt();
    let survey = Survey::of(session, keep)?;
    let brought = survey.brought(session);
    let mut seen: HashSet<EntryId> = HashSet::new();
    let mut position = 0;
    let faults = survey.each(session, &mut |entry| {
        position += 1;
        // A copy written by an undo is the same thing said once.
        if !seen.insert(entry.id.clone()) {
            return ControlFlow::Continue(());
        }
        let mut records = reader.records(position, &entry);
        if brought.contains(&entry.id) {
            for record in &mut records {
                let role = record.role.take();
                let role = role.unwrap_or_else(|| entry.kind().as_str().to_owned());
                record.role = Some(role + UNVOUCHED);
            }
        }
        records.into_iter().try_for_each(&mut *take)
    })?;
    let is_whole = !faults.iter().any(|fault| fault.kind.is_loss());
    Ok((learnt, is_whole))
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

/// Calls may stand so many entries before their results.
const HEARD: u64 = 16;

/// The texts of what came to a session; says up to where it was read, and how many
/// secrets were known. None where all of it is to be read again.
pub(super) fn records_since(
    session: &Session,
    keep: &Keep,
    since: &Since<'_>,
    take: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<Option<(u64, u64)>> {
    let survey = Survey::of(session, keep)?;
    let redactor = redactor(session, keep)?;
    let mut reader = Reader::new(session, &redactor, since.present);
    let learnt = reader.document.learnt();
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
    let mut put = |position: u64, entry: &Entry| {
        let records = reader.records(position, entry);
        records.into_iter().try_for_each(&mut *take)
    };
    let is_in = |id: &&EntryId| {
        let place = survey.place(id);
        place.is_some_and(|place| place.offset < since.from)
    };
    let moved = since.moved.iter().filter(is_in).cloned().collect();
    survey.pick(session, &moved, &mut |position, entry| {
        put(position, &entry)
    })?;
    let Some((mut position, place)) = survey.before_offset(since.from, HEARD) else {
        return Ok(None);
    };
    let reached = session.stretch(place, to, &mut |entry, _| {
        position += 1;
        put(position - 1, &entry)
    })?;
    Ok(Some((reached.offset, learnt)))
}

/// The entries that the context of a session has as they were said. A damaged file
/// may have no context; nothing of it is in one then.
pub(super) fn in_context(session: &Session) -> HashSet<EntryId> {
    let context = session.context().unwrap_or_default();
    let messages = context.messages.into_iter();
    let unedited = messages.filter(|message| !message.edited);
    unedited.map(|message| message.entry).collect()
}

/// The role of what was only thought.
pub(super) const THOUGHT: &str = "thinking";

/// The entry of a record.
pub(super) fn entry_of(name: &str) -> EntryId {
    let whole = name
        .rsplit_once(':')
        .filter(|(_, part)| PARTS.contains(part));
    EntryId::new(whole.map_or(name, |(id, _)| id).to_owned())
}
