//! Prices of well-known models.

use super::{Prices, Unit};

/// US dollars for a million tokens, by beginning of the model's name: input,
/// cache read, cache write (five minutes), output. The longest match counts.
///
/// As of November 2026, from the providers' public lists; of models that are no
/// longer sold, their last prices. Where a price depends on the length of the
/// prompt, it is that of the shorter one. Only Anthropic charges for writing;
/// elsewhere it costs what input costs.
#[rustfmt::skip]
const PRICES: &[(&str, [f64; 4])] = &[
    ("claude-fable-5",    [10.0, 1.0,   12.5,  50.0]),
    ("claude-fable-5-1",  [10.0, 0.25,  12.5,  50.0]),
    ("claude-mythos-5",   [10.0, 1.0,   12.5,  50.0]),
    ("claude-mythos-5-1", [10.0, 0.25,  12.5,  50.0]),
    ("claude-opus-5-5",   [4.0,  0.2,   5.0,   20.0]),
    ("claude-opus-5",     [5.0,  0.5,   6.25,  25.0]),
    ("claude-opus-4-8",   [5.0,  0.5,   6.25,  25.0]),
    ("claude-opus-4-7",   [5.0,  0.5,   6.25,  25.0]),
    ("claude-opus-4-6",   [5.0,  0.5,   6.25,  25.0]),
    ("claude-opus-4-5",   [5.0,  0.5,   6.25,  25.0]),
    ("claude-opus-4",     [15.0, 1.5,   18.75, 75.0]),
    ("claude-3-opus",     [15.0, 1.5,   18.75, 75.0]),
    ("claude-sonnet-5-5", [2.0,  0.1,   2.5,   10.0]),
    ("claude-sonnet-5",   [2.0,  0.2,   2.5,   10.0]),
    ("claude-sonnet-4",   [3.0,  0.3,   3.75,  15.0]),
    ("claude-3-7-sonnet", [3.0,  0.3,   3.75,  15.0]),
    ("claude-3-5-sonnet", [3.0,  0.3,   3.75,  15.0]),
    ("claude-haiku-5-5",  [0.1,  0.01,  0.125, 0.5]),
    ("claude-haiku-4-5",  [1.0,  0.1,   1.25,  5.0]),
    ("claude-3-5-haiku",  [0.8,  0.08,  1.0,   4.0]),
    ("claude-3-haiku",    [0.25, 0.03,  0.3,   1.25]),
    ("gpt-5",             [1.25, 0.125, 1.25,  10.0]),
    ("gpt-5-mini",        [0.25, 0.025, 0.25,  2.0]),
    ("gpt-5-nano",        [0.05, 0.005, 0.05,  0.4]),
    ("gpt-5.1",           [1.25, 0.125, 1.25,  10.0]),
    ("gpt-5.2",           [1.75, 0.175, 1.75,  14.0]),
    ("gpt-5.4",           [2.5,  0.25,  2.5,   15.0]),
    ("gpt-5.4-mini",      [0.75, 0.075, 0.75,  4.5]),
    ("gpt-5.4-nano",      [0.2,  0.02,  0.2,   1.25]),
    ("gpt-4.1",           [2.0,  0.5,   2.0,   8.0]),
    ("gpt-4.1-mini",      [0.4,  0.1,   0.4,   1.6]),
    ("gpt-4o",            [2.5,  1.25,  2.5,   10.0]),
    ("gpt-4o-mini",       [0.15, 0.075, 0.15,  0.6]),
    ("o3",                [2.0,  0.5,   2.0,   8.0]),
    ("o4-mini",           [1.1,  0.275, 1.1,   4.4]),
    ("gemini-2.5-pro",    [1.25, 0.125, 1.25,  10.0]),
    ("gemini-2.5-flash",  [0.3,  0.03,  0.3,   2.5]),
    ("gemini-3-pro",      [2.0,  0.2,   2.0,   12.0]),
    ("gemini-3-flash",    [0.5,  0.05,  0.5,   3.0]),
];

/// The prices of a well-known model, by its id in any provider's spelling.
pub fn known_prices(model_id: &str) -> Option<Prices> {
    let id = model_id.trim().to_ascii_lowercase();
    let name = id.rsplit('/').next().unwrap_or(&id);
    // Bedrock puts region and vendor in front, with dots.
    let name = name.split_once("anthropic.").map_or(name, |(_, rest)| rest);
    // OpenRouter writes Anthropic's versions with dots.
    let name = if name.starts_with("claude-") {
        name.replace('.', "-")
    } else {
        name.to_owned()
    };
    let (_, [input, cache_read, cache_write, output]) = PRICES
        .iter()
        .filter(|(prefix, _)| {
            // "gpt-5" is not "gpt-5.9", whose price we do not know.
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@', '[']))
        })
        .max_by_key(|(prefix, _)| prefix.len())?;
    Some(Prices {
        input: *input,
        cache_read: *cache_read,
        cache_write: *cache_write,
        output: *output,
        ttl_seconds: 300,
        unit: Unit::Dollars,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_in_any_spelling() {
        let input = |model| known_prices(model).map(|prices| prices.input);
        let cases = [
            ("claude-opus-4-6", Some(5.0)),
            ("claude-opus-4-20250514", Some(15.0)),
            ("openrouter/anthropic/claude-opus-4.5", Some(5.0)),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Some(3.0)),
            ("claude-sonnet-4-5[1m]", Some(3.0)),
            ("gpt-5-2025-08-07", Some(1.25)),
            ("gpt-5-codex", Some(1.25)),
            ("GPT-5.2", Some(1.75)),
            ("gpt-5.9", None),
            ("google/gemini-2.5-flash-lite", Some(0.3)),
            ("my-model", None),
        ];
        for (model, expected) in cases {
            assert_eq!(input(model), expected, "{model}");
        }
    }

    #[test]
    fn reads_cost_less_than_input_and_writes_no_less() {
        for (name, [input, read, write, output]) in PRICES {
            assert!(read < input && write >= input && output > input, "{name}");
        }
    }
}
