//! Likeness: whether two lines say the same, or the opposite.
//!
//! Plain arithmetic on words, so that it can be repeated and explained: the
//! words that carry meaning, the values (numbers, paths, versions), and whether
//! the line says not to.

mod apart;
mod beside;
mod chosen;
mod excepted;
mod families;
mod halves;
mod meant;
mod opposed;
#[cfg(test)]
mod others;
#[cfg(test)]
mod pairs;
mod qualified;
mod renewed;
mod returned;
mod sentences;
#[cfg(test)]
mod sorts;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;

use self::apart::Apart;
use self::chosen::Chosen;
use self::meant::Meant;
pub(super) use self::meant::little_names;
use self::renewed::Renewed;
use self::sentences::{Sentence, sentences};
use self::words::{CHANGES, ECHOES, UNSPACED_NEGATIONS, is_weak, with_go_named, with_mai_named};
pub(super) use self::words::{is_empty_word, is_negation, is_unspaced, stem};
use super::claim::{Claim, Verdict};
use super::phrase::{Kind, Phrase, is_value, is_without, tokens};

/// The parts of a line that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Features {
    /// Words that carry meaning, without values and negations.
    pub(super) terms: BTreeSet<String>,
    /// Numbers, paths, versions, identifiers.
    pub(super) values: BTreeSet<String>,
    /// Whether it says not to.
    negative: bool,
    /// The words with which it says that something is other than before.
    changes: Vec<&'static str>,
    /// All words in order.
    words: Vec<String>,
    /// What stands where.
    pub(super) phrase: Phrase,
    /// What is said of what.
    pub(super) claim: Claim,
    /// Which one it means, where only little words say so.
    meant: Meant,
    /// What it chooses of a few.
    chosen: Chosen,
    /// The sentences of which it is made, where there are several.
    sentences: Vec<Sentence>,
    /// The same as said of what was known before, where it calls that new.
    renewed: Option<Box<Renewed>>,
}

/// How two lines stand to each other; the second is the newer one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Relation {
    /// They have nothing to do with each other.
    None,
    /// They say the same.
    Same,
    /// The newer one takes the place of the older one.
    Replaces,
    /// They may contradict each other; somebody has to look.
    Perhaps,
}

impl Features {
    pub(super) fn of(text: &str) -> Features {
        Features {
            renewed: Renewed::of(text),
            ..Features::read(text)
        }
    }

    fn read(text: &str) -> Features {
        let text = &with_mai_named(&with_go_named(text));
        let lower = text.to_lowercase();
        let tokens = tokens(text);
        let mut features = Features {
            terms: BTreeSet::new(),
            values: BTreeSet::new(),
            negative: false,
            changes: CHANGES
                .into_iter()
                .filter(|change| lower.contains(change))
                .collect(),
            words: Vec::new(),
            phrase: Phrase::of(&tokens),
            claim: Claim::of(text),
            meant: Meant::of(text),
            chosen: Chosen::default(),
            sentences: sentences(text),
            renewed: None,
        };
        let (mut negations, mut echoes, mut lacks) = (0_u32, 0_u32, 0_u32);
        for token in &tokens {
            let token = token.to_lowercase();
            let token = token.trim_start_matches('#');
            match token.chars().any(is_unspaced) {
                true => features.words.extend(token.chars().map(String::from)),
                false => features.words.push(token.to_owned()),
            }
            if ECHOES.contains(&format!(" {token} ")) {
                echoes = 1;
            } else if is_without(token) {
                lacks += 1;
            } else if is_negation(token) {
                negations += 1;
            } else if is_value(token) {
                features.values.insert(token.to_owned());
            } else if token.chars().any(is_unspaced) {
                negations += u32::from(UNSPACED_NEGATIONS.iter().any(|no| token.contains(no)));
                features.add_unspaced(token);
            } else if !is_empty_word(token) && token.chars().count() > 1 {
                for part in token.split(|c: char| !c.is_alphanumeric()) {
                    if part.chars().count() > 1 {
                        features.terms.insert(stem(part).to_owned());
                    }
                }
            }
        }
        features.chosen = Chosen::of(text, &features.words);
        // "Plan B" is told from plan C by a letter.
        let names = features.phrase.parts.iter();
        let letters =
            names.filter(|part| part.kind != Kind::Term && part.word.chars().count() == 1);
        features
            .values
            .extend(letters.map(|part| part.word.clone()));
        // "Jamais sans" denies twice.
        if negations == 0 {
            negations = echoes;
        }
        features.negative = (negations + lacks) % 2 == 1;
        features
    }

