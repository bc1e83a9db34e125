//! What a session cost: the turns themselves, and beside them what was asked
//! in silence.

use longhaul_model::{Answer, Error as ModelError, Failure, ModelInfo, Usage};
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
    /// What one answer took.
    pub fn of(answer: &Answer, model: &ModelInfo) -> Spent {
        let Some(usage) = answer.usage else {
            return Spent {
                requests: 1,
                unpriced: u64::from(answer.cost.is_none()),
                unreported: 1,
                dollars: answer.cost.unwrap_or(0.0),
                ..Spent::default()
            };
        };
        let dollars = answer
            .cost
            .or_else(|| model.prices.map(|prices| prices.cost(&usage)));
        Spent {
            requests: 1,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            dollars: dollars.unwrap_or(0.0),
            unpriced: u64::from(dollars.is_none()),
            unreported: 0,
        }
    }

    /// What a request took that did not end well. One that was stopped on its way
    /// may have been paid for; nobody says how much.
    pub fn of_failure(failure: &Failure, model: &ModelInfo) -> Spent {
        match (&failure.partial, &failure.error) {
            (Some(partial), _) => Spent::of(partial, model),
            (None, ModelError::Cancelled) if failure.attempts > 0 => Spent {
                requests: 1,
                unpriced: 1,
                unreported: 1,
                ..Spent::default()
            },
            (None, _) => Spent::default(),
        }
    }

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
    pub(super) fn since(&self, before: &Spent) -> Spent {
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

    /// The same as pi writes it beside an answer.
    pub(super) fn to_json(self) -> serde_json::Value {
        serde_json::json!({
            "input": self.input,
            "output": self.output,
            "cacheRead": self.cache_read,
            "cacheWrite": self.cache_write,
            "totalTokens": self.tokens(),
            "cost": { "total": self.dollars },
        })
    }
}

/// What a session took, by what it was for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spending {
    /// Answers to the user, tool rounds included.
    pub turns: Spent,
    /// Silent turns that saved to memory.
    pub flushes: Spent,
    /// Summaries by a model.
    pub compactions: Spent,
    /// The last turn alone, with what was asked in silence during it.
    pub last_turn: Spent,
}

impl Spending {
    /// All of it.
    pub fn total(&self) -> Spent {
        let mut total = self.turns;
        total.add(&self.flushes);
        total.add(&self.compactions);
        total
    }
}

/// What the tokens of an answer cost, part by part, as pi writes it.
pub(super) fn usage_json(usage: &Usage, answer: &Answer, model: &ModelInfo) -> serde_json::Value {
    let mut json = Spent::of(answer, model).to_json();
    if let Some(prices) = model.prices {
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        json["cost"] = serde_json::json!({
            "input": part(usage.input, prices.input),
            "output": part(usage.output, prices.output),
            "cacheRead": part(usage.cache_read, prices.cache_read),
            "cacheWrite": part(usage.cache_write, prices.cache_write),
            "total": answer.cost.unwrap_or_else(|| prices.cost(usage)),
        });
    }
    json
}
