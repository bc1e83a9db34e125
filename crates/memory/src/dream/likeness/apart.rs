//! Where two lines differ: in a value, in a name, in one place of the line.

use super::words::is_weak;
use super::{Features, is_unspaced, stem};
use crate::dream::phrase::{Kind, Phrase, is_turn, is_unit};

impl Features {
    /// What is between the values of two lines.
    pub(super) fn values_apart(&self, newer: &Features) -> Apart {
        let gone: Vec<&String> = self.values.difference(&newer.values).collect();
        let came: Vec<&String> = newer.values.difference(&self.values).collect();
        let is_subject =
            |phrase: &Phrase, word: &str| phrase.kind(word) == Some(Kind::Name { subject: true });
        match (gone.as_slice(), came.as_slice()) {
            ([], []) => Apart::No,
            (_, []) => Apart::Less,
            ([], _) => Apart::More,
            _ if gone.iter().any(|word| is_subject(&self.phrase, word))
                && came.iter().any(|word| is_subject(&newer.phrase, word)) =>
            {
                Apart::Things
            }
            ([old], [new]) => {
                let is_value = |phrase: &Phrase, word: &str| phrase.kind(word) == Some(Kind::Value);
                let values = is_value(&self.phrase, old) && is_value(&newer.phrase, new);
                match values && self.phrase.same_place(old, &newer.phrase, new) {
                    true => Apart::Value,
                    false => Apart::Name,
                }
            }
            _ => Apart::Many,
        }
    }

    /// Whether two rules differ in a number, and none says that something changed:
    /// "always lock door 2", "always lock door 5".
    pub(super) fn is_other_number(&self, newer: &Features) -> bool {
        // Where words are not spaced, one that begins as an order may be no verb.
        let spaced = |one: &Features| !one.words.iter().any(|word| word.chars().any(is_unspaced));
        let is_rule = |one: &Features| one.claim.is_rule() && spaced(one);
        is_rule(self) && is_rule(newer) && self.has_another_number(newer)
    }

    /// Whether `newer` has another number, and does not say that something changed.
    pub(in crate::dream) fn has_another_number(&self, newer: &Features) -> bool {
        !self.values_apart(newer).fit() && !newer.tells_of_change()
    }

    /// Whether two bans differ in a number that says which one: "never open valve
    /// 3", "never open valve 4". Behind "more than", and before a unit, it says how much.
    pub(super) fn is_of_numbered(&self, newer: &Features) -> bool {
        let names = |one: &Features, other: &Features| {
            let mut values = one.values.difference(&other.values);
            values.all(|value| {
                let at = one.words.iter().position(|word| word == value);
                let before = at.and_then(|at| one.words.get(at.checked_sub(1)?));
                let behind = at.and_then(|at| one.words.get(at + 1));
                let much = value.contains(['$', '€', '£', '%']);
                let much = much || behind.is_some_and(|word| is_unit(word));
                let is_name = |word: &String| one.terms.contains(stem(word)) && !is_turn(word);
                !much && before.is_some_and(is_name)
            })
        };
        let bans = self.claim.is_ban() && newer.claim.is_ban();
        bans && self.is_other_number(newer) && names(self, newer) && names(newer, self)
    }

    /// Whether a number is said of a part of what another was said of: "the rent is
    /// 900", "the rent of the garage is 120 now".
    pub(super) fn is_of_a_part(&self, newer: &Features) -> bool {
        if self.values_apart(newer).fit() || !self.terms.is_subset(&newer.terms) {
            return false;
        }
        let more = |word: &String| {
            let stem = stem(word);
            newer.terms.contains(stem) && !self.terms.contains(stem)
        };
        let mut words = newer.words.iter().enumerate();
        words
            .any(|(at, word)| more(word) && newer.before(at).is_some_and(|word| OF.contains(&word)))
    }

    /// The word before one, but for articles.
    fn before(&self, at: usize) -> Option<&str> {
        let mut before = self.words[..at].iter().rev().map(String::as_str);
        before.find(|word| !ARTICLES.contains(word))
    }

