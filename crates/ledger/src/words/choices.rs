//! How people say that they decide, why, and that they think otherwise now.

use std::sync::LazyLock;

use super::{Lexicon, phrases};

/// How sure a phrase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A decision by itself.
    Plain,
    /// A decision only together with its reason.
    WithReason,
}

/// Decisions.
pub(crate) static CHOICES: LazyLock<Lexicon<Choice>> = LazyLock::new(|| {
    Lexicon::new(&[
        (include_str!("lists/plain.txt"), Choice::Plain),
        (include_str!("lists/with_reason.txt"), Choice::WithReason),
    ])
});

/// Reasons.
pub(crate) static REASONS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/why.txt"), ())]));

/// A change of mind.
pub(crate) static CHANGES: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/otherwise.txt"), ())]));

/// What stands after these is the old thing.
pub(crate) static OLD: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/instead.txt"), ())]));

/// A newer value of something.
pub(crate) static UPDATES: LazyLock<Lexicon<bool>> = LazyLock::new(|| {
    Lexicon::new(&[
        (include_str!("lists/corrects.txt"), true),
        (include_str!("lists/may_correct.txt"), false),
    ])
});

/// How replies begin that agree or choose.
pub(crate) static AFFIRMS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/affirms.txt"), ())]));

/// What replies have that tell of something gone wrong, or ask for more.
pub(crate) static FAILURES: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/failures.txt"), ())]));

/// What the agent is about to do.
pub(crate) static NEXT: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/about_to.txt"), ())]));

/// How a line begins that the agent marks as learnt.
pub(crate) static LEARNT: LazyLock<Vec<&str>> =
    LazyLock::new(|| phrases(include_str!("lists/learnt.txt")).collect());

/// What lines contain that say what went wrong.
pub(crate) static FAILURE_SIGNS: LazyLock<Vec<&str>> =
    LazyLock::new(|| phrases(include_str!("lists/failure_signs.txt")).collect());
