//! The trait that everything else asks through, and what is known of a model.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Delta, Failure, Usage};
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
    /// How many tokens fit, prompt and answer together; `None` if nobody says.
    pub window: Option<u32>,
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
