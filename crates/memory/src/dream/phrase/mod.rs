//! Phrases: the words of a line in their order, and what turns them.
//!
//! "Tabs over spaces" and "spaces over tabs" have the same words. So has a line
//! about worker 1 nearly all words of one about worker 2. Which word stands
//! where, what stands before it, and whether a number tells how much or which
//! one, is read here; what follows from it is decided where lines are compared.

mod kind;
mod words;

use self::kind::kind;
use self::words::{LEADS, TURNS, UNSPACED_TURNS};
pub(super) use self::words::{is_article, is_lead, is_turn, is_unit, is_without};
use super::likeness::{is_empty_word, is_negation, is_unspaced, stem};
use super::listed::listed;

/// What a word does in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It carries meaning.
    Term,
    /// It says how much, how long, where or when.
    Value,
    /// It says which one.
    Name {
        /// The line is about it, rather than says it of something.
        subject: bool,
    },
}

/// A word that carries meaning, where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The word without its ending, or the value.
    pub(super) word: String,
    pub(super) kind: Kind,
    /// The words since the part before that turn what follows: "not", "after".
    pub(super) turns: Vec<String>,
    /// The last preposition since the part before.
    pub(super) leads: Option<String>,
}

/// A line as parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) parts: Vec<Part>,
    /// Words that turn, behind the last part: "…, not after".
    pub(super) tail: Vec<String>,
}

/// The words of a text, as they stand in it. What is written without spaces is
/// cut from letters and digits beside it, and denials from their verbs.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let joined = |c: char| c.is_alphanumeric() || "._/-:@#$%€₩₹£¥+".contains(c);
    let mut out = Vec::new();
    for run in without_apostrophes(text).split(|c: char| !joined(c)) {
        let mut token = String::new();
        for c in run.chars() {
            if let Some(before) = token.chars().next_back()
                && is_unspaced(before) != is_unspaced(c)
            {
                out.push(std::mem::take(&mut token));
            }
            token.push(c);
        }
        out.push(token);
    }
    let bare = |token: String| {
        let kept = |c: char| !c.is_alphanumeric() && !"$€₩₹£¥%#".contains(c);
        let token = token.trim_matches(kept).trim_end_matches('#');
        token.to_owned()
    };
    out.into_iter()
        .map(bare)
        .filter(|token| token.chars().any(|c| c.is_alphanumeric() || c == '%'))
        .collect()
}

fn without_apostrophes(text: &str) -> String {
    let mut plain = text.replace('’', "'");
    for (short, long) in [
        ("can't", "can not"),
        ("Can't", "can not"),
        ("won't", "will not"),
        ("Won't", "will not"),
        ("n't", " not"),
        // A capital of its own would be taken for a name, as in "plan B".
        ("N'", "n'"),
        ("L'", "l'"),
        ("D'", "d'"),
        ("J'", "j'"),
        ("C'", "c'"),
    ] {
        plain = plain.replace(short, long);
    }
    plain
}

/// Numbers, and names that only a program could have made up.
pub(super) fn is_value(token: &str) -> bool {
    token.chars().any(|c| c.is_ascii_digit()) || token.contains(['/', '@', '$', '€', '₩', '₹', '£'])
}

/// "Plan B": a single capital that is no word of its own.
fn is_letter(tokens: &[String], at: usize) -> bool {
    let mut chars = tokens[at].chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => c.is_uppercase() && !"IÀÉEOYЯВСИОУК".contains(c) && (at > 0 || c != 'A'),
        _ => false,
    }
}

