//! How providers say that a request is larger than the model's window.
//!
//! No two say it alike and few give it a code, so that the words themselves are
//! the only sign. The table holds the messages as they are, with the numbers
//! named; what looks alike and means something else is told apart first.

use super::template::{Found, find};

/// What a provider says of the sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) limit: Option<u64>,
    pub(crate) requested: Option<u64>,
}

/// Written as the providers write them. `{limit}` is the window, `{requested}`
/// the size of the request, `{more}` is added to it, `{n}` is any number, `*` is
/// anything. Rows with more numbers stand before rows with fewer.
const MESSAGES: &[&str] = &[
    // Anthropic, and Bedrock and Vertex where they pass it on.
    "prompt is too long: {requested} tokens > {limit} maximum",
    "input length and `max_tokens` exceed context limit: {requested} + {more} > {limit}",
    "prompt is too long",
    "prompt too long",
    // OpenAI chat, Azure, DeepSeek, Together, vLLM and OpenRouter.
    "maximum context length is {limit} tokens*you requested about {requested} tokens",
    "maximum context length is {limit} tokens*you requested {requested} tokens",
    "maximum context length is {limit} tokens*resulted in {requested} tokens",
    "maximum context length is {limit} tokens*your request has {requested} input tokens",
    "maximum context length is {limit} tokens*your prompt contains at least {requested} input tokens",
    "maximum context length is {limit} tokens*prompt contains {requested} input tokens",
    "maximum context length is {limit} tokens*requested {requested} tokens",
    "maximum context length is {limit} tokens",
    "maximum context length of {limit} tokens",
    "maximum context length is {limit}",
    // OpenAI Responses, and Codex behind it.
    "exceeds the context window",
    "exceed the context window",
    "input tokens exceed the configured limit of {limit} tokens*resulted in {requested} tokens",
    "input tokens exceed the configured limit of {limit} tokens",
    // Google.
    "input token count ({requested}) exceeds the maximum number of tokens allowed ({limit})",
    "input token count*exceeds the maximum number of tokens allowed",
    // xAI.
    "maximum prompt length is {limit} but the request contains {requested} tokens",
    "maximum prompt length is {limit}",
    // Groq, Cerebras.
    "current length is {requested} while limit is {limit}",
    "reduce the length of the messages",
    // GitHub Copilot.
    "prompt token count of {requested} exceeds the limit of {limit}",
    // llama.cpp, old and new.
    "request ({requested} tokens) exceeds the available context size ({limit} tokens)",
    "exceeds the available context size",
    "context size has been exceeded",
    "input ({requested} tokens) is larger than the max context size ({limit} tokens)",
    "exceed_context_size_error",
    // Its embeddings, which it answers with status 500.
    "input ({requested} tokens) is too large to process*current batch size: {limit}",
    "input is too large to process",
    // LM Studio.
    "number of tokens to keep from the initial prompt ({requested}) >= n_ctx ({limit})",
    "number of tokens to keep from the initial prompt is greater than the context length",
    "greater than the context length",
    "reached context length of {limit} tokens",
    // vLLM, its newer and older words.
    "the decoder prompt (length {requested}) is longer than the maximum model length of {limit}",
    "prompt (length {requested}) is longer than the maximum model length of {limit}",
    "input prompt ({requested} tokens) is too long and exceeds limit of {limit}",
    "maximum model length of {limit}",
    "maximum model length is {limit}",
    // Ollama, for embeddings and for servers that do not truncate.
    "input length exceeds the context length",
    "input length exceeds maximum context length",
    "prompt too long; exceeded max context length by {n} tokens",
    // Mistral.
    "prompt contains {requested} tokens*too large for model with {limit} maximum context length",
    "too large for model with {limit} maximum context length",
    // Together.
    "`inputs` tokens + `max_new_tokens` must be <= {limit}",
    "input validation error: `inputs` must have less than {limit} tokens. given: {requested}",
    // Cohere.
    "too many tokens: total number of tokens in the prompt cannot exceed {limit}*received {requested}",
    "too many tokens: size limit exceeded by {n} tokens",
    "total number of tokens in the prompt cannot exceed {limit}",
    // Bedrock, Nova and others.
    "input is too long for requested model",
    "input is too long",
    "too many input tokens",
    // Moonshot.
    "exceeded model token limit: {limit} (requested: {requested})",
    "exceeded model token limit",
    // MiniMax.
    "context window exceeds limit",
    // z.ai, Zhipu.
    "prompt exceeds max length",
    "tokens in request more than max tokens allowed",
    // Alibaba.
    "range of input length should be [{n}, {limit}]",
    // SambaNova, Fireworks, Databricks and the like.
    "prompt exceeds maximum context length",
    "the prompt is too long: {requested}, model maximum context length: {limit}",
    "context length exceeded",
    "context_length_exceeded",
    "context window exceeded",
    "context_window_exceeded",
    "contextwindowexceeded",
    "context limit exceeded",
    "exceeds the maximum number of tokens",
    "exceeds the model's context",
    "exceeds context window",
    "exceeds context length",
    "token limit exceeded",
];

