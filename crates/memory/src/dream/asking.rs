//! A model's part of a dream: it is asked what is worth keeping, how to word it,
//! whether two are one, and what contradicts what.
//!
//! Every answer is written down at once, so that an interrupted dream does not
//! ask again, and every kind of question has its limit for one dream. No answer
//! promotes anything.

use std::ops::ControlFlow;

use longhaul_tokens::Spent;

use super::candidate::{Candidate, Review, Status};
use super::consolidate::{Days, consolidate_named};
use super::likeness::Features;
use super::model::{Answer, Ask, Question, checked, merging, wording};
use super::naming::{batch, named, naming, opposed, opposing};
use super::run::{DayLog, ModelReport};
use super::store::{DreamLock, Dreams, State};
use crate::files::MEMORY;
use crate::{Error, Result, Source};

/// Parts of logs that a model is shown in one dream.
const MOST_BATCHES: usize = 10;
/// Candidates that it is asked to word in one dream.
const MOST_WORDINGS: usize = 40;
/// So many answers in a row that say more than the notes, and it is not asked to
/// word any other in this dream: each question is paid for.
const MOST_USELESS: usize = 8;
/// Pairs of candidates that it is asked about in one dream.
const MOST_PAIRS: usize = 20;
/// Lists of candidates that it is shown in one dream, to find what contradicts.
const MOST_LISTS: usize = 5;
/// Candidates of such a list that it was not asked about yet, and beside them
/// those most like them.
const NEW_IN_LIST: usize = 20;
const OLD_IN_LIST: usize = 40;
/// Marks a candidate in `asked` that was in such a list.
const OPPOSED: &str = "contradictions";

