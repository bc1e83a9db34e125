//! Consolidation: what was said becomes candidates.
//!
//! A pure function of what is known and what was said. The same remarks again
//! change nothing; the order of the days decides which of two statements is
//! the newer one, whenever they are found.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::candidate::{Candidate, Evidence, Review, Status, Topic, digest};
use super::likeness::{Features, Relation};
use super::refold::{in_order, refold};
use super::remark::{Remark, unnumbered};
use super::score::confidence;

/// A line of the memory that nobody promoted: written by hand, or older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownLine {
    /// Where it stands, such as `MEMORY.md:12`.
    pub place: String,
    /// Its text.
    pub text: String,
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
    /// Candidates that something newer took the place of.
    pub superseded: usize,
    /// Candidates that may contradict something.
    pub contradictions: usize,
    /// Remarks like one that was rejected.
    pub rejected: usize,
}

/// The days by which candidates are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The latest day that was looked at.
    pub newest: Date,
    /// The day it is now. What a wrong clock dated later was said before.
    pub today: Date,
}

/// The last day on which something can have been said: elsewhere it is tomorrow
/// already.
pub(super) fn last_day(today: Date) -> Date {
    today.saturating_add(1.day())
}

/// Folds remarks into the candidates. `recalls` says how often a text was
/// recalled. What comes of it does not depend on how many days were read at a
/// time, and in which order.
pub fn consolidate(
    candidates: &mut Vec<Candidate>,
    remarks: &[Remark],
    known: &[KnownLine],
    recalls: &dyn Fn(&Candidate) -> u32,
    days: Days,
) -> Consolidated {
    let before = candidates.clone();
    let (mut done, order) = fold(candidates, remarks, known, days);
    if order == Order::Late {
        *candidates = before.clone();
        settle(candidates, remarks, known, days);
        let new = |is: &dyn Fn(&Candidate) -> bool| {
            let was = |id: &str| before.iter().any(|one| one.id == id && is(one));
            let now = candidates.iter().filter(|one| is(one));
            now.filter(|one| !was(&one.id)).count()
        };
        done.superseded = new(&|one| matches!(one.status, Status::Superseded { .. }));
        done.contradictions = new(&|one| !one.contradicts.is_empty());
    }
    weigh(candidates, recalls, days.newest);
    done
}

/// Whether remarks came in the order of their days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// They did.
    Kept,
    /// Some are older than what was known.
    Late,
}

/// Folds remarks into the candidates that are there. Of those that come late the
/// links may be other than they should be, until it is settled.
pub(super) fn fold(
    candidates: &mut Vec<Candidate>,
    remarks: &[Remark],
    known: &[KnownLine],
    days: Days,
) -> (Consolidated, Order) {
    let last = last_day(days.today);
    restore(candidates, last);
    let mut work = Work::new(candidates, known, last);
    let mut order: Vec<&Remark> = remarks.iter().collect();
    order.sort_by(|a, b| in_order(&a.evidence, &b.evidence));
    for remark in order {
        work.take(remark);
    }
    (work.done, work.order)
}

/// Puts the candidates in order after days were read late.
pub(super) fn settle(
    candidates: &mut Vec<Candidate>,
    remarks: &[Remark],
    known: &[KnownLine],
    days: Days,
) {
    let last = last_day(days.today);
    restore(candidates, last);
    refold(candidates, remarks, known, last);
}

/// Folds in what only a model thought worth keeping. It waits for review and
/// moves nothing that is there. Says how many are new.
pub(super) fn consolidate_named(
    candidates: &mut Vec<Candidate>,
    remarks: &[Remark],
    known: &[KnownLine],
    days: Days,
) -> usize {
    let before = candidates.len();
    let mut work = Work::new(candidates, known, last_day(days.today));
    work.only_points = true;
    for remark in remarks {
        work.take(remark);
    }
    let made = &mut candidates[before..];
    for one in made.iter_mut() {
        one.review = Some(Review::Named);
    }
    made.len()
}

