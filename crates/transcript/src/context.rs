//! The context: the messages a session puts before the model.
//!
//! This is pi's `buildSessionContext`, to the byte: the latest compaction's
//! summary, the kept part of the path, what follows, context edits applied.
//! Files of OpenClaw follow OpenClaw's own builder where the two differ.

mod provider;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::entry::{Body, ContextEdit, Entry, EntryId, Replacement};
use crate::json::{self, Object, ObjectWriter};
use crate::layout::Dialect;
use crate::load::Loaded;
use crate::message::{MessageView, Role};
use crate::time::Millis;

/// One message of a context.
#[derive(Debug, Clone)]
pub struct ContextMessage {
    /// The entry it comes from.
    pub entry: EntryId,
    /// Who speaks.
    pub role: Role,
    /// Whether a context edit changed it.
    pub edited: bool,
    json: Box<str>,
}

impl ContextMessage {
    /// A message from its JSON text.
    pub fn new(entry: EntryId, json: impl Into<Box<str>>) -> ContextMessage {
        let json = json.into();
        let role = MessageView::parse(&json).role;
        ContextMessage {
            entry,
            role,
            edited: false,
            json,
        }
    }

    /// The message as JSON: its stored bytes, unless it was edited or stands
    /// for an entry that is not a message.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The message, opened for reading.
    pub fn view(&self) -> MessageView<'_> {
        MessageView::parse(&self.json)
    }
}

/// The history part of a context.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The messages, in order.
    pub messages: Vec<ContextMessage>,
}

impl Context {
    /// Builds the context of a loaded session.
    pub fn build(loaded: &Loaded) -> Context {
        let edits = edits(loaded);
        let mut messages = Vec::with_capacity(loaded.entries.len());
        let mut push = |entry: &Entry, made: Vec<ContextMessage>| {
            let edit = edits.get(&entry.id).copied();
            messages.extend(made.into_iter().filter_map(|message| edited(message, edit)));
        };
        if let Some(at) = loaded.boundary {
            let boundary = &loaded.entries[at];
            push(boundary, boundary_messages(boundary, loaded.dialect));
            for entry in kept(loaded, at) {
                let mut made = messages_of(entry, loaded.dialect);
                if loaded.dialect == Dialect::OpenClaw {
                    made = made.into_iter().map(without_replay).collect();
                }
                push(entry, made);
            }
        }
        let following = loaded.boundary.map_or(0, |at| at + 1);
        for entry in &loaded.entries[following..] {
            push(entry, messages_of(entry, loaded.dialect));
        }
        Context { messages }
    }

    /// The messages one entry puts into a context when nothing edits it.
    pub fn of_entry(entry: &Entry) -> Vec<ContextMessage> {
        match entry.body {
            Body::Compaction(_) => boundary_messages(entry, Dialect::Pi),
            _ => messages_of(entry, Dialect::Pi),
        }
    }

    /// The messages as one JSON array, the bytes that the golden files hash.
    pub fn to_json(&self) -> String {
        let mut text = String::from("[");
        for (at, message) in self.messages.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(&message.json);
        }
        text.push(']');
        text
    }

    /// What the model is to see, as pi's `convertToLlm` has it: summaries,
    /// custom messages and shell runs become user messages, what is excluded
    /// is left out. A provider may still refuse it; see
    /// [`for_provider`](Self::for_provider).
    pub fn for_model(&self) -> Vec<ContextMessage> {
        self.messages.iter().filter_map(for_model).collect()
    }

    /// What can be sent: [`for_model`](Self::for_model) as pi's provider layer
    /// sends it. Answers of failed requests are left out with their results;
    /// a call that has no result gets one that says so; results follow the
    /// answer that asked for them, and those that nobody asked for are left
    /// out; nothing is empty, and the user speaks first.
    pub fn for_provider(&self) -> Vec<ContextMessage> {
        provider::ready(self.for_model())
    }
}

/// The messages that an entry puts into a context without a boundary.
pub(crate) fn shown(
    entry: &Entry,
    dialect: Dialect,
    edit: Option<&ContextEdit>,
) -> Vec<ContextMessage> {
    let edit = edit.filter(|_| dialect != Dialect::OpenClaw);
    let made = messages_of(entry, dialect).into_iter();
    made.filter_map(|message| edited(message, edit)).collect()
}

fn edits(loaded: &Loaded) -> HashMap<&EntryId, &ContextEdit> {
    let mut edits = HashMap::new();
    if loaded.dialect != Dialect::OpenClaw {
        for entry in &loaded.entries {
            if let Body::ContextEdit(edit) = &entry.body {
                edits.insert(&edit.target, edit);
            }
        }
    }
    edits
}

/// The kept part before a boundary.
fn kept(loaded: &Loaded, at: usize) -> Vec<&Entry> {
    let range = &loaded.entries[..at];
    if let Body::Reset { .. } = loaded.entries[at].body {
        return kept_by_reset(range);
    }
    range
        .iter()
        .filter(|entry| {
            // The compaction brings its own system message.
            entry.role() != Some(&Role::System) && !matches!(entry.body, Body::Compaction(_))
        })
        .collect()
}

