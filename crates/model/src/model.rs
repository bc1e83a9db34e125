//! The trait that everything else asks through, and what is known of a model.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Delta, Failure, Usage};
use crate::provider::Protocol;
use crate::request::Request;

/// A language model that can be asked.
pub trait Model: Send + Sync {
    /// Which model it is, how large and how dear.
    fn info(&self) -> &ModelInfo;

    /// Asks. Deltas are handed out as they arrive; a cancellation takes effect
    /// between any two of them, and while nothing arrives at all.
    fn ask<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>>;
}

/// What is known of a model before it is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Who serves it.
    pub provider: String,
    /// Its name, as the provider takes it.
    pub name: String,
    /// How it is spoken to.
    #[serde(default)]
    pub protocol: Option<Protocol>,
    /// The server it is asked at, as scheme, host and port: neither key nor path.
    /// `None` where nothing is asked over a network.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// How many tokens fit a request; `None` if nobody says.
    pub window: Option<u32>,
    /// Whether the caller gave the window, rather than the table.
    #[serde(default)]
    pub window_given: bool,
    /// The most tokens of one answer.
    pub max_output: Option<u32>,
    /// What it costs.
    pub prices: Option<Prices>,
    /// Whether the breakpoints of a [`Request`] are sent. Providers that cache by
    /// themselves need none.
    pub caches: bool,
    /// How long a cached prompt is kept after its last use.
    pub cache_ttl: Option<Duration>,
}

impl ModelInfo {
    /// Whether a request that was answered did not fit all the same. Some servers
    /// say nothing of it and drop the beginning of the prompt.
    pub fn overflowed(&self, usage: &Usage) -> bool {
        self.window
            .is_some_and(|window| usage.prompt() > u64::from(window))
    }
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Of the prompt, neither read from nor written to a cache.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// Of the prompt, read from the cache.
    pub cache_read: f64,
    /// Of the prompt, written to the cache.
    pub cache_write: f64,
}

impl Prices {
    /// US dollars for what a request took.
    pub fn cost(&self, usage: &Usage) -> f64 {
        (usage.input as f64 * self.input
            + usage.output as f64 * self.output
            + usage.cache_read as f64 * self.cache_read
            + usage.cache_write as f64 * self.cache_write)
            / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_counts_each_kind_of_token_at_its_price() {
        let prices = Prices {
            input: 3.0,
            output: 15.0,
            cache_read: 0.3,
            cache_write: 3.75,
        };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_write: 400_000,
        };
        assert!((prices.cost(&usage) - (3.0 + 1.5 + 0.6 + 1.5)).abs() < 1e-9);
        assert_eq!(prices.cost(&Usage::default()), 0.0);
    }

    #[test]
    fn a_prompt_larger_than_the_window_overflowed_silently() {
        let info = |window| ModelInfo {
            window,
            ..ModelInfo::default()
        };
        let usage = Usage {
            input: 60,
            output: 50,
            cache_read: 40,
            cache_write: 1,
        };
        assert!(info(Some(100)).overflowed(&usage));
        assert!(!info(Some(101)).overflowed(&usage));
        assert!(!info(None).overflowed(&usage));
    }
}
