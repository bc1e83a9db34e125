//! How large and how dear the models are: a small table, and what the caller
//! knows better.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{ModelInfo, Prices};
use crate::provider::{Protocol, Provider};

/// What a caller knows better than the table. Fields that are `None` leave the
/// table's value as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// How many tokens fit, prompt and answer together.
    pub window: Option<u32>,
    /// The most tokens of one answer.
    pub max_output: Option<u32>,
    /// US dollars per million tokens.
    pub prices: Option<Prices>,
    /// How long a cached prompt is kept after its last use.
    pub cache_ttl: Option<Duration>,
    /// Whether the model takes images.
    pub images: Option<bool>,
}

impl Known {
    /// These values where they are set, the others elsewhere.
    pub fn or(self, others: Self) -> Self {
        Self {
            window: self.window.or(others.window),
            max_output: self.max_output.or(others.max_output),
            prices: self.prices.or(others.prices),
            cache_ttl: self.cache_ttl.or(others.cache_ttl),
            images: self.images.or(others.images),
        }
    }
}

/// The models that are known, and the caller's corrections.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    overrides: Vec<(String, Known)>,
}

struct Row {
    name: &'static str,
    window: u32,
    max_output: u32,
    /// Input, output, cache read, cache write; all 0 where hosts differ.
    prices: [f64; 4],
    images: bool,
}

const fn row(name: &'static str, window: u32, max_output: u32, prices: [f64; 4]) -> Row {
    Row {
        name,
        window,
        max_output,
        prices,
        images: true,
    }
}

const fn blind(name: &'static str, window: u32, max_output: u32, prices: [f64; 4]) -> Row {
    Row {
        name,
        window,
        max_output,
        prices,
        images: false,
    }
}

const UNPRICED: [f64; 4] = [0.0; 4];

