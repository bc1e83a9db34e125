//! Edits: what a pruned message shows instead.

use std::collections::HashMap;
use std::fmt;

use longhaul_tokens::Tokens;
use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{ContextMessage, EntryId, Role};
use serde::Serialize;

/// Why a result was pruned, the most dispensable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The file was read again or changed later.
    Superseded,
    /// The same result came again later.
    Repeated,
    /// It is old.
    Age,
    /// It is long and no longer recent; its most telling part is still shown.
    Arrival,
}

impl Reason {
    /// Every reason, in order of precedence.
    pub const ALL: [Reason; 4] = [
        Reason::Superseded,
        Reason::Repeated,
        Reason::Age,
        Reason::Arrival,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Superseded => "superseded",
            Reason::Repeated => "repeated",
            Reason::Age => "age",
            Reason::Arrival => "arrival",
        })
    }
}

/// Which kind of message an edit changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Surface {
    /// The content of a tool's result.
    ToolResult,
    /// The output of a command that the user ran. The transcript has no entry
    /// that changes one, so such an edit lives in memory only.
    ShellRun,
}

/// A new content for one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The entry whose message changes.
    pub entry: EntryId,
    /// Its index in the conversation that was pruned.
    pub at: usize,
    /// What is changed.
    pub surface: Surface,
    /// The new content: a JSON array of one text block.
    pub content: String,
    /// Why.
    pub reason: Reason,
    /// The message's size until now.
    pub before: Tokens,
    /// Its size from now on.
    pub after: Tokens,
    /// Everything from this message to the end, before any edit: what a warm
    /// cache holds and would have to hold anew.
    pub behind: Tokens,
}

impl Edit {
    /// What it frees.
    pub fn freed(&self) -> Tokens {
        self.before - self.after
    }

    /// Whether a `context_edit` entry can carry it.
    pub fn is_durable(&self) -> bool {
        self.surface == Surface::ToolResult
    }
}

/// The conversation as it is sent: the same messages in the same order, with
/// the edited contents. Bytes equal those that a `context_edit` entry gives.
/// What was edited before stays as it is.
pub fn apply(messages: &[ContextMessage], edits: &[Edit]) -> Vec<ContextMessage> {
    let edits: HashMap<&EntryId, &Edit> = edits.iter().map(|edit| (&edit.entry, edit)).collect();
    messages
        .iter()
        .map(|message| match edits.get(&message.entry) {
            Some(edit) if !message.edited => {
                rewritten(message, &edit.content).unwrap_or_else(|| message.clone())
            }
            _ => message.clone(),
        })
        .collect()
}

/// A message with a new content; `None` if it is not of a kind that is pruned.
pub(super) fn rewritten(message: &ContextMessage, content: &str) -> Option<ContextMessage> {
    let object = Object::of(message.json())?;
    let json = match message.role {
        Role::ToolResult => json::with_field(&object, "content", content),
        Role::BashExecution => {
            let block = *json::array(content)?.first()?;
            let output = Object::of(block.get())?.raw("text")?;
            json::with_field(&object, "output", output)
        }
        _ => return None,
    };
    let mut rewritten = ContextMessage::new(message.entry.clone(), json);
    rewritten.edited = true;
    Some(rewritten)
}

/// A text as content: an array of one text block.
pub(super) fn content_of(text: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":{}}}]", json::quote(text))
}
