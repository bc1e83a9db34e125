//! Whether a sentence tells what another says: "Bob says never to push",
//! "never push, the sticker on her laptop said".
//!
//! A verb of saying is not enough. In "never trust what the linter says" it
//! stands within what the user asks, in "when a test says …" within a condition,
//! and in "Bob says tabs, but I want spaces" the user goes on. So a sentence is
//! taken apart where a speaker may turn, and is another's only if none of its
//! parts is a rule that the user gives.

mod parts;

use crate::frames::brings_words;
use crate::norm::judge;
use crate::words::Words;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{
    ASKED, COMPLEMENTS, CONDITIONS, CONTRASTS, DISMISSALS, HEARSAY, INVERTED, IS_RIGHT, LIKENESS,
    MINE, NAMES, NEGATIONS, PEOPLE, POINTERS, RETURNS, RIGHT, SAYS, SELVES, SOURCES, STANDS, TURNS,
    UTTERANCES,
};
use crate::words::others::{REPORTS, SPEAKS_SELF, WITNESSES};
use parts::{Joint, parts};

/// Words into a clause in which its verb of saying is looked for.
const FARTHEST: usize = 10;
/// Words between a conjunction and the verb of its clause.
const NEAREST: usize = 6;
/// Words of what is put behind what was said: "…, the sticker on it said".
const LONGEST_TAG: usize = 12;

/// Whether a sentence tells what another says, and nothing that the user asks.
pub(crate) fn is_told(sentence: &str, words: &Words<'_>) -> bool {
    let mut found = words.iter();
    let may_tell = |word: &str| {
        is_of_saying(word)
            || HEARSAY.contains(word)
            || is_hearsay_form(word)
            || UTTERANCES.contains(word)
    };
    if !found.any(may_tell) {
        return tells(words);
    }
    if stands_by(words) {
        return false;
    }
    let (mut told, mut told_rule, mut own, mut taken) = (false, false, false, false);
    for (at, (joint, part)) in parts(sentence).into_iter().enumerate() {
        let words = Words::new(part);
        let rule = judge(part, &words).is_some();
        let is_last = is_verb_final(&words);
        if is_last && (own || rule) {
            return true;
        }
        let is_tag = at > 0 && joint != Joint::Turn && !rule && (is_tag(&words) || hears(&words));
        if is_tag && own {
            return true;
        }
        if is_tag
            || wants(&words, rule)
            || is_last
            || brings_words(&words)
            || hears(&words)
            || (tells(&words) && !rules_before_it(part, &words))
        {
            told = true;
            taken = false;
            told_rule |= rule;
            continue;
        }
        // What goes on behind a comma is still another's.
        taken |= told && takes_over(&words);
        let is_users = !told
            || taken
            || match joint {
                Joint::Comma => false,
                Joint::Stop | Joint::Turn => !told_rule,
            };
        match is_users {
            true => own |= rule,
            false => told_rule |= rule,
        }
    }
    told && !own
}

/// Whether a clause tells what somebody else says.
pub(crate) fn tells(words: &Words<'_>) -> bool {
    is_by_source(words)
        || has_heard(words)
        || (0..words.len().min(FARTHEST + 1)).any(|at| {
            // Arabic puts the verb first: "wrote my colleague".
            let is_first = at == 0 && words.get(0).starts_with(is_arabic);
            let word = words.get(at);
            let is_verb = REPORTS.contains(word)
                || ((ASKED.contains(word) || SAYS.contains(word) || WITNESSES.contains(word))
                    && is_completed(words, at));
            is_verb && (is_first || (at > 0 && speaks_of_another(words, at)))
        })
}

/// Whether the verb at `at` tells what another says, in a clause of its own.
pub(crate) fn speaks_of_another(words: &Words<'_>, at: usize) -> bool {
    // "The tests say what must not break" gives nobody's words.
    let names = matches!(
        words.get(at + 1),
        "what" | "how" | "why" | "which" | "where"
    );
    !names && !is_noun(words, at) && !speaks_self(words, at) && !is_within_condition(words, at)
}

