//! OpenAI's Responses.

use serde_json::{Map, Value, json};

use super::chat::effort_name;
use super::draft::{Draft, Out};
use super::tidy::{Piece, Rules, Turn, arguments, limit_breakpoints, tidy};
use super::{Dialect, MAX_BREAKPOINTS, Progress, Wrong, as_json_text, count, data_url, text};
use crate::answer::{Stop, Usage};
use crate::complaint::Complaint;
use crate::provider::Provider;
use crate::request::{Content, Request, ToolChoice, ToolResult};

pub(super) fn body(request: &Request, dialect: &Dialect) -> Option<Value> {
    let mut turns = tidy(
        &request.messages,
        &Rules {
            keeps: &|content| match content {
                Content::Thinking {
                    signature: Some(signature),
                    ..
                } => reasoning_item(signature).is_some(),
                _ => false,
            },
            images: dialect.images,
        },
    );
    if turns.is_empty() {
        return None;
    }
    let mut system = request.system.clone();
    system.retain(|block| !block.text.trim().is_empty());
    let most = if dialect.breakpoints {
        MAX_BREAKPOINTS
    } else {
        0
    };
    limit_breakpoints(&mut system, &mut turns, most);

    let official = dialect.provider == Provider::OpenAi;
    let mut body = Map::new();
    let mut input = Vec::new();
    body.insert("model".into(), json!(dialect.model));
    if system.iter().any(|block| block.cache) {
        // `instructions` has no place for a breakpoint.
        let parts: Vec<Value> = system
            .iter()
            .map(|block| {
                marked(
                    json!({"type": "input_text", "text": block.text}),
                    block.cache,
                )
            })
            .collect();
        input.push(json!({"role": "developer", "content": parts}));
    } else if !system.is_empty() {
        let texts: Vec<&str> = system.iter().map(|block| block.text.as_str()).collect();
        body.insert("instructions".into(), json!(texts.join("\n\n")));
    }
    for turn in &turns {
        push_turn(turn, &mut input);
    }
    body.insert("input".into(), input.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": false,
                })
            })
            .collect();
        body.insert("tools".into(), tools.into());
        let choice = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "required",
        };
        body.insert("tool_choice".into(), json!(choice));
    }
    if let Some(max) = request.max_output {
        // The least that OpenAI accepts.
        body.insert("max_output_tokens".into(), json!(max.max(16)));
    }
    if let Some(temperature) = request.temperature
        && !dialect.reasons()
    {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(effort) = request.effort.filter(|_| !official || dialect.reasons()) {
        body.insert(
            "reasoning".into(),
            json!({"effort": effort_name(effort), "summary": "auto"}),
        );
    }
    if official {
        if dialect.reasons() {
            // We keep the conversation, not they; so the thoughts must travel.
            body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        }
        if let Some(session) = &request.session {
            let key: String = session.chars().take(64).collect();
            body.insert("prompt_cache_key".into(), json!(key));
        }
    }
    body.insert("store".into(), json!(false));
    body.insert("stream".into(), json!(true));
    Some(body.into())
}

/// The item that a signature of ours holds.
fn reasoning_item(signature: &str) -> Option<Value> {
    let item: Value = serde_json::from_str(signature).ok()?;
    let ours = text(&item, "type") == "reasoning"
        && item.get("encrypted_content").is_some_and(Value::is_string);
    ours.then_some(item)
}

fn marked(mut part: Value, cache: bool) -> Value {
    if cache && let Some(part) = part.as_object_mut() {
        part.insert(
            "prompt_cache_breakpoint".into(),
            json!({"mode": "explicit"}),
        );
    }
    part
}

fn part(content: &Content) -> Option<Value> {
    match content {
        Content::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Content::Image { mime, data } => Some(json!({
            "type": "input_image", "detail": "auto", "image_url": data_url(mime, data),
        })),
        _ => None,
    }
}

