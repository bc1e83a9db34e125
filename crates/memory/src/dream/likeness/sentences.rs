//! A line cut into the sentences of which it is made: "staging runs on Hetzner,
//! production runs on AWS".
//!
//! A comma also stands before an aside, a place, a title or one more value, and *and*
//! joins things as well. So a part counts only where it says something of something: with
//! a verb behind what it is about, or as the part before does, with the same preposition.

use super::halves::{AND, VERBS};
use super::qualified::is_passing;
use super::{is_empty_word, is_negation};
use crate::dream::listed::listed;
use crate::dream::phrase::{is_article, is_lead, is_turn, is_value, tokens};

/// Verbs that say of something what it is or has.
const IS: &str = " is are was were has have had ist sind war waren hat haben hatte est sont a ont es son está están tiene \
    tienen runs listens sits costs takes owns leads lives works uses needs läuft ";
/// Words for who speaks, or was named before.
const WHO: &str = " i we he she they ich wir er je nous il elle yo nosotros él ella ";
/// Words that begin a sentence beside another.
const BESIDE: &str = " and but while whereas und aber während et mais y pero ";
/// Words that begin what hangs on another sentence.
const HANGS: &str = " who whom whose which that where when whenever if unless so because since as like than until after before \
    wer wo wobei wenn falls weil da so dass damit bis bevor nachdem wie als \
    qui que dont où si quand comme car quien donde cuando porque como ";
/// Prepositions that only say of what: "head of sales".
const OF: &str = " of from by as von vom de du des del di da van per via ";
/// Words that are written with a full stop inside a sentence.
const SHORTENED: &str = " prof mrs hrn frl str nr ca bzw etc vs inc ltd jan feb mär mar apr jun jul aug sep sept okt oct nov dez \
    dec abs approx ";

/// One of several sentences of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sentence {
    /// The words of what it is about.
    pub(super) about: Vec<String>,
    /// All its words.
    pub(super) words: Vec<String>,
}

/// The sentences of a line; none where it is one.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found: Vec<Sentence> = Vec::new();
    let mut ties: Vec<String> = Vec::new();
    for part in parts(text) {
        let said = about(&part, (!found.is_empty()).then_some(&ties));
        let words = part.iter().map(|word| word.to_lowercase());
        match (said, found.last_mut()) {
            (Some(said), Some(last)) if last.about.is_empty() => {
                last.about = said;
                last.words.extend(words);
            }
            (None, Some(last)) => last.words.extend(words),
            (said, _) => found.push(Sentence {
                about: said.unwrap_or_default(),
                words: words.collect(),
            }),
        }
        ties.extend(tie(&part).map(|(_, lead)| lead));
    }
    match found.len() {
        0 | 1 => Vec::new(),
        _ => found,
    }
}

