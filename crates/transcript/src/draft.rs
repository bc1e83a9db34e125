//! Drafts: entries about to be written, in the form pi writes them.

use crate::entry::{Entry, EntryId, OldRoles, Place};
use crate::json::{Object, ObjectWriter, quote};
use crate::time::Millis;

/// The id and time of an entry, given by the caller: the core reads no clock
/// and draws no random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The new entry's id; a UUID needs no check against the others.
    pub id: EntryId,
    /// When it is written.
    pub time: Millis,
}

/// An entry without its place in the tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    /// A message, as JSON.
    Message(String),
    /// A compaction.
    Compaction {
        /// The summary.
        summary: String,
        /// The first entry that stays; `None` keeps nothing.
        first_kept: Option<EntryId>,
        /// Tokens in the context before.
        tokens_before: u64,
        /// Further data, as JSON.
        details: Option<String>,
    },
    /// What a left branch was about; empty if nothing should be said.
    BranchSummary {
        /// The leaf that was left.
        from: EntryId,
        /// The summary.
        summary: String,
    },
    /// A change of what an earlier entry shows; `None` removes it.
    ContextEdit {
        /// The entry.
        target: EntryId,
        /// Its new content, as JSON.
        content: Option<String>,
    },
    /// A name for an entry; `None` removes it.
    Label {
        /// The entry.
        target: EntryId,
        /// The name.
        label: Option<String>,
    },
    /// The session's name.
    SessionInfo {
        /// The name.
        name: String,
    },
    /// A message of a program's in the agent's context, which the user sees too.
    CustomMessage {
        /// Whose it is.
        custom_type: String,
        /// The text.
        text: String,
    },
    /// State that never enters the context.
    Custom {
        /// Whose it is.
        custom_type: String,
        /// The state, as JSON.
        data: String,
    },
    /// A change of model.
    ModelChange {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
    /// A change of thinking level.
    ThinkingLevelChange(String),
    /// What a request beside the conversation took: a silent turn, a summary.
    Usage {
        /// What it was for.
        kind: String,
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// The tokens and their cost, as JSON.
        usage: String,
        /// What should be known about it.
        note: Option<String>,
    },
    /// An entry written again elsewhere in the tree: all its fields but id and
    /// parent, and what it points at renamed.
    Again {
        /// The stored text.
        raw: String,
        /// What it points at now, if that has a new id.
        target: Option<EntryId>,
    },
}

/// Whether a label is a pin, with a note or without.
pub fn is_pin(label: &str) -> bool {
    label == "pin" || label.starts_with("pin:")
}

impl Draft {
    /// A message of the user.
    pub fn user(text: &str, time: Millis) -> Draft {
        Draft::Message(
            ObjectWriter::new()
                .str("role", "user")
                .str("content", text)
                .num("timestamp", time.0)
                .finish(),
        )
    }

    /// A pin: a label that keeps an entry from being compacted away.
    pub fn pin(target: EntryId, note: Option<&str>) -> Draft {
        Draft::Label {
            target,
            label: Some(match note {
                Some(note) => format!("pin:{note}"),
                None => String::from("pin"),
            }),
        }
    }

    /// Whether it carries the hash of every line before it: a compaction, and
    /// what asks for it by an empty `proof`.
    pub(crate) fn is_mark(&self) -> bool {
        match self {
            Draft::Compaction { .. } => true,
            Draft::Custom { data, .. } => crate::chain::asks(data),
            Draft::Again { raw, .. } => crate::chain::may_be_mark(raw.as_bytes()),
            _ => false,
        }
    }

    /// When a message says that it was said.
    pub fn said(&self) -> Option<Millis> {
        match self {
            Draft::Message(json) => Object::parse(json)
                .ok()?
                .raw("timestamp")
                .and_then(Millis::parse_json),
            _ => None,
        }
    }

    /// The entry as it will be read back.
    pub fn to_entry(&self, stamp: &Stamp, parent: Option<&EntryId>) -> Entry {
        let line = self.to_line(stamp, parent);
        let object = Object::parse(&line).unwrap_or_default();
        Entry::from_record(
            &line,
            &object,
            Place::default(),
            stamp.id.clone(),
            parent.cloned(),
            OldRoles::Keep,
        )
    }

    /// The line to store, without its newline.
    pub(crate) fn to_line(&self, stamp: &Stamp, parent: Option<&EntryId>) -> String {
        let head = |kind: &str| {
            ObjectWriter::new()
                .str("type", kind)
                .str("id", stamp.id.as_str())
                .raw(
                    "parentId",
                    &parent.map_or_else(|| "null".into(), |parent| quote(parent.as_str())),
                )
                .str("timestamp", &stamp.time.to_iso())
        };
        match self {
            Draft::Again { raw, target } => {
                return again(raw, target.as_ref(), stamp, parent);
            }
            Draft::Message(json) => head("message").raw("message", json),
            Draft::Compaction {
                summary,
                first_kept,
                tokens_before,
                details,
            } => head("compaction")
                .str("summary", summary)
                .str(
                    "firstKeptEntryId",
                    first_kept.as_ref().unwrap_or(&stamp.id).as_str(),
                )
                .num("tokensBefore", tokens_before)
                .raw_opt("details", details.as_deref()),
            Draft::BranchSummary { from, summary } => head("branch_summary")
                .str("fromId", from.as_str())
                .str("summary", summary),
            Draft::ContextEdit { target, content } => {
                head("context_edit").str("targetId", target.as_str()).raw(
                    "replacement",
                    &content.as_ref().map_or_else(
                        || "null".into(),
                        |content| ObjectWriter::new().raw("content", content).finish(),
                    ),
                )
            }
            Draft::Label { target, label } => head("label")
                .str("targetId", target.as_str())
                .str_opt("label", label.as_deref()),
            Draft::SessionInfo { name } => head("session_info").str("name", name),
            Draft::CustomMessage { custom_type, text } => head("custom_message")
                .str("customType", custom_type)
                .str("content", text)
                .raw("display", "true"),
            Draft::Custom { custom_type, data } => head("custom")
                .str("customType", custom_type)
                .raw("data", data),
            Draft::ModelChange { provider, model } => head("model_change")
                .str("provider", provider)
                .str("modelId", model),
            Draft::ThinkingLevelChange(level) => {
                head("thinking_level_change").str("thinkingLevel", level)
            }
            Draft::Usage {
                kind,
                provider,
                model,
                usage,
                note,
            } => head("usage")
                .str("kind", kind)
                .str("provider", provider)
                .str("model", model)
                .raw("usage", usage)
                .str_opt("note", note.as_deref()),
        }
        .finish()
    }
}

fn again(raw: &str, target: Option<&EntryId>, stamp: &Stamp, parent: Option<&EntryId>) -> String {
    let object = Object::parse(raw).unwrap_or_default();
    let mut writer = ObjectWriter::new();
    for (key, value) in object.iter() {
        writer = match (key, target) {
            ("id", _) => writer.str("id", stamp.id.as_str()),
            ("parentId", _) => writer.raw(
                "parentId",
                &parent.map_or_else(|| "null".into(), |parent| quote(parent.as_str())),
            ),
            ("targetId", Some(target)) => writer.str("targetId", target.as_str()),
            _ => writer.raw(key, value),
        };
    }
    writer.finish()
}
