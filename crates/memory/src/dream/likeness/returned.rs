//! What an older line says no to beside what it asks for: "tabs, not spaces",
//! "yarn instead of npm". A newer line that says yes to it may contradict the
//! older one, if it speaks of nothing else.

use std::collections::BTreeSet;

use super::apart::{OF, ON};
use super::opposed::only_asks;
use super::{Features, Relation, is_negation, stem};

/// Verbs that choose what stands before "over" and leave what stands behind.
const CHOOSES: &str = " prefer prefers preferred favor favour choose chose pick ";

/// Words that put one thing before another and set no condition.
const RATHER: &str =
    " over instead rather than statt anstatt plutôt que invece anziché dan zamiast niż вместо чем ";

/// An exception to a ban has no more words than these beside what it is about.
const MOST_BESIDE: usize = 3;

impl Features {
    /// What it means for this line that a newer one asks for what this refused.
    pub(super) fn returned_to_by(&self, newer: &Features) -> Relation {
        let leave = self.claim.lets_go() || newer.claim.lets_go();
        if leave || newer.claim.only_adds() {
            return Relation::None;
        }
        let excepted = self.is_kept_to_a_case_by(newer) || newer.is_kept_to_a_case_by(self);
        match excepted || self.is_asked_for_by(newer) {
            true => Relation::Perhaps,
            false => Relation::None,
        }
    }

    /// Whether a newer line asks for what this refused, under the same conditions.
    fn is_asked_for_by(&self, newer: &Features) -> bool {
        self.conditions() == newer.conditions()
            && (self.is_excepted_by(newer)
                || self.is_allowed_somewhere_by(newer)
                || self.takes_up_refused(newer))
    }

    /// The words that set a condition, a time or an exception.
    fn conditions(&self) -> Vec<&str> {
        let hinges = self.hinges().into_iter();
        let rather = |hinge: &str| RATHER.contains(&format!(" {hinge} "));
        hinges.filter(|hinge| !rather(hinge)).collect()
    }

    /// Whether a newer line says yes to something refused here, and has no word
    /// of its own beside it.
    fn takes_up_refused(&self, newer: &Features) -> bool {
        let (left, core) = (newer.left_behind(), newer.core());
        let asserted = newer.claim.asserted();
        let asserted: BTreeSet<&String> = asserted.difference(&left).collect();
        let of_it = core.iter().all(|word| self.claim.says(word));
        let all = |refused: &BTreeSet<String>| {
            !refused.is_empty() && refused.iter().all(|word| asserted.contains(word))
        };
        let mut refused = self.claim.refused();
        refused.push(self.left_behind());
        of_it && refused.iter().any(all)
    }

    /// Whether a newer line asks for a kind of what this forbids altogether: "do
    /// not use emojis", "use emojis in commit messages".
    fn is_excepted_by(&self, newer: &Features) -> bool {
        let (ban, asserted) = (&self.claim.said, newer.claim.asserted());
        let whole = self.claim.is_ban() && self.claim.is_one_part() && ban.len() == 1;
        whole
            && newer.claim.is_one_part()
            && ban.is_subset(&asserted)
            && asserted.len() <= ban.len() + MOST_BESIDE
            && self.asks_for(ban)
            && newer.asks_for(ban)
            && !newer.words.iter().any(|word| is_negation(word))
    }

    /// Whether a newer line asks in the words of this ban for what it forbids, and
    /// says where or for what: "never use force push", "use force push on feature
    /// branches".
    fn is_allowed_somewhere_by(&self, newer: &Features) -> bool {
        let forbids = |word: &&String| is_negation(word) || *word == "do" || *word == "please";
        let begins = self.words.iter().take_while(forbids).count();
        let (forbidden, asked) = (&self.words[begins..], &newer.words);
        let behind = asked.get(forbidden.len()).map(String::as_str);
        self.claim.is_ban()
            && self.claim.is_one_part()
            && newer.claim.is_one_part()
            && forbidden.len() >= 2
            && asked.starts_with(forbidden)
            && behind.is_some_and(|word| OF.contains(&word) || ON.contains(&word))
            && !asked.iter().any(|word| is_negation(word))
    }

    /// Whether one of these words is what a verb asks for that asks for nothing
    /// else, or what "no" stands before.
    fn asks_for(&self, roots: &BTreeSet<String>) -> bool {
        let asks = |verb: &str| matches!(verb, "use" | "no") || only_asks(verb);
        self.words
            .windows(2)
            .any(|two| asks(&two[0]) && roots.contains(stem(&two[1])))
    }

    /// What a choice leaves behind: "prefer pytest over unittest".
    fn left_behind(&self) -> BTreeSet<String> {
        let over = self.words.iter().position(|word| word == "over");
        let (before, behind) = self.words.split_at(over.unwrap_or(0));
        let chooses = |word: &String| CHOOSES.contains(&format!(" {word} "));
        let behind = behind.iter().skip(1).filter(|_| before.iter().any(chooses));
        let roots = behind.map(|word| stem(word).to_owned());
        roots
            .filter(|root| self.claim.said.contains(root))
            .collect()
    }
}
