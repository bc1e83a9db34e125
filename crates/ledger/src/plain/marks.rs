//! What tells one thing from things of a kind.

use crate::words::Words;
use crate::words::marks::{ENGLISH_SUBJECTS, SUBJECTS};
use crate::words::others::frames::DETERMINERS;
use crate::words::plain::{POINTING, TONGUES, WAYS};

/// What a form is called: "British spelling", "ISO dates", "metric units".
pub(super) fn is_form(word: &str) -> bool {
    matches!(
        word,
        "spelling" | "units" | "format" | "style" | "indentation" | "case" | "voice" | "tone"
    ) || matches!(
        word,
        "schreibweise"
            | "einheiten"
            | "stil"
            | "orthographe"
            | "unités"
            | "ortografía"
            | "unidades"
            | "unità"
            | "eenheden"
            | "jednostki"
            | "единицы"
    )
}

/// Verbs of one piece of work.
pub(super) fn is_work(word: &str) -> bool {
    matches!(
        word,
        "add"
            | "translate"
            | "convert"
            | "traduis"
            | "traduce"
            | "traduci"
            | "traduza"
            | "übersetze"
            | "übersetz"
            | "fix"
            | "run"
            | "remove"
            | "update"
            | "make"
            | "create"
            | "check"
            | "test"
            | "show"
            | "list"
            | "find"
            | "delete"
            | "push"
            | "commit"
            | "start"
            | "open"
            | "read"
            | "write"
            | "try"
            | "merge"
            | "move"
            | "see"
            | "look"
            | "get"
            | "go"
            | "do"
            | "rename"
            | "review"
            | "many"
            | "good"
            | "great"
            | "nice"
            | "thanks"
            | "thank"
            | "sounds"
            | "looks"
            | "works"
    )
}

/// The first word that is not politeness.
pub(super) fn first(words: &Words<'_>) -> usize {
    (0..words.len())
        .find(|&at| {
            !matches!(
                words.get(at),
                "please" | "pls" | "ok" | "okay" | "and" | "also" | "bitte" | "und" | "hey" | "por"
            ) && !matches!(words.get(at), "favor" | "et" | "y" | "и" | "so" | "just")
        })
        .unwrap_or(0)
}

/// A name with an ending or a path: what is asked is asked of that file.
pub(super) fn names_file(sentence: &str) -> bool {
    sentence.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        let path = word.contains('/') && word.len() > 3 && !word.starts_with('/');
        let ending = word.rsplit_once('.').is_some_and(|(name, end)| {
            !name.is_empty()
                && (1..=5).contains(&end.len())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && end.bytes().any(|byte| byte.is_ascii_alphabetic())
        });
        path || ending || word.contains("://")
    })
}

pub(super) fn points(words: &Words<'_>, from: usize, to: usize) -> bool {
    (from..to.min(words.len())).any(|at| {
        let word = words.get(at);
        POINTING.contains(word) || (DETERMINERS.contains(word) && is_definite(word))
    })
}

/// An article of one known thing. Romance plurals are left out, since there
/// "the prices" are prices as such.
pub(super) fn is_definite(word: &str) -> bool {
    !matches!(
        word,
        "les" | "los" | "las" | "os" | "as" | "de" | "a" | "o" | "die"
    )
}

pub(super) fn is_subject(word: &str) -> bool {
    ENGLISH_SUBJECTS.contains(word)
        || (SUBJECTS.contains(word) && is_definite(word) && word != "on")
        || matches!(word, "we" | "you" | "wir" | "du" | "nous" | "tu" | "мы")
}

/// Whether something is told of rather than asked: a finite verb of being.
pub(super) fn tells(words: &Words<'_>, from: usize, to: usize) -> bool {
    (from..to.min(words.len())).any(|at| {
        matches!(
            words.get(at),
            "is" | "are"
                | "was"
                | "were"
                | "am"
                | "has"
                | "had"
                | "did"
                | "does"
                | "i'm"
                | "it's"
                | "ist"
                | "sind"
                | "war"
                | "waren"
                | "hat"
                | "hatte"
                | "est"
                | "sont"
                | "était"
                | "es"
                | "son"
                | "era"
                | "está"
                | "están"
                | "è"
                | "sono"
                | "são"
                | "zijn"
                | "jest"
                | "są"
                | "был"
                | "была"
                | "были"
        )
    })
}

/// An English plural, as far as its ending tells.
pub(super) fn is_plural(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
        && !word.contains('\'')
        && !matches!(
            word,
            "does" | "this" | "yes" | "thanks" | "always" | "sometimes" | "as"
        )
}

pub(super) fn is_way(words: &Words<'_>, at: usize) -> bool {
    let word = words.get(at);
    WAYS.contains(word)
        || TONGUES.contains(word)
        || word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn is_only(word: &str) -> bool {
    matches!(
        word,
        "only"
            | "nur"
            | "solo"
            | "sólo"
            | "seulement"
            | "uniquement"
            | "только"
            | "alleen"
            | "always"
    )
}

/// One of a kind, or a number of them.
pub(super) fn is_one(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "one"
            | "me"
            | "ein"
            | "eine"
            | "einen"
            | "mir"
            | "un"
            | "une"
            | "una"
            | "um"
            | "uma"
            | "moi"
            | "een"
            | "мне"
    ) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Things of a kind, by their form: an English plural, a Romance one with its
/// article, a German noun without one.
pub(super) fn names_many(words: &Words<'_>, from: usize, to: usize) -> bool {
    let last = (from..to).rev().find(|&at| !is_only(words.get(at)));
    let Some(last) = last else { return false };
    match words.get(from) {
        "les" | "los" | "las" | "os" | "as" | "des" | "i" | "le" | "gli" => last > from,
        _ => is_plural(words.get(last)) || (words.is_capital(last) && last <= from + 1),
    }
}
