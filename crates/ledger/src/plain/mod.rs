//! Rules without a sign of one: "Be brief.", "Tabs, not spaces.", "Write commit
//! messages in the imperative."
//!
//! Nothing in their words says that they are to last; what says so is that they
//! name no single thing. A task has one: an article, a number, a file, a time of
//! the day. So the shapes here are few, and each of them falls with the first
//! word that points at something. Some shapes are rules wherever they stand;
//! others, such as "be brief", belong to the task beside them if there is one,
//! and are rules only in a message that has nothing else.

mod manner;
mod marks;
mod standing;
mod such;
mod unspaced;

use crate::norm::asks;
use crate::words::Words;
use crate::words::plain::MANNER;
use manner::{
    each_says_how, given_in, gives_such, keeps_such, leaves_out, measures, narrows, puts_first,
    says_how,
};
use marks::{first, is_form, is_plural, is_subject, is_way, is_work, names_file, points, tells};
use standing::{
    before_any, belongs, ends_habit, for_such, nobody_but, not_until, sets_against, wants_each,
    you_should,
};
use such::{comes_first, gives_grounds, goes_without, is_form_of, uses_such, wants_such};
use unspaced::says_how_unspaced;

/// A longer sentence tells more than a rule of this sort does.
const MOST_WORDS: usize = 16;
/// Words of a message's other sentences that are no more than a greeting.
const GREETING: usize = 2;

/// What a plain rule needs around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain {
    /// Nothing: it is one wherever it stands.
    Firm,
    /// That no task stands beside it, which it could be about.
    Alone,
}

/// Whether a sentence is a rule though it has no sign of one.
pub(crate) fn plain(sentence: &str, words: &Words<'_>) -> Option<Plain> {
    if words.len() == 0
        || words.len() > MOST_WORDS
        || asks(sentence, words)
        || names_file(sentence)
        || sentence.trim_end().ends_with([':', '：', '…'])
    {
        return None;
    }
    if words.has_cjk() {
        return says_how_unspaced(sentence).then_some(Plain::Alone);
    }
    let from = first(words);
    if ends_habit(words, from)
        || nobody_but(words, from)
        || before_any(words, from)
        || you_should(words, from)
        || not_until(words, from)
        || for_such(words, from)
        || belongs(words, from)
        || sets_against(words, from)
        || wants_each(words, from)
    {
        return Some(Plain::Firm);
    }
    let alone = says_how(words)
        || given_in(words, from)
        || gives_such(words, from)
        || keeps_such(words, from)
        || leaves_out(words, from)
        || each_says_how(sentence)
        || puts_first(words, from)
        || measures(words, from)
        || narrows(words, from)
        || uses_such(words, from)
        || wants_such(words, from)
        || goes_without(words, from)
        || comes_first(words, from)
        || is_form_of(words, from)
        || gives_grounds(words, from)
        || (is_form(words.get(words.len() - 1)) && is_fragment(sentence, words));
    alone.then_some(Plain::Alone)
}

/// Whether a sentence is too short to be a task that others belong to.
pub(crate) fn is_greeting(words: &Words<'_>) -> bool {
    words.len() <= GREETING && !words.has_cjk()
}

/// Whether a few words name a way of doing things, as one of several rules in a
/// row does: "Metric units. British spelling. No emojis."
pub(crate) fn is_fragment(sentence: &str, words: &Words<'_>) -> bool {
    let (from, end) = (first(words), words.len());
    let last = words.get(end.saturating_sub(1));
    (2..=5).contains(&end)
        && !asks(sentence, words)
        && !names_file(sentence)
        && !points(words, from, end)
        && !tells(words, from, end)
        && !is_subject(words.get(from))
        && !is_work(words.get(from))
        && (is_plural(last) || is_way(words, end - 1) || MANNER.contains(last) || is_form(last))
}

#[cfg(test)]
mod tests;