    /// Pairs of characters stand for words where words are not spaced.
    fn add_unspaced(&mut self, token: &str) {
        let chars: Vec<char> = token
            .chars()
            .filter(|c| is_unspaced(*c) && !"不别勿没".contains(*c))
            .collect();
        for pair in chars.windows(2) {
            self.terms.insert(pair.iter().collect());
        }
    }

    /// Whether there is enough in it to be worth keeping.
    pub(super) fn says_something(&self) -> bool {
        self.terms.len() + self.values.len() >= 2
    }

    /// The share of terms that both have.
    pub(super) fn shared(&self, other: &Features) -> f64 {
        overlap(&self.terms, &other.terms)
    }

    /// How much it says, in thirds of a word: that much is a pair of characters
    /// where words are not spaced.
    fn size(&self) -> usize {
        let third = |term: &String| term.chars().all(is_unspaced);
        let thirds = self
            .terms
            .iter()
            .map(|term| if third(term) { 1 } else { 3 });
        thirds.sum()
    }

    /// How `newer` stands to this line: by its words, and where those leave it
    /// open, by what it says of what.
    pub(super) fn relation(&self, newer: &Features) -> Relation {
        let found = self.of_both_halves(newer, self.relation_of_any(newer));
        match self.of_the_meant(newer, found) {
            Relation::Replaces if newer.moved_somewhere() => Relation::Perhaps,
            found => found,
        }
    }

    /// Whether its speaker moved to what may be a place or a tool: "I moved to
    /// Leipzig", "I moved to Neovim".
    fn moved_somewhere(&self) -> bool {
        let speaks = |word: &str| word == "i" || word.starts_with("i'") || word.starts_with("i’");
        let between = |word: &str| matches!(word, "have" | "just" | "recently" | "finally");
        let moved = self.words.windows(2).position(|two| two == ["moved", "to"]);
        let before = moved.map(|at| self.words[..at].iter().rev().map(String::as_str));
        let lives = || self.words.iter().any(|word| word == "live");
        before.is_some_and(|mut before| before.find(|word| !between(word)).is_some_and(speaks))
            && !lives()
    }

    /// The same, whichever one either means.
    fn relation_of_any(&self, newer: &Features) -> Relation {
        let renewed = newer.renewed.as_ref();
        if let Some(found) = renewed.and_then(|renewed| renewed.relation_to(self, newer)) {
            return found;
        }
        match (self.relation_of_claims(newer), self.opposed_by(newer)) {
            (Relation::None, Relation::None) => match self.returned_to_by(newer) {
                Relation::None => self.chosen_otherwise_by(newer),
                found => found,
            },
            (Relation::None, opposed) => opposed,
            (Relation::Same | Relation::Perhaps, Relation::Replaces)
                if newer.turns_back() || newer.tells_of_change() =>
            {
                Relation::Replaces
            }
            (Relation::Same, Relation::Replaces | Relation::Perhaps) => Relation::Perhaps,
            (found, _) => found,
        }
    }

    fn relation_of_claims(&self, newer: &Features) -> Relation {
        match self.relation_by_all(newer) {
            Relation::Replaces | Relation::Perhaps if self.claim.is_apart(&newer.claim) => {
                Relation::None
            }
            Relation::Replaces | Relation::Perhaps
                if self.claim.keeps_another(&newer.claim)
                    || self.claim.is_left_by(&newer.claim) =>
            {
                Relation::None
            }
            Relation::Replaces | Relation::Perhaps if self.is_of_numbered(newer) => Relation::None,
            Relation::Perhaps if self.asks_beside(newer) => Relation::None,
            Relation::Replaces
                if self.is_of_another(newer)
                    || self.is_of_a_part(newer)
                    || self.is_elsewhere(newer)
                    || self.is_other_number(newer)
                    || self.claim.keeps_the_rest(&newer.claim) =>
            {
                Relation::Perhaps
            }
            found => found,
        }
    }

