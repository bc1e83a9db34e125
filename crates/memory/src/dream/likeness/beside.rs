//! Rules that ask for one thing more: "update the README after every release",
//! "update the changelog after every release".
//!
//! Two lines that differ in one place may contradict each other, since most of what
//! is asked for is used, kept or called in one way. Some things are done one beside
//! the other; where the place in which two lines differ is what they are done to,
//! neither takes anything from the other.

use super::Features;
use super::apart::ARTICLES;
use crate::dream::listed::listed;

/// What is done to one thing beside another.
const DONE_BESIDE: &str =
    " add append attach check document include lint mention review run test update verify write ";

/// Words with which a rule may begin.
const LEADS: &str = " always please also ";

/// Words that end what something is done to.
const BEHIND: &str = " to for in on at after before with of per when whenever while if ";

impl Features {
    /// Whether both ask for the same of two things, or to be asked before two.
    pub(super) fn asks_beside(&self, newer: &Features) -> bool {
        let plain = |one: &Features| !one.negative && one.changes.is_empty();
        if !plain(self) || !plain(newer) || self.values != newer.values {
            return false;
        }
        let (head, tail) = self.ends_shared(newer);
        let leads = self.words.iter().take_while(|word| listed(LEADS, word));
        let shared = &self.words[leads.count().min(head)..head];
        let shared: Vec<&str> = shared.iter().map(String::as_str).collect();
        match shared[..] {
            ["ask", "before"] => tail == 0,
            [verb, article] => {
                let behind = self.words.get(self.words.len() - tail);
                let differ = |one: &Features| head + tail < one.words.len();
                listed(DONE_BESIDE, verb)
                    && ARTICLES.contains(&article)
                    && behind.is_none_or(|word| listed(BEHIND, word))
                    && differ(self)
                    && differ(newer)
                    && !self.ends_within(newer, head, tail)
            }
            _ => false,
        }
    }

    /// Whether the place in which two lines differ has such an end itself.
    fn ends_within(&self, newer: &Features, head: usize, tail: usize) -> bool {
        let within = |one: &Features| {
            let words = &one.words[head..one.words.len() - tail];
            words.iter().any(|word| listed(BEHIND, word))
        };
        within(self) || within(newer)
    }
}
