//! What a model's part of dreams took.

use serde::{Deserialize, Serialize};

/// Tokens and money of some questions to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Paid {
    /// Questions that were answered, wholly or in part.
    pub requests: u64,
    /// Prompt tokens, neither read from nor written to a cache.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
    /// US dollars, as far as prices are known.
    pub dollars: f64,
    /// Questions whose price nobody knows; they are not in the dollars.
    pub unpriced: u64,
    /// Questions for which the provider reported no usage; they are not in the
    /// tokens either.
    pub unreported: u64,
}

impl Paid {
    /// Adds what others took.
    pub fn add(&mut self, other: &Paid) {
        self.requests += other.requests;
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.dollars += other.dollars;
        self.unpriced += other.unpriced;
        self.unreported += other.unreported;
    }

    /// Whether nothing was asked.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Paid::default()
    }
}