/// "Pull requests", "insurance claims": a plural that looks like a verb.
fn is_noun(words: &Words<'_>, at: usize) -> bool {
    let before = words.get(at.saturating_sub(1));
    matches!(
        words.get(at),
        "requests"
            | "notes"
            | "demands"
            | "answers"
            | "replies"
            | "claims"
            | "orders"
            | "quotes"
            | "comments"
            | "posts"
    ) && at + 1 == words.len()
        && at <= 2
        && !(PEOPLE.contains(before)
            || NAMES.contains(before)
            || UTTERANCES.contains(before)
            || SOURCES.contains(before)
            || words.is_capital(at - usize::from(at > 0)) && at > 1)
}

pub(crate) fn is_of_saying(word: &str) -> bool {
    REPORTS.contains(word)
        || ASKED.contains(word)
        || INVERTED.contains(word)
        || SAYS.contains(word)
        || WITNESSES.contains(word)
}

/// "According to the docs", but not "secondo me".
fn is_by_source(words: &Words<'_>) -> bool {
    let by = match (words.get(0), words.get(1)) {
        ("according" | "laut" | "selon" | "según" | "segundo" | "secondo" | "volgens", _)
        | ("według" | "согласно" | "d'après" | "gemäß" | "quote" | "quoting", _)
        | ("zdaniem" | "حسب" | "بحسب" | "وفقا" | "وفقًا", _) => 1,
        ("as", "per") | ("по", "словам" | "мнению") | ("nach", "angaben" | "meinung") => {
            2
        }
        _ => return false,
    };
    let to = by + usize::from(words.get(by) == "to");
    words.len() > by
        && !matches!(
            words.get(to),
            "me" | "us"
                | "my"
                | "our"
                | "mir"
                | "uns"
                | "moi"
                | "mí"
                | "mim"
                | "mij"
                | "mnie"
                | "мне"
        )
}

/// "I heard that", "I read that": by hearsay, though the user did hear it.
fn has_heard(words: &Words<'_>) -> bool {
    (0..words.len().min(4)).any(|at| {
        matches!(
            words.get(at),
            "heard"
                | "read"
                | "learned"
                | "learnt"
                | "gehört"
                | "gelesen"
                | "entendu"
                | "lu"
                | "oído"
                | "leído"
                | "oí"
                | "leí"
                | "ouvi"
                | "li"
                | "sentito"
                | "letto"
                | "gehoord"
                | "gelezen"
                | "słyszałem"
                | "słyszałam"
                | "czytałem"
                | "слышал"
                | "слышала"
                | "читал"
                | "читала"
                | "duydum"
                | "okudum"
        ) && (at + 1..at + 3).any(|next| {
            matches!(
                words.get(next),
                "that" | "dass" | "que" | "che" | "dat" | "że" | "что"
            ) || words.get(next).starts_with("qu'")
        }) && (words.get(at) == "heard" || !matches!(words.get(at + 2), "you" | "du" | "tu"))
    })
}

/// "They demand that", "she asked whether", "he asked me today if": some verbs
/// tell what another says only with what completes them.
fn is_completed(words: &Words<'_>, at: usize) -> bool {
    (at + 1..=at + 5)
        .any(|next| COMPLEMENTS.contains(words.get(next)) || words.get(next).starts_with("qu'"))
        || (ASKED.contains(words.get(at))
            && matches!(
                words.get(at + 1),
                "us" | "me"
                    | "everyone"
                    | "everybody"
                    | "we"
                    | "you"
                    | "uns"
                    | "nos"
                    | "ci"
                    | "ons"
                    | "нас"
            ))
}

