//! Anthropic's Messages.

use serde_json::{Map, Value, json};

use super::draft::{Draft, Out};
use super::tidy::{Rules, Turn, arguments, limit_breakpoints, tidy};
use super::{Dialect, MAX_BREAKPOINTS, Progress, Wrong, count, text};
use crate::answer::{Stop, Usage};
use crate::complaint::Complaint;
use crate::request::{Content, Effort, Request, ToolChoice, ToolResult};

/// Sent where the caller sets no limit: room for a long answer without taking
/// from the window what a prompt may need, as servers count both together.
const DEFAULT_MAX_TOKENS: u32 = 32_000;

pub(super) fn body(request: &Request, dialect: &Dialect) -> Option<Value> {
    let mut turns = tidy(
        &request.messages,
        &Rules {
            keeps: &|content| match content {
                // Without its signature thinking is refused; and a signature in
                // the form of another provider is none here.
                Content::Thinking { signature, .. } => signature.as_deref().is_some_and(is_ours),
                _ => true,
            },
            images: dialect.images,
        },
    );
    if turns.is_empty() {
        return None;
    }
    let mut system = request.system.clone();
    system.retain(|block| !block.text.trim().is_empty());
    if dialect.breakpoints {
        limit_breakpoints(&mut system, &mut turns, MAX_BREAKPOINTS);
    } else {
        limit_breakpoints(&mut system, &mut turns, 0);
    }

    let version = Version::of(&dialect.model);
    let max_tokens = request
        .max_output
        .unwrap_or_else(|| dialect.max_output.unwrap_or(8_192).min(DEFAULT_MAX_TOKENS))
        .max(1);
    let mut body = Map::new();
    body.insert("model".into(), json!(dialect.model));
    body.insert("max_tokens".into(), json!(max_tokens));
    if !system.is_empty() {
        let blocks: Vec<Value> = system
            .iter()
            .map(|block| marked(json!({"type": "text", "text": block.text}), block.cache))
            .collect();
        body.insert("system".into(), blocks.into());
    }
    body.insert("messages".into(), turns.iter().map(turn).collect());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                })
            })
            .collect();
        body.insert("tools".into(), tools.into());
        let choice = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            // The models that always think refuse to be forced.
            ToolChoice::Required if version.late => "auto",
            ToolChoice::Required => "any",
        };
        body.insert("tool_choice".into(), json!({"type": choice}));
    }
    let mut thinks = false;
    // Forced calls and thinking exclude each other.
    if let Some(effort) = request
        .effort
        .filter(|_| request.tool_choice != ToolChoice::Required)
    {
        if version.adapts() {
            thinks = true;
            body.insert(
                "thinking".into(),
                json!({"type": "adaptive", "display": "summarized"}),
            );
            body.insert(
                "output_config".into(),
                json!({"effort": effort_name(effort)}),
            );
        } else if version.budgets() && max_tokens > 1_024 {
            thinks = true;
            let wish = match effort {
                Effort::Low => 2_048,
                Effort::Medium => 8_192,
                Effort::High => 24_576,
            };
            // The budget is part of `max_tokens`; half of it stays for words.
            let budget = wish.min(max_tokens / 2).max(1_024);
            body.insert(
                "thinking".into(),
                json!({"type": "enabled", "budget_tokens": budget}),
            );
        }
    }
    if let Some(temperature) = request.temperature
        && !thinks
        && !version.refuses_temperature()
    {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(session) = &request.session {
        body.insert("metadata".into(), json!({"user_id": session}));
    }
    body.insert("stream".into(), json!(true));
    Some(body.into())
}

