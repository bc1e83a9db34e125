//! Entries: one line of a session each, with the bytes it was stored as.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::json::{self, Object, ObjectWriter};
use crate::message::{MessageView, Role};
use crate::time::Millis;

/// The id of an entry, unique within its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(Box<str>);

impl EntryId {
    /// Takes any text as an id.
    pub fn new(id: impl Into<Box<str>>) -> Self {
        EntryId(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for EntryId {
    fn from(id: &str) -> Self {
        EntryId(id.into())
    }
}

impl Borrow<str> for EntryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Where an entry stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// Line number from 1, or 0 when the file was read from its end.
    pub line: u64,
    /// Byte offset of the record (sequence number in a database).
    pub offset: u64,
}

/// The type of an entry, as pi and OpenClaw name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EntryType {
    Session,
    Message,
    ModelChange,
    ThinkingLevelChange,
    Usage,
    Compaction,
    BranchSummary,
    Custom,
    CustomMessage,
    ContextEdit,
    Label,
    SessionInfo,
    Reset,
    Leaf,
    /// A type we do not know: kept in the file, not in the context.
    Unknown(Box<str>),
}

impl EntryType {
    /// Reads the `type` field's value.
    pub fn parse(name: &str) -> Self {
        match name {
            "session" => EntryType::Session,
            "message" => EntryType::Message,
            "model_change" => EntryType::ModelChange,
            "thinking_level_change" => EntryType::ThinkingLevelChange,
            "usage" => EntryType::Usage,
            "compaction" => EntryType::Compaction,
            "branch_summary" => EntryType::BranchSummary,
            "custom" => EntryType::Custom,
            "custom_message" => EntryType::CustomMessage,
            "context_edit" => EntryType::ContextEdit,
            "label" => EntryType::Label,
            "session_info" => EntryType::SessionInfo,
            "reset" => EntryType::Reset,
            "leaf" => EntryType::Leaf,
            other => EntryType::Unknown(other.into()),
        }
    }

    /// The `type` field's value.
    pub fn as_str(&self) -> &str {
        match self {
            EntryType::Session => "session",
            EntryType::Message => "message",
            EntryType::ModelChange => "model_change",
            EntryType::ThinkingLevelChange => "thinking_level_change",
            EntryType::Usage => "usage",
            EntryType::Compaction => "compaction",
            EntryType::BranchSummary => "branch_summary",
            EntryType::Custom => "custom",
            EntryType::CustomMessage => "custom_message",
            EntryType::ContextEdit => "context_edit",
            EntryType::Label => "label",
            EntryType::SessionInfo => "session_info",
            EntryType::Reset => "reset",
            EntryType::Leaf => "leaf",
            EntryType::Unknown(name) => name,
        }
    }
}

/// One entry of a session: its stored text and what the text means.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its id; synthesised, and stable from load to load, where the file has none.
    pub id: EntryId,
    /// The entry it follows; `None` at the root.
    pub parent: Option<EntryId>,
    /// When it was written, if the file says so in a form we can read.
    pub time: Option<Millis>,
    /// Where it was read.
    pub place: Place,
    /// What it holds.
    pub body: Body,
    raw: Box<str>,
}

/// What an entry holds.
#[derive(Debug, Clone)]
pub enum Body {
    /// A message of the conversation.
    Message(StoredMessage),
    /// A change of model.
    ModelChange {
        /// The provider's name.
        provider: String,
        /// The model's id.
        model: String,
    },
    /// A change of the thinking level.
    ThinkingLevelChange(String),
    /// Tokens spent outside the conversation.
    Usage,
    /// A compaction: what came before `boundary` is replaced by a summary.
    Compaction(Compaction),
    /// A summary of a branch that was left.
    BranchSummary {
        /// Where the branch was left from.
        from: Option<String>,
        /// The summary; may be empty.
        summary: String,
    },
    /// State of an extension; never in the context.
    Custom {
        /// The extension's name for it.
        custom_type: String,
    },
    /// A message of an extension; in the context as a user message.
    CustomMessage {
        /// The extension's name for it.
        custom_type: String,
    },
    /// A replacement of what an earlier entry shows in the context.
    ContextEdit(ContextEdit),
    /// A name for an entry; without a label it removes the name.
    Label {
        /// The named entry.
        target: EntryId,
        /// The name.
        label: Option<String>,
    },
    /// The session's own name.
    SessionInfo {
        /// The name.
        name: Option<String>,
    },
    /// OpenClaw: a new window starts here.
    Reset {
        /// Why.
        reason: String,
        /// The first entry that stays in the context, if any.
        first_kept: Option<EntryId>,
    },
    /// OpenClaw: the leaf moves.
    Leaf {
        /// To which entry; `None` means before the first.
        target: Option<EntryId>,
    },
    /// A type we do not know.
    Unknown(EntryType),
}

/// A message inside an entry.
#[derive(Debug, Clone)]
pub struct StoredMessage {
    /// Who speaks.
    pub role: Role,
    json: MessageJson,
}

