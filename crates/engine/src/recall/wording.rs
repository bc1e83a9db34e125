//! What an entry says, as one text.

use std::borrow::Cow;

use longhaul_ledger::ours;
use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Entry, MessageView, ToolCall};

/// What the index calls the parts of an entry behind its id, beside what it says.
pub(crate) const PARTS: [&str; 2] = ["calls", "thinking"];

pub(super) const EXCERPT_CHARS: usize = 300;

pub(super) fn start_of(entry: &Entry) -> String {
    full_text(entry).chars().take(EXCERPT_CHARS).collect()
}

/// A text between two marks that carry its hash: no text can contain its own,
/// so none can end its own quotation.
pub fn fenced(word: &str, what: &str, text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let hash = &hash[..12];
    let opening = ours::opening(&format!("{word} {hash} · {what}"));
    format!("\n{opening}\n{text}\n{}\n", ours::ending(hash))
}

/// Whether a text has something between such marks.
pub(super) fn has_fence(text: &str) -> bool {
    const HASH: usize = 12;
    let marks = || text.lines().filter_map(|line| line.strip_prefix("── "));
    marks().any(|mark| {
        let hash = mark
            .split_once(' ')
            .and_then(|(_, rest)| rest.split_once(" · "))
            .map(|(hash, _)| hash)
            .filter(|hash| hash.len() == HASH && hash.bytes().all(|b| b.is_ascii_hexdigit()));
        let ends = |hash: &str| marks().any(|mark| mark == format!("end {hash} ──"));
        hash.is_some_and(ends)
    })
}

/// Everything an entry says: text, tool calls and their arguments, summaries, and
/// what the model thought.
pub fn full_text(entry: &Entry) -> String {
    match entry.message() {
        Some(message) => with_thinking(message_text(&message), &message),
        None => match &entry.body {
            Body::Compaction(compaction) => compaction.summary.clone(),
            Body::BranchSummary { summary, .. } => summary.clone(),
            Body::CustomMessage { .. } => MessageView::parse(entry.raw()).text(),
            Body::Custom { custom_type, .. } if custom_type == crate::marks::ASIDE_MARK => {
                aside_text(entry).unwrap_or_default()
            }
            _ => String::new(),
        },
    }
}

/// A message that a host put beside its conversation.
fn aside_text(entry: &Entry) -> Option<String> {
    let object = Object::parse(entry.raw()).ok()?;
    let data = object.object("data")?;
    Some(message_text(&MessageView::parse(data.raw("message")?)))
}

/// What stands before what the model thought.
pub(crate) const THINKING: &str = "[thinking]\n";

/// A message's text and below it what the model thought.
pub(super) fn with_thinking(mut text: String, message: &MessageView<'_>) -> String {
    let thinking = message.thinking();
    if !thinking.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(THINKING);
        text.push_str(&thinking);
    }
    text
}

/// Everything a message says, what the model thought aside.
pub fn message_text(message: &MessageView<'_>) -> String {
    text_with(message, |_| true, |arguments| Cow::Borrowed(arguments))
}

/// The same with some of its calls, and their arguments as they are to be.
pub(super) fn text_with(
    message: &MessageView<'_>,
    wanted: impl Fn(&ToolCall<'_>) -> bool,
    given: impl FnMut(&str) -> Cow<'_, str>,
) -> String {
    let mut text = message.text();
    text.push_str(&calls_text(message, wanted, given));
    text
}

/// The calls of a message, each on a line of its own and below it its arguments.
pub(super) fn calls_text(
    message: &MessageView<'_>,
    wanted: impl Fn(&ToolCall<'_>) -> bool,
    mut given: impl FnMut(&str) -> Cow<'_, str>,
) -> String {
    let mut text = String::new();
    for call in message.tool_calls().iter().filter(|call| wanted(call)) {
        text.push('\n');
        text.push_str(&call.name);
        text.push(' ');
        push_strings(&mut text, &given(call.arguments));
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
