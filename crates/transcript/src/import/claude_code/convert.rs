//! Claude Code's messages as native ones.

use std::collections::HashMap;

use super::record::{blocks, note_text};
use super::typed::{Said, reply, said};
use crate::entry::{EntryId, Place};
use crate::import::lineup::{Imported, Usage, image_block, list, text_block};
use crate::json::{self, Object, ObjectWriter};
use crate::lines::Record;
use crate::message::MessageView;
use crate::time::Millis;
use crate::user_text::{Channel, UserText, field};

/// What the drafts of one record have in common.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) id: EntryId,
    pub(super) timestamp: Option<Box<str>>,
    pub(super) place: Place,
}

impl Origin {
    /// A further entry of the same record needs an id of its own.
    fn numbered(&self, number: usize) -> EntryId {
        if number == 0 {
            self.id.clone()
        } else {
            EntryId::new(format!("{}:{}", self.id, number + 1))
        }
    }

    fn time_json(&self) -> String {
        self.timestamp
            .as_deref()
            .and_then(Millis::parse_json)
            .unwrap_or_default()
            .0
            .to_string()
    }

    pub(super) fn custom(&self, custom_type: &str, data: &str) -> Imported {
        Imported::custom(
            self.id.clone(),
            self.timestamp.as_deref(),
            self.place,
            custom_type,
            data,
        )
    }
}

/// The entries of a user record: a `toolResult` for each result, then a user
/// message with what else it says.
pub(super) fn user(
    record: &Record<'_>,
    origin: &Origin,
    tools: &HashMap<Box<str>, Box<str>>,
) -> Vec<Imported> {
    let object = &record.object;
    let message = object.object("message").unwrap_or_default();
    let mut messages = Vec::new();
    let mut rest = Vec::new();
    let mut details = object.raw("toolUseResult");
    for raw in message.array("content").unwrap_or_default() {
        match Object::of(raw.get()) {
            Some(block) if block.raw("type") == Some("\"tool_result\"") => {
                let call = block
                    .str("tool_use_id")
                    .or_else(|| object.str("sourceToolUseID"))
                    .unwrap_or_default();
                let tool = tools.get(&*call).map_or("", |name| name);
                let details = details.take();
                let reply = reply(tool, &block, details);
                let typed = (!reply.texts.is_empty() && !is(object, "isSidechain"))
                    .then(|| field(&reply.texts));
                messages.push(
                    ObjectWriter::new()
                        .str("role", "toolResult")
                        .str("toolCallId", &call)
                        .str("toolName", tool)
                        .raw("content", &content(&block))
                        .raw_opt("details", details)
                        .raw(
                            "isError",
                            if is(&block, "is_error") {
                                "true"
                            } else {
                                "false"
                            },
                        )
                        .raw("timestamp", &origin.time_json())
                        .raw_opt("rejected", reply.rejected.then_some("true"))
                        .raw_opt("userText", typed.as_deref())
                        .finish(),
                );
            }
            Some(block) => rest.push(native_block(&block, raw.get())),
            None => rest.push(raw.get().to_owned()),
        }
    }
    let said = match message.raw("content") {
        Some(raw) if raw.starts_with('"') => Some(raw.to_owned()),
        _ if !rest.is_empty() => Some(list(&rest)),
        _ if messages.is_empty() => Some(String::from("[]")),
        _ => None,
    };
    if let Some(said) = said {
        messages.push(user_message(&said, object, origin, Channel::Prompt));
    }
    messages
        .iter()
        .enumerate()
        .map(|(number, message)| {
            Imported::message(
                origin.numbered(number),
                origin.timestamp.as_deref(),
                origin.place,
                message,
            )
        })
        .collect()
}

fn is(object: &Object<'_>, name: &str) -> bool {
    object.bool(name) == Some(true)
}

fn user_message(content: &str, object: &Object<'_>, origin: &Origin, channel: Channel) -> String {
    let said = said(object);
    let words = said.words();
    let shown = MessageView::parse(&ObjectWriter::new().raw("content", content).finish()).text();
    let marked = is(object, "isMeta") || is(object, "isSidechain");
    let typed = if words.trim().is_empty() {
        (!marked && !shown.trim().is_empty()).then(|| field(&[]))
    } else {
        (channel != Channel::Prompt || words != shown)
            .then(|| field(&[UserText::new(channel, words)]))
    };
    let flag = |name: &str| is(object, name).then_some("true");
    ObjectWriter::new()
        .str("role", "user")
        .raw("content", content)
        .raw("timestamp", &origin.time_json())
        // Sent to the model, but not said by the user: no turn begins here.
        .raw_opt("isMeta", flag("isMeta"))
        // Said by the agent that works through this one.
        .raw_opt("isSidechain", flag("isSidechain"))
        .raw_opt("userText", typed.as_deref())
        .finish()
}

/// A text that was typed while the agent worked, from its place in the queue.
pub(super) fn queued(object: &Object<'_>, origin: &Origin) -> Imported {
    let text = object.str("content").unwrap_or_default();
    let message = ObjectWriter::new()
        .str("role", "user")
        .str("content", &text)
        .raw("timestamp", &origin.time_json())
        .raw("userText", &field(&[UserText::new(Channel::Queued, text)]))
        .finish();
    Imported::message(
        origin.id.clone(),
        origin.timestamp.as_deref(),
        origin.place,
        &message,
    )
}

