//! How what comes is read.

use serde_json::{Value, json};

use super::{DETAILS, THINKING_FIELDS};
use crate::answer::{Stop, Usage};
use crate::complaint::Complaint;
use crate::wire::draft::{Draft, Out};
use crate::wire::{Progress, Wrong, as_json_text, count, text};

/// Keys of the draft: texts and thoughts take a fresh one each time another kind
/// of thing came between, calls have their own range.
const CALLS: u64 = 1 << 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
}

/// Reads an answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(in crate::wire) draft: Draft,
    last: Option<Kind>,
    key: u64,
    /// For each index that the server counts by, the key of its current call.
    calls: Vec<(u64, u64)>,
    details: Vec<Value>,
    details_key: Option<u64>,
    refused: bool,
    overflowed: bool,
}

impl Reader {
    pub(in crate::wire) fn chunk(
        &mut self,
        name: &str,
        chunk: &Value,
        out: &mut Out<'_>,
    ) -> Result<Progress, Wrong> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) || name == "error" {
            let complaint = Complaint::read(200, chunk).unwrap_or_else(|| Complaint {
                status: 200,
                message: chunk.to_string(),
                ..Complaint::default()
            });
            return Err(Wrong::from(complaint));
        }
        self.head(chunk);
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(Progress::More);
        };
        self.usage(choice.get("usage"));
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, out);
        }
        self.stop(choice)?;
        Ok(Progress::More)
    }

    pub(in crate::wire) fn whole(&mut self, body: &Value, out: &mut Out<'_>) -> Result<(), Wrong> {
        let Some(choice) = body.get("choices").and_then(|choices| choices.get(0)) else {
            return Err(Wrong::unreadable("it has no choices", &body.to_string()));
        };
        self.head(body);
        if let Some(message) = choice.get("message").or_else(|| choice.get("delta")) {
            self.delta(message, out);
        }
        self.stop(choice)?;
        self.finish_with(Stop::End)
    }

    /// `[DONE]`: some servers never gave a reason before it.
    pub(in crate::wire) fn done(&mut self) -> Result<Progress, Wrong> {
        self.finish_with(Stop::End)?;
        Ok(Progress::Done)
    }

    pub(in crate::wire) fn finish(&mut self) -> Result<(), Wrong> {
        if self.draft.stop.is_none() {
            return Err(Wrong::Cut(
                "the stream ended without a finish_reason".into(),
            ));
        }
        self.finish_with(Stop::End)
    }

    fn finish_with(&mut self, stop: Stop) -> Result<(), Wrong> {
        if self.draft.stop.is_none() && self.draft.is_empty() {
            return Err(Wrong::Cut(
                "the stream ended before anything was said".into(),
            ));
        }
        let stop = self.draft.stop.take().unwrap_or(stop);
        // Several servers say `stop` where they mean `tool_calls`.
        self.draft.stop = Some(match stop {
            Stop::End if self.draft.has_calls() => Stop::ToolUse,
            Stop::End if self.refused => Stop::Refusal,
            other => other,
        });
        if let Some(key) = self.details_key.take() {
            let details = Value::Array(std::mem::take(&mut self.details));
            self.draft
                .signature(key, &json!({DETAILS: details}).to_string());
        }
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

    fn head(&mut self, body: &Value) {
        for (field, place) in [("id", &mut self.draft.id), ("model", &mut self.draft.model)] {
            if place.is_none() {
                *place = Some(text(body, field).to_owned()).filter(|text| !text.is_empty());
            }
        }
        self.usage(body.get("usage"));
        // Groq's own place for it.
        self.usage(body.get("x_groq").and_then(|groq| groq.get("usage")));
    }

    /// The key under which a text or a thought goes on.
    fn continued(&mut self, kind: Kind) -> u64 {
        if self.last != Some(kind) {
            self.last = Some(kind);
            self.key += 1;
        }
        self.key
    }

    fn delta(&mut self, delta: &Value, out: &mut Out<'_>) {
        if let Some((field, thought)) = THINKING_FIELDS
            .into_iter()
            .map(|field| (field, text(delta, field)))
            .find(|(_, thought)| !thought.is_empty())
        {
            let fresh = self.last != Some(Kind::Thinking);
            let key = self.continued(Kind::Thinking);
            self.draft.thinking(key, thought, out);
            if fresh && self.details_key.is_none() && delta.get(DETAILS).is_none() {
                self.draft.signature(key, field);
            }
        }
        if let Some(details) = delta
            .get(DETAILS)
            .and_then(Value::as_array)
            .filter(|d| !d.is_empty())
        {
            if self.details_key.is_none() {
                let key = self.continued(Kind::Thinking);
                self.draft.thinking(key, "", out);
                self.details_key = Some(key);
            }
            for detail in details {
                self.detail(detail);
            }
        }
        match delta.get("content") {
            Some(Value::String(words)) if !words.is_empty() => {
                let key = self.continued(Kind::Text);
                self.draft.text(key, words, out);
            }
            // Mistral's parts.
            Some(Value::Array(parts)) => {
                for part in parts {
                    match text(part, "type") {
                        "thinking" => {
                            let thought: String = part
                                .get("thinking")
                                .and_then(Value::as_array)
                                .into_iter()
                                .flatten()
                                .map(|part| text(part, "text"))
                                .collect();
                            let key = self.continued(Kind::Thinking);
                            self.draft.thinking(key, &thought, out);
                        }
                        _ if !text(part, "text").is_empty() => {
                            let key = self.continued(Kind::Text);
                            self.draft.text(key, text(part, "text"), out);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        let refusal = text(delta, "refusal");
        if !refusal.is_empty() {
            self.refused = true;
            let key = self.continued(Kind::Text);
            self.draft.text(key, refusal, out);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (place, call) in calls.into_iter().flatten().enumerate() {
            self.call(call, place as u64, out);
        }
    }

    fn call(&mut self, call: &Value, place: u64, out: &mut Out<'_>) {
        let index = count(call, "index").unwrap_or(place);
        let id = text(call, "id");
        let function = call.get("function").unwrap_or(&Value::Null);
        let name = text(function, "name");
        let current = self
            .calls
            .iter()
            .rev()
            .find(|(own, _)| *own == index)
            .map(|(_, key)| *key);
        let continues = current.is_some_and(|key| {
            if !id.is_empty() {
                // A server that numbers all its calls 0 tells them apart by id.
                return self.draft.call_id(key) == Some(id);
            }
            // One that gives neither number nor id sends a name again, when the
            // arguments before it are whole.
            name.is_empty() || call.get("index").is_some() || !self.draft.call_is_whole(key)
        });
        let key = match current {
            Some(key) if continues => key,
            _ if name.is_empty() && id.is_empty() => return,
            _ => {
                let key = CALLS + self.calls.len() as u64;
                self.calls.push((index, key));
                self.last = Some(Kind::Call);
                self.draft.call(key, id, name, out);
                key
            }
        };
        self.draft
            .arguments(key, &as_json_text(function.get("arguments")), out);
    }

    /// Joins a piece of OpenRouter's structured thinking to its beginning.
    fn detail(&mut self, piece: &Value) {
        let same = |own: &&mut Value| {
            own.get("index") == piece.get("index")
                && own.get("type") == piece.get("type")
                && piece.get("index").is_some()
        };
        let Some(own) = self
            .details
            .iter_mut()
            .rev()
            .find(same)
            .and_then(Value::as_object_mut)
        else {
            self.details.push(piece.clone());
            return;
        };
        for (field, value) in piece.as_object().into_iter().flatten() {
            match (own.get_mut(field), value) {
                (Some(Value::String(all)), Value::String(more))
                    if matches!(field.as_str(), "text" | "summary" | "data") =>
                {
                    all.push_str(more);
                }
                (Some(Value::Null) | None, value) => drop(own.insert(field.clone(), value.clone())),
                _ => {}
            }
        }
    }

    fn stop(&mut self, choice: &Value) -> Result<(), Wrong> {
        let stop = match text(choice, "finish_reason") {
            "" => return Ok(()),
            "stop" | "eos" | "end" | "end_turn" | "stop_sequence" => Stop::End,
            "tool_calls" | "function_call" | "tool_use" => Stop::ToolUse,
            "length" | "max_tokens" | "model_length" => Stop::Length,
            "model_context_window_exceeded" => {
                self.overflowed = true;
                Stop::Length
            }
            "content_filter" | "refusal" | "safety" => Stop::Refusal,
            "error" => {
                let error = choice.get("error").unwrap_or(&Value::Null);
                let complaint =
                    Complaint::read(200, &json!({"error": error})).unwrap_or_else(|| Complaint {
                        status: 200,
                        message: "the provider ended the answer with an error".into(),
                        ..Complaint::default()
                    });
                return Err(Wrong::from(complaint));
            }
            other => Stop::Other(other.to_owned()),
        };
        self.draft.stop = Some(stop);
        Ok(())
    }

    fn usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let Some(prompt) = count(usage, "prompt_tokens") else {
            return;
        };
        let details = usage.get("prompt_tokens_details").unwrap_or(&Value::Null);
        let cache_read = count(details, "cached_tokens")
            // DeepSeek, then Moonshot.
            .or_else(|| count(usage, "prompt_cache_hit_tokens"))
            .or_else(|| count(usage, "cached_tokens"))
            .unwrap_or(0)
            .min(prompt);
        let cache_write = count(details, "cache_write_tokens")
            .unwrap_or(0)
            .min(prompt - cache_read);
        let completion = count(usage, "completion_tokens").unwrap_or(0);
        // xAI leaves the thinking out of the completion, not out of the total.
        let total = count(usage, "total_tokens").unwrap_or(0);
        let output = completion.max(total.saturating_sub(prompt));
        self.draft.usage = Some(Usage {
            input: prompt - cache_read - cache_write,
            output,
            cache_read,
            cache_write,
        });
        if let Some(cost) = usage.get("cost").and_then(Value::as_f64) {
            self.draft.cost = Some(cost);
        }
    }
}
