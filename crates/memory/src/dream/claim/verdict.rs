//! What a newer claim means for an older one.
//!
//! To close a line wrongly costs more than to ask: it takes the same subject and
//! a word of change, or the old value denied by name. Everything less is at most
//! a question.

use super::clause::WE;
use super::kin::kin_shared;
use super::sort::Sort;
use super::words::{Class, SKILLS, SPEAKING, Way};
use super::{Claim, Clause, Form, Words};
use crate::dream::likeness::is_unspaced;

/// What the newer of two claims means for the older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::dream) enum Verdict {
    /// Nothing.
    Nothing,
    /// They may contradict each other.
    Perhaps,
    /// It takes its place.
    Replaces,
}

impl Claim {
    /// What this claim becomes in the light of a newer one.
    pub(in crate::dream) fn under(&self, newer: &Claim) -> Verdict {
        // "Call me X" has nothing in common with "call me Y" but its form.
        let manner = self.manners.iter().any(|one| newer.manners.contains(one));
        if self.said.is_disjoint(&newer.said) && self.clauses.is_empty() && !manner {
            return Verdict::Nothing;
        }
        [
            self.denied_by(newer),
            self.restated_by(newer),
            self.held_by_another(newer),
            self.one_of_a_few(newer),
            self.answered_otherwise(newer),
            self.released_by(newer),
        ]
        .into_iter()
        .max()
        .unwrap_or(Verdict::Nothing)
    }

    /// "Nomad, not Kubernetes" after "Kubernetes".
    pub(in crate::dream) fn denied_by(&self, newer: &Claim) -> Verdict {
        if newer.denied.is_empty() || newer.denied.is_disjoint(&self.said) {
            return Verdict::Nothing;
        }
        let asserted: Words = self.said.difference(&self.denied).cloned().collect();
        let hit = shared(&asserted, &newer.denied);
        if hit.is_empty() || hit.len() * 2 < newer.denied.len() || self.negative {
            return Verdict::Nothing;
        }
        let rest: Words = asserted.difference(&hit).cloned().collect();
        let both = shared(&rest, &newer.said);
        // All that the newer line says is not so, and what the older line says
        // it of, is named again.
        let about = self.clauses.iter().any(|clause| {
            let subject: Words = clause.subject.difference(&hit).cloned().collect();
            let is_value = !shared(&clause.value, &hit).is_empty();
            is_value && !subject.is_empty() && subject.is_subset(&newer.said)
        });
        let whole = hit == newer.denied;
        let only = newer.said.is_subset(&newer.denied);
        match whole && !both.is_empty() {
            // "A and B", "no longer A".
            true if self.joined.iter().any(|word| hit.contains(word))
                && !self.joined.is_subset(&hit) =>
            {
                Verdict::Perhaps
            }
            true if about || both.len() == rest.len() => Verdict::Replaces,
            // Of a longer line half has to be named; else it is another thing
            // that has the same value.
            true if both.len() * 2 >= rest.len() => Verdict::Perhaps,
            // "Opa nimmt zwei Tabletten X am Tag", "Opa nimmt kein X mehr".
            true if both.len() >= 2 && self.order.first() == newer.order.first() => {
                Verdict::Perhaps
            }
            _ if whole && (only || rest.len() <= 2) => Verdict::Perhaps,
            _ => Verdict::Nothing,
        }
    }

    /// The same subject with another value.
    fn restated_by(&self, newer: &Claim) -> Verdict {
        let mut most = Verdict::Nothing;
        for old in &self.clauses {
            for new in &newer.clauses {
                let found = self.clause_restated(old, newer, new);
                // "My name is Judith and I live in A" says more than where.
                let more = |one: &Clause| one.way != old.way && !one.value.is_empty();
                let says_more = self.clauses.iter().any(more);
                // "We moved to Slack" need not be from where "we moved to Oslo".
                most = most.max(match says_more || new.subject.contains(WE) {
                    true => found.min(Verdict::Perhaps),
                    false => found,
                });
            }
        }
        most
    }

