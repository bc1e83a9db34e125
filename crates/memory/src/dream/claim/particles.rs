//! Syllables that tie words to each other where these are written without spaces.

use super::parse::Item;
use super::words::Mark;

/// Whether a "が" between these stands behind what a line is about; in the midst of
/// other syllables it is a part of a word.
pub(super) fn ties_a_subject(before: &str, behind: &str, items: &[Item]) -> bool {
    let syllable = |c: char| ('ぁ'..='ん').contains(&c);
    let named = before.chars().next_back().is_some_and(|c| !syllable(c));
    let goes_on = behind.chars().next().is_some_and(|c| !syllable(c));
    let is = |item: &Item| matches!(item, Item::Mark(Mark::Is(_)));
    named && goes_on && !items.iter().any(is)
}

/// A Korean word without the syllable that only ties it to the others, and
/// whether that says that the line is about it.
pub(super) fn without_particle(word: &str) -> (&str, bool) {
    let hangul = |c: char| ('가'..='힣').contains(&c);
    if word.chars().count() < 3 || !word.chars().all(hangul) {
        return (word, false);
    }
    let cut = |ending: &&str| word.strip_suffix(*ending);
    let topic = ["는", "은"].iter().find_map(cut);
    let tie = ["에서", "으로", "을", "를", "이", "가", "의", "에", "로"]
        .iter()
        .find_map(cut);
    match (topic, tie) {
        (Some(rest), _) => (rest, true),
        (None, Some(rest)) => (rest, false),
        (None, None) => (word, false),
    }
}