/// Gives what was said by now its place back where something of a day to come
/// took it: the clock was wrong, and what it wrote is not the newer one.
fn restore(candidates: &mut [Candidate], last: Date) {
    for at in 0..candidates.len() {
        let one = &candidates[at];
        let Status::Superseded { by: Some(by), .. } = &one.status else {
            continue;
        };
        let (id, from) = (one.id.clone(), one.valid_from);
        let ahead = |other: &Candidate| {
            other.id == *by
                && other.status == Status::Staged
                && other.last_day_until(last).is_none()
        };
        let usurper = candidates.iter().position(ahead);
        let (Some(usurper), Some(_)) = (usurper, one.last_day_until(last)) else {
            continue;
        };
        candidates[at].status = Status::Staged;
        candidates[at].valid_until = None;
        candidates[usurper].valid_until = Some(from);
        candidates[usurper].status = Status::Superseded {
            on: from,
            by: Some(id),
        };
    }
}

/// Says of every candidate that waits how sure it is.
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

/// Candidates that one remark is compared with; those that share fewer words
/// than so many others are not about the same.
const MOST_NEAR: usize = 200;

/// Kept of those that take back what nobody has found yet.
const MOST_UNANSWERED: usize = 200;

pub(super) struct Work<'a> {
    pub(super) candidates: &'a mut Vec<Candidate>,
    pub(super) features: Vec<Features>,
    /// Which candidates have a term or value.
    having: HashMap<String, Vec<usize>>,
    /// The evidence of all candidates.
    pub(super) seen: HashSet<String>,
    pub(super) known: Vec<(&'a KnownLine, Features)>,
    /// The last day on which anything can have been said.
    last: Date,
    /// What is new only points at what it may contradict.
    only_points: bool,
    /// What is taken was taken before, and is no news to the memory.
    pub(super) owned: bool,
    /// The newest day of what was there before.
    newest: Option<Date>,
    order: Order,
    pub(super) done: Consolidated,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        candidates: &'a mut Vec<Candidate>,
        known: &'a [KnownLine],
        last: Date,
    ) -> Work<'a> {
        let days = candidates.iter().flat_map(|one| {
            let ended = one.ended.as_ref().map(|ended| ended.date);
            one.last_day_until(last).into_iter().chain(ended)
        });
        let mut work = Work {
            newest: days.max(),
            order: Order::Kept,
            owned: false,
            features: Vec::new(),
            having: HashMap::new(),
            seen: HashSet::new(),
            known: known
                .iter()
                .map(|line| (line, Features::of(unnumbered(&line.text))))
                .collect(),
            last,
            only_points: false,
            done: Consolidated::default(),
            candidates,
        };
        for at in 0..work.candidates.len() {
            work.index(at);
            let candidate = &work.candidates[at];
            let ended = candidate.ended.as_ref().map(Evidence::key);
            work.seen
                .extend(candidate.seen.iter().cloned().chain(ended));
        }
        work
    }

    pub(super) fn push(&mut self, made: Candidate) {
        self.candidates.push(made);
        self.index(self.candidates.len() - 1);
    }

    fn index(&mut self, at: usize) {
        let features = Features::of(unnumbered(&self.candidates[at].text));
        for word in features.keys() {
            self.having.entry(word.clone()).or_default().push(at);
        }
        self.features.push(features);
    }

    /// Candidates that share a word, with those that share most first.
    fn near(&self, features: &Features) -> Vec<usize> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for word in features.keys() {
            for at in self.having.get(word).into_iter().flatten() {
                *shared.entry(*at).or_default() += 1;
            }
        }
        let mut near: Vec<(usize, usize)> = shared.into_iter().collect();
        near.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(MOST_NEAR);
        near.into_iter().map(|(at, _)| at).collect()
    }

    /// The id of a candidate, or another where one that is there has it: what was
    /// said, given up and said again is another candidate.
    pub(super) fn free_id(&self, made: &Candidate) -> String {
        let is_free = |id: &String| self.candidates.iter().all(|known| known.id != *id);
        let own = std::iter::once(made.id.clone());
        let dated = (0..).map(|time: u32| {
            let day = made.valid_from.to_string();
            let again = match time {
                0 => digest(&[&made.text, &day]),
                time => digest(&[&made.text, &day, &time.to_string()]),
            };
            format!("d-{}", &again[..8])
        });
        let mut ids = own.chain(dated);
        ids.find(is_free).expect("some number is free")
    }

    /// Notes that something was said on a day; an older one than those that were
    /// known comes late.
    pub(super) fn note(&mut self, date: Date) {
        if self.newest.is_some_and(|newest| date < newest) {
            self.order = Order::Late;
        }
    }

    pub(super) fn take(&mut self, remark: &Remark) {
        if !self.seen.insert(remark.evidence.key()) {
            return;
        }
        let features = Features::of(&remark.text);
        let near = self.near(&features);
        if remark.ends {
            self.end(remark, &features, &near);
            return;
        }
        let date = remark.evidence.date;
        for at in &near {
            let is_same = self.is_same(*at, &features, remark.topic);
            let known = &self.candidates[*at];
            if known.ends || !is_same {
                continue;
            }
            match &known.status {
                Status::Rejected { .. } => {
                    self.done.rejected += 1;
                    return;
                }
                // Said again after it was replaced: it holds once more, as a
                // candidate of its own. Before that, it is only history.
                Status::Superseded { on, .. } if date > *on => continue,
                _ => {
                    self.add(*at, remark);
                    self.note(date);
                    return;
                }
            }
        }
        let is_known = |(_, line): &(&KnownLine, Features)| {
            line.is_said_again(&features)
                || line.is_same_statement(&features)
                || (remark.topic.is_rule() && line.is_same_rule(&features))
        };
        if !self.owned && self.known.iter().any(is_known) {
            self.done.known += 1;
            return;
        }
        let mut made = Candidate::new(remark.topic, &remark.text, false, &remark.evidence);
        made.id = self.free_id(&made);
        made.add(&remark.text, remark.evidence.clone());
        made.review = remark.leans.then_some(Review::Leaning);
        self.compare(&mut made, &features, &near);
        self.note(date);
        self.done.found += 1;
        self.push(made);
    }

    /// Whether one more may be kept that nothing has answered to.
    fn has_room_for_unanswered(&self) -> bool {
        let waiting = self.candidates.iter().filter(|one| one.is_unanswered());
        waiting.count() < MOST_UNANSWERED
    }

    /// What a new candidate replaces or may contradict.
    fn compare(&mut self, made: &mut Candidate, features: &Features, near: &[usize]) {
        for at in near {
            let id = self.candidates[*at].id.clone();
            let other = &mut self.candidates[*at];
            // One failure does not contradict another.
            let lesson = made.topic == Topic::Lesson || other.topic == Topic::Lesson;
            let stands = other.status == Status::Staged || other.status.is_kept();
            if other.ends || lesson || !stands {
                continue;
            }
            let spoken = other.last_day_until(self.last);
            let is_newer = spoken.is_none_or(|day| made.valid_from >= day);
            let known = &self.features[*at];
            let relation = match is_newer {
                true => known.relation(features),
                false => features.relation(known),
            };
            let (older, newer) = match is_newer {
                true => (known, features),
                false => (features, known),
            };
            // What is said in one breath is said beside the other, unless it
            // says that something changes.
            let is_beside = !newer.tells_of_change() && in_one_breath(made, other);
            // So may be a rule with another number: for Rust 40, for Go 80 lines.
            let rules = made.topic.is_rule() && other.topic.is_rule();
            let is_other = rules && older.has_another_number(newer);
            let relation = match relation {
                Relation::Replaces if self.only_points || is_beside || is_other => {
                    Relation::Perhaps
                }
                relation => relation,
            };
            let stronger = match is_newer {
                true => made.source >= other.source,
                false => other.source >= made.source,
            };
            // A rule that is kept gives way unseen only to another rule.
            let lets_go = !made.topic.is_rule() || features.claim.lets_go();
            let needs_a_person = other.status.is_kept() && other.topic.is_rule() && lets_go;
            match relation {
                Relation::Replaces if stronger && is_newer => {
                    if other.status == Status::Staged {
                        other.status = Status::Superseded {
                            on: made.valid_from,
                            by: Some(made.id.clone()),
                        };
                        other.valid_until = Some(made.valid_from);
                        self.done.superseded += 1;
                    }
                    if needs_a_person {
                        made.contradicts.push(id.clone());
                    }
                    made.replaces.push(id);
                }
                Relation::Replaces if stronger => {
                    made.status = Status::Superseded {
                        on: other.valid_from,
                        by: Some(id),
                    };
                    made.valid_until = Some(other.valid_from);
                    self.done.superseded += 1;
                    return;
                }
                // The weaker source never moves the stronger one.
                Relation::Replaces | Relation::Perhaps => {
                    other.waits_for(&made.id);
                    made.contradicts.push(id);
                }
                Relation::None | Relation::Same => {}
            }
        }
        for (line, known) in &self.known {
            if made.topic == Topic::Lesson {
                break;
            }
            if matches!(
                known.relation(features),
                Relation::Replaces | Relation::Perhaps
            ) {
                made.contradicts.push(line.place.clone());
            }
        }
        self.done.contradictions += usize::from(!made.contradicts.is_empty());
    }

    /// Something is taken back.
    fn end(&mut self, remark: &Remark, features: &Features, near: &[usize]) {
        let date = remark.evidence.date;
        for at in near {
            let other = &mut self.candidates[*at];
            let same = self.features[*at].is_named_by(features);
            if !same || other.ends || other.valid_from > date {
                continue;
            }
            let allowed = remark.evidence.source >= other.source;
            match other.status {
                Status::Staged if allowed => {
                    other.status = Status::Superseded { on: date, by: None };
                    other.valid_until = Some(date);
                    other.ended = Some(remark.evidence.clone());
                    self.done.superseded += 1;
                    self.note(date);
                    return;
                }
                Status::Promoted { .. } | Status::Demoted { .. } => {
                    let id = other.id.clone();
                    let mut made =
                        Candidate::new(remark.topic, &remark.text, true, &remark.evidence);
                    made.topic = other.topic;
                    made.replaces.push(id);
                    made.add(&remark.text, remark.evidence.clone());
                    // Taken back again after it was said again, it is another.
                    let is_said = |one: &Candidate| one.ends && one.text == made.text;
                    let stands = |one: &Candidate| {
                        is_said(one) && !one.is_over(date) && !one.is_unanswered()
                    };
                    self.note(date);
                    match self.candidates.iter().position(stands) {
                        Some(at) => {
                            self.candidates[at].add(&remark.text, remark.evidence.clone());
                        }
                        None => {
                            made.id = self.free_id(&made);
                            self.done.found += 1;
                            self.push(made);
                        }
                    }
                    return;
                }
                _ => {}
            }
        }
        // What it means may be found later, on a day that was not read yet.
        let mut made = Candidate::new(remark.topic, &remark.text, true, &remark.evidence);
        match self.candidates.iter().position(|one| one.id == made.id) {
            Some(at) => {
                self.candidates[at].add(&remark.text, remark.evidence.clone());
            }
            None if self.has_room_for_unanswered() => {
                made.add(&remark.text, remark.evidence.clone());
                self.push(made);
            }
            None => return,
        }
        self.note(date);
    }
}

/// Whether two were said on one day, or in one session from one day to the next.
fn in_one_breath(made: &Candidate, other: &Candidate) -> bool {
    let days = made
        .days
        .iter()
        .flat_map(|a| other.days.iter().map(move |b| (a, b)));
    let apart = days.map(|(a, b)| a.until(*b).map_or(i32::MAX, |span| span.get_days().abs()));
    let together = made.sessions.iter().any(|one| other.sessions.contains(one));
    apart
        .min()
        .is_some_and(|days| days == 0 || (days == 1 && together))
}
