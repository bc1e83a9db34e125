//! What entries say of their own.
//!
//! Who looks back repeats: the call has the words that are looked for, and the
//! result has what was found. Found again, the one makes a guess look like
//! evidence and the other stands before the original. So neither is searched;
//! by their ids they are had like any other entry.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_redact::Document;
use longhaul_transcript::{Entry, EntryId, MessageView, Role, ToolCall};

use super::wording::{calls_text, full_text, has_fence, text_with};

/// The tools that look back.
const LOOKING_BACK: [&str; 3] = ["recall", "memory_search", "memory_get"];

/// Whose a tool that looks back is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Ours, by all of its name.
    Ours,
    /// Perhaps ours: a host may call our server what it likes, and another
    /// server may have a tool of the same name, whose answers stand nowhere else.
    /// Ours are known by their marks.
    Perhaps,
}

/// Whose a tool is if it looks back, by whatever name a host gives it:
/// `mcp__longhaul__recall`, `mcp__notes__memory_search`.
pub(crate) fn whose(tool: &str) -> Option<Whose> {
    LOOKING_BACK.iter().find_map(|own| {
        let host = tool.strip_suffix(own)?;
        if host.is_empty() {
            return Some(Whose::Ours);
        }
        let parted = host.ends_with(['_', '-', '.', '/', ':']);
        let named = host.to_ascii_lowercase().contains("longhaul");
        // `total_recall` is a name of its own.
        let of_server = host.ends_with("__") || host.ends_with(['.', '/', ':']);
        match (parted, named) {
            (true, true) => Some(Whose::Ours),
            (true, false) if of_server || own.contains('_') => Some(Whose::Perhaps),
            _ => None,
        }
    })
}

/// Whether a tool looks back, for all that its name says. Whosever it is, its
/// call has only the words that are looked for.
pub fn looks_back(tool: &str) -> bool {
    whose(tool).is_some()
}

/// Whether a tool only looks for something: `memory_get` reads a file as any
/// other tool does.
pub(super) fn only_asks(tool: &str) -> bool {
    looks_back(tool) && !tool.ends_with("memory_get")
}

/// Whether a stored entry may have a call that looks back; most have not, and
/// are not parsed.
fn may_look_back(raw: &str) -> bool {
    [&b"recall"[..], b"memory_"]
        .iter()
        .any(|name| memchr::memmem::find(raw.as_bytes(), name).is_some())
}

/// A part of what an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What it says to whoever reads it.
    Said,
    /// What it has tools do.
    Calls,
    /// What was only thought.
    Thinking,
}

/// A pass over the entries of a session, in stored order.
#[derive(Default)]
pub(crate) struct Said {
    /// The ids of calls that looked back: a result need not name its tool.
    asked: HashMap<String, Whose>,
}

impl Said {
    /// Everything an entry says, without calls that look back; nothing of what
    /// they brought. Entries that were not heard before count by their names.
    pub(crate) fn text(&self, entry: &Entry) -> String {
        let wanted = |call: &ToolCall<'_>| !looks_back(&call.name);
        match entry.message() {
            None => full_text(entry),
            Some(message) if self.is_answer(&message) => String::new(),
            Some(message) => text_with(&message, wanted, |arguments| Cow::Borrowed(arguments)),
        }
    }

    /// The same for what keeps it, with what was only thought, by its parts: a secret
    /// among the arguments of a call may be known by its name alone, which the text
    /// does not have, and others by what the document knows of the session.
    pub(crate) fn kept(&self, entry: &Entry, document: &mut Document<'_>) -> Vec<(Part, String)> {
        let mut parts = Vec::new();
        match entry.message() {
            None => parts.push((Part::Said, full_text(entry))),
            Some(message) if self.is_answer(&message) => {}
            Some(message) => {
                let wanted = |call: &ToolCall<'_>| !looks_back(&call.name);
                parts.push((Part::Said, message.text()));
                let calls = calls_text(&message, wanted, |arguments| document.json(arguments));
                parts.push((Part::Calls, calls));
                parts.push((Part::Thinking, message.thinking()));
            }
        }
        parts.retain(|(_, text)| !text.trim().is_empty());
        for (_, text) in &mut parts {
            if let Cow::Owned(changed) = document.known(text) {
                *text = changed;
            }
        }
        parts
    }