/// After a reset OpenClaw keeps only user and assistant messages and the tool
/// results that answer one of them.
pub(crate) fn kept_by_reset(range: &[Entry]) -> Vec<&Entry> {
    let mut open: HashSet<String> = HashSet::new();
    range
        .iter()
        .filter(|entry| match entry.role() {
            Some(Role::User) => true,
            Some(Role::Assistant) => {
                if let Some(message) = entry.message() {
                    open.extend(
                        message
                            .tool_calls()
                            .into_iter()
                            .map(|call| call.id.into_owned()),
                    );
                }
                true
            }
            Some(Role::ToolResult) => entry
                .message()
                .and_then(|message| message.tool_call_id().map(|id| open.remove(id.trim())))
                .unwrap_or(false),
            _ => false,
        })
        .collect()
}

fn boundary_messages(entry: &Entry, dialect: Dialect) -> Vec<ContextMessage> {
    let Body::Compaction(_) = &entry.body else {
        return Vec::new();
    };
    let object = Object::of(entry.raw()).unwrap_or_default();
    let mut messages = Vec::new();
    if dialect != Dialect::OpenClaw
        && let Some(system) = object
            .raw("systemMessage")
            .filter(|raw| raw.starts_with('{'))
    {
        messages.push(ContextMessage::new(entry.id.clone(), system));
    }
    let tokens_before = object
        .raw("tokensBefore")
        .or_else(|| object.raw("tokensBeforeCompaction"));
    messages.push(made(
        entry,
        Role::CompactionSummary,
        ObjectWriter::new()
            .str("role", "compactionSummary")
            .raw_opt("summary", object.raw("summary"))
            .raw_opt("tokensBefore", tokens_before)
            .raw("timestamp", &time_json(entry))
            .finish(),
    ));
    messages
}

/// The messages of an entry after (or without) a boundary.
fn messages_of(entry: &Entry, dialect: Dialect) -> Vec<ContextMessage> {
    match &entry.body {
        Body::Message(message) => {
            let Some(text) = entry.message_json() else {
                return Vec::new();
            };
            if dialect == Dialect::OpenClaw && is_excluded(text) {
                return Vec::new();
            }
            let json = match dialect {
                Dialect::OpenClaw => with_custom_type(&message.role, text),
                Dialect::Pi | Dialect::Linear => with_content(&message.role, text),
            };
            vec![made(
                entry,
                message.role.clone(),
                json.unwrap_or_else(|| text.into()),
            )]
        }
        Body::CustomMessage { .. } => {
            let object = Object::of(entry.raw()).unwrap_or_default();
            let content = object
                .raw("content")
                .filter(|raw| *raw != "null")
                .unwrap_or("[]");
            vec![made(
                entry,
                Role::Custom,
                ObjectWriter::new()
                    .str("role", "custom")
                    .raw_opt("customType", object.raw("customType"))
                    .raw("content", content)
                    .raw_opt("display", object.raw("display"))
                    .raw_opt("details", object.raw("details"))
                    .raw("timestamp", &time_json(entry))
                    .finish(),
            )]
        }
        Body::BranchSummary { summary, .. } if !summary.is_empty() => {
            let object = Object::of(entry.raw()).unwrap_or_default();
            vec![made(
                entry,
                Role::BranchSummary,
                ObjectWriter::new()
                    .str("role", "branchSummary")
                    .raw_opt("summary", object.raw("summary"))
                    .raw_opt("fromId", object.raw("fromId"))
                    .raw("timestamp", &time_json(entry))
                    .finish(),
            )]
        }
        _ => Vec::new(),
    }
}

fn made(entry: &Entry, role: Role, json: impl Into<Box<str>>) -> ContextMessage {
    ContextMessage {
        entry: entry.id.clone(),
        role,
        edited: false,
        json: json.into(),
    }
}

/// The entry's own timestamp in milliseconds; `null` where there is none, as
/// JavaScript writes an invalid date.
fn time_json(entry: &Entry) -> String {
    Object::of(entry.raw())
        .and_then(|object| object.raw("timestamp").and_then(Millis::parse_js))
        .map_or_else(|| String::from("null"), |time| time.0.to_string())
}

/// Old files hold messages without content; providers refuse those.
fn with_content(role: &Role, text: &str) -> Option<Box<str>> {
    let empty = match role {
        Role::System => "\"\"",
        Role::User | Role::Assistant | Role::ToolResult => "[]",
        _ => return None,
    };
    let object = Object::of(text)?;
    match object.raw("content") {
        None | Some("null") => Some(json::with_field(&object, "content", empty).into()),
        Some(_) => None,
    }
}

/// OpenClaw names the custom messages of its first versions `hook`.
fn with_custom_type(role: &Role, text: &str) -> Option<Box<str>> {
    let object = (*role == Role::Custom).then(|| Object::of(text))??;
    (!object.has("customType")).then(|| json::with_field(&object, "customType", "\"hook\"").into())
}