/// Gathered in November 2026 from the providers' pages and public price lists; what is
/// configured counts above it. Names are the beginnings
/// of names, with points as dashes. Prices are those of the shorter context where
/// a provider has two, and of the busy hours where it has those.
#[rustfmt::skip]
const MODELS: &[Row] = &[
    // Anthropic. Writes for five minutes cost a quarter more than the input.
    row("claude-fable-5-1", 1_000_000, 128_000, [10.0, 50.0, 0.25, 12.5]),
    row("claude-fable-5", 1_000_000, 128_000, [10.0, 50.0, 1.0, 12.5]),
    row("claude-opus-5-5", 1_000_000, 128_000, [4.0, 20.0, 0.4, 5.0]),
    row("claude-opus-5", 1_000_000, 128_000, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-8", 1_000_000, 128_000, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-7", 1_000_000, 128_000, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-6", 1_000_000, 128_000, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-5", 200_000, 64_000, [5.0, 25.0, 0.5, 6.25]),
    row("claude-opus-4-1", 200_000, 32_000, [15.0, 75.0, 1.5, 18.75]),
    row("claude-opus-4", 200_000, 32_000, [15.0, 75.0, 1.5, 18.75]),
    row("claude-sonnet-5-5", 1_000_000, 128_000, [2.0, 10.0, 0.2, 2.5]),
    row("claude-sonnet-5", 1_000_000, 128_000, [2.0, 10.0, 0.2, 2.5]),
    row("claude-sonnet-4-6", 1_000_000, 128_000, [3.0, 15.0, 0.3, 3.75]),
    row("claude-sonnet-4-5", 200_000, 64_000, [3.0, 15.0, 0.3, 3.75]),
    row("claude-sonnet-4", 200_000, 64_000, [3.0, 15.0, 0.3, 3.75]),
    row("claude-haiku-5-5", 1_000_000, 128_000, [0.1, 0.5, 0.01, 0.125]),
    row("claude-haiku-4-5", 200_000, 64_000, [1.0, 5.0, 0.1, 1.25]),
    row("claude-3-7-sonnet", 200_000, 64_000, [3.0, 15.0, 0.3, 3.75]),
    row("claude-3-5-sonnet", 200_000, 8_192, [3.0, 15.0, 0.3, 3.75]),
    row("claude-3-5-haiku", 200_000, 8_192, [0.8, 4.0, 0.08, 1.0]),
    // OpenAI. Writes cost extra from 5.6 on. The window is input and answer together.
    row("gpt-5-6-sol", 1_050_000, 128_000, [4.0, 20.0, 0.4, 5.0]),
    row("gpt-5-6-terra", 1_050_000, 128_000, [2.0, 12.0, 0.2, 2.5]),
    row("gpt-5-6-luna", 1_050_000, 128_000, [0.2, 1.2, 0.02, 0.25]),
    row("gpt-5-5", 1_050_000, 128_000, [5.0, 30.0, 0.5, 5.0]),
    row("gpt-5-4", 1_050_000, 128_000, [2.5, 15.0, 0.25, 2.5]),
    row("gpt-5-4-mini", 400_000, 128_000, [0.75, 4.5, 0.075, 0.75]),
    row("gpt-5-4-nano", 400_000, 128_000, [0.2, 1.25, 0.02, 0.2]),
    row("gpt-5-2", 400_000, 128_000, [1.75, 14.0, 0.175, 1.75]),
    row("gpt-5-1", 400_000, 128_000, [1.25, 10.0, 0.125, 1.25]),
    row("gpt-5", 400_000, 128_000, [1.25, 10.0, 0.125, 1.25]),
    row("gpt-5-mini", 400_000, 128_000, [0.25, 2.0, 0.025, 0.25]),
    row("gpt-5-nano", 400_000, 128_000, [0.05, 0.4, 0.005, 0.05]),
    row("gpt-4-1", 1_047_576, 32_768, [2.0, 8.0, 0.5, 2.0]),
    row("gpt-4-1-mini", 1_047_576, 32_768, [0.4, 1.6, 0.1, 0.4]),
    row("gpt-4-1-nano", 1_047_576, 32_768, [0.1, 0.4, 0.025, 0.1]),
    row("gpt-4o", 128_000, 16_384, [2.5, 10.0, 1.25, 2.5]),
    row("gpt-4o-mini", 128_000, 16_384, [0.15, 0.6, 0.075, 0.15]),
    row("o3", 200_000, 100_000, [2.0, 8.0, 0.5, 2.0]),
    row("o3-mini", 200_000, 100_000, [1.1, 4.4, 0.55, 1.1]),
    row("o4-mini", 200_000, 100_000, [1.1, 4.4, 0.275, 1.1]),
    row("o1", 200_000, 100_000, [15.0, 60.0, 7.5, 15.0]),
    blind("gpt-oss-120b", 131_072, 131_072, UNPRICED),
    blind("gpt-oss-20b", 131_072, 131_072, UNPRICED),
    // Google.
    row("gemini-3-8-flash", 1_048_576, 65_536, [0.75, 3.75, 0.075, 0.75]),
    row("gemini-3-7-flash", 1_048_576, 65_536, [0.75, 3.75, 0.075, 0.75]),
    row("gemini-3-6-flash", 1_048_576, 65_536, [0.75, 3.75, 0.075, 0.75]),
    row("gemini-3-5-flash", 1_048_576, 65_536, [1.5, 9.0, 0.15, 1.5]),
    row("gemini-3-5-flash-lite", 1_048_576, 65_536, [0.3, 2.5, 0.03, 0.3]),
    row("gemini-3-1-pro", 1_048_576, 65_536, [2.0, 12.0, 0.2, 2.0]),
    row("gemini-3-1-flash-lite", 1_048_576, 65_536, [0.25, 1.5, 0.025, 0.25]),
    row("gemini-3-flash", 1_048_576, 65_536, [0.5, 3.0, 0.05, 0.5]),
    row("gemini-2-5-pro", 1_048_576, 65_536, [1.25, 10.0, 0.125, 1.25]),
    row("gemini-2-5-flash", 1_048_576, 65_536, [0.3, 2.5, 0.03, 0.3]),
    row("gemini-2-5-flash-lite", 1_048_576, 65_536, [0.1, 0.4, 0.01, 0.1]),
    // Open weights: the windows of the models; hosts often serve less, and set
    // their own prices.
    row("deepseek-flash", 1_000_000, 384_000, UNPRICED),
    row("deepseek-v4-flash", 1_000_000, 384_000, UNPRICED),
    blind("deepseek-v4-pro", 1_000_000, 384_000, UNPRICED),
    blind("deepseek-v3-2", 128_000, 64_000, UNPRICED),
    blind("deepseek-r1", 128_000, 64_000, UNPRICED),
    blind("qwen3-coder", 262_144, 65_536, UNPRICED),
    blind("qwen2-5-coder", 32_768, 8_192, UNPRICED),
    blind("glm-4-6", 200_000, 128_000, UNPRICED),
    blind("kimi-k2-thinking", 262_144, 262_144, UNPRICED),
    blind("llama-3-3", 131_072, 131_072, UNPRICED),
    blind("llama-3-1", 131_072, 131_072, UNPRICED),
    blind("minimax-m2", 204_800, 131_072, UNPRICED),
    blind("devstral", 131_072, 131_072, UNPRICED),
];

