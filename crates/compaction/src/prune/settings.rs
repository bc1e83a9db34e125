//! How much is protected, and when a result is old or long.

use longhaul_tokens::{Tokens, settings};

/// The limits of pruning. Token sizes are for the window in use.
#[derive(Debug, Clone, PartialEq)]
pub struct PruneSettings {
    /// The most recent tokens that are never pruned.
    pub protect_tail: Tokens,
    /// Results older than this many rounds become a placeholder; failures last
    /// twice as long.
    pub after_rounds: u32,
    /// Durable pruning needs to free at least this much.
    pub minimum: Tokens,
    /// Which records stay whole whatever their age, and the shortening of long
    /// results that are not old yet.
    pub arrival: ArrivalTrim,
}

settings! {
    /// Shortening of single tool results by their length.
    #[derive(Copy)]
    pub struct ArrivalTrim {
        /// Shorten long results at all.
        enabled: bool = true,
        /// A result of a shell, read or search tool above this many characters is shortened.
        result_chars: u32 [min = 1] = 2_000,
        /// Characters kept from the end of a shortened result.
        result_tail_chars: u32 [min = 1] = 500,
        /// A file read above this many characters is shown as its key paragraphs.
        file_chars: u32 [min = 1] = 3_000,
        /// The most recent tool records that stay whole.
        whole_records: u32 [min = 0] = 8,
    }
}

/// The defaults for a window of 200,000 tokens.
impl Default for PruneSettings {
    fn default() -> PruneSettings {
        PruneSettings {
            protect_tail: Tokens(40_000),
            after_rounds: 10,
            minimum: Tokens(20_000),
            arrival: ArrivalTrim::default(),
        }
    }
}
