//! Messages: what a role said, read without copying.

use std::borrow::Cow;
use std::fmt;

use crate::json::{self, Object};
use crate::time::Millis;
use serde::Serialize;

/// Who speaks in a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Role {
    System,
    User,
    Assistant,
    ToolResult,
    BashExecution,
    Custom,
    BranchSummary,
    CompactionSummary,
    Other(Box<str>),
}

impl Role {
    /// Reads the `role` field's value.
    pub fn parse(name: &str) -> Role {
        match name {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "toolResult" => Role::ToolResult,
            "bashExecution" => Role::BashExecution,
            "custom" => Role::Custom,
            "branchSummary" => Role::BranchSummary,
            "compactionSummary" => Role::CompactionSummary,
            other => Role::Other(other.into()),
        }
    }

    /// The `role` field's value.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::ToolResult => "toolResult",
            Role::BashExecution => "bashExecution",
            Role::Custom => "custom",
            Role::BranchSummary => "branchSummary",
            Role::CompactionSummary => "compactionSummary",
            Role::Other(name) => name,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Role {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A block of a message's content.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// A picture.
    Image {
        /// Its MIME type.
        mime: Cow<'a, str>,
        /// How many characters of base64 it has.
        base64_chars: usize,
    },
    /// A document, such as a PDF.
    Document {
        /// Its MIME type.
        mime: Cow<'a, str>,
        /// Its base64; empty where it lies elsewhere.
        base64: Cow<'a, str>,
    },
    /// The model's reasoning.
    Thinking {
        /// The text; empty when redacted.
        text: Cow<'a, str>,
        /// The provider's signature; empty without one.
        signature: Cow<'a, str>,
    },
    /// A request to run a tool.
    ToolCall(ToolCall<'a>),
    /// A block we do not know, as stored.
    Other(&'a str),
}

/// A request of the model to run a tool.
#[derive(Debug, Clone)]
pub struct ToolCall<'a> {
    /// The id its result will name.
    pub id: Cow<'a, str>,
    /// The tool.
    pub name: Cow<'a, str>,
    /// The arguments, as JSON text.
    pub arguments: &'a str,
}

/// What the provider said about one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderUsage {
    /// Fresh input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to it.
    pub cache_write: u64,
    /// The sum as the provider or agent reports it; 0 when it does not.
    pub total: u64,
}

impl ProviderUsage {
    /// Tokens in the context once this answer is part of it.
    pub fn context_tokens(&self) -> u64 {
        if self.total > 0 {
            self.total
        } else {
            self.input + self.output + self.cache_read + self.cache_write
        }
    }
}

/// A message opened for reading; borrows from its JSON text.
#[derive(Debug, Clone)]
pub struct MessageView<'a> {
    /// Who speaks.
    pub role: Role,
    object: Object<'a>,
}

impl<'a> MessageView<'a> {
    /// Opens a message. Text that is not an object gives an empty message.
    pub fn parse(text: &'a str) -> MessageView<'a> {
        let object = Object::of(text).unwrap_or_default();
        MessageView {
            role: Role::parse(&object.str("role").unwrap_or_default()),
            object,
        }
    }

    /// The stored fields.
    pub fn object(&self) -> &Object<'a> {
        &self.object
    }

