//! The providers' wire formats: what is sent, and how what comes is read.

mod chat;
mod draft;
mod messages;
mod responses;
mod tidy;

use serde_json::Value;

pub(crate) use draft::{Draft, Out};

use crate::complaint::{Complaint, excerpt};
use crate::provider::{Protocol, Provider};
use crate::request::Request;
use crate::sse::Event;

/// What a request's form depends on, besides the request.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) provider: Provider,
    pub(crate) protocol: Protocol,
    pub(crate) model: String,
    pub(crate) max_output: Option<u32>,
    /// Whether breakpoints are sent.
    pub(crate) breakpoints: bool,
    /// Whether the model takes images.
    pub(crate) images: bool,
}

/// No provider takes more than four breakpoints.
const MAX_BREAKPOINTS: usize = 4;

impl Dialect {
    /// The body of a request; `None` if it says nothing.
    pub(crate) fn body(&self, request: &Request) -> Option<Value> {
        match self.protocol {
            Protocol::Messages => messages::body(request, self),
            Protocol::Chat => chat::body(request, self),
            Protocol::Responses => responses::body(request, self),
        }
    }

    /// A reader of one answer.
    pub(crate) fn reader(&self) -> Reader {
        match self.protocol {
            Protocol::Messages => Reader::Messages(messages::Reader::default()),
            Protocol::Chat => Reader::Chat(chat::Reader::default()),
            Protocol::Responses => Reader::Responses(responses::Reader::default()),
        }
    }

    /// Whether it is one of OpenAI's reasoning models, which refuse a temperature.
    fn reasons(&self) -> bool {
        let name = self.model.rsplit('/').next().unwrap_or_default();
        let family = |prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        name.starts_with("gpt-5") && !name.starts_with("gpt-5-chat")
            || ["o1", "o3", "o4", "gpt-6", "gpt-7"]
                .iter()
                .any(|prefix| family(prefix))
            || name.starts_with("codex")
    }
}

/// What is wrong with what came.
#[derive(Debug, PartialEq)]
pub(crate) enum Wrong {
    /// The provider says so.
    Complaint(Box<Complaint>),
    /// It cannot be read.
    Unreadable { reason: String, excerpt: String },
    /// It ended before it was over.
    Cut(String),
}

impl From<Complaint> for Wrong {
    fn from(complaint: Complaint) -> Self {
        Self::Complaint(Box::new(complaint))
    }
}

impl Wrong {
    fn unreadable(reason: impl Into<String>, text: &str) -> Self {
        Self::Unreadable {
            reason: reason.into(),
            excerpt: excerpt(text, 200),
        }
    }
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    Done,
}

/// Reads one answer in one of the formats.
#[derive(Debug)]
pub(crate) enum Reader {
    Messages(messages::Reader),
    Chat(chat::Reader),
    Responses(responses::Reader),
}

impl Reader {
    /// Takes the next event of a stream.
    pub(crate) fn event(&mut self, event: &Event, out: &mut Out<'_>) -> Result<Progress, Wrong> {
        if event.data.trim() == "[DONE]" {
            return match self {
                Self::Chat(reader) => reader.done(),
                Self::Messages(_) | Self::Responses(_) => Ok(Progress::Done),
            };
        }
        if event.data.trim().is_empty() {
            return Ok(Progress::More);
        }
        let value: Value = serde_json::from_str(&event.data).map_err(|error| {
            Wrong::unreadable(format!("an event is not JSON ({error})"), &event.data)
        })?;
        match self {
            Self::Messages(reader) => reader.event(&event.name, &value, out),
            Self::Chat(reader) => reader.chunk(&event.name, &value, out),
            Self::Responses(reader) => reader.event(&event.name, &value, out),
        }
    }

    /// Takes a whole answer from a server that does not stream.
    pub(crate) fn whole(&mut self, body: &str, out: &mut Out<'_>) -> Result<(), Wrong> {
        let value: Value = serde_json::from_str(body)
            .map_err(|error| Wrong::unreadable(format!("it is not JSON ({error})"), body))?;
        if value.get("error").is_some_and(|error| !error.is_null())
            && let Some(complaint) = Complaint::read(200, &value)
        {
            return Err(complaint.into());
        }
        match self {
            Self::Messages(reader) => reader.whole(&value, out),
            Self::Chat(reader) => reader.whole(&value, out),
            Self::Responses(reader) => reader.whole(&value, out),
        }
    }