impl Phrase {
    pub(super) fn of(tokens: &[String]) -> Phrase {
        let mut phrase = Phrase::default();
        let lower: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
        let mut turns = Vec::new();
        let mut leads = None;
        for (at, token) in lower.iter().enumerate() {
            let is_name = is_letter(tokens, at);
            if !is_name && (is_negation(token) || listed(TURNS, token)) {
                // Which of two words says no is all one.
                let turn = match is_negation(token) && !is_without(token) {
                    true => "not",
                    false => token.as_str(),
                };
                // "Никогда не" denies once.
                if turn != "not" || turns.last().is_none_or(|last| last != turn) {
                    turns.push(turn.to_owned());
                }
                continue;
            }
            let mut add = |word: String, kind: Kind| {
                phrase.parts.push(Part {
                    word,
                    kind,
                    turns: std::mem::take(&mut turns),
                    leads: leads.take(),
                });
            };
            if is_name || is_value(token) {
                let kind = kind(&lower, at, is_name);
                add(token.trim_start_matches('#').to_owned(), kind);
            } else if token.chars().any(is_unspaced) {
                for (word, is_turn) in pieces(token) {
                    match is_turn {
                        true => turns.push(word),
                        false => phrase.parts.push(Part {
                            word,
                            kind: Kind::Term,
                            turns: std::mem::take(&mut turns),
                            leads: None,
                        }),
                    }
                }
            } else if token == "be" {
                // "Is to be done" leads nowhere.
                leads = None;
            } else if listed(LEADS, token) {
                leads = Some(token.clone());
            } else if !is_empty_word(token) && token.chars().count() > 1 {
                for part in token.split(|c: char| !c.is_alphanumeric()) {
                    if !part.is_empty() {
                        add(stem(part).to_owned(), Kind::Term);
                    }
                }
            }
        }
        phrase.tail = turns;
        phrase
    }

    /// All words that turn, in their order.
    pub(super) fn turns(&self) -> Vec<&str> {
        let inside = self.parts.iter().flat_map(|part| &part.turns);
        inside.chain(&self.tail).map(String::as_str).collect()
    }

    /// Whether the same words are turned the same way, whatever their order:
    /// what stands behind "before", "without" or "to" stands behind it in both.
    pub(super) fn turns_as(&self, other: &Phrase) -> bool {
        let turned = |phrase: &Phrase| -> Vec<(String, Vec<String>, Option<String>)> {
            let parts = phrase.parts.iter().map(|part| {
                let turns = part.turns.iter().filter(|turn| *turn != "not").cloned();
                // "Of" is no direction.
                let of = |to: &str| matches!(to, "de" | "da" | "van" | "von");
                let is_way = |to: &String| WAYS.contains(&to.as_str()) && !of(to);
                let way = part.leads.clone().filter(is_way);
                (part.word.clone(), turns.collect::<Vec<_>>(), way)
            });
            let mut parts: Vec<_> = parts
                .filter(|(_, turns, way)| !turns.is_empty() || way.is_some())
                .collect();
            parts.sort();
            parts
        };
        let tail = |phrase: &Phrase| -> Vec<String> {
            let turns = phrase.tail.iter().filter(|turn| *turn != "not");
            turns.cloned().collect()
        };
        turned(self) == turned(other) && tail(self) == tail(other)
    }

    /// Where a word stands first.
    fn at(&self, word: &str) -> Option<usize> {
        self.parts.iter().position(|part| part.word == word)
    }

    /// What a value or name is to the line.
    pub(super) fn kind(&self, word: &str) -> Option<Kind> {
        self.at(word).map(|at| self.parts[at].kind)
    }

    /// Whether two words stand at the same place of two lines: behind the same
    /// word, or before it.
    pub(super) fn same_place(&self, word: &str, other: &Phrase, others: &str) -> bool {
        let (Some(a), Some(b)) = (self.at(word), other.at(others)) else {
            return false;
        };
        let beside = |step: isize| {
            let of = |phrase: &Phrase, at: usize| {
                let at = at.checked_add_signed(step)?;
                phrase.parts.get(at).map(|part| part.word.clone())
            };
            of(self, a) == of(other, b)
        };
        self.parts[a].turns == other.parts[b].turns && (beside(-1) || beside(1))
    }

    /// Whether what both say is said in one order, with the same words that
    /// turn it before each part.
    pub(super) fn agrees(&self, other: &Phrase) -> bool {
        if self.turns() != other.turns() {
            return false;
        }
        let ((a, end_of_a), (b, end_of_b)) = (self.shared(other), other.shared(self));
        let words = |parts: &[Part]| -> Vec<String> {
            parts.iter().map(|part| part.word.clone()).collect()
        };
        if words(&a) == words(&b) {
            let fit = |(x, y): (&Part, &Part)| x.turns == y.turns && ties_fit(x, y);
            return a.iter().zip(&b).all(fit) && end_of_a == end_of_b;
        }
        is_moved(&a, &b) || is_moved(&b, &a)
    }

    /// The same, but that one denies what the other says.
    pub(super) fn agrees_but_for_denials(&self, other: &Phrase) -> bool {
        let plain = |phrase: &Phrase| {
            let mut phrase = phrase.clone();
            let turns = phrase.parts.iter_mut().map(|part| &mut part.turns);
            for turns in turns.chain([&mut phrase.tail]) {
                turns.retain(|turn| turn != "not" && !is_without(turn));
            }
            phrase
        };
        plain(self).agrees(&plain(other))
    }