/// Whether the verb stands in a clause that only says when, if or what:
/// "whatever the README says", "if the CI says".
fn is_within_condition(words: &Words<'_>, at: usize) -> bool {
    let from = at.saturating_sub(NEAREST);
    let conditional = |before: usize| {
        CONDITIONS.contains(words.get(before))
            || matches!(
                (words.get(before), words.get(before + 1)),
                ("even", "if" | "though") | ("ook", "al") | ("ce" | "lo" | "o", "que")
            )
            || words.get(before).starts_with("qu'")
            // "Do as the linter says", but not "as Bob says, …".
            || (before > 0 && matches!(words.get(before), "as" | "like" | "wie" | "comme" | "zoals" | "jak" | "как"))
    };
    let relative = at.checked_sub(1).is_some_and(|before| {
        matches!(words.get(before), "that" | "which" | "who" | "que" | "qui")
    });
    relative || (from..at).any(conditional)
}

/// Whether a rule stands before the verb of saying, which is then a part of it:
/// "make sure that the header says …".
fn rules_before_it(part: &str, words: &Words<'_>) -> bool {
    let verb = (1..words.len()).find(|at| REPORTS.contains(words.get(*at)));
    verb.is_some_and(|verb| {
        let before = &part[..words.offset(verb)];
        judge(before, &Words::new(before)).is_some()
    })
}

/// Whether a part names, behind what was said, who said it: "said the boss",
/// "the sticker on her laptop said".
fn is_tag(words: &Words<'_>) -> bool {
    let count = words.len();
    let is_own = words.iter().any(|word| SELVES.contains(word));
    // "… was all he said", but not "…, was der Linter sagt".
    let is_english = words.get(0) == "was" && matches!(words.get(1), "all" | "what" | "the");
    let likens = LIKENESS.contains(words.get(0)) && !is_english;
    if count == 0 || count > LONGEST_TAG || is_own || likens {
        return false;
    }
    (0..count).any(|at| {
        let is_last = at + 1 == count
            && (REPORTS.contains(words.get(at)) || INVERTED.contains(words.get(at)));
        let helped = at == 1
            && matches!(
                words.get(0),
                "m'a"
                    | "a"
                    | "ha"
                    | "hat"
                    | "mi"
                    | "me"
                    | "l'a"
                    | "has"
                    | "m'avait"
                    | "był"
                    | "так"
                    | "öyle"
            );
        let opens = INVERTED.contains(words.get(at)) && (at == 0 || helped);
        // "… was all the mechanic said about it".
        let within = at <= 5
            && INVERTED.contains(words.get(at))
            && matches!(words.get(0), "was" | "were" | "so" | "taki");
        (is_last || opens || within) && !speaks_self(words, at) && !is_within_condition(words, at)
    })
}

/// "The teacher wants the kids to always …".
fn wants(words: &Words<'_>, rule: bool) -> bool {
    (1..words.len().min(FARTHEST)).any(|at| {
        ASKED.contains(words.get(at))
            && speaks_of_another(words, at)
            && !(at.saturating_sub(3)..at).any(|before| SELVES.contains(words.get(before)))
            && ((rule && (at + 1..at + 5).any(|next| words.get(next) == "to"))
                || matches!(words.get(at - 1), "they" | "he" | "she"))
    })
}

/// Turkish puts the verb of saying last, behind what is said.
fn is_verb_final(words: &Words<'_>) -> bool {
    let last = words.get(words.len().saturating_sub(1));
    matches!(
        last,
        "derdi"
            | "deniyor"
            | "diyor"
            | "dedi"
            | "demiş"
            | "yazıyor"
            | "yazıyordu"
            | "söyledi"
            | "söylüyor"
            | "istiyor"
            | "denir"
    )
}

/// "Apparently", "angeblich": it is passed on, whoever said it.
fn hears(words: &Words<'_>) -> bool {
    words
        .iter()
        .any(|word| HEARSAY.contains(word) || is_hearsay_form(word))
}