fn push_turn(turn: &Turn, input: &mut Vec<Value>) {
    match turn {
        Turn::User { results, content } => {
            for Piece { value: result, .. } in results {
                input.push(json!({
                    "type": "function_call_output",
                    "call_id": result.call,
                    "output": output(result),
                }));
            }
            let parts: Vec<Value> = content
                .iter()
                .filter_map(|piece| Some(marked(part(&piece.value)?, piece.cache)))
                .collect();
            if !parts.is_empty() {
                input.push(json!({"role": "user", "content": parts}));
            }
        }
        Turn::Assistant { content } => {
            for (place, piece) in content.iter().enumerate() {
                match &piece.value {
                    Content::Text(text) => input.push(json!({
                        // llama.cpp tells what the model said by this alone.
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": text}],
                    })),
                    // A thought that nothing follows is refused.
                    Content::Thinking {
                        signature: Some(signature),
                        ..
                    } if content[place + 1..].iter().any(|later| {
                        matches!(later.value, Content::Text(_) | Content::ToolCall(_))
                    }) =>
                    {
                        input.extend(reasoning_item(signature));
                    }
                    Content::ToolCall(call) => input.push(json!({
                        "type": "function_call",
                        "call_id": call.id,
                        "name": call.name,
                        "arguments": Value::Object(arguments(call)).to_string(),
                    })),
                    _ => {}
                }
            }
        }
    }
}

fn output(result: &ToolResult) -> Value {
    let mut content = result.content.clone();
    if content.is_empty() {
        content.push(Content::text("[no output]"));
    }
    if result.is_error {
        content.insert(0, Content::text("[error]"));
    }
    if content
        .iter()
        .any(|piece| matches!(piece, Content::Image { .. }))
    {
        return content.iter().filter_map(part).collect();
    }
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n").into()
}

