//! The view of a context that a provider takes.
//!
//! This is what pi's provider layer makes of the messages just before the
//! wire (`transformMessages`), and a little more, since a session may have
//! been cut, damaged or written by another program: whatever the messages
//! are, in what comes out every result stands right after the answer that
//! asked for it, every call has one result, and nothing is empty.

use std::collections::HashMap;

use super::{ContextMessage, text_block};
use crate::json::{self, Object, ObjectWriter};
use crate::message::Role;

/// pi's words for a call that was never answered.
const NO_RESULT: &str = "No result provided";
const NO_OUTPUT: &str = "(no output)";
const NO_WORDS: &str = "(empty message)";
const NO_START: &str = "(the conversation began before this point)";

/// A message that is sent, and for an answer what its tools said.
struct Sent {
    message: ContextMessage,
    calls: Vec<Call>,
    results: Vec<ContextMessage>,
}

struct Call {
    id: String,
    tool: String,
    answered: bool,
}

/// Where the latest call with an id is; nowhere if its answer is not sent.
type Latest = HashMap<String, Option<(usize, usize)>>;

/// Makes messages fit to be sent. Those that are already stay as they are.
pub(super) fn ready(messages: Vec<ContextMessage>) -> Vec<ContextMessage> {
    let mut sent: Vec<Sent> = Vec::with_capacity(messages.len());
    let mut latest: Latest = HashMap::new();
    let mut added = 0;
    for message in messages {
        match message.role {
            Role::System => {
                if let Some(message) = system(message) {
                    sent.push(Sent::plain(message));
                }
            }
            Role::User => sent.push(Sent::plain(filled(message, NO_WORDS))),
            Role::Assistant => {
                if let Some((message, calls)) = answer(message, &mut latest) {
                    for (at, call) in calls.iter().enumerate() {
                        latest.insert(call.id.clone(), Some((sent.len(), at)));
                    }
                    added += calls.len();
                    sent.push(Sent {
                        message,
                        calls,
                        results: Vec::new(),
                    });
                }
            }
            Role::ToolResult => {
                // A result that answers nothing is refused, and so is a second one.
                let asked = message
                    .view()
                    .tool_call_id()
                    .and_then(|id| latest.get(id.as_ref()).copied().flatten());
                if let Some((answer, call)) = asked
                    && !sent[answer].calls[call].answered
                {
                    sent[answer].calls[call].answered = true;
                    sent[answer].results.push(filled(message, NO_OUTPUT));
                }
            }
            _ => {}
        }
    }
    let mut ready = Vec::with_capacity(sent.len() + added + 1);
    let mut begun = false;
    for sent in sent {
        if !begun && sent.message.role != Role::System {
            begun = true;
            if sent.message.role != Role::User {
                ready.push(made(&sent.message, Role::User, beginning(&sent.message)));
            }
        }
        let missing = sent.calls.iter().filter(|call| !call.answered);
        let missing: Vec<ContextMessage> = missing
            .map(|call| {
                made(
                    &sent.message,
                    Role::ToolResult,
                    no_result(&sent.message, call),
                )
            })
            .collect();
        ready.push(sent.message);
        ready.extend(sent.results);
        ready.extend(missing);
    }
    ready
}

impl Sent {
    fn plain(message: ContextMessage) -> Sent {
        Sent {
            message,
            calls: Vec::new(),
            results: Vec::new(),
        }
    }
}

/// pi may keep a system prompt in sections instead of in the content.
fn system(message: ContextMessage) -> Option<ContextMessage> {
    let view = message.view();
    let object = view.object();
    let said = object.raw("content").is_some_and(|raw| !is_blank(raw))
        || object.raw("sections").is_some_and(|raw| raw.len() > 2);
    said.then_some(message)
}

/// An answer and its calls; nothing if the request failed or nothing is said.
fn answer(message: ContextMessage, latest: &mut Latest) -> Option<(ContextMessage, Vec<Call>)> {
    let view = message.view();
    let failed = matches!(view.stop_reason().as_deref(), Some("error" | "aborted"));
    let mut calls: Vec<Call> = Vec::new();
    let mut kept: Vec<&str> = Vec::new();
    let raw = view.object().raw("content").unwrap_or("[]");
    let blocks = match json::array(raw) {
        Some(blocks) => blocks,
        None if is_blank(raw) || failed => return None,
        None => {
            drop(view);
            return Some((message, calls));
        }
    };
    for block in &blocks {
        match kind(block.get()) {
            Kind::Empty => continue,
            Kind::Call { id, tool } => {
                // Two calls with one id cannot both be answered.
                if calls.iter().any(|call| call.id == id) {
                    continue;
                }
                calls.push(Call {
                    id,
                    tool,
                    answered: false,
                });
            }
            Kind::Other => {}
        }
        kept.push(block.get());
    }
    if failed {
        // What its tools said after all goes with it.
        latest.extend(calls.into_iter().map(|call| (call.id, None)));
        return None;
    }
    if kept.is_empty() {
        return None;
    }
    if kept.len() == blocks.len() {
        drop((view, blocks));
        return Some((message, calls));
    }
    let json = with_blocks(view.object(), &kept);
    Some((
        ContextMessage {
            json,
            ..message.bare()
        },
        calls,
    ))
}

