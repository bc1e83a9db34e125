//! How people say that something always or never holds, and that it no longer does.

use std::sync::LazyLock;

use super::Lexicon;
use crate::facts::RuleKind::{self, Constraint, Preference};

/// Where a phrase must stand to make a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Norm {
    /// Anywhere.
    Any(RuleKind),
    /// Anywhere but in a report about a thing.
    Weak,
    /// Where a clause begins: an imperative.
    Start(RuleKind),
    /// Where a clause begins, or in a clause with a modal or about "you".
    Adverb,
    /// As above, but only a report about a thing is excluded: languages whose
    /// imperative puts the verb first.
    Loose,
    /// Says what one does not like, unless a pronoun points at one thing.
    Dislike,
    /// Says that the rule waits for a word of the user.
    Until,
}

/// Rules.
pub(crate) static NORMS: LazyLock<Lexicon<Norm>> = LazyLock::new(|| {
    Lexicon::new(&[
        (include_str!("lists/anywhere.txt"), Norm::Any(Constraint)),
        (include_str!("lists/weak.txt"), Norm::Weak),
        (include_str!("lists/wishes.txt"), Norm::Any(Preference)),
        (
            include_str!("lists/imperatives.txt"),
            Norm::Start(Constraint),
        ),
        (
            include_str!("lists/imperative_wishes.txt"),
            Norm::Start(Preference),
        ),
        ("never | always", Norm::Adverb),
        (include_str!("lists/loose.txt"), Norm::Loose),
        (include_str!("lists/dislikes.txt"), Norm::Dislike),
        (include_str!("lists/until.txt"), Norm::Until),
    ])
});

/// How one says what is so.
pub(crate) static STATES: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/states.txt"), ())]));

/// Where the verb of a sentence about a move stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// In the phrase.
    Said,
    /// Behind the name of the place.
    Follows,
}

/// How one tells that one has moved.
pub(crate) static MOVES: LazyLock<Lexicon<Verb>> = LazyLock::new(|| {
    Lexicon::new(&[
        (include_str!("lists/moves.txt"), Verb::Said),
        (include_str!("lists/moves_open.txt"), Verb::Follows),
    ])
});

/// Words that lift a rule.
pub(crate) static LIFTS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/lifting.txt"), ())]));
