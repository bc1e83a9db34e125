//! Words that several parts of the room share.

use std::fmt;

use longhaul_tokens::Tokens;
use longhaul_transcript::ContextMessage;
use serde::{Deserialize, Serialize};

/// A message with its size.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The message.
    pub message: ContextMessage,
    /// Its tokens.
    pub tokens: Tokens,
}

/// How deep a compaction goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Tool output is hidden.
    Prune,
    /// Older turns become a summary.
    Summarize,
    /// The whole conversation becomes a summary.
    Full,
    /// The oldest turns are dropped so that a request fits at all.
    Emergency,
}

impl Layer {
    /// The layers of the ladder, lowest first; an emergency comes from without.
    pub const LADDER: [Layer; 3] = [Layer::Prune, Layer::Summarize, Layer::Full];
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Prune => "prune",
            Layer::Summarize => "summarize",
            Layer::Full => "full",
            Layer::Emergency => "emergency",
        })
    }
}

/// Why a compaction happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// A person asked for it.
    Manual,
    /// A threshold was passed.
    Auto,
    /// The provider refused the request as too long.
    Overflow,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trigger::Manual => "manual",
            Trigger::Auto => "auto",
            Trigger::Overflow => "overflow",
        })
    }
}