/// After a row's name these make another model of it, with its own size and price.
const TIERS: &[&str] = &[
    "mini", "nano", "pro", "lite", "micro", "small", "large", "max", "fast", "turbo", "chat",
    "flash", "high", "low", "thinking", "deep", "audio", "realtime", "search", "image", "sol",
    "terra", "luna",
];

impl Catalogue {
    /// The table as it is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a correction for `provider/name` or for a name alone, with a `*` at
    /// its end for all names that begin so. Later ones win.
    pub fn with(mut self, pattern: impl Into<String>, known: Known) -> Self {
        self.overrides.push((pattern.into(), known));
        self
    }

    /// What is known of a model.
    pub fn look_up(&self, provider: Provider, name: &str) -> Known {
        self.corrections(provider, name)
            .or(Self::tabulated(provider, name))
    }

    /// What the caller said of a model, without the table.
    pub fn corrections(&self, provider: Provider, name: &str) -> Known {
        let mut known = Known::default();
        let full = format!("{}/{name}", provider.name());
        for (pattern, correction) in self.overrides.iter().rev() {
            let fits = match pattern.strip_suffix('*') {
                Some(start) => full.starts_with(start) || name.starts_with(start),
                None => full == *pattern || name == pattern,
            };
            if fits {
                known = known.or(correction.clone());
            }
        }
        known
    }

    fn tabulated(provider: Provider, name: &str) -> Known {
        let free = provider.is_local() || name.ends_with(":free");
        let found = find(name);
        let prices = match found {
            _ if free => Some(Prices::default()),
            Some(row) if row.prices != UNPRICED && provider != Provider::Compatible => {
                let [input, output, cache_read, cache_write] = row.prices;
                Some(Prices {
                    input,
                    output,
                    cache_read,
                    cache_write,
                })
            }
            _ => None,
        };
        if provider.is_local() {
            // A local server's window is what it was started with.
            return Known {
                prices,
                images: found.map(|row| row.images),
                ..Known::default()
            };
        }
        Known {
            window: found.map(|row| {
                if asks_for_a_million(name) {
                    1_000_000
                } else {
                    row.window
                }
            }),
            max_output: found.map(|row| row.max_output),
            prices,
            cache_ttl: match provider {
                Provider::Anthropic | Provider::OpenAi | Provider::OpenRouter => {
                    Some(Duration::from_secs(300))
                }
                _ => None,
            },
            images: found.map(|row| row.images),
        }
    }

    /// Everything a [`Model`](crate::Model) says of itself.
    pub fn info(&self, provider: Provider, protocol: Protocol, name: &str) -> ModelInfo {
        let known = self.look_up(provider, name);
        ModelInfo {
            provider: provider.name().to_owned(),
            name: name.to_owned(),
            protocol: Some(protocol),
            endpoint: None,
            window: known.window,
            window_given: self.corrections(provider, name).window.is_some(),
            max_output: known.max_output,
            prices: known.prices,
            caches: takes_breakpoints(provider, protocol, name),
            cache_ttl: known.cache_ttl,
        }
    }
}

/// Whether breakpoints are understood. Elsewhere prompts are cached without, or
/// not at all.
pub(crate) fn takes_breakpoints(provider: Provider, protocol: Protocol, name: &str) -> bool {
    match protocol {
        Protocol::Messages => true,
        Protocol::Chat => provider == Provider::OpenRouter && name.starts_with("anthropic/"),
        Protocol::Responses => {
            provider == Provider::OpenAi
                && (name.starts_with("gpt-5.6") || name.starts_with("gpt-6"))
        }
    }
}

/// Claude Code's way of asking for the long context of a model that has two.
fn asks_for_a_million(name: &str) -> bool {
    name.ends_with("[1m]")
}

