//! Days that were read late: what is known is folded once more, in the order of
//! the days.
//!
//! A fold in the order of the days says which of two statements is the newer
//! one, what it replaces and since when. When older days are read after newer
//! ones, that order is not the order of reading; so everything that was said is
//! folded again, as if it had been read at once. What people decided stays
//! decided: what is promoted, rejected or worded keeps that, and its id.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, Evidence, Review, Status};
use super::consolidate::{KnownLine, Work};
use super::remark::{Remark, said_again};
use jiff::civil::Date;

/// Folds what the candidates were made of once more, and `remarks` with it.
pub(super) fn refold(
    candidates: &mut Vec<Candidate>,
    remarks: &[Remark],
    known: &[KnownLine],
    last: Date,
) {
    let is_pinned: Vec<bool> = (0..candidates.len())
        .map(|at| is_pinned(candidates, at))
        .collect();
    let is_fixed: Vec<bool> = (0..candidates.len())
        .map(|at| is_fixed(candidates, at))
        .collect();
    let old = std::mem::take(candidates);
    let mut pool = Pool::new(remarks, &old, &is_pinned);
    pool.sort(last);
    let pinned = old.iter().zip(&is_pinned).filter(|(_, pinned)| **pinned);
    *candidates = pinned.map(|(one, _)| one.clone()).collect();
    let mut fold = Fold {
        old: &old,
        is_fixed: &is_fixed,
        adopted: HashMap::new(),
        places: HashMap::new(),
        work: Work::new(candidates, known, last),
    };
    for said in &pool.said {
        fold.take(said, pool.is_last(said));
    }
    let ids: HashSet<&str> = old.iter().map(|one| one.id.as_str()).collect();
    let all: Vec<(String, Status)> = candidates
        .iter()
        .map(|one| (one.id.clone(), one.status.clone()))
        .collect();
    let has = |id: &String| all.iter().any(|(known, _)| known == id);
    for one in candidates.iter_mut() {
        // Ids that became another's, or nobody's.
        let is_gone = |id: &String| ids.contains(id.as_str()) && !has(id);
        one.replaces.retain(|id| !is_gone(id));
        one.contradicts.retain(|id| !is_gone(id));
        one.replaces.dedup();
    }
}

/// Whether it is not made of remarks alone and stays as it is: nobody wants it,
/// or a model made it.
fn is_pinned(all: &[Candidate], at: usize) -> bool {
    let by_model = |one: &Candidate| matches!(one.review, Some(Review::Named | Review::Merged));
    let one = &all[at];
    match &one.status {
        Status::Rejected { .. } => true,
        Status::Superseded { by: Some(by), .. } => {
            let mut others = all.iter();
            by_model(one) || others.any(|other| other.id == *by && by_model(other))
        }
        _ => by_model(one),
    }
}

/// Whether a person or the policy decided what has become of it: it is kept, or
/// gave way to what is kept.
fn is_fixed(all: &[Candidate], at: usize) -> bool {
    let mut one = &all[at];
    // No chain is longer than there are candidates.
    for _ in 0..all.len() {
        match &one.status {
            Status::Promoted { .. } | Status::Demoted { .. } => return true,
            Status::Staged | Status::Rejected { .. } => return false,
            Status::Superseded { by: None, .. } => return one.ended.is_none(),
            Status::Superseded { by: Some(by), .. } => {
                match all.iter().find(|other| other.id == *by) {
                    // Nobody decided that what is kept was said again.
                    Some(other) if other.valid_from < one.valid_from => return false,
                    Some(other) => one = other,
                    None => return true,
                }
            }
        }
    }
    true
}

/// Something that was said, and the candidate that had it.
struct Said {
    remark: Remark,
    key: String,
    owner: Option<usize>,
}

/// All that was said.
struct Pool {
    said: Vec<Said>,
    /// The last that each candidate had.
    last: HashMap<usize, String>,
}

