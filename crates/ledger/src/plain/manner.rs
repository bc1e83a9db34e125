//! How to speak, and how things of a kind are given. A task beside them may be
//! what they are said of.

use super::marks::{is_one, is_only, is_plural, is_subject, is_way, names_many, points, tells};
use crate::words::Words;
use crate::words::others::frames::DETERMINERS;
use crate::words::plain::{FILLERS, GIVES, HABITS, MANNER, POINTING, SPEAKING, TONGUES};

/// "Be brief.", "Antworte knapp.", "Short answers, please.": nothing but how to
/// speak.
pub(super) fn says_how(words: &Words<'_>) -> bool {
    let how = |word: &str| MANNER.contains(word) || TONGUES.contains(word);
    words.len() <= 7
        && words.iter().any(|word| SPEAKING.contains(word))
        && words.iter().any(how)
        && words
            .iter()
            .all(|word| how(word) || SPEAKING.contains(word) || FILLERS.contains(word))
}

/// "Quote prices in Swiss francs only.", "Kommentare auf Englisch.": things of
/// a kind, and the unit or the language in which they are given.
pub(super) fn given_in(words: &Words<'_>, from: usize) -> bool {
    let end = words.len();
    let Some(into) = (from + 1..end).find(|&at| {
        matches!(
            words.get(at),
            "in" | "as" | "en" | "auf" | "em" | "op" | "po" | "по" | "на" | "в" | "na" | "w"
        ) && (at + 1..end.min(at + 4)).any(|way| is_way(words, way))
    }) else {
        return false;
    };
    let tail = (into + 1..end)
        .all(|at| is_way(words, at) || FILLERS.contains(words.get(at)) || is_only(words.get(at)));
    let gives = GIVES.contains(words.get(from));
    let head = from + usize::from(gives)..into;
    let generic = !head.is_empty()
        && head.len() <= 4
        && !points(words, head.start, head.end)
        && !tells(words, head.start, head.end)
        && !head.clone().any(|at| is_one(words.get(at)))
        && !is_subject(words.get(head.start));
    tail && generic && (gives || names_many(words, head.start, head.end))
}

/// "Write commit messages in the imperative.", "Address customers formally.":
/// things of a kind, and how they are to be made.
pub(super) fn gives_such(words: &Words<'_>, from: usize) -> bool {
    if !GIVES.contains(words.get(from)) {
        return false;
    }
    let object = from + 1;
    let Some(last) = (object..words.len().min(object + 3)).find(|&at| {
        let german = words.is_capital(at) && words.is_capital(from) && at > from;
        is_plural(words.get(at)) || (german && !words.get(at).is_ascii())
    }) else {
        return false;
    };
    let rest = last + 1;
    let how = match words.get(rest) {
        "in" | "as" | "with" | "by" | "under" | "without" | "like" | "mit" | "als" | "ohne" => {
            rest + 1 < words.len()
        }
        word => MANNER.contains(word),
    };
    let definite = |at: usize| {
        let word = words.get(at);
        POINTING.contains(word) && word != "their"
            || matches!(word, "the" | "der" | "die" | "das" | "dem" | "den")
                && !(at + 1..words.len().min(at + 4)).any(|way| is_way(words, way))
    };
    how && words.len() - from <= 10
        && !(object..=last).any(|at| DETERMINERS.contains(words.get(at)) || is_one(words.get(at)))
        && !(object..words.len()).any(definite)
        && !(rest..words.len()).any(|at| matches!(words.get(at), "for" | "from" | "so" | "until"))
}

/// "Skip the pleasantries."
pub(super) fn leaves_out(words: &Words<'_>, from: usize) -> bool {
    let verb = matches!(
        words.get(from),
        "skip" | "drop" | "omit" | "cut" | "spare" | "lose" | "leave" | "lass" | "spar" | "weg"
    ) || matches!(
        words.get(from),
        "laisse"
            | "oublie"
            | "épargne"
            | "omite"
            | "ahórrate"
            | "evita"
            | "salta"
            | "убери"
            | "опускай"
    );
    verb && words.len() - from <= 6
        && (from + 1..words.len()).any(|at| HABITS.contains(words.get(at)))
        && !(from + 1..words.len()).any(|at| {
            matches!(
                words.get(at),
                "in" | "from" | "on" | "of" | "aus" | "dans" | "de" | "из"
            )
        })
}