    /// Takes note of the calls of an entry, which has to come before their
    /// results; says which of them look back.
    pub(crate) fn hear(&mut self, entry: &Entry) -> HashSet<String> {
        if !may_look_back(entry.raw()) {
            return HashSet::new();
        }
        let calls = entry.message().map(|message| message.tool_calls());
        let calls = calls.into_iter().flatten();
        let asked: HashMap<String, Whose> = calls
            .filter_map(|call: ToolCall<'_>| Some((call.id.into_owned(), whose(&call.name)?)))
            .collect();
        let ids = asked.keys().cloned().collect();
        self.asked.extend(asked);
        ids
    }

    fn is_answer(&self, message: &MessageView<'_>) -> bool {
        let named = || message.tool_name().filter(|name| !name.is_empty());
        let asked = || self.asked.get(&*message.tool_call_id()?).copied();
        if message.role != Role::ToolResult {
            return false;
        }
        let whose = match named() {
            Some(name) => whose(&name),
            None => asked(),
        };
        match whose {
            Some(Whose::Ours) => true,
            Some(Whose::Perhaps) => has_fence(&message.text()),
            None => false,
        }
    }
}

/// Holds an entry back while its calls that look back have no results: who asks
/// is not answered with the asking. What is held when a pass ends is dropped.
#[derive(Default)]
pub(super) struct Asking {
    entry: Option<Entry>,
    open: HashSet<String>,
}

impl Asking {
    /// Hands on what may be looked at: entries with the pass that heard them.
    pub(super) fn take(
        &mut self,
        said: &mut Said,
        entry: Entry,
        visit: &mut dyn FnMut(&Said, Entry),
    ) -> ControlFlow<()> {
        if let Some(asking) = self.answered(&entry) {
            visit(said, asking);
        }
        let asked = said.hear(&entry);
        if asked.is_empty() {
            visit(said, entry);
        } else {
            self.open = asked;
            self.entry = Some(entry);
        }
        ControlFlow::Continue(())
    }

    /// The entry that is held at the end.
    pub(super) fn held(self) -> Option<EntryId> {
        self.entry.map(|entry| entry.id)
    }

    /// The entry that was held, where this one ends its asking.
    fn answered(&mut self, entry: &Entry) -> Option<Entry> {
        self.entry.as_ref()?;
        let message = entry.message()?;
        match message.tool_call_id() {
            Some(id) if message.role == Role::ToolResult => {
                self.open.remove(&*id);
            }
            // Whatever else is said comes after the round.
            _ => self.open.clear(),
        }
        match self.open.is_empty() {
            true => self.entry.take(),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_ours_is_known_by_whatever_name_a_host_gives_it() {
        for tool in [
            "recall",
            "memory_get",
            "mcp__longhaul__recall",
            "mcp__plugin_Longhaul_x__memory_search",
            "longhaul_recall",
            "longhaul.memory_get",
        ] {
            assert_eq!(whose(tool), Some(Whose::Ours), "{tool}");
        }
        for tool in [
            "mcp__notes__memory_search",
            "mcp__other__recall",
            "notes.recall",
            "notes/memory_get",
            "notes_memory_get",
        ] {
            assert_eq!(whose(tool), Some(Whose::Perhaps), "{tool}");
        }
        for tool in [
            "bash",
            "total_recall",
            "mcp__longhaul__checkpoint",
            "longhaulrecall",
            "recall_all",
            "in_memory_search_engine",
        ] {
            assert_eq!(whose(tool), None, "{tool}");
        }
    }
}