impl Pool {
    fn new(remarks: &[Remark], old: &[Candidate], is_pinned: &[bool]) -> Pool {
        let mut owners: HashMap<&str, usize> = HashMap::new();
        for (at, one) in old.iter().enumerate() {
            for key in &one.seen {
                owners.entry(key).or_insert(at);
            }
        }
        let mut taken: HashSet<String> = HashSet::new();
        let mut said = Vec::new();
        let mut add = |remark: Remark| {
            let key = remark.evidence.key();
            let owner = owners.get(key.as_str()).copied();
            if taken.insert(key.clone()) && !owner.is_some_and(|owner| is_pinned[owner]) {
                said.push(Said { remark, key, owner });
            }
        };
        remarks.iter().cloned().for_each(&mut add);
        for one in old.iter().zip(is_pinned).filter(|(_, pinned)| !**pinned) {
            let (one, _) = one;
            for evidence in one.evidence.iter().chain(&one.ended) {
                add(said_again(one, evidence));
            }
        }
        Pool {
            said,
            last: HashMap::new(),
        }
    }

    /// Whether it is the last that the candidate had which had it.
    fn is_last(&self, said: &Said) -> bool {
        let last = said.owner.and_then(|owner| self.last.get(&owner));
        last == Some(&said.key)
    }

    /// In the order of the days; what a wrong clock dated later was said before.
    fn sort(&mut self, last: Date) {
        self.said.sort_by(|a, b| {
            let of = |said: &Said| said.remark.evidence.date <= last;
            let order = of(a).cmp(&of(b));
            order.then_with(|| in_order(&a.remark.evidence, &b.remark.evidence))
        });
        for said in &self.said {
            if let Some(owner) = said.owner {
                self.last.insert(owner, said.key.clone());
            }
        }
    }
}

/// The order in which two things were said.
pub(super) fn in_order(a: &Evidence, b: &Evidence) -> std::cmp::Ordering {
    let place = |one: &Evidence| (one.date, one.line);
    let order = a.date.cmp(&b.date).then_with(|| a.file.cmp(&b.file));
    order.then_with(|| place(a).cmp(&place(b)))
}

struct Fold<'a, 'b> {
    old: &'b [Candidate],
    is_fixed: &'b [bool],
    /// Which one had been what is at this place now.
    adopted: HashMap<usize, usize>,
    /// At which place what had been there is now.
    places: HashMap<usize, usize>,
    work: Work<'a>,
}

impl Fold<'_, '_> {
    /// Takes what was said once more. What is kept is that candidate from the first
    /// that was said of it, since what comes between ends or replaces nothing that
    /// is kept; of others it is what was said last.
    fn take(&mut self, said: &Said, is_last: bool) {
        let known = said.owner.and_then(|owner| self.places.get(&owner));
        match (said.owner, known) {
            (Some(_), Some(&at)) => {
                if self.work.seen.insert(said.key.clone()) {
                    self.work.add(at, &said.remark);
                }
            }
            (owner, _) => {
                self.work.owned = owner.is_some();
                self.work.take(&said.remark);
                let is_due = |owner: &usize| is_last || self.old[*owner].status.is_kept();
                if let Some(owner) = owner.filter(is_due) {
                    self.adopt(owner, said);
                }
            }
        }
        if is_last && let Some(owner) = said.owner {
            self.recover(owner);
        }
    }

    /// What was said is a candidate that was there, with its id and what was decided
    /// about it.
    fn adopt(&mut self, owner: usize, said: &Said) {
        let key = &said.key;
        let old = &self.old[owner];
        let fixed = self.is_fixed[owner];
        let replaced = self.replaced(owner);
        let all = self.work.candidates.iter();
        let at = all.clone().rposition(|one| one.seen.last() == Some(key));
        let before = at.and_then(|at| self.adopted.get(&at).copied());
        let is_free = before.is_none_or(|before| fixed && !self.is_fixed[before]);
        let Some(at) = at.filter(|_| is_free) else {
            // Two that are kept are two, whatever they say; and what is kept is
            // kept, though it may say what was rejected.
            if fixed {
                self.put_back(owner, said);
            }
            return;
        };
        self.rename(at, &old.id);
        self.adopted.insert(at, owner);
        self.places.insert(owner, at);
        let one = &mut self.work.candidates[at];
        one.wording = old.wording.clone();
        one.review = old.review.or(one.review);
        one.asked = old.asked.clone();
        one.confidence = old.confidence;
        if fixed {
            one.status = old.status.clone();
            one.valid_until = old.valid_until;
            one.ended = old.ended.clone();
            one.topic = old.topic;
            one.text = old.text.clone();
            let new = std::mem::replace(&mut one.replaces, replaced);
            for id in new {
                if !one.replaces.contains(&id) {
                    one.replaces.push(id);
                }
            }
        }
        let is_new = |one: &Candidate| one.evidence.iter().any(|known| known.key() == *key);
        if one.status.is_kept() && is_new(one) {
            self.work.hold(at, &said.remark);
        }
    }

