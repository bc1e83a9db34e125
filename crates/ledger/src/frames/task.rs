//! What is asked for is done to the words: "translate", "add this line".
//!
//! Where the object of the request is named, it is a task with a rule of its
//! own: "summarise the logs: never more than a page". Where it is missing or
//! only pointed at, the words behind the colon are the object.

use super::source::{is_pointed, is_somebody};
use crate::told::is_of_saying;
use crate::words::Words;
use crate::words::others::frames::{
    ABOUTS, COMPOSES, DETERMINERS, HEEDS, MATERIAL, MINE, PEOPLE, POINTERS, POLITE, PREPOSITIONS,
    PUTS, TELLS, TEXTS, TREATS, UTTERANCES,
};

/// "Proofread", "add this line to the docs", "write a prompt that says".
pub(super) fn is_task(words: &Words<'_>) -> bool {
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let asked = words.get(verb);
    let last = words.get(words.len() - 1);
    if is_kept(words, verb) {
        return false;
    }
    // "Kannst du das übersetzen", "texte à corriger": the verb is at the end.
    if verb + 1 < words.len() && TREATS.contains(last) {
        return true;
    }
    let to = verb + 1 + usize::from(matches!(words.get(verb + 1), "to" | "an" | "à" | "a"));
    let handed = matches!(
        asked,
        "send"
            | "forward"
            | "schick"
            | "schicke"
            | "envoie"
            | "envía"
            | "envie"
            | "manda"
            | "invia"
            | "stuur"
            | "wyślij"
            | "отправь"
            | "gönder"
    ) && words
        .iter()
        .any(|word| PEOPLE.contains(word) || TEXTS.contains(word) || POINTERS.contains(word));
    if handed
        || (TELLS.contains(asked)
            && (is_somebody(words, to) || verb + 1 == words.len() && words.len() == 1))
    {
        return true;
    }
    if TREATS.contains(asked) && (is_open(words, verb) || fixes_wording(words, verb)) {
        return true;
    }
    if should_say(words) || (words.len() <= 6 && fixes_wording(words, verb)) || has_enclitic(asked)
    {
        return true;
    }
    if PUTS.contains(asked) && (puts(words, verb) || fixes_wording(words, verb)) {
        return true;
    }
    let of_work = matches!(
        words.get(words.len().saturating_sub(2)),
        "commit" | "error" | "log"
    );
    if words.len() > 2
        && MATERIAL.contains(last)
        && !ABOUTS.contains(words.get(0))
        && !of_work
        && !is_pointed(words)
    {
        return true;
    }
    // "Make this shorter", "is this right": whatever is done to what follows.
    let heeds = |word: &str| {
        let is_help = matches!(word, "do" | "like" | "add" | "try");
        is_of_saying(word) || (HEEDS.contains(word) && !is_help)
    };
    let heeds = HEEDS.contains(asked) || words.iter().any(heeds);
    let from = if verb > 0 { verb } else { 1 };
    !heeds && (from..words.len()).any(|at| points(words, at))
}

/// "Write this down" and "add this to your memory" are meant for the agent.
fn is_kept(words: &Words<'_>, verb: usize) -> bool {
    (verb + 1..words.len()).any(|at| {
        matches!(
            words.get(at),
            "down"
                | "memory"
                | "mind"
                | "auf"
                | "gedächtnis"
                | "mémoire"
                | "memoria"
                | "heart"
                | "merken"
                | "head"
        ) && (words.get(at) != "auf" || at + 1 == words.len())
    })
}

