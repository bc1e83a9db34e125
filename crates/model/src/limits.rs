//! How long an answer may take and how often it is asked for.

use std::time::Duration;

/// Time-outs and retries of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Until the connection stands.
    pub connect: Duration,
    /// From the sending of the request to the first byte of the answer's body.
    pub first_byte: Duration,
    /// Between two pieces of the answer; a keep-alive is a piece.
    pub idle: Duration,
    /// One attempt, from its start to the end of the answer.
    pub request: Duration,
    /// All attempts and the waits between them.
    pub total: Duration,
    /// How often the request is sent at most; 1 means no retries.
    pub attempts: u32,
    /// The longest first wait between two attempts; it doubles each time.
    pub backoff: Duration,
    /// The longest wait of our own making. A provider's `retry-after` may be
    /// longer, as long as `total` allows it.
    pub backoff_max: Duration,
    /// Where the jitter of the waits comes from: the same seed gives the same waits.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            // A reasoning model, or a local one that reads a long prompt, is
            // silent for minutes and well.
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            request: Duration::from_secs(20 * 60),
            total: Duration::from_secs(30 * 60),
            attempts: 4,
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(30),
            seed: 0,
        }
    }
}

impl Limits {
    /// How long to wait before the given attempt (from 2): anything from nothing
    /// to the doubled backoff, so that clients that failed together do not come
    /// back together. `salt` tells requests with one seed apart.
    pub(crate) fn jitter(&self, attempt: u32, salt: u64) -> Duration {
        let doublings = attempt.saturating_sub(2).min(20);
        let ceiling = self
            .backoff
            .saturating_mul(1 << doublings)
            .min(self.backoff_max);
        let random = mix(self.seed ^ mix(salt) ^ mix(u64::from(attempt) << 32));
        ceiling.mul_f64((random >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_stay_below_the_doubling_ceiling_and_spread_over_it() {
        let limits = Limits {
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_millis(350),
            ..Limits::default()
        };
        for (attempt, ceiling) in [(2, 100), (3, 200), (4, 350), (5, 350), (4_000_000_000, 350)] {
            let waits: Vec<_> = (0..200).map(|salt| limits.jitter(attempt, salt)).collect();
            let ceiling = Duration::from_millis(ceiling);
            assert!(waits.iter().all(|wait| *wait <= ceiling), "{attempt}");
            assert!(waits.iter().any(|wait| *wait < ceiling / 4), "{attempt}");
            assert!(
                waits.iter().any(|wait| *wait > ceiling * 3 / 4),
                "{attempt}"
            );
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        let limits = |seed| Limits {
            seed,
            ..Limits::default()
        };
        assert_eq!(limits(7).jitter(3, 1), limits(7).jitter(3, 1));
        assert_ne!(limits(7).jitter(3, 1), limits(8).jitter(3, 1));
    }
}
