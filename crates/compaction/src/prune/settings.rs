//! How much is protected, and when a result is old or long.

use longhaul_tokens::{REFERENCE_WINDOW, Tokens};

/// The limits of pruning. Token sizes are for the window in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneSettings {
    /// The most recent tokens that are never pruned.
    pub protect_tail: Tokens,
    /// Results older than this many rounds become a placeholder; failures last
    /// twice as long.
    pub after_rounds: u32,
    /// The most recent tool records that stay whole whatever their age.
    pub whole_records: usize,
    /// Durable pruning needs to free at least this much.
    pub minimum: Tokens,
    /// Shortening of long results that are not old yet; `None` for off.
    pub arrival: Option<ArrivalTrim>,
}

/// Limits for single results once they have left the protected tail, in
/// characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalTrim {
    /// A result of a shell, read or search tool longer than this is shortened.
    pub result_chars: usize,
    /// What is kept from its end.
    pub result_tail_chars: usize,
    /// A file read longer than this is shown as its key paragraphs.
    pub file_chars: usize,
}

impl Default for ArrivalTrim {
    fn default() -> ArrivalTrim {
        ArrivalTrim {
            result_chars: 2_000,
            result_tail_chars: 500,
            file_chars: 3_000,
        }
    }
}

/// The defaults for a window of 200,000 tokens.
impl Default for PruneSettings {
    fn default() -> PruneSettings {
        PruneSettings {
            protect_tail: Tokens(40_000),
            after_rounds: 10,
            whole_records: 8,
            minimum: Tokens(20_000),
            arrival: Some(ArrivalTrim::default()),
        }
    }
}

/// Rounds after which a result is old in a read-only sandbox.
const READ_ONLY_ROUNDS: u32 = 3;

impl PruneSettings {
    /// These settings, made for 200,000 tokens, on another window: token sizes
    /// shrink in proportion and never grow.
    pub fn for_window(self, window: Tokens) -> PruneSettings {
        let scaled = |size: Tokens| size.min(size.scale(window.share_of(REFERENCE_WINDOW)));
        PruneSettings {
            protect_tail: scaled(self.protect_tail),
            minimum: scaled(self.minimum),
            ..self
        }
    }

    /// These settings for a read-only sandbox, where nothing but pruning can
    /// make room: results are old after three rounds, and no record is kept for
    /// being among the latest when it is older than that.
    pub fn read_only(self) -> PruneSettings {
        PruneSettings {
            after_rounds: self.after_rounds.min(READ_ONLY_ROUNDS),
            whole_records: self.whole_records.min(READ_ONLY_ROUNDS as usize),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_shrink_with_the_window_and_never_grow() {
        let sizes = |window| {
            let settings = PruneSettings::default().for_window(Tokens(window));
            (settings.protect_tail, settings.minimum)
        };
        assert_eq!(sizes(200_000), (Tokens(40_000), Tokens(20_000)));
        assert_eq!(sizes(60_000), (Tokens(12_000), Tokens(6_000)));
        assert_eq!(sizes(1_000_000), (Tokens(40_000), Tokens(20_000)));
    }

    #[test]
    fn a_read_only_sandbox_prunes_earlier() {
        let settings = PruneSettings::default().read_only();
        assert_eq!((settings.after_rounds, settings.whole_records), (3, 3));
    }
}
