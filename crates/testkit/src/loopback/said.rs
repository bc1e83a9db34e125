//! An answer, said in whichever format it is asked in.
use longhaul_model::{Content, Protocol, Stop, ToolCall, Usage};
use serde_json::{Value, json};

use super::server::{Recorded, Reply};

/// What the server's model says, before any format.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Thinking, texts and tool calls, in order.
    pub content: Vec<Content>,
    /// Why it ends; `None` for [`Stop::ToolUse`] where there are calls and
    /// [`Stop::End`] elsewhere.
    pub stop: Option<Stop>,
    /// What it took; `None` leaves it out, as some servers do.
    pub usage: Option<Usage>,
    /// Calls are streamed in turns rather than one after the other, where the
    /// format allows it.
    pub interleaved: bool,
}

impl Said {
    /// These pieces.
    pub fn new(content: Vec<Content>) -> Self {
        let usage = Some(Usage {
            input: 100,
            output: 20,
            cache_read: 0,
            cache_write: 0,
        });
        Self {
            content,
            stop: None,
            usage,
            interleaved: false,
        }
    }

    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::Text(text.into())])
    }

    /// One tool call; the arguments are sent as they are, broken or not.
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        Self::new(vec![Content::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        })])
    }

    /// With a piece more.
    pub fn and(mut self, piece: Content) -> Self {
        self.content.push(piece);
        self
    }

    /// With another usage.
    pub fn usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// With another reason to end.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// The answer in the format of the request's path, streamed if a stream is
    /// asked for. A path of no format is answered with 404.
    pub fn reply(&self, request: &Recorded) -> Reply {
        let model = request.model();
        let (Some(protocol), stream) = (request.protocol(), request.streams()) else {
            return Reply::new(404, "text/plain", "404 page not found");
        };
        match (protocol, stream) {
            (Protocol::Messages, true) => Reply::events(self.messages_stream(&model)),
            (Protocol::Messages, false) => Reply::json(200, &self.messages_whole(&model)),
            (Protocol::Chat, true) => Reply::events(self.chat_stream(&model)),
            (Protocol::Chat, false) => Reply::json(200, &self.chat_whole(&model)),
            (Protocol::Responses, true) => Reply::events(self.responses_stream(&model)),
            (Protocol::Responses, false) => Reply::json(200, &self.responses_whole(&model)),
        }
    }

    fn ends(&self) -> Stop {
        let calls = self
            .content
            .iter()
            .any(|piece| matches!(piece, Content::ToolCall(_)));
        self.stop
            .clone()
            .unwrap_or(if calls { Stop::ToolUse } else { Stop::End })
    }

    fn messages_stream(&self, model: &str) -> String {
        let mut events = Events::named();
        let mut message = self.messages_whole(model);
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        if self.usage.is_some() {
            message["usage"]["output_tokens"] = json!(1);
        }
        events.push("message_start", json!({"message": message}));
        let mut deltas = Vec::new();
        for (index, piece) in self.content.iter().enumerate() {
            let (block, parts) = match piece {
                Content::Text(text) => (
                    json!({"type": "text", "text": ""}),
                    halves(text)
                        .map(|text| json!({"type": "text_delta", "text": text}))
                        .collect(),
                ),
                Content::Thinking { text, signature } => {
                    let mut parts: Vec<Value> = halves(text)
                        .map(|text| json!({"type": "thinking_delta", "thinking": text}))
                        .collect();
                    parts.push(json!({"type": "signature_delta", "signature": signature}));
                    (
                        json!({"type": "thinking", "thinking": "", "signature": ""}),
                        parts,
                    )
                }
                Content::RedactedThinking(data) => (
                    json!({"type": "redacted_thinking", "data": data}),
                    Vec::new(),
                ),
                Content::ToolCall(call) => {
                    let mut parts = vec![json!({"type": "input_json_delta", "partial_json": ""})];
                    parts.extend(
                        halves(&call.arguments)
                            .map(|text| json!({"type": "input_json_delta", "partial_json": text})),
                    );
                    (
                        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
                        parts,
                    )
                }
                Content::Image { .. } | Content::ToolResult(_) => continue,
            };
            deltas.push((index, block, parts));
        }
        for (index, block, parts) in deltas {
            events.push(
                "content_block_start",
                json!({"index": index, "content_block": block}),
            );
            events.push("ping", json!({}));
            for delta in parts {
                events.push(
                    "content_block_delta",
                    json!({"index": index, "delta": delta}),
                );
            }
            events.push("content_block_stop", json!({"index": index}));
        }
        let mut end =
            json!({"delta": {"stop_reason": self.messages_stop(), "stop_sequence": null}});
        if let Some(usage) = &self.usage {
            end["usage"] = json!({"output_tokens": usage.output});
        }
        events.push("message_delta", end);
        events.push("message_stop", json!({}));
        events.text
    }

    fn messages_stop(&self) -> String {
        match self.ends() {
            Stop::End => "end_turn".into(),
            Stop::ToolUse => "tool_use".into(),
            Stop::Length => "max_tokens".into(),
            Stop::Refusal => "refusal".into(),
            Stop::Other(reason) => reason,
        }
    }

    fn messages_whole(&self, model: &str) -> Value {
        let content: Vec<Value> = self
            .content
            .iter()
            .filter_map(|piece| match piece {
                Content::Text(text) => Some(json!({"type": "text", "text": text})),
                Content::Thinking { text, signature } => {
                    Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
                }
                Content::RedactedThinking(data) => {
                    Some(json!({"type": "redacted_thinking", "data": data}))
                }
                Content::ToolCall(call) => Some(json!({
                    "type": "tool_use", "id": call.id, "name": call.name,
                    "input": serde_json::from_str::<Value>(&call.arguments).unwrap_or_else(|_| json!({})),
                })),
                Content::Image { .. } | Content::ToolResult(_) => None,
            })
            .collect();
        let mut message = json!({
            "id": "msg_loopback", "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": self.messages_stop(), "stop_sequence": null,
        });
        if let Some(usage) = &self.usage {
            message["usage"] = json!({
                "input_tokens": usage.input,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
                "output_tokens": usage.output,
                "service_tier": "standard",
            });
        }
        message
    }

    fn chat_usage(&self) -> Option<Value> {
        let usage = self.usage.as_ref()?;
        Some(json!({
            "prompt_tokens": usage.prompt(),
            "completion_tokens": usage.output,
            "total_tokens": usage.total(),
            "prompt_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
                "audio_tokens": 0,
            },
            "completion_tokens_details": {"reasoning_tokens": 0},
        }))
    }

    fn chat_stop(&self) -> String {
        match self.ends() {
            Stop::End => "stop".into(),
            Stop::ToolUse => "tool_calls".into(),
            Stop::Length => "length".into(),
            Stop::Refusal => "content_filter".into(),
            Stop::Other(reason) => reason,
        }
    }

    fn chat_stream(&self, model: &str) -> String {
        let mut events = Events::unnamed();
        let chunk = |delta: Value, finish: Option<String>| {
            json!({
                "id": "chatcmpl-loopback", "object": "chat.completion.chunk", "created": 1_700_000_000,
                "model": model, "system_fingerprint": "fp",
                "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
            })
        };
        events.push("", chunk(json!({"role": "assistant", "content": ""}), None));
        let mut calls: Vec<Vec<Value>> = Vec::new();
        for piece in &self.content {
            match piece {
                Content::Text(text) => {
                    for text in halves(text) {
                        events.push("", chunk(json!({"content": text}), None));
                    }
                }
                Content::Thinking { text, .. } => {
                    for text in halves(text) {
                        events.push("", chunk(json!({"reasoning_content": text}), None));
                    }
                }
                Content::ToolCall(call) => {
                    let index = calls.len();
                    let mut parts = vec![json!({"tool_calls": [{
                        "index": index, "id": call.id, "type": "function",
                        "function": {"name": call.name, "arguments": ""},
                    }]})];
                    parts.extend(halves(&call.arguments).map(|text| {
                        json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
                    }));
                    calls.push(parts);
                }
                Content::RedactedThinking(_) | Content::Image { .. } | Content::ToolResult(_) => {}
            }
        }
        for delta in self.in_order(calls) {
            events.push("", chunk(delta, None));
        }
        events.push("", chunk(json!({}), Some(self.chat_stop())));
        if let Some(usage) = self.chat_usage() {
            let mut last = chunk(json!({}), None);
            last["choices"] = json!([]);
            last["usage"] = usage;
            events.push("", last);
        }
        events.text.push_str("data: [DONE]\n\n");
        events.text
    }

    fn chat_whole(&self, model: &str) -> Value {
        let mut message = json!({"role": "assistant", "content": null, "refusal": null});
        let mut calls = Vec::new();
        for piece in &self.content {
            match piece {
                Content::Text(text) => {
                    let before = message["content"].as_str().unwrap_or_default().to_owned();
                    message["content"] = json!(before + text);
                }
                Content::Thinking { text, .. } => message["reasoning_content"] = json!(text),
                Content::ToolCall(call) => calls.push(json!({
                    "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                })),
                Content::RedactedThinking(_) | Content::Image { .. } | Content::ToolResult(_) => {}
            }
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let mut body = json!({
            "id": "chatcmpl-loopback", "object": "chat.completion", "created": 1_700_000_000,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.chat_stop()}],
        });
        if let Some(usage) = self.chat_usage() {
            body["usage"] = usage;
        }
        body
    }

    fn responses_items(&self) -> Vec<Value> {
        self.content
            .iter()
            .enumerate()
            .filter_map(|(place, piece)| match piece {
                Content::Text(text) => Some(json!({
                    "id": format!("msg_{place}"), "type": "message", "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}],
                })),
                Content::Thinking { text, signature } => {
                    // A signature in our form is the item itself.
                    let own: Option<Value> = signature
                        .as_deref()
                        .and_then(|text| serde_json::from_str(text).ok());
                    Some(own.unwrap_or_else(|| {
                        json!({
                            "id": format!("rs_{place}"), "type": "reasoning",
                            "summary": [{"type": "summary_text", "text": text}],
                            "encrypted_content": signature,
                        })
                    }))
                }
                Content::ToolCall(call) => Some(json!({
                    "id": format!("fc_{place}"), "type": "function_call", "status": "completed",
                    "call_id": call.id, "name": call.name, "arguments": call.arguments,
                })),
                Content::RedactedThinking(_) | Content::Image { .. } | Content::ToolResult(_) => {
                    None
                }
            })
            .collect()
    }

    fn responses_whole(&self, model: &str) -> Value {
        let reason = match self.ends() {
            Stop::Length => Some("max_output_tokens".to_owned()),
            Stop::Refusal => Some("content_filter".to_owned()),
            Stop::Other(reason) => Some(reason),
            Stop::End | Stop::ToolUse => None,
        };
        let mut response = json!({
            "id": "resp_loopback", "object": "response", "created_at": 1_700_000_000, "model": model,
            "status": if reason.is_some() { "incomplete" } else { "completed" },
            "error": null,
            "incomplete_details": reason.map(|reason| json!({"reason": reason})),
            "output": self.responses_items(),
        });
        if let Some(usage) = &self.usage {
            response["usage"] = json!({
                "input_tokens": usage.prompt(),
                "input_tokens_details": {
                    "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
                },
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.total(),
            });
        }
        response
    }

    fn responses_stream(&self, model: &str) -> String {
        let mut events = Events::named();
        let whole = self.responses_whole(model);
        let mut begun = whole.clone();
        begun["status"] = json!("in_progress");
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        begun["incomplete_details"] = Value::Null;
        events.push("response.created", json!({"response": begun}));
        events.push("response.in_progress", json!({"response": begun}));
        let mut calls = Vec::new();
        for (index, item) in self.responses_items().into_iter().enumerate() {
            let mut parts = Vec::new();
            let mut added = item.clone();
            match item["type"].as_str().unwrap_or_default() {
                "message" => {
                    added["content"] = json!([]);
                    added["status"] = json!("in_progress");
                    let text = item["content"][0]["text"].as_str().unwrap_or_default();
                    parts.extend(halves(text).map(|text| {
                        ("response.output_text.delta",
                         json!({"item_id": item["id"], "output_index": index, "content_index": 0, "delta": text}))
                    }));
                }
                "reasoning" => {
                    added["summary"] = json!([]);
                    let text = item["summary"][0]["text"].as_str().unwrap_or_default();
                    if !text.is_empty() {
                        parts.push((
                            "response.reasoning_summary_part.added",
                            json!({"item_id": item["id"], "output_index": index, "summary_index": 0,
                                   "part": {"type": "summary_text", "text": ""}}),
                        ));
                    }
                    parts.extend(halves(text).map(|text| {
                        ("response.reasoning_summary_text.delta",
                         json!({"item_id": item["id"], "output_index": index, "summary_index": 0, "delta": text}))
                    }));
                }
                _ => {
                    added["arguments"] = json!("");
                    added["status"] = json!("in_progress");
                    let text = item["arguments"].as_str().unwrap_or_default();
                    parts.extend(halves(text).map(|text| {
                        (
                            "response.function_call_arguments.delta",
                            json!({"item_id": item["id"], "output_index": index, "delta": text}),
                        )
                    }));
                    parts.push((
                        "response.function_call_arguments.done",
                        json!({"item_id": item["id"], "output_index": index, "arguments": text}),
                    ));
                }
            }
            parts.insert(
                0,
                (
                    "response.output_item.added",
                    json!({"output_index": index, "item": added}),
                ),
            );
            parts.push((
                "response.output_item.done",
                json!({"output_index": index, "item": item}),
            ));
            if item["type"] == "function_call" {
                calls.push(parts);
            } else {
                parts
                    .into_iter()
                    .for_each(|(name, data)| events.push(name, data));
            }
        }
        for (name, data) in self.in_order(calls) {
            events.push(name, data);
        }
        let name = if whole["status"] == "incomplete" {
            "response.incomplete"
        } else {
            "response.completed"
        };
        events.push(name, json!({"response": whole}));
        events.text
    }

    /// The calls' events one call after the other, or in turns.
    fn in_order<T>(&self, calls: Vec<Vec<T>>) -> Vec<T> {
        if !self.interleaved {
            return calls.into_iter().flatten().collect();
        }
        let mut calls: Vec<_> = calls.into_iter().map(Vec::into_iter).collect();
        let mut all = Vec::new();
        loop {
            let before = all.len();
            all.extend(calls.iter_mut().filter_map(Iterator::next));
            if all.len() == before {
                return all;
            }
        }
    }
}

/// A text in two, so that every answer is put together from pieces.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = text
        .char_indices()
        .map(|(at, _)| at)
        .nth(text.chars().count() / 2)
        .unwrap_or(0);
    let (before, after) = text.split_at(middle);
    [before, after].into_iter().filter(|half| !half.is_empty())
}

/// Events as they stand on the wire.
struct Events {
    text: String,
    named: bool,
    number: u64,
}

impl Events {
    fn named() -> Self {
        Self {
            text: String::new(),
            named: true,
            number: 0,
        }
    }

    fn unnamed() -> Self {
        Self {
            named: false,
            ..Self::named()
        }
    }

    fn push(&mut self, name: &str, data: Value) {
        let data = if self.named {
            self.text.push_str(&format!("event: {name}\n"));
            let mut typed = json!({"type": name});
            if name.starts_with("response.") {
                typed["sequence_number"] = json!(self.number);
            }
            self.number += 1;
            for (field, value) in data.as_object().into_iter().flatten() {
                typed[field] = value.clone();
            }
            typed
        } else {
            data
        };
        self.text.push_str(&format!("data: {data}\n\n"));
    }
}
