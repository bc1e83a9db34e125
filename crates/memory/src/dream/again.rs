//! What is kept and said again, after something else was said.
//!
//! A change of what is kept waits for review. Whoever says the kept statement
//! once more after that has gone back, and what was said last is what holds.

use super::candidate::{Candidate, Review, Status, Topic};
use super::consolidate::Work;
use super::likeness::Features;
use super::remark::Remark;

impl Work<'_> {
    /// Whether a candidate says the same as something that is said of a topic.
    pub(super) fn is_same(&self, at: usize, features: &Features, topic: Topic) -> bool {
        let before = &self.features[at];
        let rules = self.candidates[at].topic.is_rule() && topic.is_rule();
        before.is_said_again(features)
            || before.is_same_statement(features)
            || (rules && before.is_same_rule(features))
    }

    /// A candidate was said again.
    pub(super) fn add(&mut self, at: usize, remark: &Remark) {
        let known = &mut self.candidates[at];
        let again = known.add(&remark.text, remark.evidence.clone());
        known.topic = stronger(known.topic, remark.topic);
        let firm = !remark.leans && remark.evidence.source == known.source;
        known.review = known
            .review
            .filter(|why| !(firm && *why == Review::Leaning));
        self.done.repeated += usize::from(again);
        if again && self.candidates[at].status.is_kept() {
            self.hold(at, remark);
        }
    }

    /// A statement that is kept was said again: what waits to take its place, and
    /// was said before that, does so no more.
    pub(super) fn hold(&mut self, kept: usize, remark: &Remark) {
        let earlier = |one: &Candidate| one.last_day() <= remark.evidence.date;
        for at in 0..self.candidates.len() {
            let change = &self.candidates[at];
            if change.status == Status::Staged && earlier(change) && self.changes(at, kept) {
                self.go_back(at, kept, remark);
            }
        }
    }

    /// Whether a candidate takes the place of what is kept, or took that of the
    /// same statement before it was said again.
    fn changes(&self, at: usize, kept: usize) -> bool {
        let (features, topic) = (&self.features[kept], self.candidates[kept].topic);
        let replaces = &self.candidates[at].replaces;
        replaces.iter().any(|id| {
            let old = self.candidates.iter().position(|one| one.id == *id);
            old.is_some_and(|old| old == kept || self.is_same(old, features, topic))
        })
    }

    /// What waited gives way to what is kept. Something else that was said on the
    /// same day only may contradict it, and so does what a weaker source would move.
    fn go_back(&mut self, at: usize, kept: usize, remark: &Remark) {
        let (id, on) = (self.candidates[kept].id.clone(), remark.evidence.date);
        let change = &mut self.candidates[at];
        let in_one_day = change.last_day() == on && !change.ends;
        if remark.evidence.source < change.source || in_one_day {
            change.waits_for(&id);
            change.replaces.retain(|other| *other != id);
            return;
        }
        change.valid_until = Some(on);
        change.status = Status::Superseded { on, by: Some(id) };
        let change = change.id.clone();
        let kept = &mut self.candidates[kept];
        kept.contradicts.retain(|other| *other != change);
        if !kept.replaces.contains(&change) {
            kept.replaces.push(change);
        }
        self.done.superseded += 1;
    }
}

/// A rule is a rule even where it was also noted as a fact.
fn stronger(a: Topic, b: Topic) -> Topic {
    a.min(b)
}
