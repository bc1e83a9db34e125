//! The bill: what a sequence of requests costs.
//!
//! Given what each request showed, piece by piece, and how long after the last
//! it came, this is what a provider with a prompt cache would have charged. It
//! lets ways of managing a context be compared on one real timeline.

use longhaul_tokens::Tokens;
use serde::Serialize;

use super::{Prices, Since, Unit};

/// One piece of a request: a message, or a system prompt, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// What it is; equal for equal bytes.
    pub hash: u64,
    /// Its size.
    pub tokens: Tokens,
}

impl Part {
    /// A piece from its bytes.
    pub fn of(text: &str, tokens: Tokens) -> Part {
        let hash = blake3::hash(text.as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash.as_bytes()[..8]);
        Part {
            hash: u64::from_le_bytes(bytes),
            tokens,
        }
    }
}

/// What one request is charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Charge {
    /// Input read from the cache.
    pub cache_read: Tokens,
    /// Input written to it.
    pub cache_write: Tokens,
}

/// The sum of many requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bill {
    prices: Prices,
    /// Requests charged.
    pub requests: u64,
    /// Input that was neither read from the cache nor written to it.
    pub fresh: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Output.
    pub output: u64,
    /// Requests after the first for which nothing could be read from the cache.
    pub rewrites: u64,
    #[serde(skip)]
    last: Vec<Part>,
}

impl Bill {
    /// An empty bill.
    pub fn new(prices: Prices) -> Bill {
        Bill {
            prices,
            requests: 0,
            fresh: 0,
            cache_read: 0,
            cache_write: 0,
            output: 0,
            rewrites: 0,
            last: Vec::new(),
        }
    }

    /// Charges a request of `total` tokens, the first `shared` of which the
    /// last request had too. In time, those are read and the rest is written;
    /// too late, all of it is written.
    pub fn charge(&mut self, shared: Tokens, total: Tokens, since: Since) -> Charge {
        let cache_read = if self.prices.is_warm(since) && self.requests > 0 {
            shared.min(total)
        } else {
            Tokens::ZERO
        };
        let charge = Charge {
            cache_read,
            cache_write: total - cache_read,
        };
        if self.requests > 0 && cache_read == Tokens::ZERO {
            self.rewrites += 1;
        }
        self.requests += 1;
        self.cache_read += u64::from(charge.cache_read.0);
        self.cache_write += u64::from(charge.cache_write.0);
        charge
    }

    /// Charges a request by what it shows, comparing it with the last one.
    pub fn request(&mut self, parts: &[Part], since: Since) -> Charge {
        let shared = parts
            .iter()
            .zip(&self.last)
            .take_while(|(part, last)| part.hash == last.hash)
            .map(|(part, _)| part.tokens)
            .sum();
        let charge = self.charge(shared, parts.iter().map(|part| part.tokens).sum(), since);
        self.last.clear();
        self.last.extend_from_slice(parts);
        charge
    }

    /// Adds a call beside the conversation, such as one that writes a summary:
    /// it reads `cached` tokens from the cache and `fresh` ones not.
    pub fn add_call(&mut self, cached: Tokens, fresh: Tokens, output: Tokens) {
        self.cache_read += u64::from(cached.0);
        self.fresh += u64::from(fresh.0);
        self.add_output(output);
    }

    /// Adds output.
    pub fn add_output(&mut self, output: Tokens) {
        self.output += u64::from(output.0);
    }

    /// All input, as tokens of fresh input that cost the same.
    pub fn input_units(&self) -> f64 {
        self.input_price() / self.unit_price()
    }

    /// Everything, as tokens of fresh input that cost the same.
    pub fn units(&self) -> f64 {
        (self.input_price() + self.output as f64 * self.prices.output) / self.unit_price()
    }

    /// Everything in US dollars, if the prices are.
    pub fn dollars(&self) -> Option<f64> {
        (self.prices.unit == Unit::Dollars).then(|| self.units() * self.unit_price() / 1e6)
    }

    /// The share of the input that was read from the cache.
    pub fn read_share(&self) -> f64 {
        let input = self.fresh + self.cache_read + self.cache_write;
        self.cache_read as f64 / input.max(1) as f64
    }

    fn input_price(&self) -> f64 {
        self.fresh as f64 * self.prices.input
            + self.cache_read as f64 * self.prices.cache_read
            + self.cache_write as f64 * self.prices.cache_write
    }

    fn unit_price(&self) -> f64 {
        if self.prices.input > 0.0 {
            self.prices.input
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: &str) -> Vec<Part> {
        names
            .chars()
            .map(|name| Part::of(&name.to_string(), Tokens(1_000)))
            .collect()
    }

    fn charge(cache_read: u32, cache_write: u32) -> Charge {
        Charge {
            cache_read: Tokens(cache_read),
            cache_write: Tokens(cache_write),
        }
    }

    #[test]
    fn a_shared_prefix_is_read_and_the_rest_written() {
        let mut bill = Bill::new(Prices::RATIO);
        assert_eq!(bill.request(&parts("ab"), Since::Never), charge(0, 2_000));
        assert_eq!(
            bill.request(&parts("abcd"), Since::Seconds(9.0)),
            charge(2_000, 2_000)
        );
        // A change in the middle spoils everything behind it.
        assert_eq!(
            bill.request(&parts("aXcde"), Since::Seconds(9.0)),
            charge(1_000, 4_000)
        );
        assert_eq!(
            bill.request(&parts("aXcdef"), Since::Seconds(301.0)),
            charge(0, 6_000)
        );
        assert_eq!((bill.requests, bill.rewrites), (4, 1));
        assert_eq!(bill.input_units(), 3_000.0 * 0.1 + 14_000.0 * 1.25);
        assert_eq!(bill.dollars(), None);
    }

    #[test]
    fn money_follows_the_price_list() {
        let mut bill = Bill::new(Prices {
            input: 5.0,
            cache_read: 0.5,
            cache_write: 6.25,
            output: 25.0,
            ttl_seconds: 300,
            unit: Unit::Dollars,
        });
        bill.charge(Tokens::ZERO, Tokens(100_000), Since::Never);
        bill.charge(Tokens(100_000), Tokens(100_000), Since::Seconds(1.0));
        bill.add_call(Tokens(100_000), Tokens(1_000), Tokens(2_000));
        let dollars = bill.dollars().unwrap();
        assert!(
            (dollars - (0.625 + 0.05 + 0.05 + 0.005 + 0.05)).abs() < 1e-9,
            "{dollars}"
        );
        assert_eq!(bill.output, 2_000);
    }
}