    fn relation_by_all(&self, newer: &Features) -> Relation {
        let found = self.likeness(newer);
        if matches!(found, Relation::Same | Relation::Replaces)
            || self.values_apart(newer) == Apart::Things
        {
            return found;
        }
        match self.claim.under(&newer.claim) {
            Verdict::Replaces => Relation::Replaces,
            Verdict::Perhaps => Relation::Perhaps,
            // "We test on Safari too."
            Verdict::Nothing if newer.claim.only_adds() => Relation::None,
            Verdict::Nothing => found,
        }
    }

    /// Whether each of two lines speaks of something that the other does not:
    /// "tests of the parser take 3 minutes", "tests of the lexer take 5 minutes
    /// now". Who denies the older one by name means it all the same.
    fn is_of_another(&self, newer: &Features) -> bool {
        let own = |one: &Features, other: &Features| {
            // Pairs of characters run over the borders of words.
            let spaced = |word: &&String| !word.chars().any(is_unspaced);
            let mut words = one.terms.difference(&other.terms).filter(spaced);
            words.any(|word| one.claim.said.contains(word) && !other.claim.said.contains(word))
        };
        // Without numbers the words in which they differ are what changed.
        let counts = !self.values.is_empty() && !newer.values.is_empty();
        counts
            && own(self, newer)
            && own(newer, self)
            && !self.claim.is_denied_by(&newer.claim)
            && !self.claim.is_about_what(&newer.claim)
    }

    /// Whether `newer` says the same once more.
    pub(super) fn is_said_again(&self, newer: &Features) -> bool {
        self.likeness(newer) == Relation::Same && !self.means_another(newer)
    }

    /// Whether `newer` names this line, if only most of its words.
    pub(super) fn is_named_by(&self, newer: &Features) -> bool {
        self.nearness(newer) == Relation::Same && !self.means_another(newer)
    }

    /// How `newer` stands to this line by its words alone.
    fn likeness(&self, newer: &Features) -> Relation {
        match self.nearness(newer) {
            // "The bike locked in the cellar was stolen" has all the words of "the
            // bike is locked in the cellar".
            Relation::Same if self.is_qualified_by(newer) => Relation::Perhaps,
            found => found,
        }
    }

    /// The same, where a word more or less is all one.
    fn nearness(&self, newer: &Features) -> Relation {
        match self.relation_by_words(newer) {
            Relation::Same
                if self.claim.allows_another(&newer.claim)
                    || self.claim.is_of_a_narrower(&newer.claim) =>
            {
                Relation::None
            }
            // "In English" has nearly all the words of "in English and Polish".
            Relation::Same if self.claim.names_others(&newer.claim) => Relation::Perhaps,
            // "We dropped X" has nearly all the words of "we have X".
            Relation::Same if self.claim.denied_by(&newer.claim) > Verdict::Nothing => {
                Relation::Perhaps
            }
            found => found,
        }
    }