/// Words that look like an overflow and are none: a rate, a quota, an answer
/// that is allowed to be too long.
const OTHERS: &[&str] = &[
    "tokens per min",
    "tokens per day",
    "tokens-per-minute",
    "(tpm)",
    "(tpd)",
    "rate limit",
    "rate_limit",
    "too many requests",
    "too many concurrent",
    "quota",
    "which is the maximum allowed number of output tokens",
    "supports at most {n} completion tokens",
    "max_tokens is too large",
    "max_completion_tokens is too large",
    "max_output_tokens is too large",
    "maximum allowed number of output tokens",
    "throttl",
];

/// Whether the words mean an overflow, and what they say of the sizes.
pub(crate) fn recognise(text: &str) -> Option<Sizes> {
    let text = text.to_lowercase();
    if OTHERS.iter().any(|other| find(other, &text).is_some()) {
        return None;
    }
    MESSAGES
        .iter()
        .find_map(|message| find(message, &text))
        .map(|found| {
            let Found {
                limit,
                requested,
                more,
            } = found;
            Sizes {
                limit,
                requested: requested.map(|size| size.saturating_add(more.unwrap_or(0))),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_providers_words_are_recognised_with_their_numbers() {
        let cases: &[(&str, Option<u64>, Option<u64>)] = &[
            (
                "prompt is too long: 213462 tokens > 200000 maximum",
                Some(200_000),
                Some(213_462),
            ),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
                Some(200_000),
                Some(209_573),
            ),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 150011 tokens. Please reduce the length of the messages.",
                Some(128_000),
                Some(150_011),
            ),
            (
                "input (531 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
                Some(512),
                Some(531),
            ),
            (
                "This model's maximum context length is 4097 tokens. However, you requested 5360 tokens (1360 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
                Some(4_097),
                Some(5_360),
            ),
            (
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
                None,
                None,
            ),
            (
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 290131 tokens. Please reduce the length of the messages.",
                Some(272_000),
                Some(290_131),
            ),
            (
                "This endpoint's maximum context length is 131072 tokens. However, you requested about 140233 tokens (139233 of text input, 1000 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.",
                Some(131_072),
                Some(140_233),
            ),
            (
                "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
                Some(1_048_575),
                Some(1_196_265),
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                Some(131_072),
                Some(537_812),
            ),
            (
                "Please reduce the length of the messages or completion.",
                None,
                None,
            ),
            (
                "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
                Some(8_192),
                Some(9_000),
            ),
            (
                "prompt token count of 140000 exceeds the limit of 128000",
                Some(128_000),
                Some(140_000),
            ),
            (
                "the request exceeds the available context size, try increasing it",
                None,
                None,
            ),
            (
                "request (9034 tokens) exceeds the available context size (4096 tokens), try increasing it",
                Some(4_096),
                Some(9_034),
            ),
            (
                "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input",
                None,
                None,
            ),
            (
                "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages.",
                Some(32_768),
                Some(40_000),
            ),
            (
                "The decoder prompt (length 40123) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.",
                Some(32_768),
                Some(40_123),
            ),
            (
                "Prompt contains 140312 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
                Some(131_072),
                Some(140_312),
            ),
            ("Input is too long for requested model.", None, None),
            (
                "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt",
                Some(4_081),
                Some(4_292),
            ),
            (
                "Invalid request: Your request exceeded model token limit: 262144 (requested: 271002)",
                Some(262_144),
                Some(271_002),
            ),
            (
                "invalid params, context window exceeds limit (2013)",
                None,
                None,
            ),
            ("Prompt exceeds max length", None, None),
            (
                "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
                Some(129_024),
                None,
            ),
            (
                "Input validation error: `inputs` must have less than 8192 tokens. Given: 9001",
                Some(8_192),
                Some(9_001),
            ),
            ("input length exceeds the context length", None, None),
            (
                "litellm.ContextWindowExceededError: AnthropicError - prompt is too long: 200417 tokens > 200000 maximum",
                Some(200_000),
                Some(200_417),
            ),
        ];
        for (text, limit, requested) in cases {
            let expected = Some(Sizes {
                limit: *limit,
                requested: *requested,
            });
            assert_eq!(recognise(text), expected, "{text}");
        }
    }

    #[test]
    fn words_that_only_resemble_an_overflow_are_none() {
        for text in [
            "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
            "Request too large for model `llama-3.3-70b` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 10327, please reduce your message size and try again.",
            "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
            "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
            "You exceeded your current quota, please check your plan and billing details.",
            "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after",
            "Too many tokens, please wait before trying again. (throttlingException)",
            "Overloaded",
            "",
        ] {
            assert_eq!(recognise(text), None, "{text}");
        }
    }
}
