//! What a provider insists on: calls answered, results asked for, roles, content.
//!
//! This judges the bytes that would be sent and shares no code with what
//! prepares them.

use longhaul_transcript::json::Object;
use longhaul_transcript::{Context, ContextMessage, Entry, EntryId, Role};

/// What matters of one message that is sent.
#[derive(Debug)]
pub(super) struct Shape {
    entry: EntryId,
    role: Role,
    calls: Vec<String>,
    answers: Option<String>,
    empty: bool,
}

impl Shape {
    fn of(message: &ContextMessage) -> Shape {
        let object = Object::parse(message.json()).unwrap_or_default();
        let role = Role::parse(&object.str("role").unwrap_or_default());
        let mut shape = Shape {
            entry: message.entry.clone(),
            answers: object.str("toolCallId").map(|id| id.into_owned()),
            calls: Vec::new(),
            empty: true,
            role,
        };
        let Some(blocks) = object.array("content") else {
            let blank = object.raw("content").is_none_or(is_blank);
            shape.empty = blank && !object.has("sections");
            return shape;
        };
        // An empty block is refused like an empty message.
        shape.empty = blocks.is_empty() && !object.has("sections");
        for block in blocks {
            let block = Object::parse(block.get()).unwrap_or_default();
            match block.str("type").unwrap_or_default().as_ref() {
                "text" => shape.empty |= block.raw("text").is_none_or(is_blank),
                "toolCall" => {
                    let id = block.str("id").unwrap_or_default();
                    shape.calls.push(id.into_owned());
                }
                _ => {}
            }
        }
        shape
    }
}

fn is_blank(raw: &str) -> bool {
    // What begins with a letter need not be decoded.
    let letter = raw.as_bytes().get(1).is_some_and(u8::is_ascii_alphanumeric);
    !(raw.starts_with('"') && letter)
        && serde_json::from_str::<String>(raw).map_or(true, |text| text.trim().is_empty())
}

/// The messages as they would be sent.
pub(super) fn sent(context: &Context) -> Vec<Shape> {
    context.for_provider().iter().map(Shape::of).collect()
}

/// Messages that say nothing, wholly or in one of their blocks.
pub(super) fn empty(messages: &[Shape]) -> Vec<&str> {
    let empty = messages.iter().filter(|message| message.empty);
    empty.map(|message| message.entry.as_str()).collect()
}

/// What a provider would refuse: results stand right after the answer that
/// asked for them, one for each of its calls.
pub(super) fn faults(messages: &[Shape]) -> Vec<String> {
    let mut faults = Vec::new();
    // Calls not yet answered, and the entry that made them.
    let mut open: Vec<(&str, &EntryId)> = Vec::new();
    let first = messages.iter().find(|message| message.role != Role::System);
    if first.is_some_and(|message| message.role != Role::User) {
        faults.push("the first message is not the user's".into());
    }
    let unanswered = |open: &mut Vec<(&str, &EntryId)>, faults: &mut Vec<String>| {
        for (call, entry) in open.drain(..) {
            faults.push(format!("call {call} of {entry} without a result"));
        }
    };
    for message in messages {
        if message.role != Role::ToolResult {
            unanswered(&mut open, &mut faults);
        }
        match message.role {
            Role::System | Role::User => {}
            Role::Assistant => {
                let calls = message.calls.iter();
                open.extend(calls.map(|call| (call.as_str(), &message.entry)));
            }
            Role::ToolResult => {
                let id = message.answers.as_deref().unwrap_or_default();
                match open.iter().position(|(call, _)| *call == id) {
                    Some(found) => {
                        open.remove(found);
                    }
                    None => faults.push(format!("result {} without its call", message.entry)),
                }
            }
            _ => faults.push(format!("{} has the role {}", message.entry, message.role)),
        }
    }
    unanswered(&mut open, &mut faults);
    faults
}

/// What is wrong with each possible cut of a session: a summary and every
/// message from some place on, be it in the middle of an exchange.
pub(super) fn cuts(entries: &[Entry]) -> Vec<Vec<String>> {
    let summary = "{\"role\":\"compactionSummary\",\"summary\":\"What came before.\"}";
    let summary = ContextMessage::new(EntryId::from("summary"), summary);
    let messages: Vec<ContextMessage> = entries
        .iter()
        .filter(|entry| entry.message().is_some())
        .flat_map(Context::of_entry)
        .collect();
    (0..=messages.len())
        .map(|cut| {
            let mut kept = vec![summary.clone()];
            kept.extend_from_slice(&messages[cut..]);
            let sent = sent(&Context { messages: kept });
            let empty = empty(&sent);
            let empty = empty.iter().map(|entry| format!("{entry} says nothing"));
            faults(&sent).into_iter().chain(empty).collect()
        })
        .collect()
}