    /// The content's blocks; a string is one text block, `null` none.
    pub fn blocks(&self) -> Vec<Block<'a>> {
        let Some(raw) = self.object.raw("content") else {
            return Vec::new();
        };
        if let Some(text) = json::string(raw) {
            return vec![Block::Text(text)];
        }
        match json::array(raw) {
            Some(items) => items.into_iter().map(|item| block(item.get())).collect(),
            None if raw == "null" => Vec::new(),
            None => vec![Block::Other(raw)],
        }
    }

    /// All text of the message, in order, joined by newlines. Thinking is left out.
    pub fn text(&self) -> String {
        match self.role {
            Role::CompactionSummary | Role::BranchSummary => self
                .object
                .str("summary")
                .map(|s| s.into_owned())
                .unwrap_or_default(),
            Role::BashExecution => {
                let command = self.object.str("command").unwrap_or_default();
                let output = self.object.str("output").unwrap_or_default();
                format!("$ {command}\n{output}")
            }
            _ => {
                let mut text = String::new();
                for block in self.blocks() {
                    if let Block::Text(part) = block {
                        if !text.is_empty() {
                            text.push('\n');
                        }
                        text.push_str(&part);
                    }
                }
                text
            }
        }
    }

    /// The model's reasoning, as far as it can be read, joined by newlines.
    pub fn thinking(&self) -> String {
        let mut thinking = String::new();
        for block in self.blocks() {
            if let Block::Thinking { text, .. } = block {
                if !thinking.is_empty() {
                    thinking.push('\n');
                }
                thinking.push_str(&text);
            }
        }
        thinking
    }

    /// The tool calls of an assistant message.
    pub fn tool_calls(&self) -> Vec<ToolCall<'a>> {
        if self.role != Role::Assistant {
            return Vec::new();
        }
        // Texts are not decoded for it.
        let items = self.object.array("content").unwrap_or_default().into_iter();
        let objects = items.filter_map(|item| Object::of(item.get()));
        objects
            .filter_map(|object| tool_call(&object.str("type")?, &object))
            .collect()
    }

    /// For a tool result, the id of the call it answers.
    pub fn tool_call_id(&self) -> Option<Cow<'a, str>> {
        [
            "toolCallId",
            "toolUseId",
            "tool_call_id",
            "tool_use_id",
            "callId",
            "call_id",
        ]
        .into_iter()
        .find_map(|key| self.object.str(key).filter(|id| !id.trim().is_empty()))
    }

    /// For a tool result, the tool's name.
    pub fn tool_name(&self) -> Option<Cow<'a, str>> {
        self.object.str("toolName")
    }

    /// Whether a tool result reports a failure.
    pub fn is_error(&self) -> bool {
        self.object.bool("isError").unwrap_or(false)
    }

    /// The provider's usage, if the message carries one that is not all zero.
    pub fn usage(&self) -> Option<ProviderUsage> {
        let usage = self.object.object("usage")?;
        let number = |key: &str| usage.u64(key).unwrap_or(0);
        let usage = ProviderUsage {
            input: number("input"),
            output: number("output"),
            cache_read: number("cacheRead"),
            cache_write: number("cacheWrite"),
            total: number("totalTokens"),
        };
        (usage.context_tokens() > 0).then_some(usage)
    }

    /// The window that the agent worked with, where it says so beside the usage.
    pub fn context_window(&self) -> Option<u64> {
        self.object.object("usage")?.u64("contextWindow")
    }

    /// The model that wrote an assistant message.
    pub fn model(&self) -> Option<Cow<'a, str>> {
        self.object.str("model")
    }

    /// The provider that served an assistant message.
    pub fn provider(&self) -> Option<Cow<'a, str>> {
        self.object.str("provider")
    }

    /// When it was said, as the message itself has it; its entry says when it was
    /// written down.
    pub fn time(&self) -> Option<Millis> {
        let time = self.object().f64("timestamp")?;
        Some(Millis(time as i64))
    }

    /// Why an assistant message ended.
    pub fn stop_reason(&self) -> Option<Cow<'a, str>> {
        self.object.str("stopReason")
    }

    /// Whether the answer ended by itself, so that its usage can be believed.
    pub fn is_settled(&self) -> bool {
        !matches!(
            self.stop_reason().as_deref(),
            Some("error" | "aborted" | "pending")
        )
    }
}

fn block(text: &str) -> Block<'_> {
    let Some(object) = Object::of(text) else {
        return match json::string(text) {
            Some(text) => Block::Text(text),
            None => Block::Other(text),
        };
    };
    let kind = object.str("type").unwrap_or_default();
    match &*kind {
        "text" => match object.str("text") {
            Some(text) => Block::Text(text),
            None => Block::Other(text),
        },
        "thinking" => Block::Thinking {
            text: object.str("thinking").unwrap_or_default(),
            signature: object.str("thinkingSignature").unwrap_or_default(),
        },
        "image" => Block::Image {
            mime: object.str("mimeType").unwrap_or_default(),
            base64_chars: object.raw("data").map_or(0, |data| data.len()),
        },
        "document" => document(&object).unwrap_or(Block::Other(text)),
        kind => tool_call(kind, &object).map_or(Block::Other(text), Block::ToolCall),
    }
}

fn tool_call<'a>(kind: &str, object: &Object<'a>) -> Option<ToolCall<'a>> {
    matches!(kind, "toolCall" | "toolUse" | "functionCall").then(|| ToolCall {
        id: object.str("id").unwrap_or_default(),
        name: object.str("name").unwrap_or_default(),
        arguments: object.raw("arguments").unwrap_or("{}"),
    })
}

/// A document in Anthropic's form, unless it is plain text in place.
fn document<'a>(object: &Object<'a>) -> Option<Block<'a>> {
    let source = object.object("source")?;
    match source.str("type")?.as_ref() {
        "base64" | "url" | "file" => Some(Block::Document {
            mime: source.str("media_type").unwrap_or_default(),
            base64: source.str("data").unwrap_or_default(),
        }),
        _ => None,
    }
}