/// Whether a request leaves open what it is about, or only points at it.
fn is_open(words: &Words<'_>, verb: usize) -> bool {
    let object = (verb + 1..words.len()).find(|at| {
        !POLITE.contains(words.get(*at))
            && !matches!(
                words.get(*at),
                "us" | "moi" | "mi" | "only" | "juste" | "nur" | "solo" | "только"
            )
    });
    let Some(object) = object else {
        return true;
    };
    let named = DETERMINERS.contains(words.get(object))
        || MINE.contains(words.get(object))
        || matches!(
            words.get(object),
            "all"
                | "every"
                | "each"
                | "alle"
                | "jede"
                | "jeden"
                | "tous"
                | "toutes"
                | "todos"
                | "todas"
                | "tutti"
                | "tutte"
                | "все"
                | "wszystkie"
        );
    (object..words.len()).any(|at| points(words, at))
        || (object..words.len())
            .any(|at| MATERIAL.contains(words.get(at)) || is_unit(words.get(at)))
        || PREPOSITIONS.contains(words.get(object))
        || (words.behind(words.len() - 1).is_none()
            && PREPOSITIONS.contains(words.get(words.len() - 1)))
        || words.get(object).ends_with("ly")
        || (!named && words.len() - object <= 2)
}

/// "Could you read over my post": what the user wrote for others is to be looked
/// at, and follows.
pub(super) fn is_of_my_text(words: &Words<'_>) -> bool {
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let looks = TREATS.contains(words.get(verb))
        || matches!(
            words.get(verb),
            "read"
                | "check"
                | "review"
                | "rate"
                | "look"
                | "judge"
                | "grade"
                | "lies"
                | "prüfe"
                | "prüf"
                | "relis"
                | "lis"
                | "revisa"
                | "lee"
                | "revise"
                | "leia"
                | "leggi"
                | "controlla"
                | "lees"
                | "przeczytaj"
                | "sprawdź"
                | "прочитай"
                | "проверь"
                | "kontrol"
        );
    looks
        && words.len() <= verb + 7
        && (verb + 2..words.len()).any(|at| {
            MINE.contains(words.get(at - 1))
                && UTTERANCES.contains(words.get(at))
                && at + 1 == words.len()
        })
}

/// "Could you make the tone softer?", "kannst du das netter schreiben?": the
/// words whose wording is asked for follow.
pub(super) fn asks_for_wording(words: &Words<'_>) -> bool {
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let last = words.get(words.len() - 1);
    let writes = |word: &str| {
        COMPOSES.contains(word)
            || matches!(
                word,
                "say"
                    | "put"
                    | "schreiben"
                    | "sagen"
                    | "écrire"
                    | "dire"
                    | "escribir"
                    | "decir"
                    | "escrever"
                    | "dizer"
                    | "scrivere"
                    | "schrijven"
                    | "zeggen"
                    | "napisać"
                    | "написать"
                    | "сказать"
            )
    };
    let pointed = (0..words.len()).any(|at| POINTERS.contains(words.get(at)));
    verb > 0
        && (fixes_wording(words, verb)
            || ((TREATS.contains(words.get(verb)) || TREATS.contains(last))
                && is_open(words, verb))
            || (pointed && (writes(words.get(verb)) || writes(last))))
}

/// "Write a sign with the text …": the words follow without a colon.
pub(super) fn is_with_text(words: &Words<'_>) -> bool {
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let with = |at: usize| {
        matches!(
            words.get(at),
            "with" | "mit" | "avec" | "con" | "com" | "met" | "с" | "z"
        )
    };
    PUTS.contains(words.get(verb))
        && (verb + 2..words.len())
            .any(|at| MATERIAL.contains(words.get(at)) && (with(at - 1) || at >= 2 && with(at - 2)))
}

/// Whether words are to be put somewhere, and are not named: "put in the
/// README", "add this to the docs", "change the title to".
fn puts(words: &Words<'_>, verb: usize) -> bool {
    let rest = || (verb + 1..words.len()).map(|at| words.get(at));
    // "Add an entry for each change" is a habit.
    if rest().any(|word| {
        matches!(
            word,
            "each"
                | "every"
                | "jede"
                | "jeder"
                | "jedes"
                | "chaque"
                | "cada"
                | "ogni"
                | "elke"
                | "каждый"
                | "każdy"
        )
    }) {
        return false;
    }
    let place = PREPOSITIONS.contains(words.get(verb + 1))
        && rest()
            .skip(1)
            .any(|word| TEXTS.contains(word) || UTTERANCES.contains(word));
    let file = PREPOSITIONS.contains(words.get(verb + 1)) && words.lower().contains(".md");
    // A name in code may follow the last word.
    let is_end = words.behind(words.len() - 1).is_none();
    let ends = is_end && PREPOSITIONS.contains(words.get(words.len() - 1))
        || matches!(words.get(words.len() - 1), "says" | "saying" | "reads");
    place
        || file
        || verb + 1 == words.len() && words.len() == 1
        || rest().any(is_unit)
        || (verb + 1..words.len()).any(|at| points(words, at))
        || (ends && words.len() > verb + 2)
}

