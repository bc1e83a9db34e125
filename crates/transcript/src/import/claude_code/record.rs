//! What one record of Claude Code is, and what it links to.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::queue::Operation;
use super::typed::{Said, said};
use crate::json::{self, Object};
use crate::lines::Record;

/// What a record is for the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something the user wrote, or was made to say.
    Prompt,
    /// Results of tools, which are user messages too.
    Results,
    /// One block of an answer.
    Answer,
    /// Text that Claude Code attached for the model.
    Note,
    /// The marker of a compaction.
    Boundary,
    /// The summary of a compaction.
    Summary,
    /// Anything that the model never sees.
    Other,
}

/// What a prompt has to do with a shell command that the user ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    No,
    Command,
    Output,
}

impl Kind {
    /// Whether the model sees it.
    pub(super) fn is_message(self) -> bool {
        !matches!(self, Kind::Boundary | Kind::Other)
    }
}

/// The part of the history that a compaction kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) head: Box<str>,
    pub(super) tail: Box<str>,
}

/// A record's links, without its content.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) uuid: Option<Box<str>>,
    pub(super) parent: Option<Box<str>>,
    pub(super) kind: Kind,
    pub(super) is_sidechain: bool,
    /// The API's id of the answer that a block belongs to.
    pub(super) answer: Option<Box<str>>,
    /// Calls a block makes: id and tool.
    pub(super) calls: Vec<(Box<str>, Box<str>)>,
    /// Calls that results answer.
    pub(super) answers: Vec<Box<str>>,
    pub(super) kept: Option<Kept>,
    /// What it does to the queue of typed texts.
    pub(super) operation: Option<Operation>,
    /// Tells a prompt that repeats a queued text.
    pub(super) said: Option<u64>,
    /// Whether a user record holds words that a person typed.
    pub(super) is_typed: bool,
    pub(super) shell: Shell,
    /// A record of a kind that is not known, with text in it.
    pub(super) unknown: Option<Box<str>>,
    /// Tells a copy of a record from another record with its uuid.
    pub(super) content: u64,
    pub(super) line: u64,
    pub(super) offset: u64,
}

impl Link {
    pub(super) fn read(record: &Record<'_>) -> Link {
        let object = &record.object;
        let owned = |key: &str| {
            object
                .str(key)
                .filter(|text| !text.is_empty())
                .map(|text| Box::<str>::from(text.as_ref()))
        };
        let message = object.object("message");
        let parts = message.as_ref().map_or_else(Vec::new, blocks);
        let kind = kind(object, message.as_ref(), &parts);
        let mut link = Link {
            uuid: owned("uuid"),
            parent: owned("parentUuid"),
            kind,
            is_sidechain: object.bool("isSidechain") == Some(true),
            answer: None,
            calls: Vec::new(),
            answers: Vec::new(),
            kept: None,
            operation: None,
            said: None,
            is_typed: false,
            shell: Shell::No,
            unknown: unknown(object, message.as_ref(), &parts),
            content: content(object, message.as_ref(), record.text),
            line: record.place.line,
            offset: record.place.offset,
        };
        match (kind, &message) {
            (Kind::Prompt, _) => {
                let said = said(object);
                link.said = Some(said.key());
                link.is_typed = message.is_some() && !said.words().trim().is_empty();
                link.shell = match said {
                    Said::Shell(_) => Shell::Command,
                    Said::Output(_) => Shell::Output,
                    _ => Shell::No,
                };
            }
            (Kind::Other, _) if object.raw("type") == Some("\"queue-operation\"") => {
                link.operation = Operation::read(object);
            }
            (Kind::Boundary, _) => {
                link.parent = link.parent.or_else(|| owned("logicalParentUuid"));
                link.kept = kept(object);
            }
            (Kind::Answer, Some(message)) => {
                link.answer = message.str("id").map(|id| id.as_ref().into());
                for block in &parts {
                    if block.raw("type") == Some("\"tool_use\"") {
                        let text = |key: &str| block.str(key).unwrap_or_default().as_ref().into();
                        link.calls.push((text("id"), text("name")));
                    }
                }
            }
            (Kind::Results, _) => {
                for block in &parts {
                    if let Some(id) = block.str("tool_use_id") {
                        link.answers.push(id.as_ref().into());
                    }
                }
            }
            _ => {}
        }
        link
    }
}