impl Dreams<'_> {
    /// Asks a model all there is to ask.
    pub(super) fn ask(
        &self,
        lock: &DreamLock,
        state: &mut State,
        logs: &[DayLog],
        days: Days,
        ask: &mut Ask<'_>,
    ) -> Result<ModelReport> {
        let mut talk = Talk {
            ask,
            report: ModelReport::default(),
            owed: Spent::default(),
        };
        // A model that failed is not asked for the rest.
        let _ = self.name(lock, state, logs, days, &mut talk)?.is_continue()
            && self.word(lock, state, &mut talk)?.is_continue()
            && self.merge(lock, state, &mut talk)?.is_continue()
            && self.oppose(lock, state, &mut talk)?.is_continue();
        self.keep(lock, state, &mut talk)?;
        Ok(talk.report)
    }

    /// Writes down what came of an answer, and what it took.
    fn keep(&self, lock: &DreamLock, state: &mut State, talk: &mut Talk<'_, '_>) -> Result<()> {
        state.paid.add(&std::mem::take(&mut talk.owed));
        self.save(lock, state)
    }

    /// What is worth keeping of what the logs say since it was asked last; the
    /// newest log first.
    fn name(
        &self,
        lock: &DreamLock,
        state: &mut State,
        logs: &[DayLog],
        days: Days,
        talk: &mut Talk<'_, '_>,
    ) -> Result<ControlFlow<()>> {
        // What is too large to be read has been told by now.
        let known = self.known(&mut Vec::new())?;
        let memory = match self.memory.read(MEMORY) {
            Err(Error::TooLarge { .. }) => String::new(),
            text => text?.unwrap_or_default(),
        };
        let memory = self.memory.redacted(&memory);
        let mut batches = 0;
        for log in logs.iter().rev() {
            while batches < MOST_BATCHES {
                let after = state.shown.get(&log.date).copied().unwrap_or_default();
                let lines = batch(&log.lines, after);
                let Some(last) = lines.last() else {
                    break;
                };
                let Some(answer) = talk.ask(&naming(log.date, &lines, &memory)) else {
                    return Ok(ControlFlow::Break(()));
                };
                let found = named(&answer, log.date, &lines);
                talk.report.unquoted += found.nowhere;
                talk.report.named +=
                    consolidate_named(&mut state.candidates, &found.at, &known, days);
                state.shown.insert(log.date, last.line);
                self.keep(lock, state, talk)?;
                batches += 1;
            }
        }
        // Days that are read no more need not be remembered.
        if let Some(first) = logs.first() {
            state.shown.retain(|date, _| *date >= first.date);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn word(
        &self,
        lock: &DreamLock,
        state: &mut State,
        talk: &mut Talk<'_, '_>,
    ) -> Result<ControlFlow<()>> {
        let (mut asked, mut useless) = (0, 0);
        for at in 0..state.candidates.len() {
            if asked == MOST_WORDINGS || useless == MOST_USELESS {
                break;
            }
            let candidate = &state.candidates[at];
            if !candidate.is_ripe()
                || candidate.ends
                || candidate.review == Some(Review::Edited)
                || candidate.asked.iter().any(String::is_empty)
            {
                continue;
            }
            let Some(answer) = talk.ask(&wording(candidate)) else {
                return Ok(ControlFlow::Break(()));
            };
            asked += 1;
            let checked = checked(&answer, &[candidate]);
            useless = match checked {
                Answer::Ungrounded => useless + 1,
                Answer::Line(_) | Answer::Keep => 0,
            };
            match checked {
                Answer::Line(line) => {
                    talk.report.worded += 1;
                    state.candidates[at].wording = Some(line);
                }
                Answer::Keep => {}
                Answer::Ungrounded => talk.report.ungrounded += 1,
            }
            state.candidates[at].asked.push(String::new());
            self.keep(lock, state, talk)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn merge(
        &self,
        lock: &DreamLock,
        state: &mut State,
        talk: &mut Talk<'_, '_>,
    ) -> Result<ControlFlow<()>> {
        for (a, b) in pairs(&state.candidates) {
            let (one, other) = (&state.candidates[a], &state.candidates[b]);
            let id = other.id.clone();
            // One of them may have been merged a moment ago.
            if !one.is_ripe() || !other.is_ripe() {
                continue;
            }
            let Some(answer) = talk.ask(&merging(one, other)) else {
                return Ok(ControlFlow::Break(()));
            };
            match checked(&answer, &[one, other]) {
                Answer::Line(line) => {
                    talk.report.merged += 1;
                    merge(&mut state.candidates, a, b, line);
                }
                Answer::Keep => {}
                Answer::Ungrounded => talk.report.ungrounded += 1,
            }
            state.candidates[a].asked.push(id);
            self.keep(lock, state, talk)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// What contradicts what: each candidate is shown once as a new one, beside
    /// those that it is most like.
    fn oppose(
        &self,
        lock: &DreamLock,
        state: &mut State,
        talk: &mut Talk<'_, '_>,
    ) -> Result<ControlFlow<()>> {
        for _ in 0..MOST_LISTS {
            let (fresh, others) = list(&state.candidates);
            if fresh.is_empty() {
                break;
            }
            let shown: Vec<&Candidate> = fresh
                .iter()
                .chain(&others)
                .map(|at| &state.candidates[*at])
                .collect();
            if shown.len() > 1 {
                let Some(answer) = talk.ask(&opposing(&shown)) else {
                    return Ok(ControlFlow::Break(()));
                };
                let found = opposed(&answer, &shown);
                talk.report.unquoted += found.nowhere;
                for (a, b) in found.at {
                    let marked = oppose(&mut state.candidates, &a, &b);
                    talk.report.contradictions += usize::from(marked);
                }
            }
            for at in fresh {
                state.candidates[at].asked.push(OPPOSED.to_owned());
            }
            self.keep(lock, state, talk)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}

struct Talk<'a, 'b> {
    ask: &'a mut Ask<'b>,
    report: ModelReport,
    /// What answers took that are not written down yet.
    owed: Spent,
}

impl Talk<'_, '_> {
    /// The answer; nothing where the model failed.
    fn ask(&mut self, question: &Question) -> Option<String> {
        self.report.calls += 1;
        let reply = (self.ask)(question);
        self.report.paid.add(&reply.paid);
        self.owed.add(&reply.paid);
        match reply.text {
            Ok(answer) => Some(answer),
            Err(failure) => {
                self.report.failure = Some(failure);
                None
            }
        }
    }
}

/// The candidates of the next list: those that were in none yet, and others
/// that share words with them, the most alike first.
fn list(candidates: &[Candidate]) -> (Vec<usize>, Vec<usize>) {
    let stands = |one: &Candidate| {
        let waits = one.is_ripe() || one.status.is_kept();
        waits && !one.ends && one.source != Source::Tool
    };
    let is_fresh = |one: &Candidate| one.is_ripe() && !one.asked.iter().any(|id| id == OPPOSED);
    let all: Vec<usize> = (0..candidates.len())
        .filter(|at| stands(&candidates[*at]))
        .collect();
    let fresh: Vec<usize> = all
        .iter()
        .copied()
        .filter(|at| is_fresh(&candidates[*at]))
        .take(NEW_IN_LIST)
        .collect();
    let words: Vec<Features> = fresh
        .iter()
        .map(|at| Features::of(&candidates[*at].text))
        .collect();
    let mut others: Vec<(f64, usize)> = all
        .into_iter()
        .filter(|at| !fresh.contains(at))
        .map(|at| {
            let own = Features::of(&candidates[at].text);
            let alike = words.iter().map(|one| one.shared(&own));
            (alike.fold(0.0, f64::max), at)
        })
        .filter(|(alike, _)| *alike > 0.0)
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    others.truncate(OLD_IN_LIST);
    (fresh, others.into_iter().map(|(_, at)| at).collect())
}

/// Marks what waits of two candidates as contradicting the other. Says whether
/// that was not known.
fn oppose(candidates: &mut [Candidate], a: &str, b: &str) -> bool {
    let mut marked = false;
    for (one, other) in [(a, b), (b, a)] {
        for candidate in candidates.iter_mut().filter(|known| known.id == one) {
            let waits = candidate.status == Status::Staged;
            // What it takes the place of contradicts it, of course.
            let said = candidate.contradicts.iter().chain(&candidate.replaces);
            if waits && !said.into_iter().any(|known| known == other) {
                candidate.contradicts.push(other.to_owned());
                marked = true;
            }
        }
    }
    marked
}

/// Candidates that may be the same in other words: of one topic and one source,
/// so that merging lends nobody a better name.
fn pairs(candidates: &[Candidate]) -> Vec<(usize, usize)> {
    let ripe: Vec<(usize, Features)> = candidates
        .iter()
        .enumerate()
        .filter(|(_, one)| one.is_ripe() && !one.ends)
        .map(|(at, one)| (at, Features::of(&one.text)))
        .collect();
    let mut pairs = Vec::new();
    for (n, (a, of_a)) in ripe.iter().enumerate() {
        for (b, of_b) in &ripe[n + 1..] {
            let (one, other) = (&candidates[*a], &candidates[*b]);
            let fits = one.topic == other.topic
                && one.source == other.source
                && !one.contradicts.contains(&other.id)
                && !one.asked.contains(&other.id);
            if fits && pairs.len() < MOST_PAIRS && of_a.may_be_one(of_b) {
                pairs.push((*a, *b));
            }
        }
    }
    pairs
}

fn merge(candidates: &mut [Candidate], a: usize, b: usize, line: String) {
    let other = candidates[b].clone();
    let one = &mut candidates[a];
    for evidence in other.evidence {
        let quote = evidence.quote.clone();
        one.add(&quote, evidence);
    }
    one.wording = Some(line);
    one.review = Some(Review::Merged);
    let (id, on) = (one.id.clone(), one.last_day());
    candidates[b].status = Status::Superseded { on, by: Some(id) };
}