/// Signatures of other providers are JSON, or the name of a field.
fn is_ours(signature: &str) -> bool {
    !signature.is_empty() && !signature.starts_with('{') && !signature.starts_with("reasoning")
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// A Claude's family and number, from names like `claude-opus-4-7-20260416`
/// and `anthropic.claude-3-7-sonnet-20250219-v1:0`.
#[derive(Debug, PartialEq)]
struct Version {
    claude: bool,
    haiku: bool,
    opus: bool,
    /// Families that began after numbers stopped mattering.
    late: bool,
    number: (u32, u32),
}

impl Version {
    fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let name = model
            .find("claude")
            .map(|at| &model[at..])
            .unwrap_or_default();
        let mut numbers = name
            .split(['-', '.', '@', ':', '['])
            .filter_map(|part| part.parse::<u32>().ok())
            .filter(|number| *number < 100);
        Self {
            claude: !name.is_empty(),
            haiku: name.contains("haiku"),
            opus: name.contains("opus"),
            late: name.contains("fable") || name.contains("mythos"),
            number: (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)),
        }
    }

    /// Whether thinking is asked for by effort rather than by a budget.
    fn adapts(&self) -> bool {
        self.late || self.claude && self.number >= if self.haiku { (5, 0) } else { (4, 6) }
    }

    fn budgets(&self) -> bool {
        self.claude && self.number >= (3, 7)
    }

    fn refuses_temperature(&self) -> bool {
        self.late || self.claude && self.number >= if self.opus { (4, 7) } else { (5, 0) }
    }
}

fn marked(mut block: Value, cache: bool) -> Value {
    if cache && let Some(block) = block.as_object_mut() {
        block.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    block
}

fn turn(turn: &Turn) -> Value {
    let (role, blocks): (&str, Vec<Value>) = match turn {
        Turn::User { results, content } => (
            "user",
            results
                .iter()
                .map(|piece| marked(result(&piece.value), piece.cache))
                .chain(
                    content
                        .iter()
                        .filter_map(|piece| Some(marked(block(&piece.value)?, piece.cache))),
                )
                .collect(),
        ),
        Turn::Assistant { content } => (
            "assistant",
            content
                .iter()
                .filter_map(|piece| Some(marked(block(&piece.value)?, piece.cache)))
                .collect(),
        ),
    };
    json!({"role": role, "content": blocks})
}

fn block(content: &Content) -> Option<Value> {
    Some(match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Image { mime, data } => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": mime, "data": data},
        }),
        Content::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Content::RedactedThinking(data) => json!({"type": "redacted_thinking", "data": data}),
        Content::ToolCall(call) => json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(call),
        }),
        Content::ToolResult(_) => return None,
    })
}

fn result(result: &ToolResult) -> Value {
    let mut value = json!({"type": "tool_result", "tool_use_id": result.call});
    if let Some(fields) = value.as_object_mut() {
        let content: Vec<Value> = result.content.iter().filter_map(block).collect();
        if !content.is_empty() {
            fields.insert("content".into(), content.into());
        }
        if result.is_error {
            fields.insert("is_error".into(), json!(true));
        }
    }
    value
}

/// Reads an answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(super) draft: Draft,
    overflowed: bool,
    over: bool,
}

