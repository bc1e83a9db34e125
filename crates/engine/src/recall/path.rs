//! Finding a file: the calls that touch it, then what else names it.

use std::borrow::Cow;
use std::collections::VecDeque;

use longhaul_ledger::{ToolUse, classify};
use longhaul_transcript::{Entry, MessageView, Role};

use super::said::{Said, only_asks};
use super::{start_of, text_with};

/// A search for a file.
pub(super) struct Files {
    wanted: String,
    cwd: String,
    limit: usize,
    /// The newest hits of each kind.
    found: [VecDeque<(Entry, String)>; KINDS],
}

const KINDS: usize = 6;

/// How an entry has to do with a file, the nearest first.
#[derive(Clone, Copy)]
enum Nearness {
    Touches,
    TouchesPart,
    Names,
    NamesPart,
    /// What a tool brought names it.
    Brings,
    BringsPart,
}

/// Whether a text has a name, or something longer with the name in it.
enum Named {
    Whole,
    Part,
}

impl Files {
    pub(super) fn new(path: &str, cwd: Option<&str>, limit: usize) -> Files {
        let cwd = match cwd.unwrap_or_default().trim_end_matches('/') {
            "" => String::new(),
            cwd => format!("{cwd}/"),
        };
        Files {
            wanted: within(path, &cwd).to_owned(),
            cwd,
            limit,
            found: Default::default(),
        }
    }

    pub(super) fn take(&mut self, said: &Said, entry: Entry) {
        let near = entry.message().and_then(|message| match message.role {
            _ if self.wanted.is_empty() => None,
            Role::ToolResult => self.brought(&said.text(&entry)),
            _ => self.nearness(&message),
        });
        let Some(near) = near else {
            return;
        };
        let found = &mut self.found[near as usize];
        // A copy written by an undo is the same thing said once.
        found.retain(|(other, _)| other.id != entry.id);
        let excerpt = start_of(&entry);
        found.push_back((entry, excerpt));
        if found.len() > self.limit {
            found.pop_front();
        }
    }

    fn nearness(&self, message: &MessageView<'_>) -> Option<Nearness> {
        let mut part = false;
        let calls = message.tool_calls().into_iter();
        for call in calls.filter(|call| !only_asks(&call.name)) {
            let does = classify(&call.name, call.arguments);
            for path in paths(&does) {
                let path = within(path, &self.cwd);
                let rest = path.strip_suffix(self.wanted.as_str());
                if rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/')) {
                    return Some(Nearness::Touches);
                }
                part |= path.contains(&self.wanted);
            }
        }
        if part {
            return Some(Nearness::TouchesPart);
        }
        let text = text_with(
            message,
            |call| !only_asks(&call.name),
            |arguments| Cow::Borrowed(arguments),
        );
        Some(match self.named_in(&text)? {
            Named::Whole => Nearness::Names,
            Named::Part => Nearness::NamesPart,
        })
    }

    fn brought(&self, text: &str) -> Option<Nearness> {
        Some(match self.named_in(text)? {
            Named::Whole => Nearness::Brings,
            Named::Part => Nearness::BringsPart,
        })
    }

    fn named_in(&self, text: &str) -> Option<Named> {
        let mut named = None;
        for (at, _) in text.match_indices(self.wanted.as_str()) {
            let before = text[..at].chars().next_back();
            let after = text[at + self.wanted.len()..].chars().next();
            let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            if !before.is_some_and(joined) && !after.is_some_and(joined) {
                return Some(Named::Whole);
            }
            named = Some(Named::Part);
        }
        named
    }

    /// The nearest first, of equally near ones the newest.
    pub(super) fn finish(self) -> impl Iterator<Item = (Entry, String)> {
        let all = self.found.into_iter();
        all.flat_map(|found| found.into_iter().rev())
            .take(self.limit)
    }
}

/// A path as it is from the working folder.
fn within<'p>(path: &'p str, cwd: &str) -> &'p str {
    let path = path.strip_prefix("./").unwrap_or(path);
    match path.strip_prefix(cwd) {
        Some(rest) if !rest.is_empty() => rest,
        _ => path,
    }
}

/// Every file that a call says it reads or changes.
fn paths(does: &ToolUse) -> Vec<&str> {
    match does {
        ToolUse::Move { from, to } => vec![from, to],
        ToolUse::Patch { files } => files
            .iter()
            .flat_map(|edit| [Some(edit.path.as_str()), edit.moved_to.as_deref()])
            .flatten()
            .collect(),
        ToolUse::Search { path, .. } => path.as_deref().into_iter().collect(),
        other => other.target().into_iter().collect(),
    }
}
