//! Sessions into the index: what is new of one, and nothing twice.
//!
//! The index notes up to where it has seen a session's file and what that was like
//! there. A file that has grown is read on from that place; one that is another now
//! is read whole, and what the index has of it that is there no more is taken out.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::SystemTime;

use longhaul_index::{Budget, IndexError, MemoryIndex, Progress, Record, RecordKind};
use longhaul_transcript::{EntryId, Session};
use serde::{Deserialize, Serialize};

use super::records::{Since, all_records, entry_of, in_context, records_since};
use crate::survey::{Keep, mark};

/// Entries are handed over in lots of so many bytes, so that a session of any
/// length fits.
const LOT_BYTES: usize = 4 << 20;

/// Why a session is not in the index, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The index refused.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The session could not be read to its end; what was read is in.
    #[error("the session is indexed as far as it can be read: {0}")]
    Session(#[from] longhaul_transcript::Error),
}

/// How far an index has seen a session's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenIn {
    from: u64,
    size: u64,
    /// Up to here.
    pub upto: u64,
}

impl TakenIn {
    /// The bytes that were read for it.
    pub fn bytes(&self) -> u64 {
        self.upto.saturating_sub(self.from)
    }

    /// Whether it has seen all of it.
    pub fn is_all(&self) -> bool {
        self.upto >= self.size
    }
}

/// What an index notes of a session that is in it.
#[derive(Serialize, Deserialize)]
struct Noted {
    upto: u64,
    /// What the file was like up to there.
    mark: String,
    modified: Option<SystemTime>,
    /// How many secrets were known.
    learnt: u64,
}

/// Puts what is new of a session into an index, each entry by whether it has left
/// the context; at most so many bytes of its file. None where that would be more.
pub fn take_in(
    index: &mut dyn MemoryIndex,
    session: &Session,
    keep: &Keep,
    most: u64,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Option<TakenIn>, PutError> {
    let source = session.reference().name();
    // Before it is read, so that a change meanwhile is seen the next time.
    let (size, modified) = file_of(session);
    let taken = |from, upto| Ok(Some(TakenIn { from, size, upto }));
    let noted = index.noted(&source)?;
    let noted: Option<Noted> = noted.and_then(|note| serde_json::from_str(&note).ok());
    let noted = noted.filter(|noted| mark(session, noted.upto).as_ref() == Some(&noted.mark));
    let (from, known) = match &noted {
        Some(noted) if noted.upto == size && noted.modified == modified => {
            return taken(size, size);
        }
        Some(noted) if noted.upto < size => (noted.upto, Some(noted.learnt)),
        _ => (0, None),
    };
    if known.is_some() && most == 0 {
        return taken(from, from);
    }
    let present = in_context(session);
    let mut done = None;
    if known.is_some() || size > most {
        let moved = match known {
            Some(_) => moved(&index.entries(&source, &[RecordKind::Present])?, &present),
            None => HashSet::new(),
        };
        let since = Since {
            from,
            learnt: known,
            to: from.saturating_add(most),
            size,
            present: &present,
            moved: &moved,
        };
        done = put_records(index, progress, |take| {
            records_since(session, keep, &since, take)
        })?;
    }
    let (upto, learnt) = match done {
        Some((upto, learnt)) => (upto, Some(learnt)),
        None if size > most => return Ok(None),
        None => (size, put_whole(index, session, keep, &present, progress)?),
    };
    if let (Some(mark), Some(learnt)) = (mark(session, upto), learnt) {
        let noted = Noted {
            upto,
            mark,
            modified,
            learnt,
        };
        let note = serde_json::to_string(&noted).unwrap_or_default();
        index.note(&source, &note)?;
    }
    taken(from.min(upto), upto)
}

/// The size of a session's file, and when it was changed last.
fn file_of(session: &Session) -> (u64, Option<SystemTime>) {
    let file = std::fs::metadata(session.path());
    file.map_or((0, None), |file| (file.len(), file.modified().ok()))
}

/// What came into a context or left it, where the index has these as present.
fn moved(indexed: &HashSet<String>, present: &HashSet<EntryId>) -> HashSet<EntryId> {
    let before: HashSet<EntryId> = indexed.iter().map(|name| entry_of(name)).collect();
    before.symmetric_difference(present).cloned().collect()
}

/// Puts in all of a session, and takes out what it has no more. Says how many
/// secrets were known; none where that is to be done again, since its file changed
/// meanwhile.
fn put_whole(
    index: &mut dyn MemoryIndex,
    session: &Session,
    keep: &Keep,
    present: &HashSet<EntryId>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Option<u64>, PutError> {
    let source = session.reference().name();
    // Before it is read: what another process puts in meanwhile may be newer.
    let before = file_of(session);
    let session = &Session::open_ref(session.reference())?;
    let mut stale = index.entries(&source, &[])?;
    let (learnt, is_whole) = put_records(index, progress, |take| {
        all_records(session, keep, present, &mut |record| {
            stale.remove(&record.entry);
            take(record)
        })
    })?;
    // What cannot be read may be any of them, and so may what was written meanwhile.
    let goes_on = file_of(session) != before;
    if !stale.is_empty() && is_whole && !goes_on {
        let removed = index.remove_entries(&source, &stale)?;
        progress(&Progress {
            removed,
            ..Progress::default()
        });
    }
    Ok((stale.is_empty() || !goes_on).then_some(learnt))
}

/// Puts in what is read, in lots.
fn put_records<T>(
    index: &mut dyn MemoryIndex,
    progress: &mut dyn FnMut(&Progress),
    read: impl FnOnce(&mut dyn FnMut(Record) -> ControlFlow<()>) -> longhaul_transcript::Result<T>,
) -> Result<T, PutError> {
    let mut lot: Vec<Record> = Vec::new();
    let mut bytes = 0;
    let mut failed: Option<IndexError> = None;
    let mut hand_over = |lot: &mut Vec<Record>| -> Result<(), IndexError> {
        let lot = std::mem::take(lot);
        let done = index.update(&mut lot.into_iter(), Budget::default(), &mut |_| {})?;
        progress(&done);
        Ok(())
    };
    let done = read(&mut |record| {
        bytes += record.text.len();
        lot.push(record);
        if bytes >= LOT_BYTES {
            bytes = 0;
            failed = hand_over(&mut lot).err();
        }
        match failed {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    hand_over(&mut lot)?;
    Ok(done?)
}