    /// The parts whose words the other has too, as often as both have them, and
    /// what turns behind the last. A part that the other lacks leaves what turns
    /// it to the next.
    fn shared(&self, other: &Phrase) -> (Vec<Part>, Vec<String>) {
        let mut left: Vec<&str> = other.parts.iter().map(|part| part.word.as_str()).collect();
        let mut shared = Vec::new();
        let mut turns = Vec::new();
        for part in &self.parts {
            turns.extend(part.turns.iter().cloned());
            if let Some(at) = left.iter().position(|word| *word == part.word) {
                left.swap_remove(at);
                shared.push(Part {
                    turns: std::mem::take(&mut turns),
                    ..part.clone()
                });
            }
        }
        turns.extend(self.tail.iter().cloned());
        (shared, turns)
    }

    /// Whether this line says nothing but what the other says, in its order and
    /// with the same words that turn it: parts may be left out, but none that
    /// sets a condition.
    pub(super) fn is_within(&self, other: &Phrase) -> bool {
        let mut at = 0;
        for part in &self.parts {
            loop {
                let Some(given) = other.parts.get(at) else {
                    return false;
                };
                at += 1;
                if given.word == part.word {
                    if given.turns != part.turns || !ties_fit(part, given) {
                        return false;
                    }
                    break;
                }
                if !given.turns.is_empty() {
                    return false;
                }
            }
        }
        let left = &other.parts[at..];
        left.iter().all(|part| part.turns.is_empty()) && self.tail == other.tail
    }
}

/// Directions: the one is not the other, whatever else is left out.
const WAYS: [&str; 14] = [
    "from", "to", "with", "into", "von", "zu", "nach", "de", "à", "para", "da", "van", "naar", "из",
];

/// Whether two prepositions may stand for each other.
fn ties_fit(one: &Part, other: &Part) -> bool {
    match (&one.leads, &other.leads) {
        (Some(a), Some(b)) => a == b || !(WAYS.contains(&a.as_str()) || WAYS.contains(&b.as_str())),
        _ => true,
    }
}

/// Whether `b` is `a` with one short phrase moved from its end to the front:
/// "never push on Fridays", "on Fridays never push". With more phrases, or more
/// than one value, it could be what they are said of that was moved.
fn is_moved(a: &[Part], b: &[Part]) -> bool {
    let values = a.iter().filter(|part| part.kind != Kind::Term).count();
    let led = |parts: &[Part]| parts.iter().filter(|part| part.leads.is_some()).count();
    if a.len() != b.len() || values > 1 || led(a) != 1 || led(b) != 1 {
        return false;
    }
    (1..=2.min(a.len().saturating_sub(1))).any(|most| {
        let cut = a.len() - most;
        let (rest, moved) = a.split_at(cut);
        let (front, behind) = b.split_at(most);
        moved[0].leads.is_some()
            && [(moved, front), (rest, behind)].iter().all(|(x, y)| {
                x.iter()
                    .zip(*y)
                    .all(|(x, y)| (&x.word, &x.turns, &x.leads) == (&y.word, &y.turns, &y.leads))
            })
    })
}

/// Pairs of characters of what is written without spaces, and the words in it
/// that turn.
fn pieces(token: &str) -> Vec<(String, bool)> {
    let mut out = Vec::new();
    let mut plain: Vec<char> = Vec::new();
    let mut rest = token;
    let pairs = |plain: &mut Vec<char>, out: &mut Vec<(String, bool)>| {
        for pair in plain.windows(2) {
            out.push((pair.iter().collect(), false));
        }
        plain.clear();
    };
    while let Some(c) = rest.chars().next() {
        let turn = UNSPACED_TURNS.iter().find(|turn| rest.starts_with(**turn));
        if let Some(turn) = turn {
            pairs(&mut plain, &mut out);
            out.push(((*turn).to_owned(), true));
            rest = &rest[turn.len()..];
            continue;
        }
        if "不别勿没".contains(c) {
            pairs(&mut plain, &mut out);
            out.push(("not".to_owned(), true));
        } else if is_unspaced(c) {
            plain.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    pairs(&mut plain, &mut out);
    out
}
