//! Recall: what left the context, brought back by id, range, text or path.
//!
//! Every entry that ever was in a context is in the file or its archive, so
//! recall is a pass over both. What comes back is the stored entry; the caller
//! fences and attributes it.

use std::ops::ControlFlow;

use longhaul_transcript::{
    Body, Entry, EntryId, MessageView, Result, Role, Session, each_archived,
};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The entry with this id, or whose id starts so.
    Id(String),
    /// The entries from one to another, in stored order.
    Range(String, String),
    /// Entries that contain these words in this order, case and spacing aside.
    Text(String),
    /// Entries that read, changed or name a file.
    Path(String),
}

/// Something found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The entry.
    pub entry: Entry,
    /// The text around what was asked for; the start of the text otherwise.
    pub excerpt: String,
}

/// Searches a session, its archive first. Hits come in stored order; with a
/// limit, the newest ones are kept.
pub fn recall(session: &Session, query: &Query, limit: usize) -> Result<Vec<Hit>> {
    let mut search = Search::new(query, limit);
    each_archived(session.path(), &mut |entry| search.take(entry))?;
    if !search.done {
        session.each(&mut |entry| search.take(entry))?;
    }
    Ok(search.hits.into())
}

struct Search<'q> {
    query: &'q Query,
    wanted: String,
    limit: usize,
    hits: std::collections::VecDeque<Hit>,
    inside: bool,
    done: bool,
}

impl<'q> Search<'q> {
    fn new(query: &'q Query, limit: usize) -> Search<'q> {
        let wanted = match query {
            Query::Text(text) => normal(text),
            Query::Path(path) => path.clone(),
            Query::Id(_) | Query::Range(..) => String::new(),
        };
        Search {
            query,
            wanted,
            limit: limit.max(1),
            hits: Default::default(),
            inside: false,
            done: false,
        }
    }

    fn take(&mut self, entry: Entry) -> ControlFlow<()> {
        let found = match self.query {
            Query::Id(id) => (entry.id.as_str() == id || entry.id.as_str().starts_with(id))
                .then(|| start_of(&entry)),
            Query::Range(from, to) => {
                self.inside |= is(&entry.id, from);
                let inside = self.inside;
                if inside && is(&entry.id, to) {
                    self.done = true;
                }
                inside.then(|| start_of(&entry))
            }
            Query::Text(_) => self.find_text(&entry),
            Query::Path(_) => names_path(&entry, &self.wanted).then(|| start_of(&entry)),
        };
        if let Some(excerpt) = found {
            // A copy written by an undo is the same thing said once.
            self.hits.retain(|hit| hit.entry.id != entry.id);
            self.hits.push_back(Hit { entry, excerpt });
            let ranged = matches!(self.query, Query::Range(..));
            if self.hits.len() > self.limit && !ranged {
                self.hits.pop_front();
            }
        }
        if self.done {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn find_text(&self, entry: &Entry) -> Option<String> {
        // A summary repeats what others said; the original is what is wanted.
        if self.wanted.is_empty() || matches!(entry.body, Body::Compaction(_)) {
            return None;
        }
        let text = full_text(entry);
        let found = memchr::memmem::find(normal(&text).as_bytes(), self.wanted.as_bytes())?;
        Some(around(&text, found))
    }
}

fn is(id: &EntryId, name: &str) -> bool {
    id.as_str() == name || (name.len() >= 4 && id.as_str().starts_with(name))
}

/// Lower case, one space between words.
fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.chars().flat_map(char::to_lowercase));
    }
    normal
}

const EXCERPT_CHARS: usize = 300;

fn start_of(entry: &Entry) -> String {
    full_text(entry).chars().take(EXCERPT_CHARS).collect()
}

/// The words of a text around a place in its normal form.
fn around(text: &str, found: usize) -> String {
    let mut position = 0;
    let mut start = 0;
    for word in text.split_whitespace() {
        if position > found {
            break;
        }
        start = word.as_ptr() as usize - text.as_ptr() as usize;
        position += word
            .chars()
            .flat_map(char::to_lowercase)
            .map(char::len_utf8)
            .sum::<usize>()
            + 1;
    }
    let before: String = text[..start]
        .chars()
        .rev()
        .take(EXCERPT_CHARS / 3)
        .collect::<Vec<char>>()
        .into_iter()
        .rev()
        .collect();
    let after: String = text[start..].chars().take(EXCERPT_CHARS).collect();
    before + &after
}

/// Everything an entry says: text, tool calls and their arguments, summaries.
pub fn full_text(entry: &Entry) -> String {
    match entry.message() {
        Some(message) => message_text(&message),
        None => match &entry.body {
            Body::Compaction(compaction) => compaction.summary.clone(),
            Body::BranchSummary { summary, .. } => summary.clone(),
            Body::CustomMessage { .. } => MessageView::parse(entry.raw()).text(),
            _ => String::new(),
        },
    }
}

/// Everything a message says.
pub fn message_text(message: &MessageView<'_>) -> String {
    let mut text = message.text();
    for call in message.tool_calls() {
        text.push('\n');
        text.push_str(&call.name);
        text.push(' ');
        push_strings(&mut text, call.arguments);
    }
    text
}

/// Appends the strings inside a JSON value, decoded, in order.
fn push_strings(text: &mut String, raw: &str) {
    fn walk(text: &mut String, value: &serde_json::Value) {
        match value {
            serde_json::Value::String(string) => {
                text.push_str(string);
                text.push('\n');
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(text, item)),
            serde_json::Value::Object(fields) => fields.values().for_each(|item| walk(text, item)),
            serde_json::Value::Number(number) => {
                text.push_str(&number.to_string());
                text.push('\n');
            }
            _ => {}
        }
    }
    match serde_json::from_str(raw) {
        Ok(value) => walk(text, &value),
        Err(_) => text.push_str(raw),
    }
}

/// Whether an entry's tool calls touch a file, or its text names it.
fn names_path(entry: &Entry, path: &str) -> bool {
    let Some(message) = entry.message() else {
        return false;
    };
    if message.role == Role::ToolResult {
        return false;
    }
    message
        .tool_calls()
        .iter()
        .any(|call| call.arguments.contains(path))
        || message.text().contains(path)
}