/// A message without its empty blocks; `instead` where nothing is left.
fn filled(message: ContextMessage, instead: &str) -> ContextMessage {
    let view = message.view();
    let raw = view.object().raw("content").unwrap_or("null");
    let json = match json::array(raw) {
        Some(blocks) => {
            let kept: Vec<&str> = blocks
                .iter()
                .map(|block| block.get())
                .filter(|block| !matches!(kind(block), Kind::Empty))
                .collect();
            if kept.is_empty() {
                json::with_field(view.object(), "content", &text_block(instead)).into()
            } else if kept.len() < blocks.len() {
                with_blocks(view.object(), &kept)
            } else {
                drop((view, blocks, kept));
                return message;
            }
        }
        None if is_blank(raw) => {
            json::with_field(view.object(), "content", &text_block(instead)).into()
        }
        None => {
            drop(view);
            return message;
        }
    };
    ContextMessage {
        json,
        ..message.bare()
    }
}

fn with_blocks(object: &Object<'_>, blocks: &[&str]) -> Box<str> {
    json::with_field(object, "content", &format!("[{}]", blocks.join(","))).into()
}

enum Kind {
    /// A block that says nothing.
    Empty,
    Call {
        id: String,
        tool: String,
    },
    Other,
}

fn kind(raw: &str) -> Kind {
    let Some(object) = Object::of(raw) else {
        return match is_blank(raw) {
            true => Kind::Empty,
            false => Kind::Other,
        };
    };
    let blank = |key: &str| object.raw(key).is_none_or(is_blank);
    match object.str("type").unwrap_or_default().as_ref() {
        "text" if blank("text") => Kind::Empty,
        "image" if blank("data") && !object.has("source") && !object.has("url") => Kind::Empty,
        "thinking"
            if blank("thinking")
                && blank("thinkingSignature")
                && object.bool("redacted") != Some(true) =>
        {
            Kind::Empty
        }
        "toolCall" | "toolUse" | "functionCall" => {
            let id = object.str("id").unwrap_or_default().into_owned();
            let tool = object.str("name").unwrap_or_default().into_owned();
            if id.trim().is_empty() || tool.trim().is_empty() {
                Kind::Empty
            } else {
                Kind::Call { id, tool }
            }
        }
        _ => Kind::Other,
    }
}

/// Whether a JSON value is no string, or one of spaces only. Decodes nothing
/// that begins with a letter.
fn is_blank(raw: &str) -> bool {
    let Some(inside) = raw.strip_prefix('"') else {
        return true;
    };
    match inside.bytes().next() {
        Some(first) if first.is_ascii_graphic() && !matches!(first, b'"' | b'\\') => false,
        _ => json::string(raw).is_none_or(|text| text.trim().is_empty()),
    }
}

fn no_result(answer: &ContextMessage, call: &Call) -> String {
    ObjectWriter::new()
        .str("role", "toolResult")
        .str("toolCallId", &call.id)
        .str("toolName", &call.tool)
        .raw("content", &text_block(NO_RESULT))
        .raw("isError", "true")
        .raw_opt("timestamp", answer.view().object().raw("timestamp"))
        .finish()
}

fn beginning(first: &ContextMessage) -> String {
    ObjectWriter::new()
        .str("role", "user")
        .raw("content", &text_block(NO_START))
        .raw_opt("timestamp", first.view().object().raw("timestamp"))
        .finish()
}

/// A message that stands in no file; it goes with the one that needs it.
fn made(beside: &ContextMessage, role: Role, json: String) -> ContextMessage {
    ContextMessage {
        entry: beside.entry.clone(),
        role,
        edited: false,
        json: json.into(),
    }
}

impl ContextMessage {
    /// Everything but the text.
    fn bare(&self) -> ContextMessage {
        ContextMessage {
            entry: self.entry.clone(),
            role: self.role.clone(),
            edited: self.edited,
            json: Box::default(),
        }
    }
}
