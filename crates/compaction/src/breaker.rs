//! The breaker: three failures in a row stop compaction.
//!
//! A session once tried 3,272 times in a day. A compaction that frees next to
//! nothing is a failure too, or a loop could spend for ever on successes.

use longhaul_tokens::Tokens;
use serde::{Deserialize, Serialize};

/// Counts failures of one session; stored with it, so that a restart does not
/// begin to count anew.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Breaker {
    /// Failures since the last success.
    pub failures: u32,
    /// What the last failures were.
    pub reasons: Vec<String>,
}

/// Whether compaction may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// It may.
    Closed,
    /// It may not, until a person says so or a manual run succeeds.
    Open,
}

impl Breaker {
    /// Failures in a row that open it.
    pub const LIMIT: u32 = 3;
    /// A compaction must free at least this share of the context.
    pub const LEAST_FREED: f64 = 0.10;

    /// Whether compaction may be tried.
    pub fn state(&self) -> BreakerState {
        if self.failures >= Self::LIMIT {
            BreakerState::Open
        } else {
            BreakerState::Closed
        }
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.state() == BreakerState::Open
    }

    /// Takes note of an attempt that ended in an error.
    pub fn failed(&mut self, reason: impl Into<String>) -> BreakerState {
        self.failures = self.failures.saturating_add(1);
        self.reasons.push(reason.into());
        let old = self.reasons.len().saturating_sub(Self::LIMIT as usize);
        self.reasons.drain(..old);
        self.state()
    }

    /// Takes note of an attempt that ended well, if it freed enough.
    pub fn finished(&mut self, before: Tokens, after: Tokens) -> BreakerState {
        let freed = (before - after).share_of(before);
        if before > Tokens::ZERO && freed < Self::LEAST_FREED {
            return self.failed(format!(
                "freed only {:.1} % ({before} to {after} tokens)",
                freed * 100.0
            ));
        }
        *self = Breaker::default();
        BreakerState::Closed
    }

    /// Closes it by hand.
    pub fn reset(&mut self) {
        *self = Breaker::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_open_it_and_a_success_closes_it() {
        let mut breaker = Breaker::default();
        assert_eq!(breaker.failed("timeout"), BreakerState::Closed);
        assert_eq!(breaker.failed("timeout"), BreakerState::Closed);
        assert_eq!(breaker.failed("error"), BreakerState::Open);
        assert_eq!(
            breaker.finished(Tokens(100), Tokens(50)),
            BreakerState::Closed
        );
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn freeing_next_to_nothing_is_a_failure() {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            breaker.finished(Tokens(100_000), Tokens(95_000));
        }
        assert!(breaker.is_open());
        assert_eq!(breaker.reasons.len(), 3);
    }
}
