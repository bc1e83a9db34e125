//! Rules that were lifted in another session than the one that made them.
//!
//! "You may push on Fridays now" says nothing by itself: it takes back a rule
//! that somebody else has to remember. Which one is told by the words they
//! share, so a person sees every one of these before anything leaves the memory.

use jiff::civil::Date;
use longhaul_ledger::{Taking, takes_back};

use super::candidate::{Candidate, Status};
use super::claim::Verdict;
use super::consolidate::Work;
use super::likeness::{Features, Relation};
use super::remark::{ENDS, Remark};
use crate::flush::CHANGE;

/// Lifts kept that no rule has answered to.
const MOST_UNANSWERED: usize = 200;

/// What a lift does to a rule.
enum Lifted {
    /// It ends it or allows what it forbids, as surely as this.
    Whole(Taking, f64),
    /// It allows a part of what it forbids; the rest stands.
    InPart,
    /// It says nothing of it.
    Not,
}

fn taking(lift: &Features, text: &str, rule: &Features, of: &str) -> Lifted {
    let in_part = rule.claim.keeps_the_rest(&lift.claim);
    match takes_back(text, of) {
        _ if rule.means_another(lift) => Lifted::Not,
        Some((Taking::Allowed, _)) if in_part => Lifted::InPart,
        Some((taking, sure)) => Lifted::Whole(taking, sure),
        None if in_part && rule.claim.under(&lift.claim) > Verdict::Nothing => Lifted::InPart,
        None => Lifted::Not,
    }
}

/// How leave that was given stands to a rule that is made later: the rule takes
/// its place where the leave would have lifted it, and where it would have lifted
/// a part, nobody knows whether that part is meant too.
pub(super) fn ruled_out(leave: &Features, text: &str, rule: &Features, of: &str) -> Relation {
    if !leave.claim.lets_go() || rule.claim.lets_go() {
        return Relation::None;
    }
    match taking(leave, text, rule, of) {
        Lifted::Whole(..) => Relation::Replaces,
        Lifted::InPart => Relation::Perhaps,
        Lifted::Not => Relation::None,
    }
}

