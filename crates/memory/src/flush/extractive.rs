//! The flush without a model: a view on the ledger.
//!
//! It writes what the user said, what was agreed and what the agent noted, as
//! they are. Nothing is judged; what does not fit is told and is in the
//! transcript.

use jiff::civil::DateTime;
use longhaul_ledger::{Agreement, Ledger, NoteKind, Utterance};
use longhaul_transcript::{Channel, EntryId};

use crate::files::{Appended, Body, Note, Origin, Section};
use crate::{MemoryFolder, Result, Source};

/// Bytes of the user's words: as much as the ledger carries.
const MOST_WORDS: usize = 256 * 1024;
/// Bytes of another section: with all of them an entry of the log has room for
/// the marks too.
const MOST_NOTES: usize = 48 * 1024;

/// The title over what the user said.
pub(crate) const SAID: &str = "What the user said";
/// The title over what was agreed, and noted as decided.
const DECIDED: &str = "Decisions";
/// The title over what was noted as a fact or as learnt.
const FACTS: &str = "Facts";
/// The title over what was noted as still to be done.
const OPEN: &str = "Task Progress";

/// The title over notes of a kind.
fn title(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Decision => DECIDED,
        NoteKind::Fact | NoteKind::Learning => FACTS,
        NoteKind::OpenItem => OPEN,
    }
}

/// Appends one note of an agent's to the log of the day of `at`, for those whose
/// session nobody reads.
pub fn noted(
    folder: &MemoryFolder,
    at: DateTime,
    origin: Origin<'_>,
    kind: NoteKind,
    text: &str,
) -> Result<Appended> {
    let body = Body::Sections(vec![Section {
        title: title(kind).to_owned(),
        notes: vec![line(text.to_owned(), Source::Agent, None)],
    }]);
    folder.append_log(at, super::NOTED, origin, &body)
}

/// Stands between an answer and the question.
const REPLY: &str = " ← ";
/// How the line ends that counts what did not fit.
pub(crate) const LEFT_OUT: &str = " older ones are in the transcript)";

/// What was said, agreed and noted since `before`, the ledger at the last flush or
/// compaction. The same ledgers give the same body. `None` when there is nothing
/// new.
pub fn extractive(now: &Ledger, before: Option<&Ledger>) -> Option<Body> {
    let empty = Ledger::default();
    let before = before.unwrap_or(&empty);
    let noted = |under: &str| -> Vec<Note> {
        let new = now.notes.iter().filter(|note| !before.notes.contains(note));
        let of = new.filter(|note| title(note.kind) == under);
        of.map(|one| note(&one.text, Source::Agent, &one.entry))
            .collect()
    };
    let mut decided = agreed(now, before);
    decided.extend(noted(DECIDED));
    let sections: Vec<Section> = [
        words(now, before),
        section(DECIDED, decided, 0, MOST_NOTES),
        section(FACTS, noted(FACTS), 0, MOST_NOTES),
        section(OPEN, noted(OPEN), 0, MOST_NOTES),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!sections.is_empty()).then_some(Body::Sections(sections))
}

/// Only what the user said since `before`, word for word. Beside a flush by the
/// model, so that it stands in the log as the user's words and not only as the
/// agent's account of them.
pub fn words_of_the_user(now: &Ledger, before: Option<&Ledger>) -> Option<Body> {
    let empty = Ledger::default();
    words(now, before.unwrap_or(&empty)).map(|words| Body::Sections(vec![words]))
}

fn words(now: &Ledger, before: &Ledger) -> Option<Section> {
    // An answer stands with its question among what was agreed.
    let is_agreed = |said: &Utterance| {
        said.channel == Channel::Answer
            && now.agreements.iter().any(|one| *one.entry() == said.entry)
    };
    let new = now.own_words().filter(|said| said.number > before.heard);
    let notes = new.filter(|said| !is_agreed(said)).map(|said| {
        let text = match said.gap.and_then(|gap| said.text.split_at_checked(gap)) {
            Some((head, tail)) => format!("{} … {}", head.trim_end(), tail.trim_start()),
            None => said.text.clone(),
        };
        line(text, Source::User, Some(said.entry.clone()))
    });
    let left = now.utterances_left.saturating_sub(before.utterances_left);
    section(SAID, notes.collect(), left, MOST_WORDS)
}

/// An answer stands with what was asked, and a plan is the agent's: neither is
/// the user's own words.
fn agreed(now: &Ledger, before: &Ledger) -> Vec<Note> {
    let new = now.agreements.iter();
    let new = new.filter(|agreement| !before.agreements.contains(agreement));
    new.map(|agreement| {
        let text = match agreement {
            Agreement::Answer {
                question,
                answer,
                option,
                ..
            } => format!("{}{REPLY}{question}", option.as_ref().unwrap_or(answer)),
            Agreement::Plan { text, .. } => format!("Plan approved: {text}"),
        };
        note(&text, Source::Agent, agreement.entry())
    })
    .collect()
}

/// The newest notes of so many bytes, and a line that counts the others, with
/// those that were left out before.
fn section(title: &str, mut notes: Vec<Note>, left: u64, most: usize) -> Option<Section> {
    let mut room = most;
    let fits = |note: &&Note| match room.checked_sub(note.text.len()) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    let kept = notes.iter().rev().take_while(fits).count();
    let out = notes.len() - kept;
    notes.drain(..out);
    let out = left + out as u64;
    if out > 0 {
        let text = format!("({out}{LEFT_OUT}");
        notes.insert(0, line(text, Source::Agent, None));
    }
    (!notes.is_empty()).then(|| Section {
        title: title.to_owned(),
        notes,
    })
}

fn note(text: &str, source: Source, entry: &EntryId) -> Note {
    line(text.to_owned(), source, Some(entry.clone()))
}

fn line(text: String, source: Source, entry: Option<EntryId>) -> Note {
    Note {
        text,
        source,
        entry,
        said: None,
    }
}
