//! What the prompt cache makes of a rewrite.
//!
//! A provider keeps the beginning of a prompt for some minutes and charges a
//! tenth for reading it again, a quarter more for writing it. Removing tokens
//! from the middle of a warm prompt therefore costs first: everything behind
//! them is written anew. Whether it pays is arithmetic on three numbers: what
//! comes free, what follows it, and how many requests are still to come.
//!
//! With a cold cache there is nothing to lose: all of it is written anyway.

mod bill;

use std::fmt;

use longhaul_tokens::Tokens;
use serde::Serialize;

pub use self::bill::{Bill, Charge, Part};

/// What the prices are given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// US dollars for a million tokens.
    Dollars,
    /// Multiples of the price of fresh input.
    Ratio,
}

/// Prices of a model for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// Input that is not cached.
    pub input: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to it.
    pub cache_write: f64,
    /// Output.
    pub output: f64,
    /// How long the cache lives after its last use, in seconds.
    pub ttl_seconds: u32,
    /// What the prices are given in.
    pub unit: Unit,
}

impl Prices {
    /// What holds for most: reads a tenth, writes a quarter more, output five
    /// times the input, five minutes.
    pub const RATIO: Prices = Prices {
        input: 1.0,
        cache_read: 0.1,
        cache_write: 1.25,
        output: 5.0,
        ttl_seconds: 300,
        unit: Unit::Ratio,
    };

    /// The same with another life of the cache.
    pub fn with_ttl(self, ttl_seconds: u32) -> Prices {
        Prices {
            ttl_seconds,
            ..self
        }
    }

    /// Requests after which freeing `freed` tokens in front of a warm suffix of
    /// `suffix` has paid for writing the suffix anew: 11.5 · T / X at the usual
    /// ratios. `None` for never.
    pub fn prune_pays_after(&self, freed: Tokens, suffix: Tokens) -> Option<f64> {
        let extra = (self.cache_write - self.cache_read) * f64::from(suffix.0);
        quotient(extra, self.cache_read * f64::from(freed.0))
    }

    /// Requests after which a compaction to `ratio` of the context has paid:
    /// 12.5 r / (1 − r), and (1 + 62.5 r) / (1 − r) when a model reads the
    /// context and writes the summary. `None` for never.
    pub fn compaction_pays_after(&self, ratio: f64, summarizer: Summarizer) -> Option<f64> {
        let ratio = ratio.max(0.0);
        let spent = match summarizer {
            Summarizer::Mechanical => self.cache_write * ratio,
            Summarizer::Model => self.cache_read + (self.output + self.cache_write) * ratio,
        };
        quotient(spent, self.cache_read * (1.0 - ratio))
    }

    /// Whether a prompt of so long ago is still cached.
    pub fn is_warm(&self, since: Since) -> bool {
        match since {
            Since::Never => false,
            Since::Seconds(gap) => gap < f64::from(self.ttl_seconds),
        }
    }
}

impl Default for Prices {
    fn default() -> Prices {
        Prices::RATIO
    }
}

fn quotient(spent: f64, saved: f64) -> Option<f64> {
    (saved > 0.0).then(|| spent / saved)
}

/// Who writes a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summarizer {
    /// No model is called.
    Mechanical,
    /// The session's model, on the cached context.
    Model,
}

/// How long ago the last request was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Since {
    /// There was none: nothing is cached.
    Never,
    /// Seconds ago. A clock that went backwards (below zero) counts as no time.
    Seconds(f64),
}

/// How many requests to reckon with when nobody knows. More than this are
/// likely in a long session, but what is pruned today is not all that is pruned:
/// on real sessions a nearer horizon, which waits until more comes free at once,
/// is cheaper than the true one.
pub const EXPECTED_TURNS: u32 = 20;

/// Whether to prune now, and why.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Prune now.
    pub now: bool,
    /// What decided.
    pub why: Why,
    /// The arithmetic.
    pub numbers: Numbers,
}

/// What decides over pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// There is nothing to prune.
    NothingToFree,
    /// The cache is cold, so that the rewrite is free.
    ColdCache,
    /// The rewrite is paid for within the turns expected.
    PaysBack,
    /// It is not.
    WouldNotPayBack,
}

/// The numbers behind a [`Verdict`]; costs are in tokens of fresh input, over
/// the turns expected, for the part of the context that the rewrite touches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// Tokens that come free.
    pub freed: Tokens,
    /// Tokens behind them.
    pub suffix: Tokens,
    /// Whether the cache is warm.
    pub warm: bool,
    /// Requests after which it pays; `None` for never.
    pub break_even_turns: Option<f64>,
    /// Requests expected, the next one included.
    pub expected_turns: u32,
    /// What they cost when pruned now.
    pub cost_now: f64,
    /// What they cost when nothing is pruned.
    pub cost_waiting: f64,
}

impl Numbers {
    /// What pruning now saves; negative for a loss.
    pub fn saved(&self) -> f64 {
        self.cost_waiting - self.cost_now
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Numbers {
            freed,
            suffix,
            break_even_turns,
            expected_turns,
            ..
        } = &self.numbers;
        match self.why {
            Why::NothingToFree => f.write_str("nothing to prune"),
            Why::ColdCache => write!(
                f,
                "prune now: {freed} tokens come free and the cache is cold"
            ),
            Why::PaysBack | Why::WouldNotPayBack => {
                f.write_str(if self.now { "prune now" } else { "wait" })?;
                write!(
                    f,
                    ": freeing {freed} tokens in front of {suffix} cached ones pays "
                )?;
                match break_even_turns {
                    Some(turns) => write!(f, "after {turns:.1} turns")?,
                    None => f.write_str("never")?,
                }
                write!(f, ", {expected_turns} are expected")
            }
        }
    }
}

