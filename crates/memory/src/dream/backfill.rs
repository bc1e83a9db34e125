//! Backfill: old transcripts, of any agent, through the same path.
//!
//! Each is streamed through the ledger; what a flush would have written about
//! it becomes candidates that quote its entries. They wait for review, whatever
//! the policy says. A session that was read and has not grown is not read again.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use longhaul_ledger::Ledger;
use longhaul_transcript::{EntryId, Millis, Session, SessionRef};
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::consolidate::{Consolidated, consolidate, weigh};
use super::remark::{Remarks, of_session};
use super::settings::Settings;
use super::store::{DreamLock, Dreams};
use super::voices::Voices;
use crate::files::Body;
use crate::flush::extractive;
use crate::{MemoryFolder, Result};

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

/// What was read: the leaf and the number of entries of each session.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Done {
    sessions: BTreeMap<String, String>,
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
        let mut report = Backfilled::default();
        report.problems.extend(lock.completed().map(str::to_owned));
        let mut done: Done = self.read("backfill.json")?.unwrap_or_default();
        let known = self.known(&mut report.problems)?;
        let known_before: HashSet<String> = ids(&self.candidates()?).collect();
        let today = now.date();
        let newest = self.newest(today, settings)?;
        for (at, reference) in sessions.iter().enumerate() {
            let stopped = progress(Progress {
                done: at,
                total: sessions.len(),
                next: Some(reference),
            });
            if stopped.is_break() {
                report.left = sessions.len() - at;
                self.count_new(&known_before, &mut report)?;
                return Ok(report);
            }
            let name = match &reference.session {
                Some(session) => format!("{}#{session}", reference.path.display()),
                None => reference.path.display().to_string(),
            };
            let before = done.sessions.get(&name).map(String::as_str);
            match read(self.memory, reference, before, now) {
                Ok(None) => report.unchanged += 1,
                Ok(Some((found, mark))) => {
                    let mut state = self.state()?;
                    let some = consolidate(
                        &mut state.candidates,
                        &found.remarks,
                        &known,
                        settings.meaning,
                    );
                    weigh(&mut state.candidates, settings.recalls, newest);
                    // The candidates first: what is read twice changes nothing.
                    self.save(lock, &mut state)?;
                    done.sessions.insert(name, mark);
                    self.write("backfill.json", &done)?;
                    report.read += 1;
                    add(&mut report.consolidated, &some);
                }
                Err(error) => report.problems.push(match error.remedy() {
                    Some(remedy) => format!("{error}; {remedy}"),
                    None => error.to_string(),
                }),
            }
        }
        let _ = progress(Progress {
            done: sessions.len(),
            total: sessions.len(),
            next: None,
        });
        self.count_new(&known_before, &mut report)?;
        Ok(report)
    }

    /// What is there that was not there before.
    fn count_new(&self, before: &HashSet<String>, report: &mut Backfilled) -> Result<()> {
        let all = self.candidates()?;
        let new = all.iter().filter(|one| !before.contains(&one.id));
        report.staged = new.filter(|one| one.is_waiting()).count();
        Ok(())
    }
}

fn ids(candidates: &[Candidate]) -> impl Iterator<Item = String> {
    candidates.iter().map(|one| one.id.clone())
}

fn add(all: &mut Consolidated, some: &Consolidated) {
    all.found += some.found;
    all.repeated += some.repeated;
    all.known += some.known;
    all.contradictions += some.contradictions;
    all.rejected += some.rejected;
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
    let mut voices = Voices::of(&session);
    let mut document = memory.document();
    if path.is_sorted() {
        let wanted: HashSet<usize> = path.into_iter().collect();
        let mut at = 0;
        session.each(&mut |entry| {
            voices.notice(&entry);
            if wanted.contains(&at) {
                voices.hear(&entry);
                document.json(entry.raw());
                ledger.observe(&entry);
            }
            at += 1;
            ControlFlow::Continue(())
        })?;
    } else {
        // Children before their parents: only then all entries are held.
        let mut entries = Vec::new();
        session.each(&mut |entry| {
            voices.notice(&entry);
            entries.push(Some(entry));
            ControlFlow::Continue(())
        })?;
        for at in path {
            if let Some(entry) = entries.get_mut(at).and_then(Option::take) {
                voices.hear(&entry);
                document.json(entry.raw());
                ledger.observe(&entry);
            }
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
    let typed = |entry: &str| !voices.others.contains(entry);
    let found = of_session(&name, Some(whose), &body, &date_of, &typed);
    Ok(Some((found, mark)))
}