/// A shell command that the user ran, being put together with its output.
#[derive(Debug)]
pub(super) struct Command {
    origin: Origin,
    command: String,
    output: String,
}

impl Command {
    pub(super) fn begin(origin: Origin) -> Command {
        Command {
            origin,
            command: String::new(),
            output: String::new(),
        }
    }

    pub(super) fn add(&mut self, object: &Object<'_>) {
        match said(object) {
            Said::Shell(command) => self.command = command.into_owned(),
            Said::Output(output) => self.output = output,
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Imported {
        let message = ObjectWriter::new()
            .str("role", "bashExecution")
            .str("command", &self.command)
            .str("output", &self.output)
            .raw("cancelled", "false")
            .raw("truncated", "false")
            .raw("timestamp", &self.origin.time_json())
            .finish();
        Imported::message(
            self.origin.id.clone(),
            self.origin.timestamp.as_deref(),
            self.origin.place,
            &message,
        )
    }
}

/// A prompt that was queued, or a text that was attached.
pub(super) fn attachment(record: &Record<'_>, origin: &Origin) -> Vec<Imported> {
    let attachment = record.object.object("attachment").unwrap_or_default();
    if let Some(text) = note_text(&attachment) {
        let details = ObjectWriter::new()
            .raw_opt("attachment", attachment.raw("type"))
            .raw_opt(
                "path",
                attachment
                    .raw("path")
                    .or_else(|| attachment.raw("filename")),
            )
            .finish();
        let fields = ObjectWriter::new()
            .str("customType", "claude-code:attachment")
            .raw("content", &text)
            .raw("display", "false")
            .raw("details", &details);
        return vec![Imported::new(
            "custom_message",
            origin.id.clone(),
            origin.timestamp.as_deref(),
            origin.place,
            fields,
        )];
    }
    let content = match attachment.raw("prompt") {
        Some(raw) if raw.starts_with('[') => {
            let blocks: Vec<String> = json::array(raw)
                .unwrap_or_default()
                .into_iter()
                .map(|raw| match Object::of(raw.get()) {
                    Some(block) => native_block(&block, raw.get()),
                    None => raw.get().to_owned(),
                })
                .collect();
            list(&blocks)
        }
        other => other.unwrap_or("\"\"").to_owned(),
    };
    vec![Imported::message(
        origin.id.clone(),
        origin.timestamp.as_deref(),
        origin.place,
        &user_message(&content, &record.object, origin, Channel::Queued),
    )]
}

/// The content of a tool result, as blocks.
fn content(result: &Object<'_>) -> String {
    match result.raw("content") {
        Some(raw) if raw.starts_with('"') => list(&[text_block(raw)]),
        Some(raw) if raw.starts_with('[') => {
            let blocks: Vec<String> = json::array(raw)
                .unwrap_or_default()
                .into_iter()
                .map(|raw| match Object::of(raw.get()) {
                    Some(block) => native_block(&block, raw.get()),
                    None => text_block(raw.get()),
                })
                .collect();
            list(&blocks)
        }
        _ => String::from("[]"),
    }
}

/// One block; what has no native counterpart stays as it is.
fn native_block(block: &Object<'_>, raw: &str) -> String {
    match block.str("type").unwrap_or_default().as_ref() {
        "text" => match block.raw("text") {
            Some(text) if text.starts_with('"') => text_block(text),
            _ => raw.to_owned(),
        },
        "image" => {
            let source = block.object("source").unwrap_or_default();
            match (source.raw("data"), source.raw("media_type")) {
                (Some(data), Some(mime)) if data.starts_with('"') => image_block(data, mime),
                _ => raw.to_owned(),
            }
        }
        "thinking" => ObjectWriter::new()
            .str("type", "thinking")
            .raw("thinking", block.raw("thinking").unwrap_or("\"\""))
            .raw_opt("thinkingSignature", block.raw("signature"))
            .finish(),
        "redacted_thinking" => ObjectWriter::new()
            .str("type", "thinking")
            .str("thinking", "")
            .raw_opt("thinkingSignature", block.raw("data"))
            .raw("redacted", "true")
            .finish(),
        "tool_use" => ObjectWriter::new()
            .str("type", "toolCall")
            .raw("id", block.raw("id").unwrap_or("\"\""))
            .raw("name", block.raw("name").unwrap_or("\"\""))
            .raw(
                "arguments",
                block
                    .raw("input")
                    .filter(|raw| raw.starts_with('{'))
                    .unwrap_or("{}"),
            )
            .finish(),
        _ => raw.to_owned(),
    }
}

/// An answer being put together from its blocks.
#[derive(Debug)]
pub(super) struct Answer {
    origin: Origin,
    content: Vec<String>,
    calls: bool,
    failed: bool,
    text: String,
    model: Option<String>,
    response: Option<String>,
    stop: Option<String>,
    usage: Usage,
}

impl Answer {
    pub(super) fn begin(origin: Origin) -> Answer {
        Answer {
            origin,
            content: Vec::new(),
            calls: false,
            failed: false,
            text: String::new(),
            model: None,
            response: None,
            stop: None,
            usage: Usage::default(),
        }
    }

    /// Adds one record's blocks. Usage is repeated in each record while the
    /// answer streams in; the last one counts.
    pub(super) fn add(&mut self, object: &Object<'_>) {
        let message = object.object("message").unwrap_or_default();
        self.failed |= object.bool("isApiErrorMessage") == Some(true)
            || message.raw("model") == Some("\"<synthetic>\"");
        match message.raw("content") {
            Some(raw) if raw.starts_with('"') => self.content.push(text_block(raw)),
            _ => {
                for raw in message.array("content").unwrap_or_default() {
                    let Some(block) = Object::of(raw.get()) else {
                        continue;
                    };
                    self.calls |= block.raw("type") == Some("\"tool_use\"");
                    self.content.push(native_block(&block, raw.get()));
                }
            }
        }
        if self.failed {
            for block in blocks(&message) {
                self.text.push_str(&block.str("text").unwrap_or_default());
            }
        }
        let owned = |key: &str| message.str(key).map(|text| text.into_owned());
        self.model = owned("model").or(self.model.take());
        self.response = owned("id").or(self.response.take());
        self.stop = owned("stop_reason").or(self.stop.take());
        if let Some(usage) = message.object("usage") {
            let number = |key: &str| usage.u64(key).unwrap_or(0);
            self.usage = Usage {
                input: number("input_tokens"),
                output: number("output_tokens"),
                cache_read: number("cache_read_input_tokens"),
                cache_write: number("cache_creation_input_tokens"),
                total: 0,
                window: None,
            };
            self.usage.total = self.usage.input
                + self.usage.output
                + self.usage.cache_read
                + self.usage.cache_write;
        }
    }

    pub(super) fn finish(self) -> Imported {
        let stop = match self.stop.as_deref() {
            _ if self.failed => "error",
            Some("max_tokens" | "model_context_window_exceeded") => "length",
            Some("refusal") => "error",
            // Written while the answer streams, when the reason is not known yet.
            _ if self.calls => "toolUse",
            _ => "stop",
        };
        let mut message = ObjectWriter::new()
            .str("role", "assistant")
            .raw("content", &list(&self.content))
            .str("api", "anthropic-messages")
            .str("provider", "anthropic")
            .str("model", self.model.as_deref().unwrap_or_default())
            .raw("usage", &self.usage.to_json())
            .str("stopReason", stop);
        if self.failed && !self.text.is_empty() {
            message = message.str("errorMessage", &self.text);
        }
        let message = message
            .raw("timestamp", &self.origin.time_json())
            .str_opt("responseId", self.response.as_deref())
            .finish();
        Imported::message(
            self.origin.id.clone(),
            self.origin.timestamp.as_deref(),
            self.origin.place,
            &message,
        )
    }
}

/// A compaction being put together from its boundary and its summary.
#[derive(Debug)]
pub(super) struct Compacted {
    origin: Origin,
    first_kept: EntryId,
    trigger: Option<String>,
    tokens_before: u64,
    tokens_after: Option<u64>,
    summary: String,
}

impl Compacted {
    /// `object` is the boundary, or the summary where there is no boundary.
    pub(super) fn begin(origin: Origin, first_kept: Option<EntryId>, object: &Object<'_>) -> Self {
        let metadata = object.object("compactMetadata").unwrap_or_default();
        Compacted {
            // Its own id says that nothing is kept.
            first_kept: first_kept.unwrap_or_else(|| origin.id.clone()),
            trigger: metadata.str("trigger").map(|text| text.into_owned()),
            tokens_before: metadata.u64("preTokens").unwrap_or(0),
            tokens_after: metadata.u64("postTokens"),
            summary: String::from("\"\""),
            origin,
        }
    }

    pub(super) fn summarise(&mut self, object: &Object<'_>) {
        let message = object.object("message").unwrap_or_default();
        self.summary = match message.raw("content") {
            Some(raw) if raw.starts_with('"') => raw.to_owned(),
            _ => {
                let texts: Vec<String> = blocks(&message)
                    .iter()
                    .filter_map(|block| block.str("text").map(|text| text.into_owned()))
                    .collect();
                json::quote(&texts.join("\n"))
            }
        };
    }

    pub(super) fn finish(self) -> Imported {
        let mut details = ObjectWriter::new()
            .str("trigger", self.trigger.as_deref().unwrap_or("auto"))
            .str("layer", "full")
            .str("source", "claude-code");
        if let Some(tokens) = self.tokens_after {
            details = details.num("tokensAfter", tokens);
        }
        let fields = ObjectWriter::new()
            .raw("summary", &self.summary)
            .str("firstKeptEntryId", self.first_kept.as_str())
            .num("tokensBefore", self.tokens_before)
            .raw("details", &details.finish());
        Imported::new(
            "compaction",
            self.origin.id.clone(),
            self.origin.timestamp.as_deref(),
            self.origin.place,
            fields,
        )
    }
}
