//! Who speaks, or where something comes from.

use crate::words::Words;
use crate::words::others::frames::{
    DETERMINERS, FROMS, INTRODUCTIONS, MINE, OWN, PEOPLE, POINTERS, RECEIVES, SOURCES, TEXTS,
};
use crate::words::others::{ANNOUNCED, OWN_LABELS};

pub(super) fn is_source(word: &str) -> bool {
    ANNOUNCED.contains(word) || SOURCES.contains(word)
}

/// Whether it says of whom: "from Bob", "от коллеги", "aus dem Wiki".
pub(super) fn comes_from(words: &Words<'_>) -> bool {
    (0..words.len()).any(|at| {
        // "Comment by alice"; "message de commit" is about something.
        let is_its = at > 0
            && at + 1 < words.len()
            && is_source(words.get(at - 1))
            && matches!(words.get(at), "from" | "by" | "von" | "vom" | "от" | "من");
        FROMS.contains(words.get(at)) && (is_its || is_somebody(words, at + 1))
    })
}

/// Whether a person or a source is named here: "Bob", "a colleague", "the wiki".
pub(super) fn is_somebody(words: &Words<'_>, at: usize) -> bool {
    let word = words.get(at);
    let is_named = |at: usize| {
        let word = words.get(at);
        (at > 0 && words.is_capital(at) && !is_time(word))
            || PEOPLE.contains(word)
            || is_source(word)
    };
    match DETERMINERS.contains(word) {
        true => MINE.contains(word) || (at + 1..=at + 3).any(is_named),
        false => is_named(at),
    }
}

/// "From Monday on" names nobody.
fn is_time(word: &str) -> bool {
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "now",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
        "jetzt",
    ]
    .contains(&word)
}

/// "The ticket", "Slack message from Bob", "here is the mail I got", "I found
/// this on Stack Overflow".
pub(super) fn is_shown(words: &Words<'_>) -> bool {
    let sources = || (0..words.len()).filter(|at| is_source(words.get(*at)));
    let is_mine = |at: usize| at > 0 && MINE.contains(words.get(at - 1));
    // "I read your answer" is said to the agent.
    let is_yours = |at: usize| {
        at > 0
            && matches!(
                words.get(at - 1),
                "your" | "dein" | "deine" | "ihre" | "ta" | "ton" | "votre" | "tu" | "sua" | "твой"
            )
    };
    let received = (0..words.len()).any(|at| {
        RECEIVES.contains(words.get(at))
            && !matches!(
                words.get(at + 1),
                "that" | "you" | "dass" | "que" | "что" | "che" | "dat"
            )
            && (sources().any(|at| !is_yours(at))
                || words.iter().any(|word| POINTERS.contains(word)))
    });
    let brings = |word: &str| {
        OWN_LABELS.contains(word)
            || OWN.contains(word)
            || matches!(
                word,
                "advice"
                    | "word"
                    | "words"
                    | "request"
                    | "suggestion"
                    | "question"
                    | "order"
                    | "orders"
                    | "demand"
                    | "input"
                    | "news"
                    | "instructions"
                    | "rat"
                    | "bitte"
                    | "conseil"
                    | "consejo"
                    | "conselho"
                    | "consiglio"
                    | "совет"
                    | "просьба"
            )
    };
    let of_somebody = comes_from(words)
        && (sources().next().is_some() || FROMS.contains(words.get(0)) || words.iter().any(brings));
    let shows = |at: &usize| is_source(words.get(*at)) || TEXTS.contains(words.get(*at));
    let introduced = INTRODUCTIONS.contains(words.get(0))
        && (0..words.len()).filter(shows).any(|at| !is_mine(at));
    received || of_somebody || introduced || is_bare(words)
}

/// A source and nothing else: "The ticket", "This error message", "README".
fn is_bare(words: &Words<'_>) -> bool {
    let last = words.get(words.len() - 1);
    if words.len() == 1 {
        return matches!(
            last,
            "readme"
                | "quote"
                | "excerpt"
                | "article"
                | "transcript"
                | "letter"
                | "zitat"
                | "citation"
                | "cita"
                | "citação"
                | "citazione"
                | "цитата"
                | "اقتباس"
        );
    }
    // "The commit message" is what a rule is about.
    let of_work = matches!(
        words.get(words.len() - 2),
        "commit" | "release" | "code" | "log" | "output"
    );
    is_pointed(words) && words.len() <= 3 && is_source(last) && !of_work
}

/// "The …", "this …": it begins by pointing at something that is not the user's.
pub(super) fn is_pointed(words: &Words<'_>) -> bool {
    DETERMINERS.contains(words.get(0)) && !MINE.contains(words.get(0))
}
