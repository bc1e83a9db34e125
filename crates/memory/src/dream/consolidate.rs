//! Consolidation: what was said becomes candidates.
//!
//! A pure function of what is known and what was said. What says the same is counted
//! as one candidate, what the memory says already is left out, and what may contradict
//! is linked. Nothing takes the place of anything here: that is for a model or a
//! person. The same remarks again change nothing.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use serde::Serialize;

use super::candidate::{Candidate, Evidence, Status, digest};
use super::remark::Remark;
use super::score::confidence;
use super::similar::{Index, Meaning, Relation};

/// A line of the memory that nobody promoted: written by hand, or older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownLine {
    /// Where it stands, such as `MEMORY.md:12`.
    pub(super) place: String,
    /// Its text.
    pub(super) text: String,
}

/// What a consolidation changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Consolidated {
    /// New candidates.
    pub found: usize,
    /// Remarks that said again what a candidate says.
    pub repeated: usize,
    /// Remarks that the memory says already.
    pub known: usize,
    /// New candidates that may contradict something.
    pub contradictions: usize,
    /// Remarks like one that was rejected.
    pub rejected: usize,
}

/// What a candidate may contradict that is shown beside it: the nearest.
const MOST_CONTRADICTED: usize = 4;

/// Folds remarks into the candidates, in the order in which they were said, and counts
/// what became of them.
pub(super) fn consolidate(
    candidates: &mut Vec<Candidate>,
    remarks: &[Remark],
    known: &[KnownLine],
    meaning: Option<&Meaning<'_>>,
    done: &mut Consolidated,
) {
    let mut work = Work::new(candidates, known, meaning, done);
    let mut order: Vec<&Remark> = remarks.iter().collect();
    let place = |one: &Evidence| (one.date, one.file.clone(), one.line);
    order.sort_by_cached_key(|remark| place(&remark.evidence));
    for remark in order {
        work.take(remark);
    }
}

/// Gives every candidate that waits its score.
pub(super) fn weigh(
    candidates: &mut [Candidate],
    recalls: &dyn Fn(&Candidate) -> u32,
    newest: Date,
) {
    for candidate in candidates {
        if candidate.status == Status::Staged {
            candidate.confidence = confidence(candidate, newest, recalls(candidate));
        }
    }
}

struct Work<'a> {
    candidates: &'a mut Vec<Candidate>,
    known: &'a [KnownLine],
    meaning: Option<&'a Meaning<'a>>,
    index: Index,
    /// Whose line of the index it is: those of the memory come first.
    ids: HashSet<String>,
    /// The evidence that is known, and of which candidate it is.
    seen: HashMap<String, Option<usize>>,
    done: &'a mut Consolidated,
}

impl<'a> Work<'a> {
    fn new(
        candidates: &'a mut Vec<Candidate>,
        known: &'a [KnownLine],
        meaning: Option<&'a Meaning<'a>>,
        done: &'a mut Consolidated,
    ) -> Work<'a> {
        let mut index = Index::default();
        let texts = known.iter().map(|line| &line.text);
        for text in texts.chain(candidates.iter().map(|one| &one.text)) {
            let line = index.line(text);
            index.push(line);
        }
        let all = candidates.iter().enumerate();
        let seen =
            all.flat_map(|(at, one)| one.seen.iter().map(move |key| (key.clone(), Some(at))));
        Work {
            ids: candidates.iter().map(|one| one.id.clone()).collect(),
            seen: seen.collect(),
            done,
            candidates,
            known,
            meaning,
            index,
        }
    }

    fn take(&mut self, remark: &Remark) {
        let key = remark.evidence.key();
        match self.seen.get(&key) {
            Some(Some(at)) => return self.candidates[*at].stands_at(&key, remark.evidence.line),
            Some(None) => return,
            None => self.seen.insert(key, None),
        };
        let line = self.index.line(&remark.text);
        let mut may_contradict = Vec::new();
        for at in self.index.near(&line) {
            let text = match at.checked_sub(self.known.len()) {
                Some(at) => &self.candidates[at].text,
                None => &self.known[at].text,
            };
            let meaning = || self.meaning.and_then(|near| near(text, &remark.text));
            match self.index.relation(at, &line, &meaning) {
                Relation::Same if self.is_joined(at, remark) => return,
                Relation::MayContradict => may_contradict.push(at),
                Relation::Same | Relation::Apart => {}
            }
        }
        let mut made = Candidate::new(remark.topic, &remark.text, &remark.evidence);
        made.id = self.free_id(&made);
        made.add(&remark.text, remark.evidence.clone());
        for at in may_contradict {
            self.link(&mut made, at);
        }
        self.done.contradictions += usize::from(!made.contradicts.is_empty());
        self.done.found += 1;
        self.ids.insert(made.id.clone());
        self.index.push(line);
        self.candidates.push(made);
    }

    /// Counts a remark with what says the same. Says whether it is done with: what
    /// was replaced and is said again later holds once more, as a candidate of its
    /// own.
    fn is_joined(&mut self, at: usize, remark: &Remark) -> bool {
        let Some(at) = at.checked_sub(self.known.len()) else {
            self.done.known += 1;
            return true;
        };
        let candidate = &mut self.candidates[at];
        match &candidate.status {
            Status::Rejected { .. } => self.done.rejected += 1,
            Status::Superseded { on, .. } if remark.evidence.date > *on => return false,
            Status::Staged
            | Status::Promoted { .. }
            | Status::Demoted { .. }
            | Status::Superseded { .. } => {
                let again = candidate.add(&remark.text, remark.evidence.clone());
                candidate.topic = candidate.topic.min(remark.topic);
                self.done.repeated += usize::from(again);
            }
        }
        true
    }

    fn link(&mut self, made: &mut Candidate, at: usize) {
        if made.contradicts.len() >= MOST_CONTRADICTED {
            return;
        }
        let Some(at) = at.checked_sub(self.known.len()) else {
            made.contradicts.push(self.known[at].place.clone());
            return;
        };
        let other = &mut self.candidates[at];
        let stands = other.status == Status::Staged || other.status.is_kept();
        let is_free = other.contradicts.len() < MOST_CONTRADICTED || other.status.is_kept();
        if stands && is_free && !in_one_breath(made, other) {
            // So that nobody promotes it unseen.
            if other.is_waiting() {
                other.contradicts.push(made.id.clone());
            }
            made.contradicts.push(other.id.clone());
        }
    }

    /// The id of a candidate, or another where one that is there has it: what was
    /// said, replaced and said again is another candidate.
    fn free_id(&self, made: &Candidate) -> String {
        let day = made.valid_from.to_string();
        let dated = (0_u32..).map(|time| {
            let again = digest(&[&made.text, &day, &time.to_string()]);
            format!("d-{}", &again[..8])
        });
        let mut ids = std::iter::once(made.id.clone()).chain(dated);
        ids.find(|id| !self.ids.contains(id))
            .expect("some number is free")
    }
}

/// Whether both were said in one entry of one session: who says two things at once
/// means both.
fn in_one_breath(made: &Candidate, other: &Candidate) -> bool {
    let place = |one: &Evidence| Some((one.session.clone()?, one.entry.clone()?));
    let mut places = other.evidence.iter().filter_map(place);
    let own: Vec<_> = made.evidence.iter().filter_map(place).collect();
    places.any(|place| own.contains(&place))
}