fn kind(object: &Object<'_>, message: Option<&Object<'_>>, parts: &[Object<'_>]) -> Kind {
    match object.str("type").unwrap_or_default().as_ref() {
        "user" if message.is_none() => Kind::Other,
        "user" if object.bool("isCompactSummary") == Some(true) => Kind::Summary,
        "user" => {
            let results = parts
                .iter()
                .any(|block| block.raw("type") == Some("\"tool_result\""));
            if results { Kind::Results } else { Kind::Prompt }
        }
        "assistant" if message.is_some() => Kind::Answer,
        "system" if object.raw("subtype") == Some("\"compact_boundary\"") => Kind::Boundary,
        "attachment" => match object.object("attachment") {
            Some(attachment) if is_queued(&attachment) => Kind::Prompt,
            Some(attachment) if note_text(&attachment).is_some() => Kind::Note,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// Kinds of records that hold nothing a person typed, or nothing that is not
/// in a message too.
const SILENT: [&str; 24] = [
    "summary",
    "progress",
    "file-history-snapshot",
    "attribution-snapshot",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "last-prompt",
    "mode",
    "permission-mode",
    "worktree-state",
    "pr-link",
    "tag",
    "task-summary",
    "speculation-accept",
    "content-replacement",
    "frame-link",
    "started",
    "result",
    "relocated",
    "bridge-session",
    "atis-latch",
];

/// The name of what a record's text is of, when that is not known.
fn unknown(
    object: &Object<'_>,
    message: Option<&Object<'_>>,
    parts: &[Object<'_>],
) -> Option<Box<str>> {
    let kind = object.str("type").unwrap_or_default();
    match kind.as_ref() {
        "user" => parts.iter().find_map(|block| {
            let kind = block.str("type").unwrap_or_default();
            let known = matches!(
                kind.as_ref(),
                "text" | "image" | "document" | "tool_result" | "tool_reference"
            );
            (!known && block.has_text(&["text", "content"]))
                .then(|| format!("user message with a block {kind}").into())
        }),
        "assistant" | "system" => None,
        "attachment" => {
            let attachment = object.object("attachment")?;
            (!is_queued(&attachment) && attachment.has_text(&["prompt"])).then(|| {
                format!("attachment {}", attachment.str("type").unwrap_or_default()).into()
            })
        }
        "queue-operation" => {
            let known = Operation::read(object).is_some();
            (!known && object.has_text(&["content"])).then(|| {
                let operation = object.str("operation").unwrap_or_default();
                format!("queue-operation {operation}").into()
            })
        }
        kind if SILENT.contains(&kind) => None,
        kind => (message.is_some_and(|message| message.has("content"))
            || object.has_text(&["content", "text", "prompt", "output", "message"]))
        .then(|| kind.into()),
    }
}

/// The blocks of a message's content.
pub(super) fn blocks<'a>(message: &Object<'a>) -> Vec<Object<'a>> {
    message
        .array("content")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|block| Object::of(block.get()))
        .collect()
}

/// A prompt that the user typed while the model was still answering; it is
/// stored nowhere else.
pub(super) fn is_queued(attachment: &Object<'_>) -> bool {
    attachment.raw("type") == Some("\"queued_command\"")
        && attachment
            .raw("prompt")
            .is_some_and(|prompt| prompt.starts_with(['"', '[']))
}

/// The raw JSON string of what an attachment shows the model. Reminders and
/// state changes are left out: Claude Code words them anew for each request.
pub(super) fn note_text<'a>(attachment: &Object<'a>) -> Option<Cow<'a, str>> {
    let text = match attachment.str("type")?.as_ref() {
        "file" | "compact_file_reference" => attachment
            .object("content")?
            .object("file")?
            .raw("content")?,
        "edited_text_file" => attachment.raw("snippet")?,
        "nested_memory" => attachment.object("content")?.raw("content")?,
        // One text for each hook that gave one.
        "hook_additional_context" => match attachment.array("content") {
            Some(texts) => {
                let texts = texts.iter().filter_map(|text| json::string(text.get()));
                let texts: Vec<Cow<'_, str>> = texts.filter(|text| !text.is_empty()).collect();
                let text = (!texts.is_empty()).then(|| json::quote(&texts.join("\n")));
                return text.map(Cow::Owned);
            }
            None => attachment.raw("content")?,
        },
        _ => return None,
    };
    json::string(text)
        .is_some_and(|text| !text.is_empty())
        .then_some(Cow::Borrowed(text))
}

fn kept(object: &Object<'_>) -> Option<Kept> {
    let metadata = object.object("compactMetadata")?;
    if let Some(segment) = metadata.object("preservedSegment") {
        return Some(Kept {
            head: segment.str("headUuid")?.as_ref().into(),
            tail: segment.str("tailUuid")?.as_ref().into(),
        });
    }
    let uuids = metadata.object("preservedMessages")?.array("uuids")?;
    let text = |raw: &json::Raw<'_>| json::string(raw.get()).map(|id| id.as_ref().into());
    Some(Kept {
        head: text(uuids.first()?)?,
        tail: text(uuids.last()?)?,
    })
}

/// What a record says. A resumed session writes copies with another version
/// and other fields around the same content; blocks of an answer are even
/// told apart by their uuid alone.
fn content(object: &Object<'_>, message: Option<&Object<'_>>, text: &str) -> u64 {
    let said = match message {
        Some(message) if message.has("id") => message.raw("id"),
        Some(message) => message.raw("content"),
        None => object.raw("attachment"),
    };
    let mut hasher = DefaultHasher::new();
    object.raw("type").hash(&mut hasher);
    object.raw("parentUuid").hash(&mut hasher);
    said.unwrap_or(text).hash(&mut hasher);
    hasher.finish()
}
