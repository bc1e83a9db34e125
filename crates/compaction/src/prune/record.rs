//! Tool records: every result of a conversation with the call it answers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use longhaul_tokens::Tokens;
use longhaul_transcript::{Block, ContextMessage, EntryId, MessageView, Role};

use super::edit::Surface;
use super::placeholder::Extract;
use super::target::{Span, Target};
use crate::terms::Counted;

/// One result and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Record<'a> {
    /// The index of its message.
    pub(super) at: usize,
    /// The entry of its message.
    pub(super) entry: &'a EntryId,
    pub(super) surface: Surface,
    /// The tool.
    pub(super) tool: Cow<'a, str>,
    pub(super) target: Target,
    /// Whether it reports a failure.
    pub(super) failed: bool,
    /// Rounds that began after it; none means that no model has read it yet.
    pub(super) age: u32,
    /// Whether it was edited before.
    pub(super) edited: bool,
    /// Its content as stored.
    content: &'a str,
    view: MessageView<'a>,
}

impl Record<'_> {
    /// Its text and pictures.
    pub(super) fn extract(&self) -> Extract {
        let mut extract = Extract::default();
        if self.surface == Surface::ShellRun {
            extract.text = self
                .view
                .object()
                .str("output")
                .unwrap_or_default()
                .into_owned();
        } else {
            for block in self.view.blocks() {
                match block {
                    Block::Text(part) => {
                        if !extract.text.is_empty() {
                            extract.text.push('\n');
                        }
                        extract.text.push_str(&part);
                    }
                    Block::Image { .. } => extract.images += 1,
                    Block::Document { .. } => extract.documents += 1,
                    Block::Other(raw) => extract.text.push_str(raw),
                    Block::Thinking { .. } | Block::ToolCall(_) => {}
                }
            }
        }
        extract.chars = extract.text.chars().count();
        extract
    }
}

impl Record<'_> {
    /// Its size with another text, from the size it has.
    pub(super) fn resized(
        &self,
        tokens: Tokens,
        text: &str,
        count: &dyn Fn(&str, &str) -> Tokens,
    ) -> Tokens {
        match self.surface {
            Surface::ToolResult => count(&self.view.tool_name().unwrap_or_default(), text),
            // The command stays, and so does the markup, whatever that costs.
            Surface::ShellRun => {
                let command = self.view.object().str("command").unwrap_or_default();
                let after = count("bash", &format!("$ {command}\n{text}"));
                (tokens + after) - count("bash", &self.view.text())
            }
        }
    }
}

/// Every record, in order.
pub(super) fn records(conversation: &[Counted]) -> Vec<Record<'_>> {
    let mut calls: HashMap<String, VecDeque<(Cow<'_, str>, &str)>> = HashMap::new();
    let mut records = Vec::new();
    let mut rounds = 0_u32;
    for (at, counted) in conversation.iter().enumerate() {
        let message = &counted.message;
        match message.role {
            Role::Assistant => {
                rounds += 1;
                for call in message.view().tool_calls() {
                    calls
                        .entry(call.id.into_owned())
                        .or_default()
                        .push_back((call.name, call.arguments));
                }
            }
            Role::ToolResult => {
                let view = message.view();
                let call = view
                    .tool_call_id()
                    .and_then(|id| calls.get_mut(id.as_ref())?.pop_front());
                // Words that a person typed into a result are not tool output.
                if !view.user_text().is_empty() {
                    continue;
                }
                let (called, arguments) = call.unwrap_or((Cow::Borrowed("tool"), "{}"));
                let tool = view
                    .tool_name()
                    .filter(|name| !name.is_empty())
                    .unwrap_or(called);
                records.push(Record {
                    at,
                    entry: &message.entry,
                    surface: Surface::ToolResult,
                    target: Target::of(&tool, arguments),
                    tool,
                    failed: view.is_error(),
                    age: rounds,
                    edited: message.edited,
                    content: view.object().raw("content").unwrap_or("[]"),
                    view,
                });
            }
            Role::BashExecution => records.extend(shell_run(at, message, rounds)),
            _ => {}
        }
    }
    for record in &mut records {
        record.age = rounds - record.age;
    }
    records
}

/// A command that the user ran; none if no model is shown it.
fn shell_run(at: usize, message: &ContextMessage, rounds: u32) -> Option<Record<'_>> {
    let view = message.view();
    let object = view.object();
    if object.bool("excludeFromContext") == Some(true) {
        return None;
    }
    let failed = object.bool("cancelled") == Some(true)
        || !matches!(object.raw("exitCode"), None | Some("null" | "0"));
    Some(Record {
        at,
        entry: &message.entry,
        surface: Surface::ShellRun,
        tool: Cow::Borrowed("bash"),
        target: Target::Shell {
            command: object.str("command").unwrap_or_default().into_owned(),
        },
        failed,
        age: rounds,
        edited: message.edited,
        content: object.raw("output").unwrap_or("\"\""),
        view,
    })
}

/// The indices, among `records`, of reads that a later read or change of the
/// same file made stale.
pub(super) fn superseded(records: &[Record<'_>]) -> HashSet<usize> {
    #[derive(Default)]
    struct Later<'r> {
        changed: bool,
        reads: Vec<(&'r Span, usize)>,
    }
    let mut files: HashMap<&str, Later<'_>> = HashMap::new();
    let mut stale = HashSet::new();
    for (index, record) in records.iter().enumerate().rev() {
        if record.failed {
            continue;
        }
        match &record.target {
            Target::Read { path, span } => {
                let later = files.entry(path).or_default();
                // A tool may answer "unchanged, see above": such a read says too
                // little to stand in for the one above.
                let says_as_much = |size: usize| size >= record.content.len() / 2;
                if later.changed
                    || later
                        .reads
                        .iter()
                        .any(|(wider, size)| wider.covers(span) && says_as_much(*size))
                {
                    stale.insert(index);
                }
                let size = record.content.len();
                // A narrower span that says no more is not needed.
                later
                    .reads
                    .retain(|(known, known_size)| !(span.covers(known) && size >= *known_size));
                later.reads.push((span, size));
            }
            Target::Change { paths } => {
                for path in paths {
                    files.entry(path).or_default().changed = true;
                }
            }
            Target::Shell { .. } | Target::Search { .. } | Target::Other { .. } => {}
        }
    }
    stale
}

/// The indices, among `records`, of results that came again later, word for
/// word and from the same tool.
pub(super) fn repeated(records: &[Record<'_>]) -> HashSet<usize> {
    let mut later: HashSet<(&str, &str)> = HashSet::new();
    records
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, record)| !later.insert((&record.tool, record.content)))
        .map(|(index, _)| index)
        .collect()
}
