//! How much of a session the state of a checkpoint holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is collected between checkpoints; the oldest leave first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Capture {
    /// Decisions kept.
    #[schemars(range(min = 1))]
    pub decisions: usize,
    /// Exchanges of the conversation kept.
    #[schemars(range(min = 1))]
    pub exchanges: usize,
    /// Tools kept.
    #[schemars(range(min = 1))]
    pub tools: usize,
    /// Files kept.
    #[schemars(range(min = 1))]
    pub files: usize,
    /// Characters kept of each message of an exchange.
    #[schemars(range(min = 1))]
    pub exchange_chars: usize,
    /// The last pairs of messages that are always among the exchanges.
    pub recent_pairs: usize,
    /// A user message shorter than this after a long answer may be a decision.
    #[schemars(range(min = 1))]
    pub short_message_chars: usize,
    /// An answer longer than this is long.
    #[schemars(range(min = 1))]
    pub long_answer_chars: usize,
}

impl Default for Capture {
    fn default() -> Capture {
        Capture {
            decisions: 50,
            exchanges: 8,
            tools: 100,
            files: 100,
            exchange_chars: 120,
            recent_pairs: 2,
            short_message_chars: 50,
            long_answer_chars: 500,
        }
    }
}