impl Reader {
    pub(super) fn event(
        &mut self,
        name: &str,
        event: &Value,
        out: &mut Out<'_>,
    ) -> Result<Progress, Wrong> {
        let kind = match text(event, "type") {
            "" => name,
            kind => kind,
        };
        let key = count(event, "index").unwrap_or(0);
        match kind {
            "message_start" => {
                let message = event.get("message").unwrap_or(&Value::Null);
                self.head(message);
            }
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                self.begin(key, block, out);
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                match text(delta, "type") {
                    "text_delta" => self.draft.text(key, text(delta, "text"), out),
                    "thinking_delta" => self.draft.thinking(key, text(delta, "thinking"), out),
                    "signature_delta" => self.draft.signature(key, text(delta, "signature")),
                    "input_json_delta" => {
                        self.draft.arguments(key, text(delta, "partial_json"), out);
                    }
                    _ => {}
                }
            }
            "message_delta" => {
                self.usage(event.get("usage"));
                self.stop(event.get("delta").unwrap_or(&Value::Null));
            }
            "message_stop" => {
                self.over = true;
                self.judge()?;
                return Ok(Progress::Done);
            }
            "error" => {
                let complaint = Complaint::read(200, event).unwrap_or_else(|| Complaint {
                    status: 200,
                    message: event.to_string(),
                    ..Complaint::default()
                });
                return Err(Wrong::from(complaint));
            }
            // `ping`, `content_block_stop`, and what is yet to be invented.
            _ => {}
        }
        Ok(Progress::More)
    }

    pub(super) fn whole(&mut self, message: &Value, out: &mut Out<'_>) -> Result<(), Wrong> {
        let Some(content) = message.get("content").and_then(Value::as_array) else {
            return Err(Wrong::unreadable("it has no content", &message.to_string()));
        };
        self.head(message);
        for (key, block) in content.iter().enumerate() {
            self.begin(key as u64, block, out);
        }
        self.stop(message);
        self.over = true;
        self.judge()
    }

    pub(super) fn finish(&mut self) -> Result<(), Wrong> {
        // A stop reason without `message_stop` is what some gateways end with.
        if self.over || self.draft.stop.is_some() {
            return self.judge();
        }
        Err(Wrong::Cut("the stream ended before message_stop".into()))
    }

    /// A window that was full before a word was said is an overflow, whatever
    /// the provider calls it.
    fn judge(&self) -> Result<(), Wrong> {
        if self.overflowed && self.draft.is_empty() {
            return Err(Wrong::from(Complaint {
                status: 200,
                code: "context_window_exceeded".into(),
                message: "the context window was full before the answer began".into(),
                ..Complaint::default()
            }));
        }
        Ok(())
    }

    fn head(&mut self, message: &Value) {
        let some = |field| Some(text(message, field).to_owned()).filter(|text| !text.is_empty());
        self.draft.id = some("id");
        self.draft.model = some("model");
        self.usage(message.get("usage"));
    }

    fn begin(&mut self, key: u64, block: &Value, out: &mut Out<'_>) {
        match text(block, "type") {
            "text" => self.draft.text(key, text(block, "text"), out),
            "thinking" => {
                self.draft.thinking(key, text(block, "thinking"), out);
                self.draft.signature(key, text(block, "signature"));
            }
            "redacted_thinking" => self.draft.redacted(key, text(block, "data")),
            "tool_use" => {
                self.draft
                    .call(key, text(block, "id"), text(block, "name"), out);
                // In a stream the input follows, and stands here as `{}`.
                if let Some(input) = block
                    .get("input")
                    .filter(|input| input.as_object().is_some_and(|input| !input.is_empty()))
                {
                    self.draft.arguments(key, &input.to_string(), out);
                }
            }
            _ => {}
        }
    }

    fn stop(&mut self, holder: &Value) {
        self.draft.stop = match text(holder, "stop_reason") {
            "" => return,
            "end_turn" | "stop_sequence" => Some(Stop::End),
            "tool_use" => Some(Stop::ToolUse),
            "max_tokens" => Some(Stop::Length),
            "model_context_window_exceeded" => {
                self.overflowed = true;
                Some(Stop::Length)
            }
            "refusal" => Some(Stop::Refusal),
            other => Some(Stop::Other(other.to_owned())),
        };
    }

    /// The counts are cumulative, and later events carry only some of them.
    fn usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let own = self.draft.usage.get_or_insert_with(Usage::default);
        for (field, place) in [
            ("input_tokens", &mut own.input),
            ("output_tokens", &mut own.output),
            ("cache_read_input_tokens", &mut own.cache_read),
            ("cache_creation_input_tokens", &mut own.cache_write),
        ] {
            if let Some(tokens) = count(usage, field) {
                *place = tokens;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_claude_takes_is_told_from_its_name() {
        for (model, adapts, budgets, refuses) in [
            ("claude-3-5-haiku-20241022", false, false, false),
            ("claude-3-7-sonnet-20250219", false, true, false),
            ("claude-opus-4-20250514", false, true, false),
            ("claude-sonnet-4-5-20250929", false, true, false),
            ("claude-haiku-4-5", false, true, false),
            ("claude-opus-4-6", true, true, false),
            ("claude-sonnet-4-6", true, true, false),
            ("anthropic/claude-opus-4.7", true, true, true),
            ("us.anthropic.claude-opus-4-8-v1:0", true, true, true),
            ("claude-sonnet-5", true, true, true),
            ("claude-haiku-5-5", true, true, true),
            ("claude-fable-5-1", true, true, true),
            ("some-local-model", false, false, false),
        ] {
            let version = Version::of(model);
            assert_eq!(
                (
                    version.adapts(),
                    version.budgets(),
                    version.refuses_temperature()
                ),
                (adapts, budgets, refuses),
                "{model}"
            );
        }
    }

    #[test]
    fn signatures_of_others_are_not_ours() {
        assert!(is_ours("EqoBCkgIARAB"));
        for other in ["", "{\"type\":\"reasoning\"}", "reasoning_content"] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