#[derive(Debug, Clone)]
enum MessageJson {
    /// The bytes as stored, inside the entry's own text.
    Span(Range<usize>),
    /// Built from a flat or older layout.
    Built(Box<str>),
}

/// Which entries a compaction leaves in the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundary {
    /// From this entry on.
    FirstKept(EntryId),
    /// From the entry after this one on (`boundaryMessageId` without `firstKeptEntryId`).
    After(EntryId),
    /// From the n-th line on, the header being line 0 (version 1).
    Index(u64),
    /// Nothing before the compaction.
    Nothing,
}

/// A compaction entry's own fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    /// The summary.
    pub summary: String,
    /// What stays.
    pub boundary: Boundary,
    /// Tokens in the context before it.
    pub tokens_before: Option<u64>,
    /// Tokens in the context after it, where recorded.
    pub tokens_after: Option<u64>,
    /// The number of this compaction on its path, where recorded.
    pub epoch: Option<u32>,
    /// `prune`, `summarize`, `full` or `emergency`, where recorded.
    pub layer: Option<String>,
    /// `manual`, `auto` or `overflow`, where recorded.
    pub trigger: Option<String>,
    /// How many messages left the context, where recorded.
    pub messages_compacted: Option<u64>,
    /// What made the summary, where recorded.
    pub summarizer: Option<String>,
}

/// A context edit's own fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextEdit {
    /// The entry whose message changes.
    pub target: EntryId,
    /// What becomes of it.
    pub replacement: Replacement,
}

/// What a context edit makes of its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// The message leaves the context.
    Remove,
    /// The message gets this content (JSON).
    Content(Box<str>),
    /// The message loses its content field (`{}` as the replacement).
    NoContent,
    /// The edit says nothing we understand; the message stays as it is.
    Unreadable,
}

impl Entry {
    /// The stored text: one JSON object without its newline.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The type's name.
    pub fn kind(&self) -> EntryType {
        match &self.body {
            Body::Message(_) => EntryType::Message,
            Body::ModelChange { .. } => EntryType::ModelChange,
            Body::ThinkingLevelChange(_) => EntryType::ThinkingLevelChange,
            Body::Usage => EntryType::Usage,
            Body::Compaction(_) => EntryType::Compaction,
            Body::BranchSummary { .. } => EntryType::BranchSummary,
            Body::Custom { .. } => EntryType::Custom,
            Body::CustomMessage { .. } => EntryType::CustomMessage,
            Body::ContextEdit(_) => EntryType::ContextEdit,
            Body::Label { .. } => EntryType::Label,
            Body::SessionInfo { .. } => EntryType::SessionInfo,
            Body::Reset { .. } => EntryType::Reset,
            Body::Leaf { .. } => EntryType::Leaf,
            Body::Unknown(kind) => kind.clone(),
        }
    }

    /// The message's JSON text, if this is a message.
    pub fn message_json(&self) -> Option<&str> {
        match &self.body {
            Body::Message(message) => Some(match &message.json {
                MessageJson::Span(span) => &self.raw[span.clone()],
                MessageJson::Built(text) => text,
            }),
            _ => None,
        }
    }

    /// The message, read.
    pub fn message(&self) -> Option<MessageView<'_>> {
        self.message_json().map(MessageView::parse)
    }

    /// The role, if this is a message.
    pub fn role(&self) -> Option<&Role> {
        match &self.body {
            Body::Message(message) => Some(&message.role),
            _ => None,
        }
    }

    /// The id of the first kept entry, if this is a boundary that has one.
    pub(crate) fn first_kept_mut(&mut self) -> Option<&mut EntryId> {
        match &mut self.body {
            Body::Compaction(compaction) => match &mut compaction.boundary {
                Boundary::FirstKept(id) => Some(id),
                _ => None,
            },
            Body::Reset { first_kept, .. } => first_kept.as_mut(),
            _ => None,
        }
    }

    /// Reads a record. `id` and `parent` come from the layout (see `layout`),
    /// because older files do not store them.
    pub(crate) fn from_record(
        text: &str,
        object: &Object<'_>,
        place: Place,
        id: EntryId,
        parent: Option<EntryId>,
        old_roles: OldRoles,
    ) -> Entry {
        let kind = EntryType::parse(&object.str("type").unwrap_or_default());
        let body = body(kind, text, object, &id, old_roles);
        let time = object
            .raw("timestamp")
            .and_then(Millis::parse_json)
            .or_else(|| match &body {
                Body::Message(_) => object
                    .object("message")
                    .and_then(|message| message.raw("timestamp").and_then(Millis::parse_json)),
                _ => None,
            });
        Entry {
            id,
            parent,
            time,
            place,
            body,
            raw: text.into(),
        }
    }
}

/// Whether `hookMessage` (before version 3) still has to become `custom`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OldRoles {
    Rename,
    Keep,
}

