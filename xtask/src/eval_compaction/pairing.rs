//! What a provider insists on: calls answered, results asked for, roles, content.

use std::collections::HashMap;

use longhaul_transcript::{Block, Context, EntryId, Role};

/// What matters of one message that is sent.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    entry: String,
    role: Role,
    calls: Vec<String>,
    answers: Option<String>,
    empty: bool,
}

impl Shape {
    /// A summary before what is kept.
    pub(super) fn summary() -> Shape {
        Shape {
            entry: "summary".into(),
            role: Role::User,
            calls: Vec::new(),
            answers: None,
            empty: false,
        }
    }
}

/// The messages as they would be sent.
pub(super) fn sent(context: &Context, known: &mut HashMap<(EntryId, usize), Shape>) -> Vec<Shape> {
    context
        .for_model()
        .iter()
        .map(|message| {
            let key = (message.entry.clone(), message.json().len());
            known
                .entry(key)
                .or_insert_with(|| {
                    let view = message.view();
                    let filled = view.blocks().iter().any(|block| match block {
                        Block::Text(text) => !text.trim().is_empty(),
                        _ => true,
                    });
                    Shape {
                        entry: message.entry.to_string(),
                        role: message.role.clone(),
                        calls: view
                            .tool_calls()
                            .iter()
                            .map(|call| call.id.to_string())
                            .collect(),
                        answers: (message.role == Role::ToolResult)
                            .then(|| view.tool_call_id().unwrap_or_default().into_owned()),
                        empty: !filled && message.role != Role::ToolResult,
                    }
                })
                .clone()
        })
        .collect()
}

/// Messages that say nothing.
pub(super) fn empty(messages: &[Shape]) -> Vec<&str> {
    let empty = messages.iter().filter(|message| message.empty);
    empty.map(|message| message.entry.as_str()).collect()
}

/// What a provider would refuse. Calls of the last answer may be under way.
pub(super) fn faults(messages: &[Shape]) -> Vec<String> {
    let mut faults = Vec::new();
    // Calls not yet answered, and the entry that made them.
    let mut open: Vec<(&str, &str)> = Vec::new();
    let last_answer = messages
        .iter()
        .rposition(|message| message.role == Role::Assistant);
    let first = messages.iter().find(|message| message.role != Role::System);
    if first.is_some_and(|message| message.role != Role::User) {
        faults.push("the first message is not the user's".into());
    }
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System | Role::User => {}
            Role::Assistant => {
                if Some(at) != last_answer {
                    open.extend(
                        message
                            .calls
                            .iter()
                            .map(|call| (call.as_str(), message.entry.as_str())),
                    );
                } else {
                    // Results of the last answer may follow; what has none is in flight.
                    let answered: Vec<&str> = messages[at..]
                        .iter()
                        .filter_map(|message| message.answers.as_deref())
                        .collect();
                    open.extend(
                        message
                            .calls
                            .iter()
                            .filter(|call| answered.contains(&call.as_str()))
                            .map(|call| (call.as_str(), message.entry.as_str())),
                    );
                }
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
    for (call, entry) in open {
        faults.push(format!("call {call} of {entry} without a result"));
    }
    faults
}
