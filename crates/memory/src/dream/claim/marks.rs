//! Finding the little words in a line.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::people::PEOPLE;
use super::rules::RULES;
use super::spaced::SPACED;
use super::words::{Mark, Way};
use crate::dream::phrase::{is_article, is_lead};

/// The words of a mark, and what it does.
type Marked = (Vec<&'static str>, Mark);

/// The marks that begin with a word, those of more words first.
static MARKS: LazyLock<HashMap<&str, Vec<Marked>>> = LazyLock::new(|| {
    let mut marks: HashMap<&str, Vec<Marked>> = HashMap::new();
    for (phrase, mark) in SPACED.iter().chain(RULES).chain(PEOPLE) {
        // "n'est" is read as two words.
        let words = phrase.split([' ', '\'']);
        let words: Vec<&str> = match phrase.starts_with("n'") {
            true => words.collect(),
            false => phrase.split(' ').collect(),
        };
        marks.entry(words[0]).or_default().push((words, *mark));
    }
    for all in marks.values_mut() {
        all.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    }
    marks
});

/// A mark of several words that a word of change stands in, and how many words all of
/// it has: "kümmert sich jetzt um".
pub(super) fn parted(
    words: &[(String, bool)],
    lower: &[String],
    at: usize,
) -> Option<(Mark, usize)> {
    let now = |(phrase, mark): &Marked| phrase.len() == 1 && *mark == Mark::Now;
    let is_now = |word: &String| {
        MARKS
            .get(word.as_str())
            .is_some_and(|all| all.iter().any(now))
    };
    let fits = |(phrase, mark): &&Marked| {
        let count = phrase.len();
        let Some(all) = lower.get(at..=at + count) else {
            return false;
        };
        let stands = |between: usize| {
            let rest = all[..between].iter().chain(&all[between + 1..]);
            is_now(&all[between]) && rest.zip(phrase).all(|(word, part)| word == part)
        };
        may_be_parted(*mark)
            && (1..count).any(stands)
            && words[at..at + count].iter().all(|(_, breaks)| !breaks)
    };
    let found = MARKS.get(lower.get(at)?.as_str())?.iter().find(fits);
    found.map(|(phrase, mark)| (*mark, phrase.len() + 1))
}

/// Whether a mark says how something is, and not that it changed.
fn may_be_parted(mark: Mark) -> bool {
    matches!(
        mark,
        Mark::Is(Way::Placed | Way::Named | Way::Written) | Mark::Holds | Mark::HeldBy
    )
}

/// The longest mark that begins at a word, and how many words it has.
pub(super) fn marked(
    words: &[(String, bool)],
    lower: &[String],
    at: usize,
) -> Option<(Mark, usize)> {
    let fits = |(phrase, _): &&Marked| {
        let count = phrase.len();
        at + count <= lower.len()
            && phrase
                .iter()
                .zip(&lower[at..])
                .all(|(part, word)| part == word)
            && words[at..at + count - 1].iter().all(|(_, breaks)| !breaks)
    };
    let found = MARKS.get(lower[at].as_str())?.iter().find(fits);
    let found = found.map(|(phrase, mark)| (*mark, phrase.len()));
    // "The left sidebar" has not gone.
    let (mark, count) = found?;
    let last = &words[at + count - 1];
    let follows = lower
        .get(at + count)
        .map(String::as_str)
        .unwrap_or_default();
    let ends =
        last.1 || matches!(follows, "the" | "us" | "our") || is_lead(follows) && follows != "a";
    let adjective = lower[at] == "left" && count == 1 && (!ends || at == 0);
    let article_before = at > 0 && is_article(&lower[at - 1]);
    let attribute = matches!(mark, Mark::Gone | Mark::Ban) && article_before;
    // "Wir testen mit Jest" has a name where Polish has a verb.
    let mut letters = words[at].0.chars();
    let begins = at == 0 || words[at - 1].1;
    let name = count == 1
        && !begins
        && letters.next().is_some_and(char::is_uppercase)
        && letters.any(char::is_lowercase);
    (!(adjective || attribute || name)).then_some((mark, count))
}