impl Work<'_> {
    /// Something is allowed, or a rule is taken back.
    pub(super) fn lift(&mut self, remark: &Remark, near: &[usize]) {
        let date = remark.evidence.date;
        let known =
            |one: &Candidate| one.text == remark.text && !one.is_unanswered() && !one.is_over(date);
        if let Some(known) = self.candidates.iter_mut().find(|one| known(one)) {
            let again = known.add(&remark.text, remark.evidence.clone());
            self.done.repeated += usize::from(again);
            self.note(date);
            return;
        }
        let said = Features::of(&remark.text);
        let mut found: Vec<(f64, usize, Taking)> = Vec::new();
        let mut beside = Vec::new();
        for at in near {
            let other = &self.candidates[*at];
            let stands = other.status == Status::Staged || other.status.is_kept();
            if !stands || other.ends || !other.topic.is_rule() || other.valid_from > date {
                continue;
            }
            match self.taking(&said, &remark.text, *at) {
                Lifted::Whole(taking, sure) => found.push((sure, *at, taking)),
                Lifted::InPart => beside.push(*at),
                Lifted::Not => {}
            }
        }
        // The first of those that are as sure.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut made = Candidate::new(remark.topic, &remark.text, true, &remark.evidence);
        made.add(&remark.text, remark.evidence.clone());
        made.lifts = true;
        made.id = self.free_id(&made);
        self.note(date);
        match found.first() {
            Some((_, best, taking)) => {
                let (meant, other): (Vec<_>, Vec<_>) = found
                    .iter()
                    .map(|(_, at, of)| (*at, *of))
                    .partition(|(at, of)| of == taking && self.covers(&said, *best, *at));
                let only = |all: Vec<(usize, Taking)>| -> Vec<usize> {
                    all.into_iter().map(|(at, _)| at).collect()
                };
                let mut meant = only(meant);
                for at in near {
                    if !meant.contains(at) && self.is_rule_as(*best, *at, date) {
                        meant.push(*at);
                    }
                }
                let mut near = only(other);
                near.extend(beside);
                near.retain(|at| !meant.contains(at));
                self.answer(made, meant, near, *taking);
            }
            None if !beside.is_empty() => {
                made.topic = self.candidates[beside[0]].topic;
                self.answer(made, Vec::new(), beside, Taking::Allowed);
            }
            None => {
                let written = self.known.iter().find_map(|(line, _)| {
                    let (taking, _) = takes_back(&remark.text, &line.text)?;
                    Some((line.place.clone(), taking))
                });
                match written {
                    Some((place, taking)) => {
                        made.ends = taking == Taking::Back;
                        made.contradicts.push(place);
                        self.done.found += 1;
                        self.done.contradictions += 1;
                        self.push(made);
                    }
                    None if self.has_room_for_unanswered() => self.push(made),
                    None => {}
                }
            }
        }
    }

    /// Whether one more may be kept that nothing has answered to.
    pub(super) fn has_room_for_unanswered(&self) -> bool {
        let waiting = self.candidates.iter().filter(|one| one.is_unanswered());
        waiting.count() < MOST_UNANSWERED
    }

    /// What a lift does to a rule: leave for less leaves the rest of it.
    fn taking(&self, lift: &Features, text: &str, at: usize) -> Lifted {
        taking(lift, text, &self.features[at], &self.candidates[at].text)
    }

    /// Whether a rule that stands is another one in other words.
    fn is_rule_as(&self, best: usize, at: usize, date: Date) -> bool {
        let other = &self.candidates[at];
        let stands = other.status == Status::Staged || other.status.is_kept();
        stands
            && !other.ends
            && other.topic.is_rule()
            && other.valid_from <= date
            && self.features[best].is_same_rule(&self.features[at])
    }

    /// Whether a lift says of a rule all that it says of the one that it surely
    /// means: a rule said twice in other words is lifted as a whole.
    fn covers(&self, lift: &Features, best: usize, at: usize) -> bool {
        let (best, other) = (&self.features[best], &self.features[at]);
        let said = &lift.claim.said;
        let meant = said.intersection(&best.claim.said);
        best == other || meant.clone().all(|word| other.claim.says(word))
    }

    /// A lift meets the rules that it speaks of, and those that it may mean.
    fn answer(&mut self, mut made: Candidate, meant: Vec<usize>, near: Vec<usize>, taking: Taking) {
        made.ends = taking == Taking::Back;
        let mut is_left = false;
        let mut text = None;
        for at in meant {
            let other = &mut self.candidates[at];
            made.topic = other.topic;
            made.contradicts.push(other.id.clone());
            // The weaker source never moves the stronger one.
            if made.source < other.source {
                is_left = true;
                other.waits_for(&made.id);
                continue;
            }
            made.replaces.push(other.id.clone());
            if other.status.is_kept() {
                is_left = true;
                text.get_or_insert_with(|| other.text.clone());
                continue;
            }
            let by = (!made.ends).then(|| made.id.clone());
            let on = made.valid_from;
            other.status = Status::Superseded { on, by };
            other.valid_until = Some(on);
            other.ended = made.evidence.first().cloned();
            self.done.superseded += 1;
        }
        if made.ends && !is_left {
            // Nothing is left to be done; `ended` says why.
            return;
        }
        if made.ends
            && let Some(text) = text
        {
            made.text = text;
        }
        for at in near {
            let other = &mut self.candidates[at];
            made.contradicts.push(other.id.clone());
            other.waits_for(&made.id);
        }
        self.done.found += 1;
        self.done.contradictions += 1;
        self.push(made);
    }

    /// A rule is found of which it is known that it was lifted later.
    pub(super) fn lifted(&mut self, made: &mut Candidate, near: &[usize]) {
        if !made.topic.is_rule() || made.status != Status::Staged {
            return;
        }
        let features = Features::of(&made.text);
        for at in near {
            if self.lifted_with_another(made, &features, *at) {
                return;
            }
            let lift = &mut self.candidates[*at];
            // What quotes the rule that it ends is no leave to be read.
            let quotes = lift.evidence.iter().any(|one| one.quote.starts_with(ENDS));
            if !lift.is_unanswered() || quotes || lift.status != Status::Staged {
                continue;
            }
            let said = Features::of(&lift.text);
            if lift.valid_from <= made.valid_from {
                match ruled_out(&said, &lift.text, &features, &made.text) {
                    Relation::Replaces if made.source >= lift.source => {
                        let (on, by) = (made.valid_from, Some(made.id.clone()));
                        lift.status = Status::Superseded { on, by };
                        lift.valid_until = Some(on);
                        made.replaces.push(lift.id.clone());
                        self.done.superseded += 1;
                    }
                    Relation::Replaces | Relation::Perhaps => {
                        lift.ends = false;
                        lift.topic = made.topic;
                        lift.contradicts.push(made.id.clone());
                        made.contradicts.push(lift.id.clone());
                        self.done.contradictions += 1;
                    }
                    Relation::None | Relation::Same => {}
                }
                continue;
            }
            let (taking, in_part) = match taking(&said, &lift.text, &features, &made.text) {
                Lifted::Whole(taking, _) => (taking, false),
                Lifted::InPart => (Taking::Allowed, true),
                Lifted::Not => continue,
            };
            if lift.source < made.source || in_part {
                made.contradicts.push(lift.id.clone());
                lift.ends = taking == Taking::Back;
                lift.topic = made.topic;
                lift.contradicts.push(made.id.clone());
                self.done.contradictions += 1;
                continue;
            }
            let on = lift.valid_from;
            let by = (taking == Taking::Allowed).then(|| lift.id.clone());
            made.status = Status::Superseded { on, by };
            made.valid_until = Some(on);
            made.ended = lift.evidence.first().cloned();
            if taking == Taking::Allowed {
                lift.ends = false;
                lift.topic = made.topic;
                lift.replaces.push(made.id.clone());
                lift.contradicts.push(made.id.clone());
                self.done.contradictions += 1;
            }
            self.done.superseded += 1;
            return;
        }
    }

    /// The same rule in other words was lifted: what lifted that lifts this.
    fn lifted_with_another(
        &mut self,
        made: &mut Candidate,
        features: &Features,
        at: usize,
    ) -> bool {
        let other = &self.candidates[at];
        let (Status::Superseded { by, .. }, Some(ended)) = (&other.status, &other.ended) else {
            return false;
        };
        if ended.date <= made.valid_from || ended.source < made.source {
            return false;
        }
        let said = ended.quote.strip_prefix(CHANGE).unwrap_or(&ended.quote);
        let lift = Features::of(said);
        let meant = lift.claim.said.intersection(&self.features[at].claim.said);
        let covers = || meant.clone().all(|word| features.claim.says(word));
        let lifts = match taking(&lift, said, features, &made.text) {
            Lifted::Whole(..) => covers(),
            Lifted::InPart | Lifted::Not => self.features[at].is_same_rule(features),
        };
        if !lifts {
            return false;
        }
        let (by, ended) = (by.clone(), ended.clone());
        made.valid_until = Some(ended.date);
        made.status = Status::Superseded {
            on: ended.date,
            by: by.clone(),
        };
        made.ended = Some(ended);
        if let Some(lift) = self
            .candidates
            .iter_mut()
            .find(|one| Some(&one.id) == by.as_ref())
        {
            lift.replaces.push(made.id.clone());
        }
        self.done.superseded += 1;
        true
    }
}
