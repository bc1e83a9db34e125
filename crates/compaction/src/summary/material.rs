//! What a summary is made from.

use std::collections::HashSet;

use longhaul_ledger::Ledger;
use longhaul_transcript::{ContextMessage, EntryId, Role};

/// Everything a summary is made from.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// The ledger, folded up to the *leaf*, not only to the cut: what was
    /// finished in the kept part must not be listed as open.
    pub ledger: &'a Ledger,
    /// The messages that leave the context, in order.
    pub removed: &'a [ContextMessage],
    /// The messages that follow the summary verbatim.
    pub kept: &'a [ContextMessage],
    /// The summary that this one takes the place of.
    pub previous: Option<Previous<'a>>,
    /// What the user wants it to attend to.
    pub focus: Option<&'a str>,
    /// What has left the context so far, this time included.
    pub span: Option<Span<'a>>,
    /// Whether the cut falls inside a turn.
    pub split: Split<'a>,
    /// The number of this compaction on its path, from 1.
    pub epoch: u32,
}

impl<'a> Material<'a> {
    /// A ledger alone, with nothing kept and nothing before it.
    pub fn of(ledger: &'a Ledger) -> Material<'a> {
        Material {
            ledger,
            removed: &[],
            kept: &[],
            previous: None,
            focus: None,
            span: None,
            split: Split::BetweenTurns,
            epoch: 1,
        }
    }

    /// Which entries the reader of the summary still sees whole.
    pub fn kept_entries(&self) -> Kept<'a> {
        Kept::of(self.kept)
    }
}

/// A summary of an earlier compaction.
#[derive(Debug, Clone, Copy)]
pub struct Previous<'a> {
    /// Its text.
    pub text: &'a str,
    /// Who wrote it: `longhaul`, `claude-code`, `pi`, …
    pub maker: &'a str,
}

/// The entries that have left the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    /// The first of them.
    pub first: &'a EntryId,
    /// The last of them.
    pub last: &'a EntryId,
    /// How many.
    pub count: u64,
}

/// Where the cut falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split<'a> {
    /// At the start of a turn.
    BetweenTurns,
    /// Inside the turn that this request began.
    InsideTurn {
        /// The request's entry.
        request: &'a EntryId,
    },
}

impl<'a> Split<'a> {
    /// The request whose turn is cut.
    pub fn request(&self) -> Option<&'a EntryId> {
        match self {
            Split::BetweenTurns => None,
            Split::InsideTurn { request } => Some(request),
        }
    }
}

/// The entries whose messages stay in the context word for word, so that the
/// summary need not repeat them.
#[derive(Debug, Clone, Default)]
pub struct Kept<'a>(HashSet<&'a str>);

impl<'a> Kept<'a> {
    /// Nothing stays.
    pub fn nothing() -> Kept<'a> {
        Kept::default()
    }

    /// What stays whole of these messages; an edited one no longer shows what
    /// was said.
    pub fn of(messages: &'a [ContextMessage]) -> Kept<'a> {
        Kept(
            messages
                .iter()
                .filter(|message| !message.edited && message.role != Role::CompactionSummary)
                .map(|message| message.entry.as_str())
                .collect(),
        )
    }

    /// Whether an entry stays.
    pub fn has(&self, entry: &EntryId) -> bool {
        self.0.contains(entry.as_str())
    }
}
