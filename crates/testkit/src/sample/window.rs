//! What is in the context at this point of a sample, in tokens.
//!
//! Providers count about one token for 2.9 characters of such sessions; pi
//! itself estimates a token for 4, and cuts by that estimate.

use std::collections::VecDeque;

use super::plan::Compactions;

/// System prompt and tool definitions.
const OVERHEAD_TOKENS: u64 = 12_000;
/// What pi keeps of the past.
const KEEP_TOKENS: u64 = 20_000;
const SMALLEST_WINDOW: u32 = 24_000;

/// An entry's id: eight hex digits.
pub(super) type Id = [u8; 8];

#[derive(Debug)]
struct Held {
    id: Id,
    chars: u64,
    /// Whether a compaction may keep from here on.
    cut: bool,
}

/// Entries that a compaction could still keep, and the size of the context.
#[derive(Debug)]
pub(super) struct Window {
    limit: Option<u64>,
    /// Empty when nothing is ever compacted: a sample of any size must be
    /// written in constant memory.
    held: VecDeque<Held>,
    chars: u64,
}

pub(super) fn tokens_of(chars: u64) -> u64 {
    chars * 10 / 29
}

impl Window {
    pub(super) fn new(compactions: Compactions) -> Window {
        Window {
            limit: match compactions {
                Compactions::None => None,
                Compactions::Every(tokens) => Some(u64::from(tokens.max(SMALLEST_WINDOW))),
            },
            held: VecDeque::new(),
            chars: 0,
        }
    }

    pub(super) fn push(&mut self, id: Id, chars: u64, cut: bool) {
        self.chars += chars;
        if self.limit.is_some() {
            self.held.push_back(Held { id, chars, cut });
        }
    }

    /// Tokens of a request made now.
    pub(super) fn tokens(&self) -> u64 {
        OVERHEAD_TOKENS + tokens_of(self.chars)
    }

    /// Tokens that stay cached when the history changes.
    pub(super) fn fixed_tokens() -> u64 {
        OVERHEAD_TOKENS
    }

    pub(super) fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.tokens() >= limit)
    }

    /// The first entry to keep, if a compaction would remove anything.
    pub(super) fn cut(&self) -> Option<Id> {
        let limit = self.limit?;
        let keep = KEEP_TOKENS.min((limit - OVERHEAD_TOKENS) / 4);
        let mut kept = 0;
        let mut at = self.held.len();
        while at > 0 && kept < keep {
            at -= 1;
            kept += self.held[at].chars / 4;
        }
        self.held
            .iter()
            .skip(at.max(1))
            .find(|held| held.cut)
            .map(|held| held.id)
    }

    /// Forgets what stands before `first` and takes the summary in.
    pub(super) fn compact(&mut self, first: Id, summary_chars: u64) {
        while self.held.front().is_some_and(|held| held.id != first) {
            self.held.pop_front();
        }
        self.chars = summary_chars + self.held.iter().map(|held| held.chars).sum::<u64>();
    }
}
