//! The one table of models. `models.txt` beside this file owns the numbers, each
//! row with its date and source; here it is read and searched.

use std::sync::LazyLock;
use std::time::Duration;

use crate::model::Prices;

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The beginning of the model's name, with points as dashes.
    pub name: &'static str,
    /// How many tokens fit a request.
    pub window: u32,
    /// The most tokens of one answer.
    pub max_output: Option<u32>,
    /// What its maker charges; none where hosts differ.
    pub prices: Option<Prices>,
    /// How long a cached prompt is kept after its last use, where that is said.
    pub cache_ttl: Option<Duration>,
    /// Whether it takes images.
    pub images: bool,
    /// The month in which the source was looked at, such as `2026-11`.
    pub as_of: &'static str,
    /// Whose page the numbers are from.
    pub source: &'static str,
}

static MODELS: LazyLock<Vec<Listed>> = LazyLock::new(|| lines().filter_map(Listed::read).collect());

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("models.txt").lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Listed {
    fn read(line: &'static str) -> Option<Listed> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [
            name,
            window,
            answer,
            input,
            output,
            read,
            write,
            kept,
            images,
            as_of,
            source,
        ] = cells[..]
        else {
            return None;
        };
        let prices = || {
            Some(Prices {
                input: input.parse().ok()?,
                output: output.parse().ok()?,
                cache_read: read.parse().ok()?,
                cache_write: write.parse().ok()?,
            })
        };
        Some(Listed {
            name,
            window: window.parse().ok()?,
            max_output: answer.parse().ok(),
            prices: prices(),
            cache_ttl: kept.parse().ok().map(Duration::from_secs),
            images: images == "yes",
            as_of,
            source,
        })
    }
}

/// After a row's name these make another model of it, with its own size and price.
const TIERS: &[&str] = &[
    "mini", "nano", "pro", "lite", "micro", "small", "large", "max", "fast", "turbo", "chat",
    "flash", "high", "low", "thinking", "deep", "audio", "realtime", "search", "image", "sol",
    "terra", "luna",
];

/// The row of a model, by its name in any provider's spelling: `claude-opus-4-5-20251101`,
/// `anthropic/claude-opus-4.5`, `us.anthropic.claude-opus-4-5-20251101-v1:0`. Of the rows
/// that a name begins with, the longest counts; another version or tier is another model.
pub fn listed(model: &str) -> Option<&'static Listed> {
    let name = model.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    // Bedrock puts region and vendor in front.
    let name = name.split_once("anthropic.").map_or(name, |(_, rest)| rest);
    let name = name.replace(['.', '_', '@'], "-");
    MODELS
        .iter()
        .filter(|row| name.strip_prefix(row.name).is_some_and(is_the_same_model))
        .max_by_key(|row| row.name.len())
}

/// Whether a name that goes on like this is still of the same model: a date, a
/// size, a variant of serving, but not another version or tier.
fn is_the_same_model(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix('-') else {
        return rest.is_empty() || rest.starts_with([':', '[']);
    };
    let word = rest.split(['-', ':', '[']).next().unwrap_or_default();
    let version = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    !version && !TIERS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_makes_sense() {
        assert_eq!(MODELS.len(), lines().count());
        for row in MODELS.iter() {
            let name = row.name;
            assert_eq!(listed(name).map(|found| found.name), Some(name));
            assert!(
                row.max_output.is_none_or(|most| most <= row.window),
                "{name}"
            );
            assert!(
                row.as_of.starts_with("20") && row.as_of.len() == 7,
                "{name}"
            );
            assert!(row.source.contains('.'), "{name}");
            if let Some(prices) = row.prices {
                let Prices {
                    input,
                    output,
                    cache_read,
                    cache_write,
                } = prices;
                assert!(
                    cache_read < input && input < output && cache_write >= input,
                    "{name}"
                );
            }
        }
        // A price is given whole or not at all.
        let numbers = |line: &str| {
            line.split('|')
                .skip(3)
                .take(4)
                .filter(|cell| !cell.trim().is_empty())
                .count()
        };
        assert!(lines().all(|line| matches!(numbers(line), 0 | 4)));
    }

    #[test]
    fn models_are_found_in_any_spelling() {
        let cases = [
            ("claude-opus-5", Some(1_000_000)),
            ("anthropic/claude-opus-5", Some(1_000_000)),
            ("claude-opus-4-5-20251101", Some(200_000)),
            ("openrouter/anthropic/claude-opus-4.5", Some(200_000)),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                Some(200_000),
            ),
            ("claude-sonnet-4-5[1m]", Some(200_000)),
            ("GPT-5.5", Some(1_050_000)),
            ("gpt-5-2025-08-07", Some(272_000)),
            ("gpt-5-codex", Some(272_000)),
            ("gpt-5-pro", None),
            ("gpt-5.9", None),
            ("gpt-4", Some(8_192)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-oss:20b", Some(131_072)),
            ("o1-mini", Some(128_000)),
            ("deepseek/deepseek-v4-pro", Some(1_000_000)),
            ("claude-opus-5-9", None),
            ("my-own-model", None),
            ("", None),
        ];
        for (model, window) in cases {
            assert_eq!(listed(model).map(|row| row.window), window, "{model}");
        }
    }
}