    /// Whether each of two lines says of another place, behind a number, how much
    /// there is: "port 8080 in staging", "port 9090 in production now". Who says
    /// that something moved means the place too.
    pub(super) fn is_elsewhere(&self, newer: &Features) -> bool {
        let names = |one: &Features, other: &Features| {
            let number = one.words.iter().position(|word| {
                one.values.contains(word.as_str()) && !other.values.contains(word.as_str())
            });
            let mut behind = one.words.iter().enumerate().skip(number.unwrap_or(0));
            behind.any(|(at, word)| {
                let word = stem(word);
                one.terms.contains(word)
                    && one.claim.said.contains(word)
                    && !other.terms.contains(word)
                    && one
                        .before(at)
                        .is_some_and(|lead| OF.contains(&lead) || ON.contains(&lead))
            })
        };
        self.values_apart(newer) == Apart::Value
            && newer.changes.iter().all(|change| is_weak(change))
            && names(self, newer)
            && names(newer, self)
            && !self.claim.is_denied_by(&newer.claim)
    }

    /// Whether the lines are the same but that two parts changed places.
    pub(super) fn is_swapped(&self, newer: &Features) -> bool {
        let (head, tail) = self.ends_shared(newer);
        let (a, b) = (&self.words, &newer.words);
        if a.len() != b.len() {
            return false;
        }
        let (a, b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
        let most = a.len().min(LONGEST_PART);
        (1..=most).any(|x| {
            let room = (a.len() - x).min(LONGEST_PART);
            (1..=room).any(|y| {
                let (of_a, of_b) = (a.len() - y, b.len() - x);
                a[..x] == b[of_b..] && a[of_a..] == b[..y] && a[x..of_a] == b[y..of_b]
            })
        })
    }

    /// How many words the lines share at their beginning, and behind that at
    /// their end.
    pub(super) fn ends_shared(&self, newer: &Features) -> (usize, usize) {
        let (a, b) = (&self.words, &newer.words);
        let same = |pair: &(&String, &String)| pair.0 == pair.1;
        let head = a.iter().zip(b).take_while(same).count();
        let behind = a.iter().rev().zip(b.iter().rev());
        let left = a.len().min(b.len()) - head;
        let tail = behind.take(left).take_while(same).count();
        (head, tail)
    }

    /// Whether the lines are the same but for one place.
    pub(super) fn one_thing_differs(&self, newer: &Features) -> bool {
        let (a, b) = (&self.words, &newer.words);
        if a.len().min(b.len()) < 4 {
            return false;
        }
        let (head, tail) = self.ends_shared(newer);
        let (of_a, of_b) = (a.len() - head - tail, b.len() - head - tail);
        (1..=2).contains(&of_a) && (1..=2).contains(&of_b) && head + tail >= 3
    }
}

/// What is between the values of two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// They have the same.
    No,
    /// The newer one has fewer, or more.
    Less,
    More,
    /// One value stands where another stood.
    Value,
    /// One differs that says which one, or stands elsewhere.
    Name,
    /// Several differ.
    Many,
    /// They are about two things.
    Things,
}

impl Apart {
    pub(super) fn fit(self) -> bool {
        matches!(self, Apart::No | Apart::Less | Apart::More)
    }
}

/// Words that say which part, or which one of several, is meant.
pub(super) const OF: &[&str] = &[
    "of", "in", "to", "for", "at", "near", "von", "vom", "zum", "zur", "für", "im", "am", "bei",
    "nach", "de", "du", "des", "à", "au", "aux", "pour", "en", "dans", "del", "al", "para", "di",
    "della", "dello", "dei", "per", "do", "da", "em", "no", "na", "van", "voor", "naar", "bij",
    "w", "dla", "для", "в", "на",
];

/// Words that say where something is so.
pub(super) const ON: &[&str] = &[
    "on", "under", "auf", "unter", "sur", "sous", "sobre", "bajo", "su", "sotto", "sob", "op",
    "onder", "pod", "под",
];

/// Words that stand between those and what they name.
pub(super) const ARTICLES: &[&str] = &[
    "the", "a", "an", "my", "our", "your", "their", "his", "her", "der", "die", "das", "dem",
    "den", "la", "le", "les", "el", "los", "las", "il", "lo", "i", "gli", "o", "os", "as", "het",
];

/// Words of a part that changes places with another.
const LONGEST_PART: usize = 8;
