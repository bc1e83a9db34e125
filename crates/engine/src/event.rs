//! Events: every decision of the engine, with its numbers.
//!
//! The terminal, the report, the log and the tests read the same stream. If
//! something happened and no event says so, that is a bug.

use longhaul_compaction::audit::Audit;
use longhaul_compaction::ladder::Block;
use longhaul_compaction::{Layer, Trigger};
use longhaul_tokens::Tokens;
use longhaul_transcript::EntryId;
use serde::Serialize;

/// Something the engine decided or did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "event")]
pub enum Event {
    /// The gauge line was put into the context.
    Gauge {
        /// Tokens in the context.
        tokens: Tokens,
        /// The line.
        line: String,
    },
    /// The state of the work is worth a checkpoint.
    Checkpoint {
        /// Tokens in the context.
        tokens: Tokens,
    },
    /// Tool output was hidden.
    #[serde(rename_all = "camelCase")]
    Pruned {
        /// Results hidden.
        results: usize,
        /// Tokens before.
        tokens_before: Tokens,
        /// Tokens after.
        tokens_after: Tokens,
        /// Why now.
        reason: String,
    },
    /// The conversation was compacted.
    Compacted(Box<CompactedEvent>),
    /// A compaction did not happen.
    Blocked {
        /// Why.
        block: Block,
        /// Tokens in the context.
        tokens: Tokens,
    },
    /// A compaction was tried and failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// Three failures in a row: no further attempts.
    BreakerOpened {
        /// The last reasons.
        reasons: Vec<String>,
    },
    /// The recorded session was compacted here by its own agent.
    #[serde(rename_all = "camelCase")]
    NativeCompaction {
        /// The recorded entry.
        entry: EntryId,
        /// Tokens before, as recorded.
        tokens_before: Option<u64>,
    },
}

/// A compaction and its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactedEvent {
    /// The new entry.
    pub entry: EntryId,
    /// Its number.
    pub epoch: u32,
    /// How deep.
    pub layer: Layer,
    /// Why.
    pub trigger: Trigger,
    /// Tokens before.
    pub tokens_before: Tokens,
    /// Tokens after.
    pub tokens_after: Tokens,
    /// Messages that left the context.
    pub messages_compacted: usize,
    /// Messages that stayed.
    pub messages_kept: usize,
    /// What wrote the summary.
    pub summarizer: String,
    /// How long it took, by the caller's clock.
    pub milliseconds: f64,
    /// Whether a turn was divided.
    pub splits_turn: bool,
    /// What was kept and what was not.
    pub fidelity: Audit,
    /// What should be known about it.
    pub notes: Vec<String>,
}
