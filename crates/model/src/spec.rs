//! Naming a model.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::catalogue::Known;
use crate::provider::{Protocol, Provider};

/// Which model, from whom, where, and in which format.
///
/// Written `provider/name`, with `+protocol` after the provider and `@base-url`
/// after the name where they differ from the usual:
///
/// ```
/// use longhaul_model::{ModelSpec, Protocol, Provider};
///
/// let spec = ModelSpec::parse("openai+chat/gpt-4.1")?;
/// assert_eq!((spec.provider, spec.protocol()), (Provider::OpenAi, Protocol::Chat));
///
/// let spec = ModelSpec::parse("openai-compatible/qwen3-coder@http://10.0.0.5:8000/v1")?;
/// assert_eq!(spec.base_url.as_deref(), Some("http://10.0.0.5:8000/v1"));
/// # Ok::<(), longhaul_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// Who serves it.
    pub provider: Provider,
    /// Its name, as the provider takes it.
    pub name: String,
    /// Where it is asked, if not where the provider usually is.
    pub base_url: Option<String>,
    /// The format it is asked in, if not the provider's usual one.
    pub protocol: Option<Protocol>,
    /// The environment variable that holds the key, if not the provider's usual one.
    pub key_variable: Option<String>,
    /// What is known better of it than the table does.
    pub known: Known,
}

impl ModelSpec {
    /// A model of a provider, all else as usual.
    pub fn new(provider: Provider, name: impl Into<String>) -> Self {
        Self {
            provider,
            name: name.into(),
            base_url: None,
            protocol: None,
            key_variable: None,
            known: Known::default(),
        }
    }

    /// Reads `provider[+protocol]/name[@base-url]`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = |reason: String| Error::BadSpec {
            spec: text.to_owned(),
            reason,
        };
        let Some((who, rest)) = text.trim().split_once('/') else {
            return Err(bad(match usual_provider(text.trim()) {
                Some(provider) => format!("write {provider}/{}", text.trim()),
                None => "the provider is missing".into(),
            }));
        };
        let (who, how) = match who.split_once('+') {
            Some((who, how)) => (who, Some(how)),
            None => (who, None),
        };
        let provider = Provider::named(who).ok_or_else(|| {
            let names: Vec<&str> = Provider::all().map(Provider::name).collect();
            bad(format!(
                "there is no provider {who:?}, only {}",
                names.join(", ")
            ))
        })?;
        let protocol = how
            .map(|how| {
                Protocol::ALL
                    .into_iter()
                    .find(|protocol| protocol.name() == how)
                    .ok_or_else(|| {
                        bad(format!(
                            "there is no protocol {how:?}, only messages, chat, responses"
                        ))
                    })
            })
            .transpose()?;
        // Vertex has names with `@` in them, so that only a URL ends the name.
        let (name, base_url) = match rest.find("@http://").or_else(|| rest.find("@https://")) {
            Some(at) => (&rest[..at], Some(rest[at + 1..].to_owned())),
            None => (rest, None),
        };
        if name.is_empty() {
            return Err(bad("the name of the model is missing".into()));
        }
        Ok(Self {
            base_url,
            protocol,
            ..Self::new(provider, name)
        })
    }

    /// The same model elsewhere.
    pub fn at(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = Some(base_url.into());
        self
    }

    /// The same model in another format.
    pub fn speaking(mut self, protocol: Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// The format it is asked in.
    pub fn protocol(&self) -> Protocol {
        self.protocol.unwrap_or_else(|| self.provider.protocol())
    }

    /// The environment variable that holds its key.
    pub fn key_variable(&self) -> &str {
        self.key_variable
            .as_deref()
            .unwrap_or_else(|| self.provider.variable())
    }
}

impl FromStr for ModelSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.provider.name())?;
        if let Some(protocol) = self.protocol {
            write!(f, "+{}", protocol.name())?;
        }
        write!(f, "/{}", self.name)?;
        if let Some(base_url) = &self.base_url {
            write!(f, "@{base_url}")?;
        }
        Ok(())
    }
}

/// Who serves a model of such a name, for the advice in an error.
fn usual_provider(name: &str) -> Option<&'static str> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["claude"]) {
        Some("anthropic")
    } else if starts(&["gpt-", "o1", "o3", "o4", "codex"]) {
        Some("openai")
    } else if starts(&["gemini"]) {
        Some("gemini")
    } else if starts(&["deepseek"]) {
        Some("deepseek")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_and_written_alike() {
        for text in [
            "anthropic/claude-opus-5-5",
            "openai+chat/gpt-4.1",
            "openrouter/anthropic/claude-opus-5.5:beta",
            "ollama/llama3.1:8b",
            "openai-compatible+messages/claude-sonnet-4-5@20250929@https://gateway.example/v1",
        ] {
            assert_eq!(ModelSpec::parse(text).unwrap().to_string(), text);
        }
        let spec = ModelSpec::parse("openrouter/anthropic/claude-opus-5.5").unwrap();
        assert_eq!(spec.name, "anthropic/claude-opus-5.5");
        assert_eq!(spec.key_variable(), "OPENROUTER_API_KEY");
    }

    #[test]
    fn what_is_wrong_with_a_spec_is_said_with_advice() {
        for (text, advice) in [
            ("claude-opus-5-5", "write anthropic/claude-opus-5-5"),
            ("llama3.1", "the provider is missing"),
            ("", "the provider is missing"),
            (
                "anthropc/x",
                "there is no provider \"anthropc\", only anthropic, openai,",
            ),
            ("openai+grpc/x", "there is no protocol \"grpc\""),
            ("openai/", "the name of the model is missing"),
            ("ollama/@http://x/v1", "the name of the model is missing"),
        ] {
            let error = ModelSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(advice), "{error}");
        }
    }
}
