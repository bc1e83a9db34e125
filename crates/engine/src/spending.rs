//! What a session cost: the turns themselves, and beside them what was asked
//! in silence.

use longhaul_model::{Answer, Error as ModelError, Failure, ModelInfo, Usage};
use longhaul_tokens::Spent;
use serde::{Deserialize, Serialize};

/// What one answer took.
pub fn spent_on(answer: &Answer, model: &ModelInfo) -> Spent {
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
pub fn spent_on_failure(failure: &Failure, model: &ModelInfo) -> Spent {
    match (&failure.partial, &failure.error) {
        (Some(partial), _) => spent_on(partial, model),
        (None, ModelError::Cancelled) if failure.attempts > 0 => Spent {
            requests: 1,
            unpriced: 1,
            unreported: 1,
            ..Spent::default()
        },
        (None, _) => Spent::default(),
    }
}

/// The same as pi writes it beside an answer.
pub(crate) fn to_json(spent: &Spent) -> serde_json::Value {
    serde_json::json!({
        "input": spent.input,
        "output": spent.output,
        "cacheRead": spent.cache_read,
        "cacheWrite": spent.cache_write,
        "totalTokens": spent.tokens(),
        "cost": { "total": spent.dollars },
    })
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
pub(crate) fn usage_json(usage: &Usage, answer: &Answer, model: &ModelInfo) -> serde_json::Value {
    let mut json = to_json(&spent_on(answer, model));
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
