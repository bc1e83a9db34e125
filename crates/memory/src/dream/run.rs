//! One dream, from the logs to `DREAMS.md` and, where the policy allows it, to
//! the memory.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use jiff::civil::Date;
use jiff::{ToSpan, Zoned};
use serde::Serialize;

use super::candidate::Candidate;
use super::change::Change;
use super::consolidate::{Consolidated, KnownLine, consolidate, weigh};
use super::judge::{Ask, ModelReport, judge};
use super::page;
use super::promote::{Wish, plan};
use super::remark::{Remark, of_log};
use super::score::waiting;
use super::settings::Settings;
use super::state::State;
use super::store::{DreamLock, Dreams};
use super::trigger::{Cause, LastRun};
use crate::files::{DECISIONS, DETAILS, MEMORY, MemoryFolder, PROJECT, read_log};
use crate::{Error, Result};

/// What a dream did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Why it ran.
    pub cause: Cause,
    /// Logs read.
    pub logs: usize,
    /// Lines in them that might be worth keeping.
    pub remarks: usize,
    /// Lines that are too short or too long for a line of memory and stay in their log.
    pub left_out: usize,
    /// What became of the remarks.
    #[serde(flatten)]
    pub consolidated: Consolidated,
    /// Candidates that wait for review.
    pub waiting: usize,
    /// Candidates that the policy promoted.
    pub promoted: Vec<String>,
    /// What a model did, where there was one.
    pub model: Option<ModelReport>,
    /// What could not be read or done, and why.
    pub problems: Vec<String>,
}

/// Remarks taken from one log: what has more is no diary.
const MOST_REMARKS: usize = 10_000;

