//! What requests to a model took.

use serde::{Deserialize, Serialize};

/// Tokens and money of some requests.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// Requests that were answered, wholly or in part.
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
    /// Requests whose price nobody knows; they are not in the dollars.
    pub unpriced: u64,
    /// Requests for which the provider reported no usage; they are not in the
    /// tokens either.
    pub unreported: u64,
}

impl Spent {
    /// Adds what others took.
    pub fn add(&mut self, other: &Spent) {
        self.requests += other.requests;
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.dollars += other.dollars;
        self.unpriced += other.unpriced;
        self.unreported += other.unreported;
    }

    /// What came since.
    pub fn since(&self, before: &Spent) -> Spent {
        Spent {
            requests: self.requests - before.requests,
            input: self.input - before.input,
            output: self.output - before.output,
            cache_read: self.cache_read - before.cache_read,
            cache_write: self.cache_write - before.cache_write,
            dollars: self.dollars - before.dollars,
            unpriced: self.unpriced - before.unpriced,
            unreported: self.unreported - before.unreported,
        }
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    /// Whether nothing was asked.
    pub fn is_nothing(&self) -> bool {
        *self == Spent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_what_came_since_and_is_written_under_its_names() {
        let one = Spent {
            requests: 1,
            input: 8,
            output: 2,
            dollars: 0.5,
            unpriced: 1,
            ..Spent::default()
        };
        let mut both = one;
        both.add(&one);
        assert_eq!(both.since(&one), one);
        assert_eq!((both.tokens(), both.is_nothing()), (20, false));
        assert!(one.since(&one).is_nothing());
        assert_eq!(
            serde_json::to_string(&one).unwrap(),
            r#"{"requests":1,"input":8,"output":2,"cacheRead":0,"cacheWrite":0,"dollars":0.5,"unpriced":1,"unreported":0}"#
        );
        assert!(serde_json::from_str::<Spent>("{}").unwrap().is_nothing());
    }
}