/// The row with the longest name that the model's begins with.
fn find(model: &str) -> Option<&'static Row> {
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
    fn models_are_found_by_their_many_names() {
        let cases = [
            (
                Provider::Anthropic,
                "claude-opus-5-5",
                Some(1_000_000),
                Some(4.0),
            ),
            (
                Provider::Anthropic,
                "claude-sonnet-4-5-20250929",
                Some(200_000),
                Some(3.0),
            ),
            (
                Provider::Anthropic,
                "claude-sonnet-4-5[1m]",
                Some(1_000_000),
                Some(3.0),
            ),
            (
                Provider::Anthropic,
                "claude-opus-4-20250514",
                Some(200_000),
                Some(15.0),
            ),
            (Provider::Anthropic, "claude-opus-5-9", None, None),
            (
                Provider::OpenRouter,
                "anthropic/claude-opus-4.6",
                Some(1_000_000),
                Some(5.0),
            ),
            (
                Provider::OpenRouter,
                "anthropic/claude-haiku-4.5:beta",
                Some(200_000),
                Some(1.0),
            ),
            (
                Provider::OpenRouter,
                "openai/gpt-oss-20b:free",
                Some(131_072),
                Some(0.0),
            ),
            (
                Provider::OpenRouter,
                "meta-llama/llama-3.3-70b-instruct",
                Some(131_072),
                None,
            ),
            (
                Provider::OpenAi,
                "gpt-4o-2024-11-20",
                Some(128_000),
                Some(2.5),
            ),
            (Provider::OpenAi, "gpt-4o-mini", Some(128_000), Some(0.15)),
            (Provider::OpenAi, "gpt-5-codex", Some(400_000), Some(1.25)),
            (
                Provider::OpenAi,
                "gpt-5.2-2025-12-11",
                Some(400_000),
                Some(1.75),
            ),
            (Provider::OpenAi, "gpt-5-pro", None, None),
            (Provider::OpenAi, "gpt-5.9", None, None),
            (
                Provider::Gemini,
                "gemini-2.5-flash-lite",
                Some(1_048_576),
                Some(0.1),
            ),
            (
                Provider::Compatible,
                "claude-opus-5-5",
                Some(1_000_000),
                None,
            ),
            (
                Provider::Compatible,
                "us.anthropic.claude-opus-4-5-20251101-v1:0",
                Some(200_000),
                None,
            ),
            (Provider::Ollama, "llama3.1:8b", None, Some(0.0)),
            (Provider::Ollama, "gpt-oss-20b", None, Some(0.0)),
            (Provider::Compatible, "my-own-model", None, None),
            (Provider::Compatible, "", None, None),
        ];
        let catalogue = Catalogue::new();
        for (provider, name, window, input) in cases {
            let known = catalogue.look_up(provider, name);
            assert_eq!(
                (known.window, known.prices.map(|p| p.input)),
                (window, input),
                "{name}"
            );
        }
    }

    #[test]
    fn a_callers_word_counts_above_the_table_and_the_last_above_the_first() {
        let window = |window| Known {
            window: Some(window),
            ..Known::default()
        };
        let catalogue = Catalogue::new()
            .with("ollama/llama*", window(1))
            .with("claude-opus-5-5", window(2))
            .with("anthropic/claude-opus-5-5", window(3));
        assert_eq!(
            catalogue.look_up(Provider::Ollama, "llama3.1:8b").window,
            Some(1)
        );
        let opus = catalogue.look_up(Provider::Anthropic, "claude-opus-5-5");
        assert_eq!(opus.window, Some(3));
        assert_eq!(opus.max_output, Some(128_000));
        assert_eq!(
            catalogue
                .look_up(Provider::Compatible, "claude-opus-5-5")
                .window,
            Some(2)
        );
    }

    #[test]
    fn breakpoints_go_only_where_they_are_understood() {
        for (provider, protocol, name, caches) in [
            (
                Provider::Anthropic,
                Protocol::Messages,
                "claude-opus-5-5",
                true,
            ),
            (Provider::Compatible, Protocol::Messages, "x", true),
            (
                Provider::OpenRouter,
                Protocol::Chat,
                "anthropic/claude-opus-5.5",
                true,
            ),
            (
                Provider::OpenRouter,
                Protocol::Chat,
                "openai/gpt-5.6-sol",
                false,
            ),
            (Provider::OpenAi, Protocol::Responses, "gpt-5.6-terra", true),
            (Provider::OpenAi, Protocol::Chat, "gpt-5.6-terra", false),
            (Provider::OpenAi, Protocol::Responses, "gpt-6-astra", true),
            (Provider::OpenAi, Protocol::Responses, "gpt-5.5", false),
            (Provider::Ollama, Protocol::Chat, "llama3.1", false),
        ] {
            let info = Catalogue::new().info(provider, protocol, name);
            assert_eq!(info.caches, caches, "{provider:?} {name}");
        }
    }

    #[test]
    fn every_row_makes_sense() {
        for row in MODELS {
            assert!(row.max_output <= row.window, "{}", row.name);
            assert!(!row.name.contains(['.', '_', '@', '/']), "{}", row.name);
            assert_eq!(find(row.name).map(|found| found.name), Some(row.name));
            let [input, output, read, write] = row.prices;
            assert!(
                read <= input && input <= output && (write >= input),
                "{}",
                row.name
            );
        }
    }
}