impl Dreams<'_> {
    /// Dreams. With `model`, it judges what is worth keeping, how to word it and what
    /// contradicts; each of its answers is kept at once, so that an interrupted dream
    /// does not ask again.
    pub fn run(
        &self,
        lock: &DreamLock,
        now: &Zoned,
        cause: Cause,
        settings: &Settings<'_>,
        model: Option<&mut Ask<'_>>,
    ) -> Result<Report> {
        let mut report = Report {
            cause,
            problems: lock.notes().to_vec(),
            ..Report::default()
        };
        report.problems.extend(self.memory.logs_led());
        let today = now.date();
        self.put_recalls_together(lock)?;
        let mut state = self.state()?;
        let remarks = self.remarks(today, settings, &state.candidates, &mut report)?;
        let newest = self.newest(today)?;
        let known = self.known(&mut report.problems)?;
        consolidate(
            &mut state.candidates,
            &remarks,
            &known,
            settings.meaning,
            &mut report.consolidated,
        );
        weigh(&mut state.candidates, settings.recalls, newest);
        self.save(lock, &mut state)?;
        if let Some(ask) = model {
            let mut keep = |state: &mut State| self.save(lock, state);
            report.model = Some(judge(&mut state, ask, &mut keep)?);
            weigh(&mut state.candidates, settings.recalls, newest);
            self.save(lock, &mut state)?;
        }
        if let Some(least) = settings.promote_at {
            self.promote_by_policy(lock, now, settings, least, &mut report)?;
        }
        report.waiting = waiting(&self.state()?.candidates).len();
        let log_bytes = self
            .memory
            .logs()?
            .into_iter()
            .find(|(date, _)| *date == today)
            .map_or(0, |(_, bytes)| bytes);
        let last = LastRun {
            at: now.timestamp(),
            cause,
            log_bytes,
            paid: report.model.as_ref().map(|model| model.paid),
        };
        self.write("last_run.json", &last)?;
        Ok(report)
    }

    /// The day as of which what waits is weighed: that of the newest log, so that
    /// nothing fades while nobody writes.
    pub(super) fn newest(&self, today: Date) -> Result<Date> {
        let days = self.memory.logs()?.into_iter().map(|(date, _)| date);
        let newest = days.filter(|date| *date <= last_day(today)).max();
        Ok(newest.map_or(today, |date| date.min(today)))
    }

    fn remarks(
        &self,
        today: Date,
        settings: &Settings<'_>,
        candidates: &[Candidate],
        report: &mut Report,
    ) -> Result<Vec<Remark>> {
        let (first, last) = days_read(today, settings).into_inner();
        let mut all = Vec::new();
        for (date, _) in self.memory.logs()? {
            if date < first {
                continue;
            }
            if date > last {
                report.problems.push(format!(
                    "{} is of a day to come and was left out; was it written with a wrong clock?",
                    MemoryFolder::log_name(date)
                ));
                continue;
            }
            match self.memory.read(&MemoryFolder::log_name(date)) {
                Ok(text) => {
                    let text = text.unwrap_or_default();
                    let mut lines = read_log(&text, date, self.memory.seal());
                    // People and other programs write there too.
                    let texts = lines.iter_mut().map(|line| &mut line.text);
                    self.memory.document().texts(texts);
                    let found = of_log(date, &lines);
                    report.logs += 1;
                    report.left_out += found.left_out;
                    let mut remarks = found.remarks;
                    if remarks.len() > MOST_REMARKS {
                        // What was taken before makes room for the rest.
                        let taken: HashSet<&String> =
                            candidates.iter().flat_map(|one| &one.seen).collect();
                        remarks.retain(|remark| !taken.contains(&remark.evidence.key()));
                    }
                    if remarks.len() > MOST_REMARKS {
                        let left = remarks.len() - MOST_REMARKS;
                        report.problems.push(format!(
                            "{} has too many lines worth a look for one dream; the newest \
                             {MOST_REMARKS} were taken, and {left} are left for the next",
                            MemoryFolder::log_name(date),
                        ));
                        remarks.drain(..left);
                    }
                    all.extend(remarks);
                }
                // One bad file must not keep the others from being read.
                Err(error) => report.problems.push(told(&error)),
            }
        }
        report.remarks = all.len();
        Ok(all)
    }

    /// Lines of the memory that are not ours, and statements of ours that the state
    /// does not know: it was lost, or is that of another state folder.
    pub(super) fn known(&self, problems: &mut Vec<String>) -> Result<Vec<KnownLine>> {
        let mut known = Vec::new();
        let candidates = self.candidates()?;
        let is_in_state = |id: &str| candidates.iter().any(|one| one.id == id);
        for file in [MEMORY, PROJECT, DECISIONS] {
            let text = match self.memory.read(file) {
                // What is known there may be staged again, for a person to see.
                Err(error @ Error::TooLarge { .. }) => {
                    problems.push(told(&error));
                    continue;
                }
                text => text?.unwrap_or_default(),
            };
            // What contradicts them quotes them, in the state and to a model.
            let text = self.memory.redacted(&text);
            let mut ours = false;
            for (at, line) in text.lines().enumerate() {
                if page::is_heading(line) {
                    ours = line.starts_with("### d-");
                    continue;
                }
                let said = line.trim_start_matches(['-', '*', '>', ' ']).trim();
                if ours || said.is_empty() || said.contains("#d-") {
                    continue;
                }
                known.push(KnownLine {
                    place: format!("{file}:{}", at + 1),
                    text: said.split(DETAILS).next().unwrap_or(said).to_owned(),
                });
            }
            for statement in page::statements(&text, 1) {
                if statement.is_closed() || statement.said.is_empty() || is_in_state(&statement.id)
                {
                    continue;
                }
                known.push(KnownLine {
                    place: format!("{file}:{}", statement.lines.0),
                    text: statement.said,
                });
            }
        }
        Ok(known)
    }

    fn promote_by_policy(
        &self,
        lock: &DreamLock,
        now: &Zoned,
        settings: &Settings<'_>,
        least: f64,
        report: &mut Report,
    ) -> Result<()> {
        let candidates = self.state()?.candidates;
        let today = now.date();
        let last = last_day(today);
        let sure: Vec<String> = waiting(&candidates)
            .into_iter()
            .filter(|one| one.confidence >= least && one.may_go_unseen())
            // A wrong clock dated it; a person has to say since when it holds.
            .filter(|one| one.valid_from <= last)
            .map(|one| one.id.clone())
            .collect();
        for id in sure {
            match self.promoted(lock, &id, now, settings, Wish::Policy) {
                Ok(_) => report.promoted.push(id),
                Err(error @ (Error::NoRoom { .. } | Error::TooLarge { .. })) => {
                    report.problems.push(told(&error));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What promoting a candidate would change; nothing is changed.
    pub fn plan(&self, id: &str, now: &Zoned, settings: &Settings<'_>) -> Result<Change> {
        plan(
            &self.state()?,
            id,
            self.pages()?,
            settings,
            Wish::Person,
            now,
        )
    }

    /// Promotes a candidate: one change, which can be undone.
    pub fn promote(
        &self,
        lock: &DreamLock,
        id: &str,
        now: &Zoned,
        settings: &Settings<'_>,
    ) -> Result<Change> {
        self.promoted(lock, id, now, settings, Wish::Person)
    }

    fn promoted(
        &self,
        lock: &DreamLock,
        id: &str,
        now: &Zoned,
        settings: &Settings<'_>,
        wish: Wish,
    ) -> Result<Change> {
        let mut state = self.state()?;
        if wish == Wish::Policy {
            // A model's words are for a person to read beside the source's. Where
            // nobody reads, only the source's own are kept.
            let all = state.candidates.iter_mut();
            all.filter(|one| one.id == id)
                .for_each(|one| one.wording = None);
        }
        let change = plan(&state, id, self.pages()?, settings, wish, now)?;
        self.make(lock, state, change)
    }
}

/// The last day on which something can have been said: elsewhere it is tomorrow
/// already.
fn last_day(today: Date) -> Date {
    today.saturating_add(1.day())
}

/// The days whose logs a dream reads.
fn days_read(today: Date, settings: &Settings<'_>) -> RangeInclusive<Date> {
    let days = i64::from(settings.lookback_days.clamp(1, 36_500)) - 1;
    today.saturating_sub(days.days())..=last_day(today)
}

pub(super) fn told(error: &Error) -> String {
    match error.remedy() {
        Some(remedy) => format!("{error}; {remedy}"),
        None => error.to_string(),
    }
}