    fn clause_restated(&self, old: &Clause, newer: &Claim, new: &Clause) -> Verdict {
        if old.subject.is_empty() || new.subject.is_empty() || newer.adds {
            return Verdict::Nothing;
        }
        let (narrower, wider) = (
            old.subject.is_subset(&new.subject),
            new.subject.is_subset(&old.subject),
        );
        let becomes = new.form == Form::Becomes;
        // "Our linter is A", "we replaced A with B".
        if becomes && old.form == Form::Is && new.subject == old.value && !self.demands {
            return Verdict::Perhaps;
        }
        // "The product is called A", "A is now called B".
        let named = old.way == Way::Named && new.way == Way::Named && newer.changes;
        if named && new.subject == old.value {
            return Verdict::Perhaps;
        }
        if !narrower && !wider {
            return Verdict::Nothing;
        }
        // What is said of somebody's assistant is not said of them.
        let owned =
            |one: &Claim, smaller: &Words| smaller.iter().all(|word| one.owners.contains(word));
        if (!wider && owned(newer, &old.subject)) || (!narrower && owned(self, &new.subject)) {
            return Verdict::Nothing;
        }
        // A statement about a thing is not changed by an order about it.
        if self.demands != newer.demands && !newer.changes {
            return Verdict::Nothing;
        }
        if new.value.is_empty() || old.value.is_empty() {
            return match becomes && !self.demands {
                true => Verdict::Perhaps,
                false => Verdict::Nothing,
            };
        }
        let contained = old.value.is_subset(&new.value) || new.value.is_subset(&old.value);
        if contained {
            // "two approvals", "one approval now".
            let less = old.value != new.value && newer.changes;
            return match narrower && wider && less {
                true => Verdict::Perhaps,
                false => Verdict::Nothing,
            };
        }
        // To do B is not to do what A forbids, nor the other way round.
        if self.negative != newer.negative && !newer.lets_go() {
            return Verdict::Nothing;
        }
        let alike = self.sort(&old.value) == newer.sort(&new.value);
        let plain = newer.sort(&new.value) == Sort::Plain;
        // "Tom is my brother" says nothing of where he is or what part he has.
        let any = |clause: &Clause| {
            let way = clause.way;
            let open = matches!(way, Way::Plain | Way::Used | Way::Served | Way::With);
            open && clause.form != Form::Holds
        };
        let same_way = old.is_said_as(new);
        // "Tests run in A", "tests run with B".
        let with = |clause: &Clause| clause.way == Way::With;
        let apart = old.form == Form::Does && new.form == Form::Does && with(old) != with(new);
        let apart = apart || old.is_tied_apart(new);
        let fits = !apart && (same_way || any(old) || any(new));
        // "Lives in B" need not take the place of "is A".
        let aside = old.way == Way::Plain && new.way == Way::Placed && !becomes;
        let sure = same_way || (!plain && !aside) || new.way == Way::Plain;
        let sure = sure && newer.is_plainly_another(old, new);
        let same = narrower && wider;
        match (same, newer.changes) {
            (true, true) if fits && alike && sure && (!plain || becomes) => Verdict::Replaces,
            (true, true) if fits && alike && (sure || !plain) => Verdict::Perhaps,
            (true, true) if becomes && (same_way || new.way == Way::Plain) => Verdict::Perhaps,
            (true, true) if same_way && old.way != Way::Plain && plain => Verdict::Perhaps,
            (false, true) if becomes && !self.demands => Verdict::Perhaps,
            (false, true) if fits && alike && !plain => Verdict::Perhaps,
            (true, false) if fits && alike && !plain => {
                // "Push to A" and "push to B" may both be done.
                let is = |clause: &Clause| {
                    let used = matches!(clause.way, Way::Used | Way::Served);
                    clause.form == Form::Is && !used
                };
                match is(old) && is(new) && !self.demands {
                    true => Verdict::Perhaps,
                    false => Verdict::Nothing,
                }
            }
            _ => Verdict::Nothing,
        }
    }

    /// Somebody else has the part: "Omar is the product owner".
    fn held_by_another(&self, newer: &Claim) -> Verdict {
        let mut most = Verdict::Nothing;
        let holds = |clause: &&Clause| clause.form == Form::Holds && !clause.value.is_empty();
        for old in self.clauses.iter().filter(holds) {
            for new in newer.clauses.iter().filter(holds) {
                let same_part = old.value == new.value;
                let near_part = old.value.is_subset(&new.value) || new.value.is_subset(&old.value);
                // In some languages the part comes first: "за биллинг отвечает Глеб".
                if old.value == new.subject && newer.changes {
                    most = most.max(Verdict::Perhaps);
                }
                // "Firma Krause", "Firma Becker".
                let both = shared(&old.subject, &new.subject);
                let same = both == old.subject || both == new.subject;
                if !near_part || newer.adds || (same && !new.subject.is_empty()) {
                    continue;
                }
                let gone = !newer.denied.is_disjoint(&old.subject);
                let verdict = match (new.subject.is_empty(), same_part, newer.changes || gone) {
                    (false, true, true) if both.is_empty() => Verdict::Replaces,
                    (false, _, true) | (false, true, false) => Verdict::Perhaps,
                    _ => Verdict::Nothing,
                };
                most = most.max(verdict);
            }
        }
        most
    }

