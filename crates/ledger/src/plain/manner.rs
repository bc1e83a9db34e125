//! How to speak, and how things of a kind are given. A task beside them may be
//! what they are said of.

use std::ops::Range;

use super::marks::{
    is_one, is_only, is_plural, is_subject, is_way, is_work, names_many, points, tells,
};
use crate::words::Words;
use crate::words::others::frames::DETERMINERS;
use crate::words::plain::{FILLERS, GIVES, HABITS, MANNER, POINTING, SPEAKING, TONGUES};

/// "Be brief.", "Antworte knapp.", "Short answers, please.": nothing but how to
/// speak.
pub(super) fn says_how(words: &Words<'_>) -> bool {
    says_how_from(words, 0)
}

/// The same of what stands from a word on.
pub(super) fn says_how_from(words: &Words<'_>, from: usize) -> bool {
    let how = |word: &str| MANNER.contains(word) || TONGUES.contains(word);
    let all = || words.iter().skip(from);
    words.len() - from <= 7
        && all().any(|word| SPEAKING.contains(word))
        && all().any(how)
        && all().all(|word| how(word) || SPEAKING.contains(word) || FILLERS.contains(word))
}

/// "Commit messages", "test names": what looks like a verb says of what they are.
fn is_written(words: &Words<'_>, head: Range<usize>) -> bool {
    head.len() == 2
        && matches!(words.get(head.start), "commit" | "test" | "merge")
        && matches!(
            words.get(head.end - 1),
            "messages" | "names" | "titles" | "subjects"
        )
}

/// What has no plural: a language for it is one for all of it.
fn is_mass(word: &str) -> bool {
    matches!(
        word,
        "code" | "chat" | "documentation" | "doku" | "dokumentation"
    )
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
    // "Traduis les commits": a verb of one piece of work stands before them.
    let acts = is_work(words.get(head.start)) && !is_written(words, head.clone())
        || head.len() > 1
            && is_article(words.get(head.start + 1))
            && !is_article(words.get(head.start));
    // "Search for flights": what a verb is after.
    let sought = head.clone().any(|at| {
        matches!(
            words.get(at),
            "for" | "from" | "to" | "für" | "pour" | "para"
        )
    });
    let acts = acts || sought;
    let mass = head.len() == 1 && is_mass(words.get(head.start));
    tail && generic && (gives || mass || (!acts && names_many(words, head.start, head.end)))
}

fn is_article(word: &str) -> bool {
    matches!(
        word,
        "les" | "los" | "las" | "os" | "as" | "des" | "gli" | "le"
    )
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

/// "Variables in English, comments in German.", "Simple words, short sentences.":
/// each part between commas by itself says how.
pub(super) fn each_says_how(sentence: &str) -> bool {
    let mut parts = sentence.split([',', ';']).map(Words::new);
    let says = |part: Words<'_>| {
        part.len() > 1 && (says_how(&part) || given_in(&part, 0)) && !points(&part, 0, part.len())
    };
    sentence.contains([',', ';']) && parts.all(says)
}

/// "Tests before code.", "Erst testen, dann pushen.": an order of things of a
/// kind, without an article or a verb that would name one piece of work.
pub(super) fn puts_first(words: &Words<'_>, from: usize) -> bool {
    let end = words.len();
    if points_but_order(words, from, end) || tells(words, from, end) || end - from > 7 {
        return false;
    }
    let before = end - from == 3
        && matches!(
            words.get(from + 1),
            "before" | "vor" | "avant" | "antes" | "prima" | "voor" | "przed" | "перед"
        );
    let first = matches!(
        words.get(from),
        "erst"
            | "zuerst"
            | "primero"
            | "primeiro"
            | "prima"
            | "eerst"
            | "najpierw"
            | "сначала"
            | "first"
    ) || matches!(words.get(from), "d'abord");
    let then = (from + 2..end).any(|at| {
        matches!(
            words.get(at),
            "dann"
                | "danach"
                | "luego"
                | "después"
                | "depois"
                | "poi"
                | "dan"
                | "potem"
                | "потом"
                | "затем"
                | "then"
                | "puis"
                | "ensuite"
        ) && at + 1 < end
    });
    // The Russian imperative names an act; a habit is named by things.
    let acts = (from..end).any(|at| {
        let word = words.get(at);
        word.chars().any(|c| ('а'..='я').contains(&c))
            && ["и", "й", "ь", "ите", "йте"]
                .iter()
                .any(|ending| word.ends_with(ending))
    });
    (before && !is_subject(words.get(from))) || (first && then && !acts)
}

/// Articles and numbers; "first" is what an order is told by.
fn points_but_order(words: &Words<'_>, from: usize, end: usize) -> bool {
    (from..end).any(|at| {
        let word = words.get(at);
        let orders = matches!(word, "first" | "primero" | "erst");
        !orders
            && (POINTING.contains(word)
                || DETERMINERS.contains(word)
                || is_one(word)
                || matches!(word, "los" | "las" | "les" | "gli"))
    })
}