fn body(
    kind: EntryType,
    text: &str,
    object: &Object<'_>,
    id: &EntryId,
    old_roles: OldRoles,
) -> Body {
    let owned = |key: &str| object.str(key).map(|s| s.into_owned());
    let pointer = |key: &str| object.str(key).map(|s| EntryId::new(s.into_owned()));
    match kind {
        EntryType::Message => message_body(text, object, old_roles),
        EntryType::ModelChange => Body::ModelChange {
            provider: owned("provider").unwrap_or_default(),
            model: owned("modelId").unwrap_or_default(),
        },
        EntryType::ThinkingLevelChange => {
            Body::ThinkingLevelChange(owned("thinkingLevel").unwrap_or_default())
        }
        EntryType::Usage => Body::Usage,
        EntryType::Compaction => Body::Compaction(Compaction::read(object, id)),
        EntryType::BranchSummary => Body::BranchSummary {
            from: owned("fromId"),
            summary: owned("summary").unwrap_or_default(),
        },
        EntryType::Custom => Body::Custom {
            custom_type: owned("customType").unwrap_or_default(),
        },
        EntryType::CustomMessage => Body::CustomMessage {
            custom_type: owned("customType").unwrap_or_default(),
        },
        EntryType::ContextEdit => Body::ContextEdit(ContextEdit {
            target: pointer("targetId").unwrap_or_else(|| EntryId::new("")),
            replacement: replacement(object),
        }),
        EntryType::Label => Body::Label {
            target: pointer("targetId").unwrap_or_else(|| EntryId::new("")),
            label: owned("label").filter(|label| !label.is_empty()),
        },
        EntryType::SessionInfo => Body::SessionInfo {
            name: owned("name"),
        },
        EntryType::Reset => Body::Reset {
            reason: owned("reason").unwrap_or_default(),
            first_kept: pointer("firstKeptEntryId"),
        },
        EntryType::Leaf => Body::Leaf {
            target: pointer("targetId"),
        },
        EntryType::Session | EntryType::Unknown(_) => Body::Unknown(kind),
    }
}

fn replacement(object: &Object<'_>) -> Replacement {
    if object.raw("replacement") == Some("null") {
        return Replacement::Remove;
    }
    match object.object("replacement") {
        Some(new) => match new.raw("content") {
            Some(content) => Replacement::Content(content.into()),
            None => Replacement::NoContent,
        },
        None => Replacement::Unreadable,
    }
}

fn message_body(text: &str, object: &Object<'_>, old_roles: OldRoles) -> Body {
    let nested = object.raw("message").filter(|raw| raw.starts_with('{'));
    match nested {
        Some(raw) => {
            let inner = Object::of(raw).unwrap_or_default();
            let role = inner.str("role").unwrap_or_default();
            if role == "hookMessage" && old_roles == OldRoles::Rename {
                return Body::Message(StoredMessage {
                    role: Role::Custom,
                    json: MessageJson::Built(json::with_field(&inner, "role", "\"custom\"").into()),
                });
            }
            let start = raw.as_ptr() as usize - text.as_ptr() as usize;
            Body::Message(StoredMessage {
                role: Role::parse(&role),
                json: MessageJson::Span(start..start + raw.len()),
            })
        }
        None if object.has("role") => {
            // Flat layout: role and content stand on the entry itself.
            let role = match object.str("role").unwrap_or_default().as_ref() {
                "tool" => Role::ToolResult,
                other => Role::parse(other),
            };
            let mut writer = ObjectWriter::new().str("role", role.as_str());
            for (key, raw) in object.iter() {
                if !matches!(key, "type" | "id" | "parentId" | "role") {
                    writer = writer.raw(key, raw);
                }
            }
            Body::Message(StoredMessage {
                role,
                json: MessageJson::Built(writer.finish().into()),
            })
        }
        None => Body::Unknown(EntryType::Message),
    }
}

impl Compaction {
    fn read(object: &Object<'_>, id: &EntryId) -> Compaction {
        let details = object.object("details").unwrap_or_default();
        let text = |key: &str| {
            details
                .str(key)
                .or_else(|| object.str(key))
                .map(|s| s.into_owned())
        };
        let number = |key: &str| object.u64(key).or_else(|| details.u64(key));
        let boundary = if let Some(kept) = object.str("firstKeptEntryId") {
            if kept == id.as_str() {
                Boundary::Nothing
            } else {
                Boundary::FirstKept(EntryId::new(kept.into_owned()))
            }
        } else if let Some(index) = object.u64("firstKeptEntryIndex") {
            Boundary::Index(index)
        } else if let Some(last) = object.str("boundaryMessageId") {
            Boundary::After(EntryId::new(last.into_owned()))
        } else {
            Boundary::Nothing
        };
        Compaction {
            summary: object
                .str("summary")
                .map(|s| s.into_owned())
                .unwrap_or_default(),
            boundary,
            tokens_before: number("tokensBefore").or_else(|| number("tokensBeforeCompaction")),
            tokens_after: number("tokensAfter").or_else(|| number("tokensAfterCompaction")),
            epoch: details.u64("epoch").and_then(|n| u32::try_from(n).ok()),
            layer: text("layer"),
            trigger: text("trigger"),
            messages_compacted: number("messagesCompacted"),
            summarizer: text("summarizer"),
        }
    }
}
