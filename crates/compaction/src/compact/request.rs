//! What a compaction is asked, and what comes of it.

use longhaul_ledger::Ledger;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Draft, EntryId};

use crate::audit::Audit;
use crate::rules::CompactionRules;
use crate::terms::{Layer, Trigger};

/// What a compaction is asked to do.
#[derive(Clone, Copy)]
pub struct CompactionRequest<'a> {
    /// How deep.
    pub layer: Layer,
    /// Why.
    pub trigger: Trigger,
    /// What should be kept above all, in the user's words.
    pub focus: Option<&'a str>,
    /// The window and its thresholds.
    pub window: &'a Window,
    /// Tokens at the end that stay verbatim, already fitted to the window.
    pub protect: Tokens,
    /// Tokens of a request that are not in the transcript (system prompt,
    /// tools).
    pub overhead: Tokens,
    /// The context's size as it is known now.
    pub tokens_before: Tokens,
    /// How large its parts may be.
    pub rules: CompactionRules,
    /// Whether a message that is larger than the whole tail may be shortened.
    pub tail: Tail,
    /// Whether an entry can be recalled: it is in the file or its archive. The
    /// audit asks this of everything that is no longer in the context.
    pub is_stored: &'a dyn Fn(&EntryId) -> bool,
}

/// What becomes of a recent message that is larger than the tail that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tail {
    /// It is shortened, and the others stay.
    #[default]
    Shortened,
    /// It leaves, since nobody could write down that it is shown otherwise.
    Whole,
}

/// A compaction, ready to be appended.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// The compaction entry.
    pub draft: Draft,
    /// Edits that shorten what stays, to be appended behind it.
    pub edits: Vec<Draft>,
    /// Tokens in the context after it, as counted.
    pub tokens_after: Tokens,
    /// What was kept and what was not.
    pub fidelity: Audit,
    /// What left the context.
    pub removed: Removed,
    /// Messages that stay verbatim.
    pub kept_messages: usize,
    /// What wrote the summary.
    pub summarizer: String,
    /// Why it was not the one that was asked.
    pub fallback: Option<String>,
    /// Whether a turn was divided.
    pub splits_turn: bool,
    /// What should be known about it.
    pub notes: Vec<String>,
    /// What matters in everything that is no longer in the context once it is
    /// made.
    pub base: Ledger,
}

/// What leaves the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Messages.
    pub messages: usize,
    /// Their tokens, as counted.
    pub tokens: Tokens,
    /// The first and last entry.
    pub span: Option<(EntryId, EntryId)>,
}

/// Why a compaction did not come about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompactionFailure {
    /// Everything in the context is protected.
    #[error("there is nothing to compact: the whole context is protected")]
    NothingToDo,
    /// What was to go is smaller than what would say so.
    #[error("compacting would make the context grow, from {before} to {after} tokens")]
    Grows {
        /// Its size.
        before: Tokens,
        /// What it would be.
        after: Tokens,
    },
    /// Pinned entries leave no room.
    #[error("pinned entries take {pinned} of the {room} tokens that a compacted context may have; unpin some of: {}", largest.join(", "))]
    PinsTooLarge {
        /// Their size.
        pinned: Tokens,
        /// What there is.
        room: Tokens,
        /// The largest of them.
        largest: Vec<String>,
    },
    /// It could not be carried out.
    #[error("{0}")]
    Failed(String),
    /// The current turn alone is too large for the window.
    #[error("the current turn alone has {kept} tokens, more than fit into the window")]
    TurnTooLarge {
        /// Its size.
        kept: Tokens,
    },
}