/// A kept answer must not replay a provider's own compaction again.
fn without_replay(mut message: ContextMessage) -> ContextMessage {
    if message.role == Role::Assistant && message.json.contains("\"providerReplay\"") {
        let object = Object::of(&message.json).unwrap_or_default();
        let replay = object
            .object("providerReplay")
            .and_then(|replay| replay.str("type"));
        if matches!(
            replay.as_deref(),
            Some(
                "anthropic-compaction"
                    | "openai-responses-compaction"
                    | "openai-responses-retained-compaction"
            )
        ) {
            message.json = json::without_field(&object, "providerReplay").into();
        }
    }
    message
}

fn is_excluded(text: &str) -> bool {
    text.contains("\"excludeFromContext\"")
        && Object::of(text).is_some_and(|object| object.bool("excludeFromContext") == Some(true))
}

fn edited(mut message: ContextMessage, edit: Option<&ContextEdit>) -> Option<ContextMessage> {
    let Some(edit) = edit else {
        return Some(message);
    };
    let editable = matches!(
        message.role,
        Role::User | Role::Assistant | Role::ToolResult | Role::Custom
    );
    let blocks_only = matches!(message.role, Role::Assistant | Role::ToolResult);
    let object = Object::of(&message.json).unwrap_or_default();
    let json = match &edit.replacement {
        Replacement::Remove => return None,
        Replacement::Content(text) if editable && blocks_only && text.starts_with('"') => {
            let block = format!("[{{\"type\":\"text\",\"text\":{text}}}]");
            json::with_field(&object, "content", &block)
        }
        Replacement::Content(content) if editable => json::with_field(&object, "content", content),
        Replacement::NoContent if editable => json::without_field(&object, "content"),
        _ => return Some(message),
    };
    message.json = json.into();
    message.edited = true;
    Some(message)
}

const COMPACTION_INTRO: &str = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n";
const COMPACTION_OUTRO: &str = "\n</summary>";
const BRANCH_INTRO: &str =
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n";
const BRANCH_OUTRO: &str = "</summary>";

fn for_model(message: &ContextMessage) -> Option<ContextMessage> {
    if let Role::System | Role::User | Role::Assistant | Role::ToolResult = message.role {
        return Some(message.clone());
    }
    let view = message.view();
    let object = view.object();
    let content = match message.role {
        Role::BashExecution => {
            if object.bool("excludeFromContext") == Some(true) {
                return None;
            }
            text_block(&bash_text(object))
        }
        Role::Custom => match object.raw("content") {
            Some(raw) if raw.starts_with('"') => {
                format!("[{{\"type\":\"text\",\"text\":{raw}}}]")
            }
            Some(raw) => raw.to_owned(),
            None => String::from("[]"),
        },
        Role::CompactionSummary => text_block(&format!(
            "{COMPACTION_INTRO}{}{COMPACTION_OUTRO}",
            view.text()
        )),
        Role::BranchSummary => text_block(&format!("{BRANCH_INTRO}{}{BRANCH_OUTRO}", view.text())),
        _ => return None,
    };
    Some(ContextMessage {
        entry: message.entry.clone(),
        role: Role::User,
        edited: message.edited,
        json: ObjectWriter::new()
            .str("role", "user")
            .raw("content", &content)
            .raw_opt("timestamp", object.raw("timestamp"))
            .finish()
            .into(),
    })
}

fn text_block(text: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":{}}}]", json::quote(text))
}

fn bash_text(object: &Object<'_>) -> String {
    let mut text = format!("Ran `{}`\n", object.str("command").unwrap_or_default());
    match object.str("output").filter(|output| !output.is_empty()) {
        Some(output) => text.push_str(&format!("```\n{output}\n```")),
        None => text.push_str("(no output)"),
    }
    if object.bool("cancelled") == Some(true) {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = object
        .raw("exitCode")
        .filter(|raw| !matches!(*raw, "null" | "0"))
    {
        text.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if object.bool("truncated") == Some(true)
        && let Some(path) = object.str("fullOutputPath").filter(|path| !path.is_empty())
    {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}

/// Where the results stand that answer no call before them, or one that was
/// answered already. [`Context::for_provider`] leaves them out.
pub fn unasked(messages: &[ContextMessage]) -> HashSet<usize> {
    let mut open: HashSet<String> = HashSet::new();
    let mut unasked = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::Assistant => {
                let view = message.view();
                let calls = view.tool_calls().into_iter();
                open.extend(calls.map(|call| call.id.into_owned()));
            }
            Role::ToolResult => {
                let view = message.view();
                if !view.tool_call_id().is_some_and(|id| open.remove(&*id)) {
                    unasked.insert(at);
                }
            }
            _ => {}
        }
    }
    unasked
}

/// Counts of a context by role, for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Census {
    /// Messages of the user.
    pub user: usize,
    /// Messages of the model.
    pub assistant: usize,
    /// Results of tools.
    pub tool_results: usize,
    /// Everything else.
    pub other: usize,
}

impl Context {
    /// Counts the messages by role.
    pub fn census(&self) -> Census {
        let mut census = Census::default();
        for message in &self.messages {
            match message.role {
                Role::User => census.user += 1,
                Role::Assistant => census.assistant += 1,
                Role::ToolResult => census.tool_results += 1,
                _ => census.other += 1,
            }
        }
        census
    }
}
