//! What a message says of its own words: that they are a letter, or that the
//! user asks who said them, what they mean, or for them to be put otherwise.

use std::ops::Range;

use crate::norm::judge;
use crate::text::{is_cjk, sentences};
use crate::words::Words;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{
    COMPOSES, GREETINGS, POLITE, REFERS, REPLIES, RETELLS, SIGN_OFFS, UNSPACED_REFERS,
    UNSPACED_TASKS, UTTERANCES,
};

/// Sentences at the end of a message in which words before them are spoken of.
const LAST: usize = 3;
/// Words of a line that greets or takes leave.
const FEW: usize = 6;

/// Where a message is a letter: from a line that greets somebody to one that
/// takes leave.
pub(crate) fn letters(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let range = at..at + line.len();
        at = range.end;
        let body = line.trim();
        if open.is_none() && greets(body) {
            open = Some(range.start);
        } else if let Some(start) = open
            && takes_leave(body)
        {
            out.push(start..range.end);
            open = None;
        } else if takes_leave(body) && lines.peek().is_some_and(|name| is_name(name.trim())) {
            let last = out.last().map_or(0, |letter| letter.end);
            out.push(last..range.end);
        }
    }
    out
}

fn greets(line: &str) -> bool {
    let ends = line.ends_with([',', '!', ':', '，', '！', '、']);
    let few = line.split_whitespace().count() <= FEW && line.chars().count() <= 60;
    let lower = line.to_lowercase();
    ends && few && GREETINGS.iter().any(|start| lower.starts_with(start))
}

fn takes_leave(line: &str) -> bool {
    let few = line.split_whitespace().count() <= FEW && line.chars().count() <= 60;
    let lower = line.to_lowercase();
    few && SIGN_OFFS.iter().any(|start| {
        lower.strip_prefix(start).is_some_and(|rest| {
            !rest.starts_with(char::is_alphanumeric) || start.chars().any(is_cjk)
        })
    })
}

fn is_name(line: &str) -> bool {
    (1..=3).contains(&line.split_whitespace().count())
        && line.starts_with(char::is_uppercase)
        && !line.ends_with(['.', '?', ':'])
}

/// Where the sentence begins that speaks of the words before it. What stands
/// behind a colon or in a fence is yet to come, and not spoken of so.
pub(crate) fn spoken_of(text: &str) -> Option<usize> {
    let all = sentences(text);
    let from = all.len().saturating_sub(LAST).max(1);
    all.get(from..)?.iter().find_map(|range| {
        let sentence = &text[range.clone()];
        let ahead = &text[range.end..];
        let points_ahead = sentence.contains([':', '：', '"', '“', '«', '„', '`'])
            || ahead.contains("```")
            || ahead.trim_start().starts_with(['>', '"', '“', '«', '„']);
        let speaks = !points_ahead && speaks_of(sentence);
        speaks.then_some(range.start)
    })
}

fn speaks_of(sentence: &str) -> bool {
    let words = Words::new(sentence);
    if judge(sentence, &words).is_some() {
        return false;
    }
    let asks = sentence.trim_end().ends_with(['?', '？', '؟']);
    if words.has_cjk() {
        let refers = UNSPACED_REFERS.iter().any(|word| sentence.contains(word));
        return refers && (asks || UNSPACED_TASKS.iter().any(|task| sentence.contains(task)));
    }
    if words.len() == 0 {
        return false;
    }
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let asked = words.get(verb);
    let refers = (0..words.len()).any(|at| refers(&words, at));
    // "You draft the answers" says how it is done.
    if !asks && matches!(words.get(0), "you" | "du" | "tu" | "i" | "ich" | "je") {
        return false;
    }
    if words.get(1).starts_with("w") && tells_of_past_rules(&words) {
        return true;
    }
    let retells = RETELLS.contains(asked) && (refers || words.len() <= verb + 5);
    let replies = (COMPOSES.contains(asked) || COMPOSES.contains(words.get(words.len() - 1)))
        && (0..words.len()).any(|at| REPLIES.contains(words.get(at)));
    // "Too strict?", "convincing?"; "clear?" asks whether it was heard.
    let judges = asks && words.len() <= 3 && !words.iter().any(is_heard);
    retells || replies || judges || (asks && refers && words.len() > 2 && !is_request(&words))
}

/// "Those were the rules at my first job."
fn tells_of_past_rules(words: &Words<'_>) -> bool {
    matches!(
        words.get(0),
        "those" | "these" | "that" | "das" | "dat" | "this"
    ) && matches!(words.get(1), "were" | "was" | "waren" | "war")
        && words
            .iter()
            .any(|word| HEADINGS.contains(word) || UTTERANCES.contains(word))
}

/// Whether a word points back at what was said, or at who said it.
fn refers(words: &Words<'_>, at: usize) -> bool {
    let word = words.get(at);
    if !REFERS.contains(word) {
        return false;
    }
    let next = words.get(at + 1);
    match word {
        // "Do you think that we need it", "das Feature", "est-ce que".
        "that" => !matches!(next, "we" | "you" | "i" | "it" | "the" | "there"),
        "das" | "dat" => !words.is_capital(at + 1),
        "ce" => next != "que",
        _ => true,
    }
}

/// "Understood?", "ok?", "ready?".
fn is_heard(word: &str) -> bool {
    matches!(
        word,
        "ok" | "okay"
            | "clear"
            | "understood"
            | "got"
            | "right"
            | "alright"
            | "deal"
            | "agreed"
            | "ready"
            | "done"
            | "you"
            | "klar"
            | "verstanden"
            | "fertig"
            | "alles"
            | "compris"
            | "d'accord"
            | "clair"
            | "entendido"
            | "vale"
            | "claro"
            | "listo"
            | "certo"
            | "combinado"
            | "capito"
            | "chiaro"
            | "begrepen"
            | "duidelijk"
            | "понятно"
            | "понял"
            | "ясно"
            | "jasne"
            | "zrozumiano"
            | "tamam"
            | "anladın"
            | "questions"
            | "fragen"
    )
}

/// "Can you run that?" asks for work, not about the words.
fn is_request(words: &Words<'_>) -> bool {
    matches!(
        words.get(0),
        "can"
            | "could"
            | "would"
            | "will"
            | "kannst"
            | "könntest"
            | "peux"
            | "pourrais"
            | "puedes"
            | "pode"
            | "puoi"
            | "kun"
            | "możesz"
            | "можешь"
            | "ok"
            | "okay"
            | "is"
            | "ist"
    ) && matches!(
        words.get(1),
        "you" | "du" | "tu" | "usted" | "você" | "je" | "ты" | "that" | "das" | "ok"
    ) && (words.get(1) != "that" && words.get(1) != "das"
        || words.iter().any(|word| {
            matches!(
                word,
                "clear"
                    | "ok"
                    | "okay"
                    | "understood"
                    | "klar"
                    | "verstanden"
                    | "fine"
                    | "possible"
            )
        }))
}
