//! What is used, left out or put first again and again, told by things that
//! nobody asks for once: languages, forms, and what assistants write of their
//! own accord.

use super::manner::says_how_from;
use super::marks::{is_form, is_one, is_plural, is_subject, is_way, points, tells};
use super::standing::sets_against;
use crate::words::Words;
use crate::words::others::frames::DETERMINERS;
use crate::words::plain::{FILLERS, HABITS, KINDS, POINTING, SPEAKING, TONGUES};

/// "Use British English.", "Use conventional commits.", "Verwende wieder
/// Emojis.": a language, a form or things of a kind, and nothing else.
pub(super) fn uses_such(words: &Words<'_>, from: usize) -> bool {
    let verb = matches!(
        words.get(from),
        "use"
            | "verwende"
            | "benutze"
            | "nutze"
            | "utilise"
            | "utilisez"
            | "usa"
            | "usad"
            | "gebruik"
            | "używaj"
            | "используй"
            | "используйте"
    );
    if !verb {
        return false;
    }
    let end = before_again(words);
    // "Use snake_case for variables."
    let tail = (from + 2..end).find(|&at| matches!(words.get(at), "for" | "für" | "pour" | "para"));
    let to = tail.unwrap_or(end);
    let object = from + 1..to;
    if object.is_empty() || object.len() > 3 {
        return false;
    }
    let again = |word: &str| matches!(word, "wieder" | "weer" | "снова" | "znowu");
    let one = |at: usize| {
        let word = words.get(at);
        let article = DETERMINERS.contains(word) && !matches!(word, "des" | "de");
        article || is_one(word) || POINTING.contains(word) || is_subject(word)
    };
    if (from + 1..end).any(|at| one(at) && !again(words.get(at))) || tells(words, from, end) {
        return false;
    }
    let last = words.get(to - 1);
    match tail {
        Some(tail) => tail + 1 < end && end - tail <= 3 && KINDS.contains(words.get(end - 1)),
        None => {
            // "Use functions." is how one thing is to be built.
            (KINDS.contains(last) && !is_built(last))
                || HABITS.contains(last)
                || TONGUES.contains(last)
                || is_form(last)
        }
    }
}

/// What one piece of code may be made of.
fn is_built(word: &str) -> bool {
    matches!(
        word,
        "variables"
            | "functions"
            | "classes"
            | "methods"
            | "constants"
            | "messages"
            | "branches"
            | "names"
            | "identifiers"
            | "variablen"
            | "funktionen"
    )
}

/// Where a sentence ends but for "again", which says that it was so before.
fn before_again(words: &Words<'_>) -> usize {
    let end = words.len();
    let last = |back: usize| end.checked_sub(back).map(|at| words.get(at));
    match (last(2), last(1)) {
        (Some("de" | "à" | "di"), Some("nuevo" | "nouveau" | "novo" | "nuovo"))
        | (Some("otra" | "outra"), Some("vez")) => end - 2,
        (_, Some("again" | "wieder" | "weer" | "снова" | "novamente" | "znowu" | "please")) => {
            end - 1
        }
        _ => end,
    }
}

/// "I want diffs, not whole files.", "I like short answers.": a wish that names
/// no single thing.
pub(super) fn wants_such(words: &Words<'_>, from: usize) -> bool {
    let object = match (words.get(from), words.get(from + 1)) {
        ("i", "want" | "like")
        | ("ich", "will" | "mag" | "möchte")
        | ("je", "veux" | "préfère")
        | ("ik", "wil")
        | ("я", "хочу" | "люблю") => from + 2,
        ("quiero" | "quero" | "voglio" | "chcę" | "хочу", _) => from + 1,
        _ => return false,
    };
    object < words.len()
        && !points(words, object, words.len())
        && (sets_against(words, object) || says_how_from(words, object))
}

/// "Niente emoji.", "Sin rodeos.", "Antworten bitte ohne Floskeln.": without
/// what assistants put in unasked.
pub(super) fn goes_without(words: &Words<'_>, from: usize) -> bool {
    let end = words.len();
    let said = |word: &str| SPEAKING.contains(word) || FILLERS.contains(word);
    let Some(none) = (from..end).find(|&at| !said(words.get(at))) else {
        return false;
    };
    let habit = match words.get(none) {
        "without" | "ohne" | "sans" | "sin" | "sem" | "senza" | "zonder" | "bez" | "без"
        | "utan" | "niente" | "niks" => none + 1,
        "nada" if words.get(none + 1) == "de" => none + 2,
        "pas" if words.get(none + 1).starts_with("d'") => none + 1,
        _ => return false,
    };
    let word = words.get(habit).trim_start_matches("d'");
    let polite = |word: &str| FILLERS.contains(word) || matches!(word, "graag" | "gern" | "tack");
    HABITS.contains(word) && (habit + 1..end).all(|at| polite(words.get(at)))
}

/// "Tests first, then code.", "Ask first, act later.": an order of things of a
/// kind, or of what one does before all else.
pub(super) fn comes_first(words: &Words<'_>, from: usize) -> bool {
    let end = words.len();
    let what = words.get(from);
    let general = is_plural(what)
        || matches!(
            what,
            "ask" | "think" | "plan" | "measure" | "safety" | "security" | "correctness"
        );
    let one = |at: usize| {
        let word = words.get(at);
        DETERMINERS.contains(word) || POINTING.contains(word) || is_one(word)
    };
    general
        && (4..=6).contains(&(end - from))
        && words.get(from + 1) == "first"
        && matches!(words.before(from + 2), Some(',' | ';' | '–' | '—'))
        && (words.get(from + 2) == "then" || words.get(end - 1) == "later")
        && !(from + 2..end).any(one)
        && !tells(words, from, end)
}

/// "Einheiten metrisch.", "Unidades métricas.": a form and which.
pub(super) fn is_form_of(words: &Words<'_>, from: usize) -> bool {
    let both = |form: usize, way: usize| is_form(words.get(form)) && is_way(words, way);
    words.len() == from + 2 && (both(from, from + 1) || both(from + 1, from))
}

/// "Cite your sources.": what stands behind what is said.
pub(super) fn gives_grounds(words: &Words<'_>, from: usize) -> bool {
    let (verb, whose, what) = (words.get(from), words.get(from + 1), words.get(from + 2));
    words.len() == from + 3
        && matches!(
            verb,
            "cite" | "name" | "nenne" | "gib" | "indique" | "cita" | "indica" | "указывай"
        )
        && matches!(
            whose,
            "your" | "deine" | "tes" | "vos" | "tus" | "suas" | "свои"
        )
        && matches!(
            what,
            "sources" | "quellen" | "fuentes" | "fontes" | "источники"
        )
}