    /// Another weekday, language, number of minutes for the same thing.
    fn one_of_a_few(&self, newer: &Claim) -> Verdict {
        if newer.adds {
            return Verdict::Nothing;
        }
        let mut most = Verdict::Nothing;
        let others = |line: &Claim, class: Class| -> Vec<usize> {
            let all = line.classes.iter().filter(|one| one.0 == class);
            all.map(|one| one.1).collect()
        };
        for class in Class::ALL {
            let (old, new) = (others(self, class), others(newer, class));
            let one = old.len() == 1 && new.len() == 1 && old != new;
            // "In German", "in German and English".
            let more = old.len() != new.len()
                && !old.is_empty()
                && !new.is_empty()
                && (old.iter().all(|at| new.contains(at)) || new.iter().all(|at| old.contains(at)));
            if one || more {
                let drop = |line: &Claim| -> Words {
                    let of = |word: &String| line.classes.iter().any(|one| one.2 == *word);
                    let speaks = |word: &String| {
                        class.is_manner() && SPEAKING.iter().any(|root| word.starts_with(root))
                    };
                    let rest = line.said.iter().filter(|word| !of(word) && !speaks(word));
                    rest.cloned().collect()
                };
                let (old, new) = (drop(self), drop(newer));
                // "Celsius" and "Fahrenheit" need nothing beside them.
                let bare = old.is_empty() && new.is_empty() && self.negative == newer.negative;
                most = most.max(match bare {
                    true if class.is_manner() && newer.changes => Verdict::Replaces,
                    true => Verdict::Perhaps,
                    // Who speaks one language now may speak the other still.
                    false if class == Class::Language && self.tells_of_a_skill() => {
                        self.same_but_for(newer, &old, &new).min(Verdict::Perhaps)
                    }
                    false => self.same_but_for(newer, &old, &new),
                });
            }
        }
        if let ([(of, old)], [(of_new, new)]) = (self.numbers.as_slice(), newer.numbers.as_slice())
            && of == of_new
            && old != new
        {
            let drop = |line: &Claim, number: &String| -> Words {
                let kept = line.said.iter().filter(|word| *word != number);
                kept.cloned().collect()
            };
            most = most.max(self.same_but_for(newer, &drop(self, old), &drop(newer, new)));
        }
        most
    }

    /// Whether it says what somebody speaks or learns.
    fn tells_of_a_skill(&self) -> bool {
        let skill = |word: &String| SKILLS.contains(&format!(" {word} "));
        !self.demands && self.order.iter().any(skill)
    }

    /// How two lines stand that differ in one value, by what else they say.
    fn same_but_for(&self, newer: &Claim, old: &Words, new: &Words) -> Verdict {
        let both = shared(old, new);
        if both.is_empty() || self.negative != newer.negative {
            return Verdict::Nothing;
        }
        let changes = newer.changes || newer.releases || newer.waives;
        match (old == new, old.is_subset(new) || new.is_subset(old)) {
            (true, _) if newer.changes => Verdict::Replaces,
            (true, _) => Verdict::Perhaps,
            (false, true) if changes => Verdict::Perhaps,
            (false, false) if changes && both.len() >= 2 && both.len() * 3 >= old.len() * 2 => {
                Verdict::Perhaps
            }
            _ => Verdict::Nothing,
        }
    }

    /// What was forbidden is allowed, what was asked for is not any more.
    fn released_by(&self, newer: &Claim) -> Verdict {
        if !(newer.releases || newer.waives) || self.releases || self.waives {
            return Verdict::Nothing;
        }
        let both = kin_shared(&newer.said, &self.said);
        let (old, new) = (self.said.len(), newer.said.len());
        // Pairs of characters run over the borders of words.
        let unspaced = |word: &String| word.chars().any(is_unspaced);
        let enough = match self.said.iter().any(unspaced) {
            true => 3,
            false => 2,
        };
        // Leave for less than was forbidden leaves the rest of the rule.
        let covers = match enough {
            2 => kin_shared(&self.said, &newer.said) == old,
            _ => both * 3 >= old * 2,
        };
        let most = both >= enough && covers && both == new && !self.keeps_the_rest(newer);
        // "You may" lifts a ban; "no longer need to" lifts a demand.
        let opposes = match newer.waives {
            true => self.demands && !self.negative,
            false => self.negative,
        };
        match most && opposes {
            true => Verdict::Replaces,
            false if both >= enough && (both * 2 >= old || both * 2 >= new) => Verdict::Perhaps,
            // One word says little, unless it is all of the rule, or the rest is of
            // one kind: "in English", "in French as well".
            false if both == 1 && self.demands && (old == 1 || self.differs_in_kind(newer)) => {
                Verdict::Perhaps
            }
            false => Verdict::Nothing,
        }
    }

    /// Whether both name one of a few, and not the same.
    fn differs_in_kind(&self, newer: &Claim) -> bool {
        let kinds = |claim: &Claim| claim.classes.iter().map(|one| (one.0, one.1)).next();
        let (old, new) = (kinds(self), kinds(newer));
        old.zip(new)
            .is_some_and(|(old, new)| old.0 == new.0 && old.1 != new.1)
    }
}

fn shared(a: &Words, b: &Words) -> Words {
    a.intersection(b).cloned().collect()
}