/// What decides whether a rewrite of the prompt pays.
#[derive(Debug, Clone, Copy)]
pub struct CacheTerms {
    /// What tokens cost.
    pub prices: Prices,
    /// How long ago the last request was.
    pub since: Since,
    /// Requests still to come, the next one included.
    pub expected_turns: u32,
}

impl CacheTerms {
    /// Whether the provider has forgotten the last prompt.
    pub fn is_cold(&self) -> bool {
        !matches!(self.since, Since::Never) && !self.prices.is_warm(self.since)
    }
}

/// Decides whether pruning before the next request is cheaper than leaving the
/// context as it is.
pub fn decide(freed: Tokens, suffix: Tokens, terms: &CacheTerms) -> Verdict {
    let CacheTerms {
        prices,
        since,
        expected_turns,
    } = *terms;
    let warm = prices.is_warm(since);
    let break_even_turns = if warm {
        prices.prune_pays_after(freed, suffix)
    } else {
        Some(0.0)
    };
    // The next request writes what is not cached, the later ones read it.
    let turns = f64::from(expected_turns.max(1));
    let cost = |tokens: f64, first: f64| {
        let unit = if prices.input > 0.0 {
            prices.input
        } else {
            1.0
        };
        tokens * (first + (turns - 1.0) * prices.cache_read) / unit
    };
    let (x, t) = (f64::from(freed.0), f64::from(suffix.0));
    let numbers = Numbers {
        freed,
        suffix,
        warm,
        break_even_turns,
        expected_turns,
        cost_now: cost(t, prices.cache_write),
        cost_waiting: cost(
            x + t,
            if warm {
                prices.cache_read
            } else {
                prices.cache_write
            },
        ),
    };
    let why = if freed == Tokens::ZERO {
        Why::NothingToFree
    } else if !warm {
        Why::ColdCache
    } else if numbers.saved() > 0.0 {
        Why::PaysBack
    } else {
        Why::WouldNotPayBack
    };
    Verdict {
        now: matches!(why, Why::ColdCache | Why::PaysBack),
        why,
        numbers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(prices: Prices, since: Since, expected_turns: u32) -> CacheTerms {
        CacheTerms {
            prices,
            since,
            expected_turns,
        }
    }

    fn rounded(turns: Option<f64>) -> Option<f64> {
        turns.map(|turns| (turns * 1e6).round() / 1e6)
    }

    #[test]
    fn break_even_follows_the_measured_rules() {
        let prices = Prices::RATIO;
        let prune = |x, t| rounded(prices.prune_pays_after(Tokens(x), Tokens(t)));
        assert_eq!(prune(10_000, 40_000), Some(46.0));
        assert_eq!(prune(40_000, 40_000), Some(11.5));
        assert_eq!(prune(0, 40_000), None);
        let compact = |r, by| rounded(prices.compaction_pays_after(r, by));
        assert_eq!(compact(0.2, Summarizer::Mechanical), Some(3.125));
        assert_eq!(compact(0.2, Summarizer::Model), Some(16.875));
        assert_eq!(compact(1.0, Summarizer::Mechanical), None);
    }

    #[test]
    fn a_verdict_agrees_with_the_break_even() {
        let (x, t) = (Tokens(40_000), Tokens(40_000));
        let decide = |since, turns| {
            let verdict = decide(x, t, &terms(Prices::RATIO, since, turns));
            (verdict.now, verdict.why)
        };
        let warm = Since::Seconds(10.0);
        assert_eq!(decide(warm, 11), (false, Why::WouldNotPayBack));
        assert_eq!(decide(warm, 12), (true, Why::PaysBack));
        assert_eq!(decide(Since::Seconds(300.0), 1), (true, Why::ColdCache));
        assert_eq!(decide(Since::Seconds(f64::NAN), 1), (true, Why::ColdCache));
        assert_eq!(
            decide(Since::Seconds(-5.0), 1),
            (false, Why::WouldNotPayBack)
        );
        assert_eq!(decide(Since::Never, 1), (true, Why::ColdCache));
    }

    #[test]
    fn verdicts_explain_themselves() {
        let say = |freed, since, turns| {
            let terms = terms(Prices::RATIO, since, turns);
            decide(Tokens(freed), Tokens(40_000), &terms).to_string()
        };
        assert_eq!(
            say(20_000, Since::Seconds(1.0), 30),
            "prune now: freeing 20,000 tokens in front of 40,000 cached ones pays after 23.0 turns, 30 are expected"
        );
        assert_eq!(
            say(20_000, Since::Seconds(1.0), 5),
            "wait: freeing 20,000 tokens in front of 40,000 cached ones pays after 23.0 turns, 5 are expected"
        );
        assert_eq!(
            say(20_000, Since::Never, 5),
            "prune now: 20,000 tokens come free and the cache is cold"
        );
        assert_eq!(say(0, Since::Never, 5), "nothing to prune");
    }

    #[test]
    fn a_free_cache_is_never_rewritten() {
        let prices = Prices {
            cache_read: 0.0,
            ..Prices::RATIO
        };
        let terms = terms(prices, Since::Seconds(1.0), 1_000);
        let verdict = decide(Tokens(90_000), Tokens(1), &terms);
        assert_eq!(
            (verdict.now, verdict.numbers.break_even_turns),
            (false, None)
        );
    }
}
