//! The list of messages that a host gave last, so that it need not give it again.

use super::align::Seen;

/// A list as a host gives it: whole, or as a change of the one before.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The list that this one changes; none for a whole one.
    pub base: Option<Base<'a>>,
    /// The messages behind what is kept of it, as JSON.
    pub tail: &'a [&'a str],
}

/// What is kept of a list that was given before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base<'a> {
    /// The list, by the token that came with an answer.
    pub token: &'a str,
    /// So many messages from its start.
    pub keep: usize,
}

impl<'a> Given<'a> {
    /// A whole list.
    pub fn whole(messages: &'a [&'a str]) -> Given<'a> {
        Given {
            base: None,
            tail: messages,
        }
    }
}

/// A message of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) seen: Seen,
    /// Its place in the mirror.
    pub(super) place: Option<usize>,
}

/// The list that was given last.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub(super) items: Vec<Item>,
    /// Which process gave out the token, and how many it had given out.
    name: String,
    count: u64,
    /// Whether every message of it has its place.
    pub(super) level: bool,
}

impl List {
    pub(super) fn new(name: String) -> List {
        List {
            name,
            ..List::default()
        }
    }

    /// What the list as it is now goes by.
    pub(super) fn token(&self) -> String {
        format!("{}-{}", self.name, self.count)
    }

    /// Whether a change of it is a change of the list as it is now.
    pub(super) fn knows(&self, base: &Base<'_>) -> bool {
        base.keep <= self.items.len() && base.token == self.token()
    }

    /// The list is another one from now on.
    pub(super) fn renew(&mut self) {
        self.count += 1;
    }
}
