//! How to dream.

use longhaul_tokens::Counter;

use super::candidate::Candidate;
use super::similar::Meaning;
use crate::files::Limits;

/// How to dream.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Days of logs that are read.
    pub lookback_days: u32,
    /// Promote what a model found worth keeping without review from this score on;
    /// none, everything is reviewed.
    pub promote_at: Option<f64>,
    /// The limits of `MEMORY.md`.
    pub limits: Limits,
    /// How its tokens are counted.
    pub counter: &'a dyn Counter,
    /// How often a candidate was recalled.
    pub recalls: &'a dyn Fn(&Candidate) -> u32,
    /// How near two texts are to an installed encoder, where there is one.
    pub meaning: Option<&'a Meaning<'a>>,
}