    /// The stream is over: was the answer?
    pub(crate) fn finish(&mut self) -> Result<(), Wrong> {
        match self {
            Self::Messages(reader) => reader.finish(),
            Self::Chat(reader) => reader.finish(),
            Self::Responses(reader) => reader.finish(),
        }
    }

    pub(crate) fn draft(&self) -> &Draft {
        match self {
            Self::Messages(reader) => &reader.draft,
            Self::Chat(reader) => &reader.draft,
            Self::Responses(reader) => &reader.draft,
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn count(value: &Value, field: &str) -> Option<u64> {
    value.get(field).and_then(Value::as_u64)
}

/// A text as it is, anything else as JSON: some servers send arguments as the
/// object that they are.
fn as_json_text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn data_url(mime: &str, data: &str) -> String {
    format!("data:{mime};base64,{data}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dialect(protocol: Protocol) -> Dialect {
        Dialect {
            provider: Provider::Compatible,
            protocol,
            model: "m".into(),
            max_output: None,
            breakpoints: false,
            images: true,
        }
    }

    const FIELDS: &[&str] = &[
        "type",
        "index",
        "output_index",
        "delta",
        "choices",
        "usage",
        "error",
        "message",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "id",
        "call_id",
        "name",
        "response",
        "item",
        "output",
        "content_block",
        "text",
        "thinking",
        "signature",
        "partial_json",
        "finish_reason",
        "stop_reason",
        "input",
        "reasoning_details",
        "reasoning",
        "summary",
        "encrypted_content",
        "incomplete_details",
        "reason",
        "prompt_tokens",
        "input_tokens",
        "total_tokens",
        "code",
        "metadata",
        "raw",
        "status",
        "refusal",
    ];

    const WORDS: &[&str] = &[
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message_stop",
        "text_delta",
        "input_json_delta",
        "signature_delta",
        "tool_use",
        "text",
        "thinking",
        "redacted_thinking",
        "error",
        "stop",
        "tool_calls",
        "length",
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.reasoning_summary_part.added",
        "response.completed",
        "response.failed",
        "function_call",
        "message",
        "reasoning",
        "{\"a\":",
        "",
        "水🦀",
        "400",
    ];

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            prop_oneof![0..4u64, any::<u64>()].prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            proptest::sample::select(WORDS).prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((proptest::sample::select(FIELDS), inner), 0..6)
                    .prop_map(|fields| {
                        let fields = fields
                            .into_iter()
                            .map(|(name, value)| (name.to_owned(), value));
                        Value::Object(fields.collect())
                    }),
            ]
        })
    }

    fn event(data: &Value) -> Event {
        Event {
            name: String::new(),
            data: data.to_string(),
        }
    }

    proptest! {
        #[test]
        fn no_json_whatever_makes_a_reader_fail(
            values in proptest::collection::vec(any_json(), 0..8),
        ) {
            for protocol in Protocol::ALL {
                let mut reader = dialect(protocol).reader();
                let mut said = 0;
                let mut out = |_| said += 1;
                for value in &values {
                    // Whether it is understood does not matter here.
                    let _ = reader.event(&event(value), &mut out);
                    let _ = dialect(protocol).reader().whole(&value.to_string(), &mut out);
                }
                let _ = reader.finish();
                let answer = reader.draft().answer("m");
                prop_assert_eq!(reader.draft().has_calls(), answer.tool_calls().next().is_some());
                prop_assert!(answer.content.is_empty() || !reader.draft().is_empty());
            }
        }
    }

    #[test]
    fn openais_reasoning_models_are_told_by_name() {
        for (model, reasons) in [
            ("o1", true),
            ("o3-mini", true),
            ("o4-mini-2025-04-16", true),
            ("gpt-5", true),
            ("gpt-5.6-terra", true),
            ("gpt-6-astra", true),
            ("openai/gpt-5-mini", true),
            ("gpt-5-chat-latest", false),
            ("gpt-4.1", false),
            ("gpt-4o", false),
            ("o10", false),
            ("olmo", false),
        ] {
            let dialect = Dialect {
                model: model.into(),
                ..dialect(Protocol::Chat)
            };
            assert_eq!(dialect.reasons(), reasons, "{model}");
        }
    }
}