/// What words are put into piece by piece.
fn is_unit(word: &str) -> bool {
    TEXTS.contains(word)
        && !matches!(
            word,
            "docs"
                | "doc"
                | "documentation"
                | "readme"
                | "changelog"
                | "page"
                | "wiki"
                | "doku"
                | "dokumentation"
                | "documentación"
                | "documentação"
                | "documentazione"
                | "документацию"
                | "copy"
                | "article"
                | "section"
                | "description"
                | "header"
                | "footer"
        )
}

/// "The banner should say": what stands there is to be this.
fn should_say(words: &Words<'_>) -> bool {
    let last = words.get(words.len() - 1);
    let says = matches!(
        last,
        "say"
            | "read"
            | "state"
            | "display"
            | "contain"
            | "lauten"
            | "stehen"
            | "heißen"
            | "dire"
            | "decir"
            | "dizer"
            | "zeggen"
            | "luiden"
    );
    says && words.len() > 2
        && words.iter().any(|word| {
            TEXTS.contains(word)
                || MATERIAL.contains(word)
                || UTTERANCES.contains(word)
                || word == "button"
        })
}

/// "Pásalo a …": the object is a part of the verb, and only points.
fn has_enclitic(verb: &str) -> bool {
    verb.contains(['á', 'é', 'í', 'ó', 'ú', 'à', 'è'])
        && ["lo", "la", "los", "las"]
            .iter()
            .any(|end| verb.ends_with(end))
        && verb.chars().count() > 5
}

/// "Fix the grammar".
fn fixes_wording(words: &Words<'_>, verb: usize) -> bool {
    (verb + 1..words.len()).any(|at| {
        matches!(
            words.get(at),
            "grammar"
                | "spelling"
                | "wording"
                | "typo"
                | "typos"
                | "tone"
                | "style"
                | "grammatik"
                | "rechtschreibung"
                | "fautes"
                | "orthographe"
                | "grammaire"
                | "ortografía"
                | "gramática"
                | "ortografia"
                | "grammatica"
                | "spelfouten"
                | "grammaticaal"
                | "ortografię"
                | "орфографию"
                | "ошибки"
                | "грамматику"
                | "yazım"
        )
    })
}

/// Whether something is pointed at here that is not named: "this", "the
/// following", but not "this repository".
fn points(words: &Words<'_>, at: usize) -> bool {
    let word = words.get(at);
    if !POINTERS.contains(word) || matches!(word, "what" | "was" | "ما") {
        return false;
    }
    let next = words.get(at + 1);
    next.is_empty()
        || matches!(word, "following" | "folgendes" | "folgenden")
        || PREPOSITIONS.contains(next)
        || TEXTS.contains(next)
        || MATERIAL.contains(next)
        || UTTERANCES.contains(next)
        || (next.len() > 4 && (next.ends_with("ly") || next.ends_with("er")))
        || matches!(
            next,
            "a" | "more"
                | "less"
                | "sound"
                | "read"
                | "look"
                | "right"
                | "correct"
                | "ok"
                | "okay"
                | "nice"
                | "formal"
                | "polite"
                | "short"
                | "out"
                | "up"
                | "aqui"
                | "aquí"
                | "here"
                | "hier"
                | "ici"
                | "qui"
                | "plus"
                | "più"
                | "más"
                | "mais"
                | "meer"
                | "bardziej"
                | "two"
                | "three"
                | "on"
        )
}
