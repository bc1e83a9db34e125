//! Backfill: old transcripts, of any agent, through the same path.
//!
//! Each is streamed through the ledger; what a flush would have written about
//! it becomes candidates that quote its entries. They wait for review, whatever
//! the policy says. A session that was read and has not grown is not read again.

use std::collections::HashSet;
use std::ops::ControlFlow;

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use longhaul_ledger::Ledger;
use longhaul_ledger::ours::ORDERS;
use longhaul_transcript::{Body as Is, Entry, EntryId, Format, Millis, Session, SessionRef};
use serde::Serialize;

use super::consolidate::{Consolidated, consolidate, weigh};
use super::remark::{Remarks, of_session};
use super::settings::Settings;
use super::store::{DreamLock, Dreams};
use crate::files::Body;
use crate::flush::extractive;
use crate::{MemoryFolder, Result, Source};

/// How far a backfill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Sessions done.
    pub done: usize,
    /// Sessions in all.
    pub total: usize,
    /// The one that comes next, if there is one.
    pub next: Option<&'a SessionRef>,
}

/// What a backfill did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Backfilled {
    /// Sessions read.
    pub read: usize,
    /// Sessions that were read before and are as they were.
    pub unchanged: usize,
    /// Sessions that were left for another time.
    pub left: usize,
    /// New candidates that wait for review.
    pub staged: usize,
    /// What became of the remarks.
    #[serde(flatten)]
    pub consolidated: Consolidated,
    /// Sessions that could not be read, and why.
    pub problems: Vec<String>,
}

impl Dreams<'_> {
    /// Reads sessions that were not read yet. `progress` is told before each of
    /// them and may stop; the next backfill goes on there.
    pub fn backfill(
        &self,
        lock: &DreamLock,
        sessions: &[SessionRef],
        now: &Zoned,
        settings: &Settings<'_>,
        progress: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Backfilled> {
        let mut report = Backfilled {
            problems: lock.notes().to_vec(),
            ..Backfilled::default()
        };
        let known = self.known(&mut report.problems)?;
        let newest = self.newest(now.date())?;
        let mut state = self.state()?;
        let before = state.candidates.len();
        let total = sessions.len();
        for (done, next) in sessions.iter().map(Some).chain([None]).enumerate() {
            let flow = progress(Progress { done, total, next });
            let Some(reference) = next else { break };
            if flow.is_break() {
                report.left = total - done;
                break;
            }
            let name = match &reference.session {
                Some(session) => format!("{}#{session}", reference.path.display()),
                None => reference.path.display().to_string(),
            };
            let mark = state.sessions.get(&name).map(String::as_str);
            match read(self.memory, reference, mark, now) {
                Ok(None) => report.unchanged += 1,
                Ok(Some((found, mark))) => {
                    let done = &mut report.consolidated;
                    let (remarks, meaning) = (&found.remarks, settings.meaning);
                    consolidate(&mut state.candidates, remarks, &known, meaning, done);
                    weigh(&mut state.candidates, settings.recalls, newest);
                    state.sessions.insert(name, mark);
                    self.save(lock, &mut state)?;
                    report.read += 1;
                }
                Err(error) => report.problems.push(match error.remedy() {
                    Some(remedy) => format!("{error}; {remedy}"),
                    None => error.to_string(),
                }),
            }
        }
        // New ones stand behind those that were there.
        let new = state.candidates.iter().skip(before);
        report.staged = new.filter(|one| one.is_waiting()).count();
        Ok(report)
    }
}

/// The remarks of a session and the mark by which it is known; nothing if it is
/// as it was.
fn read(
    memory: &MemoryFolder,
    reference: &SessionRef,
    before: Option<&str>,
    now: &Zoned,
) -> longhaul_transcript::Result<Option<(Remarks, String)>> {
    let session = Session::open_ref(reference)?;
    let tree = session.tree()?;
    let leaf = tree.leaf().map(|node| node.id.as_str().to_owned());
    let mark = format!("{} {}", leaf.unwrap_or_default(), tree.nodes().len());
    if before == Some(mark.as_str()) {
        return Ok(None);
    }
    let path = tree.path();
    let header = session.header();
    let cwd = header.cwd.as_ref();
    let mut ledger = Ledger::new(cwd.map(|cwd| cwd.to_string_lossy().into_owned()));
    // Where the messages themselves say who wrote them, the ledger knows. A subagent's
    // own file of Claude Code names the session it works for; in other formats that is
    // a fork, and the words are the user's.
    let key = reference.key.as_deref();
    let mut is_ordered = key.is_some_and(|key| key.contains(":subagent:"))
        || (session.format() == Format::ClaudeCode && header.parent_session.is_some());
    let mut document = memory.document();
    let mut observe = |entry: &Entry| {
        document.json(entry.raw());
        ledger.observe(entry);
    };
    let is_sorted = path.is_sorted();
    let wanted: HashSet<usize> = path.iter().copied().collect();
    // Children before their parents: only then all entries are held.
    let mut held = Vec::new();
    let mut at = 0;
    session.each(&mut |entry| {
        is_ordered |= matches!(&entry.body, Is::Custom { custom_type } if custom_type == ORDERS);
        match is_sorted {
            true if wanted.contains(&at) => observe(&entry),
            true => {}
            false => held.push(Some(entry)),
        }
        at += 1;
        ControlFlow::Continue(())
    })?;
    for at in path.into_iter().filter(|_| !is_sorted) {
        if let Some(entry) = held.get_mut(at).and_then(Option::take) {
            observe(&entry);
        }
    }
    let mut body = extractive(&ledger, None).unwrap_or(Body::Sections(Vec::new()));
    document.texts(body.texts());
    let zone = now.time_zone().clone();
    let day = |time: Option<Millis>| -> Option<Date> {
        let time = Timestamp::from_millisecond(time?.0).ok()?;
        // A wrong clock dated what was said by now later than now.
        Some(time.to_zoned(zone.clone()).date().min(now.date()))
    };
    let last = day(ledger.last_time).or(day(header.time));
    let last = last.unwrap_or(now.date());
    let date_of = |entry: &str| -> Date {
        let node = tree.get(&EntryId::new(entry.to_owned()));
        day(node.and_then(|node| node.time)).unwrap_or(last)
    };
    let name = reference.path.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    // A copy in another file is the same session.
    let own = Some(header.id.as_str()).filter(|id| !id.is_empty());
    let whose = reference.key.as_deref().or(reference.session.as_deref());
    let whose = whose.or(own).unwrap_or(&name);
    let user = match is_ordered {
        true => Source::Unknown,
        false => Source::User,
    };
    let found = of_session(&name, Some(whose), &body, &date_of, user);
    Ok(Some((found, mark)))
}
