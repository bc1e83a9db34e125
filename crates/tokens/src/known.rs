//! Windows of well-known models, for when no metadata is at hand.

use crate::Tokens;

/// Taken when nobody says how large a window is.
pub const DEFAULT_WINDOW: Tokens = Tokens(200_000);

/// By beginning of the model's name; the longest match counts. Where a model
/// limits its *input* more tightly than its window, the input limit stands here:
/// that is what a request is refused by.
const WINDOWS: &[(&str, u32)] = &[
    // Anthropic: 200k; the long-context variants are asked for by name ("[1m]").
    ("claude-", 200_000),
    ("claude-2.0", 100_000),
    ("claude-instant", 100_000),
    // OpenAI: GPT-5 has 400k in all, 128k of them for the answer: 272k input.
    ("gpt-5", 272_000),
    ("gpt-5-chat", 128_000),
    ("codex-mini", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-4-32k", 32_768),
    ("gpt-3.5-turbo", 16_385),
    ("gpt-oss", 131_072),
    ("o1", 200_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o3", 200_000),
    ("o4", 200_000),
    // Google: one "mebi-token" since Gemini 1.5 Flash; 1.5 Pro had two.
    ("gemini-", 1_048_576),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-1.0", 32_760),
    ("gemma-3", 131_072),
    // Open weights. Hosts often serve less: their errors correct it.
    ("deepseek-", 128_000),
    ("glm-4.5", 131_072),
    ("glm-4.6", 200_000),
    ("glm-4.7", 200_000),
    ("grok-4", 256_000),
    ("grok-code", 256_000),
    ("grok-3", 131_072),
    ("kimi-k2", 131_072),
    ("kimi-k2-0905", 262_144),
    ("kimi-k2-thinking", 262_144),
    ("llama-3.1", 131_072),
    ("llama-3.3", 131_072),
    ("minimax-m2", 204_800),
    ("mistral-large", 131_072),
    ("devstral", 131_072),
    ("codestral", 256_000),
    ("qwen3-coder", 262_144),
    ("qwen2.5-coder", 32_768),
];

/// The window of a well-known model, by its id: `claude-opus-4-6`,
/// `anthropic/claude-opus-4-6`, `us.anthropic.claude-opus-4-6-v1:0`,
/// `openrouter/openai/gpt-4o:free`.
pub fn known_window(model_id: &str) -> Option<Tokens> {
    let id = model_id.trim().to_ascii_lowercase();
    // Claude Code's way of asking for the long context.
    if id.ends_with("[1m]") {
        return Some(Tokens(1_000_000));
    }
    let name = id.rsplit('/').next().unwrap_or(&id);
    // Bedrock puts region and vendor in front, with dots.
    let name = name.split_once("anthropic.").map_or(name, |(_, rest)| rest);
    WINDOWS
        .iter()
        .filter(|(prefix, _)| name.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, window)| Tokens(*window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_the_longest_beginning_of_their_name() {
        let cases = [
            ("claude-opus-4-6", Some(200_000)),
            ("anthropic/claude-sonnet-4-5-20250929", Some(200_000)),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", Some(200_000)),
            ("claude-sonnet-4-5[1m]", Some(1_000_000)),
            ("gpt-5-codex", Some(272_000)),
            ("GPT-4.1-mini", Some(1_047_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4", Some(8_192)),
            ("o4-mini", Some(200_000)),
            ("o1-mini", Some(128_000)),
            ("openrouter/google/gemini-2.5-pro", Some(1_048_576)),
            ("my-own-model", None),
            ("", None),
        ];
        for (model, window) in cases {
            assert_eq!(known_window(model), window.map(Tokens), "{model}");
        }
    }
}
