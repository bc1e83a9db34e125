//! Who serves models, where, and in which format.

use serde::{Deserialize, Serialize};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
}

impl Protocol {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Messages, Self::Chat, Self::Responses];

    /// Its name in a [`ModelSpec`](crate::ModelSpec).
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }

    /// The end of the path that it is spoken at, after the version.
    pub fn path(self) -> &'static str {
        match self {
            Self::Messages => "/messages",
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
        }
    }
}

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provider {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenRouter, which passes requests on to others.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// DeepSeek.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Google's Gemini, by its OpenAI-compatible door.
    Gemini,
    /// Groq.
    Groq,
    /// xAI.
    Xai,
    /// Ollama on this machine.
    Ollama,
    /// llama.cpp's `llama-server` on this machine.
    #[serde(rename = "llamacpp")]
    LlamaCpp,
    /// vLLM on this machine.
    Vllm,
    /// LM Studio on this machine.
    #[serde(rename = "lmstudio")]
    LmStudio,
    /// Anything else that speaks one of the formats; needs a base URL.
    #[serde(rename = "openai-compatible")]
    Compatible,
}

/// What is known of a provider.
struct Row {
    provider: Provider,
    name: &'static str,
    base_url: Option<&'static str>,
    protocol: Protocol,
    variable: &'static str,
    needs_key: bool,
}

const fn row(
    provider: Provider,
    name: &'static str,
    base_url: Option<&'static str>,
    protocol: Protocol,
    variable: &'static str,
    needs_key: bool,
) -> Row {
    Row {
        provider,
        name,
        base_url,
        protocol,
        variable,
        needs_key,
    }
}

#[rustfmt::skip]
const PROVIDERS: &[Row] = &[
    row(Provider::Anthropic, "anthropic", Some("https://api.anthropic.com/v1"), Protocol::Messages, "ANTHROPIC_API_KEY", true),
    row(Provider::OpenAi, "openai", Some("https://api.openai.com/v1"), Protocol::Responses, "OPENAI_API_KEY", true),
    row(Provider::OpenRouter, "openrouter", Some("https://openrouter.ai/api/v1"), Protocol::Chat, "OPENROUTER_API_KEY", true),
    row(Provider::DeepSeek, "deepseek", Some("https://api.deepseek.com/v1"), Protocol::Chat, "DEEPSEEK_API_KEY", true),
    row(Provider::Gemini, "gemini", Some("https://generativelanguage.googleapis.com/v1beta/openai"), Protocol::Chat, "GEMINI_API_KEY", true),
    row(Provider::Groq, "groq", Some("https://api.groq.com/openai/v1"), Protocol::Chat, "GROQ_API_KEY", true),
    row(Provider::Xai, "xai", Some("https://api.x.ai/v1"), Protocol::Chat, "XAI_API_KEY", true),
    row(Provider::Ollama, "ollama", Some("http://127.0.0.1:11434/v1"), Protocol::Chat, "OLLAMA_API_KEY", false),
    row(Provider::LlamaCpp, "llamacpp", Some("http://127.0.0.1:8080/v1"), Protocol::Chat, "LLAMA_API_KEY", false),
    row(Provider::Vllm, "vllm", Some("http://127.0.0.1:8000/v1"), Protocol::Chat, "VLLM_API_KEY", false),
    row(Provider::LmStudio, "lmstudio", Some("http://127.0.0.1:1234/v1"), Protocol::Chat, "LMSTUDIO_API_KEY", false),
    row(Provider::Compatible, "openai-compatible", None, Protocol::Chat, "OPENAI_COMPATIBLE_API_KEY", false),
];

impl Provider {
    /// Every provider that is known by name.
    pub fn all() -> impl Iterator<Item = Self> {
        PROVIDERS.iter().map(|row| row.provider)
    }

    fn row(self) -> &'static Row {
        PROVIDERS
            .iter()
            .find(|row| row.provider == self)
            .expect("every provider has its row in the table, and a test says so")
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        PROVIDERS
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.provider)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Where it is asked, if nothing else is said.
    pub fn base_url(self) -> Option<&'static str> {
        self.row().base_url
    }

    /// The format it is asked in, if nothing else is said.
    pub fn protocol(self) -> Protocol {
        self.row().protocol
    }

    /// The environment variable that holds its key.
    pub fn variable(self) -> &'static str {
        self.row().variable
    }

    /// Whether it answers nobody without a key.
    pub fn needs_key(self) -> bool {
        self.row().needs_key
    }

    /// Whether the model runs on a machine of the user's own, where tokens cost
    /// nothing and the window is what the server was started with.
    pub fn is_local(self) -> bool {
        matches!(
            self,
            Self::Ollama | Self::LlamaCpp | Self::Vllm | Self::LmStudio
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_has_its_row_and_is_found_by_name() {
        let all = [
            Provider::Anthropic,
            Provider::OpenAi,
            Provider::OpenRouter,
            Provider::DeepSeek,
            Provider::Gemini,
            Provider::Groq,
            Provider::Xai,
            Provider::Ollama,
            Provider::LlamaCpp,
            Provider::Vllm,
            Provider::LmStudio,
            Provider::Compatible,
        ];
        assert_eq!(Provider::all().collect::<Vec<_>>(), all);
        for provider in all {
            assert_eq!(Provider::named(provider.name()), Some(provider));
            let json = serde_json::to_string(&provider).unwrap();
            assert_eq!(json, format!("\"{}\"", provider.name()));
        }
    }
}
