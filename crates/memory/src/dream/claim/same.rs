//! One statement in two wordings.
//!
//! Active and passive, "never touch X" and "X is off limits", "the tests of X"
//! and "the X tests" have the same words once what only makes them a rule is
//! off, and the same forms of words are taken for one.

use std::collections::BTreeSet;

use super::kin::are_kin;
use super::{Claim, Clause, Form, Words};
use crate::dream::likeness::is_unspaced;

impl Claim {
    /// Whether two rules say the same in other words. Where order could matter
    /// (two names) it has to be the same.
    pub(in crate::dream) fn is_same_rule(&self, other: &Claim) -> bool {
        let least = match self.negative && self.demands && other.demands {
            true => 1,
            false => 2,
        };
        self.said.len() >= least
            && self.is_plain_as(other)
            && (are_kin(&self.said, &other.said) || self.is_cut_otherwise(other))
            && self.denies_the_same_part(other)
            && self.binds_the_same(other)
            && (self.named_in_order(other) || self.has_clauses_of(other))
    }

    /// Whether two statements say the same of the same.
    pub(in crate::dream) fn is_same_statement(&self, other: &Claim) -> bool {
        self.is_plain_as(other)
            && self.demands == other.demands
            && are_kin(&self.said, &other.said)
            && self.has_clauses_of(other)
    }

    /// Whether neither says that something changed or is allowed, and both say
    /// yes or no: "never without" says no twice, "always without" once.
    fn is_plain_as(&self, other: &Claim) -> bool {
        let plain = |claim: &Claim| !claim.changes && !claim.lets_go() && claim.denied.is_empty();
        let one_side = self.negative == other.negative && self.insists == other.insists;
        plain(self) && plain(other) && one_side && self.adds == other.adds
    }

    /// "Tabs, never spaces" is not "spaces, never tabs".
    fn denies_the_same_part(&self, other: &Claim) -> bool {
        let same =
            |((a, no), (b, not)): (&(Words, bool), &(Words, bool))| are_kin(a, b) && no == not;
        match (self.parts.as_slice(), other.parts.as_slice()) {
            ([_], [_]) => true,
            (a, b) => a.len() == b.len() && a.iter().zip(b).all(same),
        }
    }

    /// Where both say who or what must, it is the same.
    fn binds_the_same(&self, other: &Claim) -> bool {
        // Little words of what is not spaced stand everywhere.
        let unspaced = |word: &String| word.chars().any(is_unspaced);
        let named = !self.bearer.is_empty() && !other.bearer.is_empty();
        !named || self.said.iter().any(unspaced) || are_kin(&self.bearer, &other.bearer)
    }

    fn named_in_order(&self, other: &Claim) -> bool {
        // What begins a line is written like a name anyway.
        let is_name = |word: &&String| self.names.contains(*word) || other.names.contains(*word);
        let names = |claim: &Claim| -> Vec<String> {
            let all = claim.order.iter().filter(is_name);
            all.cloned().collect()
        };
        names(self) == names(other)
    }

    fn has_clauses_of(&self, other: &Claim) -> bool {
        let same = |(a, b): (&Clause, &Clause)| {
            are_kin(&a.subject, &b.subject)
                && are_kin(&a.value, &b.value)
                && !a.subject.is_empty()
                && !a.value.is_empty()
                && (a.form == Form::Holds) == (b.form == Form::Holds)
        };
        !self.clauses.is_empty()
            && self.clauses.len() == other.clauses.len()
            && self.clauses.iter().zip(&other.clauses).all(same)
    }

    /// Whether two lines without spaces have the same characters, and all pairs
    /// of the one are in the other: a little word stands between others.
    fn is_cut_otherwise(&self, other: &Claim) -> bool {
        let chars = |claim: &Claim| -> BTreeSet<char> {
            claim.said.iter().flat_map(|word| word.chars()).collect()
        };
        let (some, all) = match self.said.len() < other.said.len() {
            true => (&self.said, &other.said),
            false => (&other.said, &self.said),
        };
        let unspaced = |word: &String| word.chars().all(is_unspaced);
        some.is_subset(all) && all.difference(some).all(unspaced) && chars(self) == chars(other)
    }
}