    /// What a candidate took the place of, but for what it went back from by being
    /// said again: that may turn out otherwise.
    fn replaced(&self, owner: usize) -> Vec<String> {
        let one = &self.old[owner];
        let is_later = |id: &&String| {
            let mut all = self.old.iter();
            all.any(|other| other.id == **id && one.valid_from < other.valid_from)
        };
        let replaces = one.replaces.iter();
        replaces.filter(|id| !is_later(id)).cloned().collect()
    }

    /// Puts what is fixed beside what took its words; what is kept has been said
    /// once so far.
    fn put_back(&mut self, owner: usize, said: &Said) {
        let mut whole = self.old[owner].clone();
        whole.contradicts.clear();
        whole.replaces = self.replaced(owner);
        let is_kept = whole.status.is_kept();
        if is_kept {
            let first = Candidate::new(whole.topic, &whole.text, whole.ends, &said.remark.evidence);
            whole = Candidate {
                evidence: first.evidence,
                seen: first.seen,
                uttered: first.uttered,
                copies: first.copies,
                days: first.days,
                sessions: first.sessions,
                valid_from: first.valid_from,
                ..whole
            };
            whole.add(&said.remark.text, said.remark.evidence.clone());
        }
        self.work.push(whole);
        let at = self.work.candidates.len() - 1;
        self.adopted.insert(at, owner);
        self.places.insert(owner, at);
        if is_kept {
            self.work.hold(at, &said.remark);
        }
    }

    /// Evidence that was not kept whole cannot be folded again.
    fn recover(&mut self, owner: usize) {
        let Some(at) = self.places.get(&owner) else {
            return;
        };
        let old = &self.old[owner];
        let one = &mut self.work.candidates[*at];
        let is_lost = |key: &&String| !self.work.seen.contains(*key) && !one.seen.contains(key);
        let lost: Vec<String> = old.seen.iter().filter(is_lost).cloned().collect();
        let copies = old.copies.min(lost.len());
        one.copies += copies;
        if lost.len() > copies {
            let days = old.days.iter().filter(|day| **day >= one.valid_from);
            one.days.extend(days);
            one.days.sort_unstable();
            one.days.dedup();
            for session in &old.sessions {
                if !one.sessions.contains(session) {
                    one.sessions.push(session.clone());
                }
            }
        }
        for key in &old.uttered {
            if !one.uttered.contains(key) {
                one.uttered.push(key.clone());
            }
        }
        self.work.seen.extend(lost.iter().cloned());
        one.seen.splice(0..0, lost);
    }

    /// Gives a candidate an id, and whoever had it by chance another.
    fn rename(&mut self, at: usize, id: &str) {
        let all = &self.work.candidates;
        if all[at].id == id {
            return;
        }
        if let Some(other) = all.iter().position(|one| one.id == id) {
            let another = self.work.free_id(&all[other]);
            self.call(other, &another);
        }
        self.call(at, id);
    }

    fn call(&mut self, at: usize, id: &str) {
        let candidates = &mut *self.work.candidates;
        let before = std::mem::replace(&mut candidates[at].id, id.to_owned());
        for one in candidates.iter_mut() {
            let by = match &mut one.status {
                Status::Superseded { by, .. } => by.as_mut(),
                _ => None,
            };
            let links = one.replaces.iter_mut().chain(&mut one.contradicts);
            for link in links.chain(by).filter(|link| **link == before) {
                *link = id.to_owned();
            }
        }
    }
}
