//! Rules that begin with where or when they hold: "In tests always use fixed
//! seeds", "On Windows never use symlinks".

use crate::words::Words;
use crate::words::marks::{ENGLISH_SUBJECTS, JOINS, SUBJECTS};
use crate::words::others::frames::{ABOUTS, DETERMINERS};

/// Words of a place before what holds there.
const LONGEST: usize = 9;

/// Whether what stands before this word only says where or when.
pub(crate) fn follows_place(words: &Words<'_>, at: usize) -> bool {
    let mut from = at;
    while from > 0
        // "… but in this repository always …".
        && !(from < at && JOINS.contains(words.get(from - 1)) && ABOUTS.contains(words.get(from)))
        && !matches!(
            words.before(from),
            Some(',' | ';' | ':' | '—' | '–' | '(' | '，')
        )
    {
        from -= 1;
    }
    while from < at && JOINS.contains(words.get(from)) && !ABOUTS.contains(words.get(from)) {
        from += 1;
    }
    is_place(words, from, at)
}

/// Whether these words are a preposition with what belongs to it. A second
/// subject makes a report: "on Windows the build always fails".
fn is_place(words: &Words<'_>, from: usize, to: usize) -> bool {
    if to < from + 2 || to - from > LONGEST || !ABOUTS.contains(words.get(from)) {
        return false;
    }
    let by_you = matches!(
        words.get(from),
        "when" | "whenever" | "if" | "before" | "after" | "while" | "wenn" | "bevor"
    );
    (from + 1..to).all(|at| {
        let word = words.get(at);
        let led = is_preposition(words.get(at - 1));
        match word {
            _ if by_you && at <= from + 2 && is_subject(word) => true,
            "we" | "is" | "are" | "was" | "were" => false,
            _ if is_preposition(word) => true,
            _ if is_determiner(word) => led,
            _ => !is_pronoun(word),
        }
    })
}

/// Who a condition is about: "while I'm away", "if it fails".
fn is_subject(word: &str) -> bool {
    matches!(
        word,
        "you"
            | "i"
            | "i'm"
            | "we"
            | "we're"
            | "it"
            | "it's"
            | "is"
            | "are"
            | "am"
            | "du"
            | "ich"
            | "wir"
            | "es"
            | "tu"
            | "je"
    )
}

fn is_preposition(word: &str) -> bool {
    ABOUTS.contains(word)
        || matches!(
            word,
            "of" | "de" | "du" | "von" | "di" | "del" | "van" | "from" | "to"
        )
}

fn is_determiner(word: &str) -> bool {
    DETERMINERS.contains(word)
        || matches!(
            word,
            "your" | "its" | "these" | "those" | "des" | "du" | "gli" | "i"
        )
}

fn is_pronoun(word: &str) -> bool {
    (ENGLISH_SUBJECTS.contains(word) || SUBJECTS.contains(word))
        && !is_determiner(word)
        && !is_preposition(word)
}

/// Whether a verb tells what happens: "on Windows always fails".
pub(crate) fn tells_what_happens(verb: &str) -> bool {
    (verb.ends_with('s') && !verb.ends_with("ss") && !verb.ends_with("us"))
        || verb.ends_with("ing")
        || (verb.ends_with("ed") && !matches!(verb, "embed" | "need" | "feed" | "seed" | "speed"))
        || matches!(
            verb,
            "fail"
                | "crash"
                | "hang"
                | "break"
                | "work"
                | "happen"
                | "seem"
                | "appear"
                | "exist"
                | "need"
                | "saw"
                | "was"
                | "were"
                | "had"
                | "got"
                | "did"
                | "worked"
                | "take"
                | "get"
                | "gonna"
                | "going"
                | ""
        )
}
