//! How large and how dear the models are: the table, and what the caller knows
//! better.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{ModelInfo, Prices};
use crate::provider::{Protocol, Provider};
use crate::table::listed;

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
        let Some(row) = listed(name) else {
            return Known {
                window: asks_for_a_million(name),
                prices: is_free(provider, name).then(Prices::default),
                ..Known::default()
            };
        };
        // What a local server makes of a model is its user's choice, but no server
        // makes more of it than there is.
        let hosted = !provider.is_local();
        Known {
            window: asks_for_a_million(name).or(Some(row.window)),
            max_output: row.max_output.filter(|_| hosted),
            prices: match provider {
                _ if is_free(provider, name) => Some(Prices::default()),
                Provider::Compatible => None,
                _ => row.prices,
            },
            cache_ttl: row.cache_ttl.filter(|_| hosted),
            images: Some(row.images),
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
fn asks_for_a_million(name: &str) -> Option<u32> {
    name.ends_with("[1m]").then_some(1_000_000)
}

fn is_free(provider: Provider, name: &str) -> bool {
    provider.is_local() || name.ends_with(":free")
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
            (Provider::OpenAi, "gpt-5-codex", Some(272_000), Some(1.25)),
            (
                Provider::OpenAi,
                "gpt-5.2-2025-12-11",
                Some(272_000),
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
            (Provider::Ollama, "gpt-oss-20b", Some(131_072), Some(0.0)),
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
}