    fn relation_by_words(&self, newer: &Features) -> Relation {
        let about = self.shared(newer);
        let together = self.terms.intersection(&newer.terms).count();
        let same_side = self.negative == newer.negative;
        let values = self.values_apart(newer);
        if values == Apart::Things {
            return Relation::None;
        }
        let in_order = || self.phrase.agrees(&newer.phrase);
        // The opposite, or another value, of another thing is no contradiction:
        // "apple runs on port 1", "birch runs on port 2".
        let one_subject = self.terms.is_subset(&newer.terms) || newer.terms.is_subset(&self.terms);
        if same_side && values.fit() && overlap(&self.all(), &newer.all()) >= SAME {
            // "in B instead of A" has nearly all the words of "in A".
            let lacks = |one: &Features, other: &Features| {
                one.changes
                    .iter()
                    .any(|change| !other.changes.contains(change))
            };
            return match (lacks(self, newer), lacks(newer, self)) {
                (_, true) => Relation::Replaces,
                (true, false) => Relation::Perhaps,
                // Where each has a word that the other lacks, one stands for
                // the other: "every night", "every morning".
                _ if one_subject && values != Apart::More && in_order() => Relation::Same,
                _ if self.is_swapped(newer) => Relation::Replaces,
                _ => Relation::Perhaps,
            };
        }
        if !same_side && about >= RELATED && together >= 2 && (one_subject || newer.is_change()) {
            let is_clear = values.fit()
                && (newer.is_change()
                    || (about >= SAME && self.phrase.agrees_but_for_denials(&newer.phrase)));
            return match is_clear {
                true => Relation::Replaces,
                false => Relation::Perhaps,
            };
        }
        if !values.fit() && about >= RELATED && together >= 2 && (one_subject || newer.is_change())
        {
            let is_clear = match values {
                Apart::Value => {
                    let enough = together >= 3 || self.terms == newer.terms;
                    (about >= SAME && enough && in_order()) || newer.is_change()
                }
                Apart::Name => newer.is_change(),
                _ => false,
            };
            return match is_clear {
                true => Relation::Replaces,
                false => Relation::Perhaps,
            };
        }
        if newer.is_change() && together >= 2 && self.words != newer.words {
            // What changes is named again, in so many words; else it is of
            // another thing.
            let named = self.terms.is_subset(&newer.terms) && about >= 0.4;
            let is_clear = named || (about >= RELATED && together * 4 >= self.terms.len() * 3);
            match values.fit() && is_clear {
                true => return Relation::Replaces,
                false if named || about >= RELATED => return Relation::Perhaps,
                false => {}
            }
        }
        // "Billing runs on Postgres now" after "we use MySQL for billing": half of
        // what was said comes up again. Of two long lines half says little.
        let half = together * 2 >= self.terms.len() && self.terms.len() >= 2;
        let short = self.size() <= SHORT && newer.size() <= 2 * SHORT;
        // Something else that is so of it now changes nothing that was said.
        let weak = newer.changes.iter().all(|change| is_weak(change));
        let other = !newer.claim.is_rule() && !newer.claim.lets_go();
        let beside = weak && (self.claim.is_understood() || (self.claim.is_rule() && other));
        let understood = self.claim.is_understood() && newer.claim.is_understood();
        let open = !understood && !beside;
        if open && newer.is_change() && !self.is_change() && together >= 1 && half && short {
            return Relation::Perhaps;
        }
        // What a change left behind is said again: gone back, or not heard of it?
        if self.is_change() && !newer.is_change() && about >= RELATED && one_subject {
            return Relation::Perhaps;
        }
        // To forbid two things contradicts neither.
        let bans = self.claim.is_ban() && newer.claim.is_ban();
        match self.one_thing_differs(newer) && !bans {
            true => Relation::Perhaps,
            false => Relation::None,
        }
    }

    /// Whether two lines may say the same in other words: about half of them are
    /// shared, no value differs, and both say yes or no.
    pub(super) fn may_be_one(&self, other: &Features) -> bool {
        let fits = self.values_apart(other).fit() && self.negative == other.negative;
        fits && self.shared(other) >= 0.5
    }

    /// Whether two rules are one in other words: "keep answers short", "short
    /// answers please".
    pub(super) fn is_same_rule(&self, other: &Features) -> bool {
        self.claim.is_same_rule(&other.claim)
            && self.phrase.turns_as(&other.phrase)
            && !self.one_is_over(other)
            && !self.means_another(other)
    }

    /// Whether two statements are one in other words: "the parser tests take 3
    /// minutes", "tests of the parser take 3 minutes".
    pub(super) fn is_same_statement(&self, other: &Features) -> bool {
        self.claim.is_same_statement(&other.claim)
            && self.phrase.turns_as(&other.phrase)
            && !self.one_is_over(other)
            && !self.means_another(other)
    }

    /// The words by which lines about the same are found.
    pub(super) fn keys(&self) -> BTreeSet<&String> {
        let words = self.terms.iter().chain(&self.values);
        let words = words.chain(&self.claim.said).chain(&self.chosen.keys);
        words.chain(self.claim.keys()).collect()
    }

    /// Whether it says, in whatever words, that something is other than before.
    pub(super) fn tells_of_change(&self) -> bool {
        self.is_change() || self.claim.is_change()
    }

    /// Whether it says that something is other than before.
    pub(super) fn is_change(&self) -> bool {
        !self.changes.is_empty()
    }

    fn all(&self) -> BTreeSet<String> {
        self.terms.union(&self.values).cloned().collect()
    }
}

const SAME: f64 = 0.7;
const RELATED: f64 = 0.6;
/// A statement of no more than this, in thirds of a word, says one thing.
const SHORT: usize = 9;

fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    match all {
        0 => 0.0,
        all => a.intersection(b).count() as f64 / all as f64,
    }
}