/// "One commit per fix.", "Pas plus de trois phrases.": a measure for each, or a
/// limit for all.
pub(super) fn measures(words: &Words<'_>, from: usize) -> bool {
    let end = words.len();
    let per = (from + 2..end.saturating_sub(1)).any(|at| {
        matches!(words.get(at), "per" | "pro") && !DETERMINERS.contains(words.get(at + 1))
    });
    let one = matches!(
        words.get(from),
        "one" | "ein" | "eine" | "un" | "une" | "una" | "um" | "uma" | "één" | "max" | "maximal"
    );
    let limit = [
        "no more than",
        "at most",
        "not more than",
        "nicht mehr als",
        "höchstens",
        "maximal",
        "pas plus de",
        "au maximum",
        "no más de",
        "como máximo",
        "não mais de",
        "no máximo",
        "non più di",
        "al massimo",
        "niet meer dan",
        "hoogstens",
        "nie więcej niż",
        "не больше",
        "не более",
    ]
    .iter()
    .any(|limit| words.lower().trim_start().starts_with(limit));
    let told = tells(words, from, end) || (from..end).any(|at| is_subject(words.get(at)));
    end - from <= 8 && !told && ((one && per) || limit)
}

/// "Invoices only with a purchase order.", "Metric units only.": things of a kind,
/// and what alone is right of them.
pub(super) fn narrows(words: &Words<'_>, from: usize) -> bool {
    let Some(only) = (from + 1..words.len()).find(|&at| is_only(words.get(at))) else {
        return false;
    };
    let head = only - from <= 3
        && names_many(words, from, only)
        && !is_work(words.get(from))
        && !(from..only).any(|at| is_one(words.get(at)))
        && !points(words, from, only);
    let next = words.get(only + 1);
    let leads = matches!(
        next,
        "with"
            | "after"
            | "via"
            | "through"
            | "by"
            | "in"
            | "mit"
            | "nach"
            | "über"
            | "per"
            | "avec"
            | "après"
            | "en"
            | "con"
            | "met"
            | "na"
            | "с"
            | "после"
    ) && only + 2 < words.len();
    head && !tells(words, from, words.len())
        && (next.is_empty() || leads)
        && !(only..words.len()).any(|at| POINTING.contains(words.get(at)))
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

/// "Keep the tests fast.", "Halte deine Commits klein.": how things of a kind are
/// to stay.
pub(super) fn keeps_such(words: &Words<'_>, from: usize) -> bool {
    let end = words.len();
    let keeps = matches!(
        words.get(from),
        "keep"
            | "halte"
            | "haltet"
            | "garde"
            | "gardez"
            | "mantén"
            | "mantenga"
            | "mantenha"
            | "mantieni"
            | "houd"
    );
    let of_all = matches!(
        words.get(from + 1),
        "the"
            | "your"
            | "our"
            | "all"
            | "any"
            | "die"
            | "deine"
            | "unsere"
            | "alle"
            | "les"
            | "tes"
            | "vos"
            | "nos"
            | "las"
            | "los"
            | "tus"
            | "as"
            | "os"
            | "suas"
            | "seus"
            | "le"
            | "i"
            | "gli"
            | "je"
            | "de"
    );
    let start = from + 1 + usize::from(of_all);
    if !keeps || end < start + 2 || end > start + 4 {
        return false;
    }
    // "Keep the two tests fast." is about two of them.
    let named = (start..end).any(|at| {
        let word = words.get(at);
        let counts = matches!(
            word,
            "two" | "three" | "four" | "five" | "both" | "first" | "last" | "new" | "other"
        );
        counts || POINTING.contains(word) || is_one(word)
    });
    let german = words.get(from).starts_with("halte") && words.is_capital(end - 2);
    let many = is_plural(words.get(end - 2)) || german || matches!(words.get(from + 1), "le" | "i");
    many && !named && is_quality(words.get(end - 1))
}

/// What a thing of a kind can be kept: short, fast, simple.
fn is_quality(word: &str) -> bool {
    MANNER.contains(word)
        || matches!(
            word,
            "small"
                | "fast"
                | "simple"
                | "clean"
                | "tidy"
                | "minimal"
                | "readable"
                | "consistent"
                | "focused"
                | "flat"
                | "pure"
                | "private"
                | "sorted"
                | "documented"
                | "isolated"
                | "deterministic"
                | "klein"
                | "schnell"
                | "einfach"
                | "sauber"
                | "übersichtlich"
                | "courts"
                | "courtes"
                | "petits"
                | "petites"
                | "rapides"
                | "simples"
                | "propres"
                | "cortas"
                | "cortos"
                | "pequeños"
                | "pequeñas"
                | "rápidos"
                | "rápidas"
                | "limpios"
                | "curtas"
                | "curtos"
                | "pequenos"
                | "pequenas"
                | "limpos"
                | "brevi"
                | "corte"
                | "piccoli"
                | "piccole"
                | "veloci"
                | "semplici"
                | "kort"
                | "snel"
        )
}
