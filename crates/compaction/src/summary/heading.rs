//! The sections of the mechanical part, in the order in which they stand. One
//! that is empty is left out.

/// All user text, oldest first.
pub const WORDS: &str =
    "## What the user said (word for word, oldest first; answered unless marked)";
/// Answers that were chosen, plans that were approved, notes.
pub const AGREED: &str = "## What was agreed";
/// What was done in each turn.
pub const TURNS: &str = "## Work by turn";
/// Files that were changed.
pub const CHANGED: &str = "## Files changed";
/// Files that were only read.
pub const READ: &str = "## Files only read";
/// Commands whose latest run failed.
pub const FAILING: &str = "## Failing now";
/// What is still to be done.
pub const OPEN: &str = "## Open";
/// Lines of the latest messages with one of five words.
pub const PENDING: &str = "## Lines with pending words";
/// Where someone who takes over would go on.
pub const STANDS: &str = "## Where the work stands";
/// Pinned entries.
pub const PINNED: &str = "## Pinned";
