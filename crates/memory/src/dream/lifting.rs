//! Rules that were lifted in another session than the one that made them.
//!
//! "You may push on Fridays now" says nothing by itself: it takes back a rule
//! that somebody else has to remember. Which one is told by the words they
//! share, so a person sees every one of these before anything leaves the memory.

use longhaul_ledger::{Taking, takes_back};

use super::candidate::{Candidate, Status};
use super::consolidate::Work;
use super::remark::Remark;

/// Lifts kept that no rule has answered to.
const MOST_UNANSWERED: usize = 200;

impl Work<'_> {
    /// Something is allowed, or a rule is taken back.
    pub(super) fn lift(&mut self, remark: &Remark, near: &[usize]) {
        let date = remark.evidence.date;
        let known = |one: &Candidate| one.text == remark.text && !one.is_unanswered();
        if let Some(known) = self.candidates.iter_mut().find(|one| known(one)) {
            let again = known.add(&remark.text, remark.evidence.clone());
            self.done.repeated += usize::from(again);
            return;
        }
        let mut best: Option<(f64, usize, Taking)> = None;
        for at in near {
            let other = &self.candidates[*at];
            let stands = other.status == Status::Staged || other.status.is_kept();
            if !stands || other.ends || !other.topic.is_rule() || other.valid_from > date {
                continue;
            }
            if let Some((taking, sure)) = takes_back(&remark.text, &other.text)
                && best.is_none_or(|(most, ..)| sure > most)
            {
                best = Some((sure, *at, taking));
            }
        }
        let mut made = Candidate::new(remark.topic, &remark.text, true, &remark.evidence);
        made.add(&remark.text, remark.evidence.clone());
        match best {
            Some((_, at, taking)) => self.answer(made, at, taking),
            None => {
                let written = self.known.iter().find_map(|(line, _)| {
                    let (taking, _) = takes_back(&remark.text, &line.text)?;
                    Some((line.place.clone(), taking))
                });
                let waiting = self.candidates.iter().filter(|one| one.is_unanswered());
                match written {
                    Some((place, taking)) => {
                        made.ends = taking == Taking::Back;
                        made.contradicts.push(place);
                        self.done.found += 1;
                        self.done.contradictions += 1;
                        self.push(made);
                    }
                    None if waiting.count() < MOST_UNANSWERED => self.push(made),
                    None => {}
                }
            }
        }
    }

    /// A lift meets the rule that it speaks of.
    fn answer(&mut self, mut made: Candidate, at: usize, taking: Taking) {
        let other = &mut self.candidates[at];
        let is_kept = other.status.is_kept();
        made.topic = other.topic;
        made.contradicts.push(other.id.clone());
        made.ends = taking == Taking::Back;
        // The weaker source never moves the stronger one.
        if made.source >= other.source {
            made.replaces.push(other.id.clone());
            if made.ends {
                made.text = other.text.clone();
            }
            if !is_kept {
                let by = (!made.ends).then(|| made.id.clone());
                let on = made.valid_from;
                other.status = Status::Superseded { on, by };
                other.valid_until = Some(on);
                other.ended = made.evidence.first().cloned();
                self.done.superseded += 1;
                if made.ends {
                    // Nothing is left to be done; `ended` says why.
                    return;
                }
            }
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
        for at in near {
            let lift = &mut self.candidates[*at];
            if !lift.is_unanswered()
                || lift.status != Status::Staged
                || lift.valid_from <= made.valid_from
                || lift.source < made.source
            {
                continue;
            }
            let Some((taking, _)) = takes_back(&lift.text, &made.text) else {
                continue;
            };
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
}