/// The words of a text between commas, full stops and *and*.
fn parts(text: &str) -> Vec<Vec<String>> {
    let mut parts = vec![Vec::new()];
    let runs: Vec<&str> = text.split_whitespace().collect();
    for (at, run) in runs.iter().enumerate() {
        if listed(AND, &run.to_lowercase()) {
            parts.push(Vec::new());
        }
        let next = runs.get(at + 1).map(|run| run.to_lowercase());
        if let Some(part) = parts.last_mut() {
            part.extend(tokens(run));
        }
        if next.is_some_and(|next| ends_a_part(run, &next)) {
            parts.push(Vec::new());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a part of a line ends with this run of characters. "Dr. Weber" goes on.
fn ends_a_part(run: &str, next: &str) -> bool {
    let word = run.trim_end_matches('.').to_lowercase();
    let goes_on = || word.chars().count() <= 2 || listed(SHORTENED, &word);
    run.ends_with([',', ';', '!']) || run.ends_with('.') && (is_article(next) || !goes_on())
}

/// What a part says something of, if it is a sentence: what stands before its verb, or
/// before a preposition that a part before it has too, if there is one.
fn about(part: &[String], ties: Option<&[String]>) -> Option<Vec<String>> {
    let lower: Vec<String> = part.iter().map(|word| word.to_lowercase()).collect();
    let from = usize::from(lower.first().is_some_and(|word| listed(BESIDE, word)));
    let (part, lower) = (&part[from..], &lower[from..]);
    let first = lower.first()?;
    if listed(HANGS, first)
        || is_negation(first)
        || is_lead(first) && !is_article(first) && !listed(WHO, first)
    {
        return None;
    }
    let ends = (1..lower.len().saturating_sub(1)).find(|at| is_verb(part, lower, *at));
    let tied = tie(part).filter(|(_, own)| ties.is_none_or(|ties| ties.contains(own)));
    let ends = ends.or(tied.map(|(at, _)| at))?;
    let said: Vec<String> = lower[..ends]
        .iter()
        .filter(|word| carries(word) || listed(WHO, word))
        .cloned()
        .collect();
    (!said.is_empty()).then_some(said)
}

/// The first preposition of a part that ties something to what stands before, and where.
fn tie(part: &[String]) -> Option<(usize, String)> {
    let inside = 1..part.len().saturating_sub(1);
    let lead = |at: &usize| {
        let word = part[*at].as_str();
        is_lead(word) && !is_article(word) && !listed(OF, word)
    };
    let at = inside.into_iter().find(lead)?;
    Some((at, part[at].to_lowercase()))
}

/// Whether a word inside a part is the verb behind what it is about.
fn is_verb(part: &[String], lower: &[String], at: usize) -> bool {
    let (word, before) = (&lower[at], &lower[at - 1]);
    if listed(IS, word) && (word != "a" || !is_lead(before)) || listed(VERBS, word) && word != "a" {
        return carries(before) || listed(WHO, before);
    }
    let plain = word.chars().all(char::is_lowercase) && word.chars().count() >= 4;
    if !plain || part[at].starts_with(char::is_uppercase) || !carries(word) || !carries(before) {
        return false;
    }
    let is_s = |word: &str| word.ends_with('s') && !word.ends_with("ss");
    // "Omar leitet das Lager", "Omar reviews the plan": behind a name.
    let named = part[at - 1].starts_with(char::is_uppercase) && (is_s(word) || word.ends_with('t'));
    // "The password rotates every month", "tokens expire after 7 days".
    let next = lower[at + 1].as_str();
    let goes_on = is_turn(next) || is_article(next) || is_value(next) || next == "every";
    named || goes_on && is_s(word) != is_s(before)
}

/// Whether a word says something by itself.
pub(super) fn carries(word: &str) -> bool {
    let little = is_empty_word(word) || is_lead(word) && !is_value(word) || is_negation(word);
    !little && !is_article(word) && !is_passing(word)
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn a_line_is_cut_where_another_sentence_begins() {
        for (text, about) in [
            (
                "Staging is on Hetzner; production is on AWS.",
                [vec!["staging"], vec!["production"]],
            ),
            (
                "The API is in Rust, as always. The UI is in Svelte.",
                [vec!["api"], vec!["ui"]],
            ),
            (
                "Reply in German, write code comments in English.",
                [vec!["reply"], vec!["write", "code", "comments"]],
            ),
            (
                "I live in Kiel, but we work in Ulm.",
                [vec!["i"], vec!["we"]],
            ),
            (
                "Passwords expire after 30 days, the key rotates every week.",
                [vec!["passwords"], vec!["key"]],
            ),
            (
                "We deploy with Helm and test with pytest.",
                [vec!["we", "deploy"], vec!["test"]],
            ),
        ] {
            let found = sentences(text);
            let found: Vec<_> = found.iter().map(|one| one.about.clone()).collect();
            assert_eq!(found, about, "{text}");
        }
    }

    #[test]
    fn asides_lists_places_titles_and_dates_begin_no_sentence() {
        for text in [
            "Lena, who sits in Kiel, owns billing.",
            "Lena, head of sales, sits in Kiel.",
            "Lena and Omar own billing and search.",
            "The API listens on port 8080, as always.",
            "The API listens on port 8080, 8081 and 8082.",
            "Our dentist is Dr. Weber.",
            "The rent is 900,50 euros.",
            "The rent is 900 euros, due on the 1st.",
            "The office is in Kiel, Germany.",
            "The demo is on March 3, 2027.",
            "Am 3. Mai ist die Demo.",
            "If the build is red, the deploy stops at once.",
            "Use tabs, not spaces in Makefiles.",
            "Before a release, Ben reviews the plan.",
        ] {
            assert_eq!(sentences(text), [], "{text}");
        }
    }
}
