//! Finding a file: the calls that touch it, then what else names it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use longhaul_ledger::{ToolUse, classify};
use longhaul_transcript::{Entry, MessageView, Role};

use super::said::{Said, only_asks};
use super::wording::{start_of, text_with};

/// A search for a file.
pub(super) struct Files {
    wanted: String,
    cwd: String,
    limit: usize,
    /// The newest hits of each kind, the nearest first; of one kind those first that
    /// have the name and not a longer one with it.
    found: BTreeMap<(Nearness, IsPart), VecDeque<(Entry, String)>>,
}

/// How an entry has to do with a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Touches,
    Names,
    /// What a tool brought names it.
    Brings,
}

/// Whether a text has only something longer with the name in it.
type IsPart = bool;

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
            found: BTreeMap::new(),
        }
    }

    pub(super) fn take(&mut self, said: &Said, entry: Entry) {
        let near = entry.message().and_then(|message| match message.role {
            _ if self.wanted.is_empty() => None,
            Role::ToolResult => Some((Nearness::Brings, self.named_in(&said.text(&entry))?)),
            _ => self.nearness(&message),
        });
        let Some(near) = near else {
            return;
        };
        let found = self.found.entry(near).or_default();
        // A copy written by an undo is the same thing said once.
        found.retain(|(other, _)| other.id != entry.id);
        let excerpt = start_of(&entry);
        found.push_back((entry, excerpt));
        if found.len() > self.limit {
            found.pop_front();
        }
    }

    fn nearness(&self, message: &MessageView<'_>) -> Option<(Nearness, IsPart)> {
        let calls = message.tool_calls();
        let calls = calls.iter().filter(|call| !only_asks(&call.name));
        let touched = calls.filter_map(|call| {
            let does = classify(&call.name, call.arguments);
            let parts = paths(&does)
                .into_iter()
                .filter_map(|path| self.touches(path));
            parts.min()
        });
        if let Some(part) = touched.min() {
            return Some((Nearness::Touches, part));
        }
        let text = text_with(
            message,
            |call| !only_asks(&call.name),
            |arguments| Cow::Borrowed(arguments),
        );
        Some((Nearness::Names, self.named_in(&text)?))
    }

    fn touches(&self, path: &str) -> Option<IsPart> {
        let path = within(path, &self.cwd);
        let rest = path.strip_suffix(self.wanted.as_str());
        let is_part = !rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        path.contains(&self.wanted).then_some(is_part)
    }

    fn named_in(&self, text: &str) -> Option<IsPart> {
        let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let is_part = |(at, name): (usize, &str)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            before.chars().next_back().is_some_and(joined)
                || after.chars().next().is_some_and(joined)
        };
        text.match_indices(self.wanted.as_str()).map(is_part).min()
    }

    /// The nearest first, of equally near ones the newest.
    pub(super) fn finish(self) -> impl Iterator<Item = (Entry, String)> {
        let all = self.found.into_values();
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
