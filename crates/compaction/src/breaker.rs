//! The breaker: failures in a row, three by default, stop compaction.
//!
//! A session once tried 3,272 times in a day. A compaction that frees next to
//! nothing is a failure too, or a loop could spend for ever on successes.

use longhaul_tokens::{Tokens, settings};
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

settings! {
    /// What stops compaction after repeated failures.
    #[derive(Copy)]
    pub struct BreakerRules {
        /// Consecutive failures that open it.
        failures: u32 [min = 1] = 3,
        /// A compaction that frees less than this percentage of the context is a failure.
        minimum_freed_percent: f64 [min = 0, max = 100] = 10.0,
    }
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
    /// Reasons are kept for so many failures at most, however many it takes.
    const REASONS: u32 = 10;

    /// Whether compaction may be tried.
    pub fn state(&self, rules: BreakerRules) -> BreakerState {
        if self.failures >= rules.failures {
            BreakerState::Open
        } else {
            BreakerState::Closed
        }
    }

    /// Whether it is open.
    pub fn is_open(&self, rules: BreakerRules) -> bool {
        self.state(rules) == BreakerState::Open
    }

    /// Takes note of an attempt that ended in an error.
    pub fn failed(&mut self, reason: impl Into<String>, rules: BreakerRules) -> BreakerState {
        self.failures = self.failures.saturating_add(1);
        self.reasons.push(reason.into());
        let kept = rules.failures.min(Self::REASONS) as usize;
        let old = self.reasons.len().saturating_sub(kept);
        self.reasons.drain(..old);
        self.state(rules)
    }

    /// Takes note of an attempt that ended well, if it freed enough.
    pub fn finished(&mut self, before: Tokens, after: Tokens, rules: BreakerRules) -> BreakerState {
        let freed = (before - after).share_of(before);
        if before > Tokens::ZERO && freed < rules.minimum_freed_percent / 100.0 {
            let reason = format!(
                "freed only {:.1} % ({before} to {after} tokens)",
                freed * 100.0
            );
            return self.failed(reason, rules);
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
        let rules = BreakerRules::default();
        assert_eq!(breaker.failed("timeout", rules), BreakerState::Closed);
        assert_eq!(breaker.failed("timeout", rules), BreakerState::Closed);
        assert_eq!(breaker.failed("error", rules), BreakerState::Open);
        assert_eq!(
            breaker.finished(Tokens(100), Tokens(50), rules),
            BreakerState::Closed
        );
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn freeing_next_to_nothing_is_a_failure() {
        let mut breaker = Breaker::default();
        let rules = BreakerRules::default();
        for _ in 0..3 {
            breaker.finished(Tokens(100_000), Tokens(95_000), rules);
        }
        assert!(breaker.is_open(rules));
        assert_eq!(breaker.reasons.len(), 3);
    }

    #[test]
    fn the_rules_say_how_many_failures_open_it_and_what_is_one() {
        let strict = BreakerRules {
            failures: 1,
            minimum_freed_percent: 50.0,
        };
        let patient = BreakerRules {
            failures: 1_000,
            minimum_freed_percent: 0.0,
        };
        let mut breaker = Breaker::default();
        assert_eq!(
            breaker.finished(Tokens(100), Tokens(60), strict),
            BreakerState::Open
        );
        assert_eq!(breaker.state(patient), BreakerState::Closed);
        assert_eq!(
            breaker.finished(Tokens(100), Tokens(100), patient),
            BreakerState::Closed
        );
        assert_eq!(breaker, Breaker::default(), "nothing freed is no failure");
        for _ in 0..999 {
            assert_eq!(breaker.failed("timeout", patient), BreakerState::Closed);
        }
        assert_eq!(breaker.failed("timeout", patient), BreakerState::Open);
        assert_eq!(breaker.reasons.len(), 10);
    }
}