/// The forms of verbs by which German and Turkish pass something on.
fn is_hearsay_form(word: &str) -> bool {
    matches!(word, "müsse" | "dürfe" | "solle" | "müsste" | "dürften")
        || (word.chars().count() > 6
            && (word.ends_with("mış")
                || word.ends_with("miş")
                || word.ends_with("muş")
                || word.ends_with("müş")))
}

/// Whether the user stands by what is told: "and I agree", "he is right".
pub(crate) fn stands_by(words: &Words<'_>) -> bool {
    (1..words.len()).any(|at| {
        let word = words.get(at);
        let near = at.saturating_sub(3)..at;
        let denied = near
            .clone()
            .chain(at + 1..at + 2)
            .any(|at| NEGATIONS.contains(words.get(at)));
        let by = match RIGHT.contains(word) {
            true => near.clone().any(|at| IS_RIGHT.contains(words.get(at))),
            false => {
                near.clone().any(|at| SELVES.contains(words.get(at))) || word.starts_with("zgadzam")
            }
        };
        (RIGHT.contains(word) || STANDS.contains(word)) && by && !denied
    })
}

/// Whether the user takes the word again: "but I want", "ignore that and".
fn takes_over(words: &Words<'_>) -> bool {
    let turns = (0..words.len())
        .take_while(|at| CONTRASTS.contains(words.get(*at)) || TURNS.contains(words.get(*at)))
        .count();
    let dismisses = (0..words.len().min(turns + 3)).any(|at| DISMISSALS.contains(words.get(at)))
        && words.iter().take(turns + 5).any(|word| {
            PEOPLE.contains(word)
                || POINTERS.contains(word)
                || matches!(word, "it" | "es" | "lo" | "go" | "его")
        });
    (turns..turns + 3).any(|at| RETURNS.contains(words.get(at)))
        || (turns > 0
            && matches!(
                words.get(turns),
                "here"
                    | "hier"
                    | "ici"
                    | "aquí"
                    | "aqui"
                    | "qui"
                    | "we"
                    | "wir"
                    | "nous"
                    | "мы"
                    | "noi"
                    | "wij"
                    | "you"
                    | "você"
                    | "du"
                    | "tu"
            ))
        || dismisses
}

fn is_arabic(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{06ff}')
}

/// Whether the verb at `at` tells what the user says: "I said", "as I have
/// already told you".
pub(crate) fn speaks_self(words: &Words<'_>, at: usize) -> bool {
    let between = |word: &str| {
        matches!(
            word,
            "already"
                | "still"
                | "really"
                | "only"
                | "do"
                | "have"
                | "had"
                | "also"
                | "once"
                | "often"
                | "clearly"
                | "repeatedly"
                | "explicitly"
                | "before"
                | "habe"
                | "schon"
                | "bereits"
                | "ai"
                | "déjà"
                | "ya"
                | "já"
                | "già"
                | "уже"
                | "вам"
                | "тебе"
                | "te"
                | "t'ai"
                | "l'ai"
        )
    };
    let mut before = at.saturating_sub(1);
    while before > 0 && between(words.get(before)) {
        before -= 1;
    }
    // "My father used to say".
    if words.get(before) == "to" && before > 0 && words.get(before - 1) == "used" {
        return before > 1 && SELVES.contains(words.get(before - 2));
    }
    // "Our rule says" speaks for those who have it.
    let of_rules =
        HEADINGS.contains(words.get(before)) && before > 0 && MINE.contains(words.get(before - 1));
    // "As said", "as already mentioned", but not "as stated in the README".
    let as_said = words.get(before) == "as"
        && !matches!(words.get(at + 1), "in" | "by" | "on" | "at" | "there");
    SPEAKS_SELF.contains(words.get(before)) || of_rules || as_said
}

/// Whether the user is named as the one who says it: "I said", "what we say".
pub(crate) fn says_oneself(words: &Words<'_>, at: usize) -> bool {
    (at.saturating_sub(4)..at).any(|before| SELVES.contains(words.get(before)))
        && speaks_self(words, at)
        || (words.get(0) == "as" && speaks_self(words, at))
}
