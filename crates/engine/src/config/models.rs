//! What the user knows of models better than the table, and how long they are
//! waited for.

use std::time::Duration;

use longhaul_model::{Catalogue, Known, Limits, ModelInfo, ModelSpec, Prices, Provider};
use longhaul_tokens::{Tokens, settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Config;

/// What is known of some models. What is left out is as the table has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelRule {
    /// Which models: `provider/name` or a name, with `*` at its end for all that begin so.
    #[serde(rename = "match")]
    pub pattern: String,
    /// How many tokens fit, prompt and answer together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1024))]
    pub context_window: Option<Tokens>,
    /// The most tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<Tokens>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ModelPrices")]
    pub prices: Option<ModelPrices>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelPrices {
    /// Of the prompt.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Of the answer.
    #[schemars(range(min = 0))]
    pub output: f64,
    /// Of the prompt, read from a cache; unset, as `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cache_read: Option<f64>,
    /// Of the prompt, written to a cache; unset, as `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cache_write: Option<f64>,
}

impl From<ModelPrices> for Prices {
    fn from(prices: ModelPrices) -> Prices {
        Prices {
            input: prices.input,
            output: prices.output,
            cache_read: prices.cache_read.unwrap_or(prices.input),
            cache_write: prices.cache_write.unwrap_or(prices.input),
        }
    }
}

settings! {
    /// How long a model is waited for, and how often it is asked.
    pub struct Requests {
        /// Seconds until the connection stands.
        connect_seconds: u32 [min = 1] = 15,
        /// Seconds from the request to the first byte of the answer.
        first_byte_seconds: u32 [min = 1] = 300,
        /// Seconds between two pieces of the answer.
        idle_seconds: u32 [min = 1] = 120,
        /// Seconds for one attempt.
        attempt_seconds: u32 [min = 1] = 1_200,
        /// Seconds for all attempts and the waits between them.
        total_seconds: u32 [min = 1] = 1_800,
        /// How often a request is sent at most; 1 for no retries.
        attempts: u32 [min = 1] = 4,
    }
}

impl Config {
    /// The table of models, with what is configured above it.
    pub fn catalogue(&self) -> Catalogue {
        let rules = self.models.iter();
        rules.fold(Catalogue::new(), |catalogue, rule| {
            let known = Known {
                window: rule.context_window.map(|window| window.0),
                max_output: rule.max_output_tokens.map(|most| most.0),
                prices: rule.prices.map(Prices::from),
                ..Known::default()
            };
            catalogue.with(rule.pattern.trim(), known)
        })
    }

    /// What is known of a model that nobody connects to, such as that of another
    /// agent's session. Without a provider the name may bring it, as on a command
    /// line; one that is not known here is like any compatible server.
    pub fn model_info(&self, provider: Option<&str>, model: &str) -> ModelInfo {
        let spec = match provider.map(Provider::named) {
            Some(Some(provider)) => ModelSpec::new(provider, model),
            Some(None) => ModelSpec::new(Provider::Compatible, model),
            None => ModelSpec::parse(model)
                .unwrap_or_else(|_| ModelSpec::new(Provider::Compatible, model)),
        };
        let catalogue = self.catalogue();
        catalogue.info(spec.provider, spec.protocol(), &spec.name)
    }

    /// Time-outs and retries of a request.
    pub fn request_limits(&self) -> Limits {
        let requests = &self.requests;
        let seconds = |count: u32| Duration::from_secs(u64::from(count));
        Limits {
            connect: seconds(requests.connect_seconds),
            first_byte: seconds(requests.first_byte_seconds),
            idle: seconds(requests.idle_seconds),
            request: seconds(requests.attempt_seconds),
            total: seconds(requests.total_seconds),
            attempts: requests.attempts,
            ..Limits::default()
        }
    }
}

impl ModelRule {
    /// Why it cannot be used, to follow the place it has in the list.
    pub(super) fn trouble(&self) -> Option<String> {
        let pattern = self.pattern.trim();
        let stars = pattern.matches('*').count();
        if stars > 1 || (stars == 1 && !pattern.ends_with('*')) {
            return Some(format!(
                "matches \"{pattern}\", and a `*` can only be its last character"
            ));
        }
        if pattern.contains("://") {
            return Some(format!(
                "matches \"{pattern}\", and addresses are not matched; write `provider/name`"
            ));
        }
        match (self.max_output_tokens, self.context_window) {
            (Some(most), Some(window)) if most > window => Some(format!(
                "has a `maxOutputTokens` of {most} in a `contextWindow` of {window}; an answer is \
                 part of the window: lower it"
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use longhaul_model::Provider;

    use super::super::{ConfigFile, FoundBy, Resolved, Sources, resolve};
    use super::*;

    fn yaml(text: &str) -> Sources {
        Sources {
            file: Some(ConfigFile {
                path: PathBuf::from("longhaul.yaml"),
                text: text.to_owned(),
                found_by: FoundBy::Workspace,
            }),
            ..Sources::default()
        }
    }

    fn read(text: &str) -> Resolved {
        resolve(&yaml(text)).unwrap()
    }

    fn refusal(text: &str) -> String {
        format!("{}", resolve(&yaml(text)).unwrap_err())
    }

    #[test]
    fn configured_models_count_above_the_table_also_where_they_are_larger() {
        let config = read(
            "models:
  - match: openai-compatible/qwen*
    contextWindow: 65536
    maxOutputTokens: 8192
    prices: { input: 0.5, output: 2, cacheRead: 0.05 }
  - match: claude-opus-4-5
    contextWindow: 1e6
",
        )
        .config;
        let catalogue = config.catalogue();
        let qwen = catalogue.look_up(Provider::Compatible, "qwen3-coder");
        assert_eq!((qwen.window, qwen.max_output), (Some(65_536), Some(8_192)));
        let prices = Prices {
            input: 0.5,
            output: 2.0,
            cache_read: 0.05,
            cache_write: 0.5,
        };
        assert_eq!(qwen.prices, Some(prices));
        let opus = catalogue.look_up(Provider::Anthropic, "claude-opus-4-5");
        assert_eq!(opus.window, Some(1_000_000));
        assert_eq!(opus.prices.map(|prices| prices.input), Some(5.0));
        let other = catalogue.look_up(Provider::Ollama, "qwen3-coder");
        assert_eq!(other.window, Some(262_144));
    }

    #[test]
    fn models_can_come_from_a_variable() {
        let text = r#"[{match: "vllm/q*", contextWindow: 32000}]"#;
        let sources = Sources::default().with_environment([("LONGHAUL_MODELS", text)]);
        let config = resolve(&sources).unwrap().config;
        let known = config.catalogue().look_up(Provider::Vllm, "qwen");
        assert_eq!(known.window, Some(32_000));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        for (text, expected) in [
            (
                "models:\n  - match: a\n    contextWindw: 4096\n",
                "longhaul.yaml:3",
            ),
            (
                "models:\n  - match: a\n    contextWindw: 4096\n",
                "models[0].contextWindow",
            ),
            ("models:\n  - contextWindow: 4096\n", "without `match`"),
            (
                "models:\n  - match: a\n    contextWindow: 12\n",
                "at least 1024",
            ),
            (
                "models:\n  - match: a\n    prices: { input: 1 }\n",
                "without `output`",
            ),
            (
                "models:\n  - match: a\n    prices: { input: -1, output: 1 }\n",
                "models[0].prices.input",
            ),
            (
                "models:\n  - match: a\n    prices: 3\n",
                "`input`, `output`",
            ),
            (
                "models:\n  - match: b\n  - match: a*b\n",
                "item 2 of `models`",
            ),
            ("models:\n  - match: \"m@http://host\"\n", "provider/name"),
            (
                "models:\n  - match: a\n    contextWindow: 4096\n    maxOutputTokens: 5000\n",
                "part of the window",
            ),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(expected), "{expected}: {refusal}");
        }
    }

    #[test]
    fn waiting_is_as_the_room_below_does_it_unless_it_is_set() {
        assert_eq!(Config::default().request_limits(), Limits::default());
        let limits = read("requests:\n  firstByteSeconds: 900\n  attempts: 1\n")
            .config
            .request_limits();
        assert_eq!(limits.first_byte, Duration::from_secs(900));
        assert_eq!(limits.attempts, 1);
        assert_eq!(limits.idle, Limits::default().idle);
    }
}