/// Reads an answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(super) draft: Draft,
    refused: bool,
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
        let key = count(event, "output_index").unwrap_or(0);
        let item = event.get("item").unwrap_or(&Value::Null);
        match kind {
            "response.created" | "response.in_progress" => {
                self.head(event.get("response").unwrap_or(&Value::Null));
            }
            "response.output_item.added" if text(item, "type") == "function_call" => {
                self.draft
                    .call(key, text(item, "call_id"), text(item, "name"), out);
                self.draft
                    .arguments(key, &as_json_text(item.get("arguments")), out);
            }
            "response.output_text.delta" => self.draft.text(key, text(event, "delta"), out),
            "response.refusal.delta" => {
                self.refused = true;
                self.draft.text(key, text(event, "delta"), out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.draft.thinking(key, text(event, "delta"), out);
            }
            "response.reasoning_summary_part.added" if self.draft.has_text(key) => {
                self.draft.thinking(key, "\n\n", out);
            }
            "response.function_call_arguments.delta" => {
                self.draft.arguments(key, text(event, "delta"), out);
            }
            "response.function_call_arguments.done" => {
                self.draft
                    .settle_arguments(key, text(event, "arguments"), out);
            }
            "response.output_item.done" => self.item(key, item, out),
            "response.completed" | "response.incomplete" | "response.done" => {
                let response = event.get("response").unwrap_or(&Value::Null);
                self.close(response, out)?;
                return Ok(Progress::Done);
            }
            "response.failed" | "response.cancelled" => {
                let response = event.get("response").unwrap_or(&Value::Null);
                self.head(response);
                return Err(Wrong::from(failed(response)));
            }
            "error" => {
                return Err(Wrong::from(Complaint::read(200, event).unwrap_or_else(
                    || Complaint {
                        status: 200,
                        message: event.to_string(),
                        ..Complaint::default()
                    },
                )));
            }
            _ => {}
        }
        Ok(Progress::More)
    }

    pub(super) fn whole(&mut self, response: &Value, out: &mut Out<'_>) -> Result<(), Wrong> {
        if response.get("output").and_then(Value::as_array).is_none() {
            return Err(Wrong::unreadable("it has no output", &response.to_string()));
        }
        if matches!(text(response, "status"), "failed" | "cancelled") {
            return Err(Wrong::from(failed(response)));
        }
        self.close(response, out)
    }

    pub(super) fn finish(&mut self) -> Result<(), Wrong> {
        if self.over {
            return Ok(());
        }
        Err(Wrong::Cut(
            "the stream ended before response.completed".into(),
        ))
    }

    fn head(&mut self, response: &Value) {
        for (field, place) in [("id", &mut self.draft.id), ("model", &mut self.draft.model)] {
            if place.is_none() {
                *place = Some(text(response, field).to_owned()).filter(|text| !text.is_empty());
            }
        }
        let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) else {
            return;
        };
        let input = count(usage, "input_tokens").unwrap_or(0);
        let details = usage.get("input_tokens_details").unwrap_or(&Value::Null);
        let cache_read = count(details, "cached_tokens").unwrap_or(0).min(input);
        let cache_write = count(details, "cache_write_tokens")
            .unwrap_or(0)
            .min(input - cache_read);
        self.draft.usage = Some(Usage {
            input: input - cache_read - cache_write,
            output: count(usage, "output_tokens").unwrap_or(0),
            cache_read,
            cache_write,
        });
    }

    /// An item that is complete: what its deltas left out.
    fn item(&mut self, key: u64, item: &Value, out: &mut Out<'_>) {
        match text(item, "type") {
            "message" => {
                if self.draft.has_text(key) {
                    return;
                }
                for part in item
                    .get("content")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    let refusal = text(part, "refusal");
                    self.refused |= !refusal.is_empty();
                    self.draft.text(key, text(part, "text"), out);
                    self.draft.text(key, refusal, out);
                }
            }
            "reasoning" => {
                if !self.draft.has_text(key) {
                    let parts = ["summary", "content"]
                        .into_iter()
                        .filter_map(|field| item.get(field).and_then(Value::as_array))
                        .find(|parts| !parts.is_empty());
                    let texts: Vec<&str> = parts
                        .into_iter()
                        .flatten()
                        .map(|part| text(part, "text"))
                        .collect();
                    self.draft.thinking(key, &texts.join("\n\n"), out);
                }
                if item.get("encrypted_content").is_some_and(Value::is_string) {
                    let kept = json!({
                        "type": "reasoning",
                        "id": item.get("id"),
                        "summary": item.get("summary").cloned().unwrap_or_else(|| json!([])),
                        "encrypted_content": item.get("encrypted_content"),
                    });
                    self.draft.signature(key, &kept.to_string());
                }
            }
            "function_call" => {
                if self.draft.call_id(key).is_none() {
                    self.draft
                        .call(key, text(item, "call_id"), text(item, "name"), out);
                }
                self.draft
                    .settle_arguments(key, &as_json_text(item.get("arguments")), out);
            }
            _ => {}
        }
    }

    fn close(&mut self, response: &Value, out: &mut Out<'_>) -> Result<(), Wrong> {
        self.head(response);
        if self.draft.is_empty() {
            for (key, item) in response
                .get("output")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .enumerate()
            {
                self.item(key as u64, item, out);
            }
        }
        self.over = true;
        let reason = response
            .get("incomplete_details")
            .map(|details| text(details, "reason"))
            .unwrap_or_default();
        self.draft.stop = Some(match reason {
            "max_output_tokens" => Stop::Length,
            "content_filter" => Stop::Refusal,
            "" if self.refused => Stop::Refusal,
            "" if self.draft.has_calls() => Stop::ToolUse,
            "" => Stop::End,
            other => Stop::Other(other.to_owned()),
        });
        Ok(())
    }
}

fn failed(response: &Value) -> Complaint {
    Complaint::read(200, response).unwrap_or_else(|| Complaint {
        status: 200,
        message: match text(response, "status") {
            "cancelled" => "the provider cancelled the answer".into(),
            _ => "the answer failed".into(),
        },
        ..Complaint::default()
    })
}
