//! A conversation, built call by call.

use std::collections::HashSet;

use longhaul_compaction::Counted;
use longhaul_compaction::prune::{PruneSettings, Pruning, apply, prune};
use longhaul_tokens::{ContentKind, Counter, Heuristic, PAGE_TOKENS, Tokens};
use longhaul_transcript::{Block, ContextMessage, Conversation, EntryId, Role, json};

/// What a result costs.
pub(crate) fn result_cost(tool: &str, text: &str) -> Tokens {
    Heuristic.tool_result(tool, text)
}

/// What a message costs, as the engine counts it.
pub(crate) fn count(message: &ContextMessage) -> Tokens {
    let view = message.view();
    let prose = |text: &str| Heuristic.count(text, ContentKind::Prose);
    let overhead = Heuristic.message_overhead();
    match message.role {
        Role::BashExecution => result_cost("bash", &view.text()) + overhead,
        Role::CompactionSummary | Role::BranchSummary => prose(&view.text()) + overhead,
        Role::ToolResult => {
            let (mut text, mut images) = (String::new(), Tokens::ZERO);
            for block in view.blocks() {
                match block {
                    Block::Text(part) => text.push_str(&part),
                    Block::Image { .. } => images += Heuristic.image(),
                    _ => {}
                }
            }
            result_cost(&view.tool_name().unwrap_or_default(), &text) + images
        }
        _ => view.blocks().into_iter().fold(overhead, |sum, block| {
            sum + match block {
                Block::Text(text) => prose(&text),
                Block::Image { .. } => Heuristic.image(),
                Block::Document { .. } => PAGE_TOKENS,
                Block::ToolCall(call) => Heuristic.tool_call(&call.name, call.arguments),
                Block::Thinking { text, .. } => Heuristic.thinking(&text, ""),
                Block::Other(raw) => Heuristic.count(raw, ContentKind::Json),
            }
        }),
    }
}

pub(crate) fn counted(messages: &[ContextMessage]) -> Vec<Counted> {
    messages
        .iter()
        .map(|message| Counted {
            message: message.clone(),
            tokens: count(message),
        })
        .collect()
}

pub(crate) fn total(messages: &[ContextMessage]) -> Tokens {
    messages.iter().map(count).sum()
}

/// Prunes messages without pins.
pub(crate) fn pruned(messages: &[ContextMessage], settings: &PruneSettings) -> Pruning {
    prune(&counted(messages), &HashSet::new(), settings, &result_cost)
}

/// The text of the message of an entry, once pruned.
pub(crate) fn shown(messages: &[ContextMessage], pruning: &Pruning, entry: &str) -> String {
    apply(messages, &pruning.edits)
        .iter()
        .find(|message| message.entry.as_str() == entry)
        .map(|message| message.view().text())
        .unwrap()
}

/// Roles, ids and calls: everything that pairing rests on.
pub(crate) fn skeleton(
    messages: &[ContextMessage],
) -> Vec<(String, Role, Option<String>, Vec<String>)> {
    messages
        .iter()
        .map(|message| {
            let view = message.view();
            (
                message.entry.as_str().to_owned(),
                message.role.clone(),
                view.tool_call_id().map(|id| id.into_owned()),
                view.tool_calls()
                    .iter()
                    .map(|call| call.id.to_string())
                    .collect(),
            )
        })
        .collect()
}

/// Results that answer nothing, calls that were not answered, results without
/// any content.
pub(crate) fn pairing_faults(messages: &[ContextMessage]) -> (usize, usize, usize) {
    let empty = messages
        .iter()
        .filter(|message| message.role == Role::ToolResult && message.view().blocks().is_empty())
        .count();
    let conversation = Conversation::new(messages.to_vec());
    let unanswered = conversation
        .pieces()
        .iter()
        .filter_map(|piece| match piece {
            longhaul_transcript::Piece::Exchange(exchange) => Some(exchange.calls()),
            longhaul_transcript::Piece::Message(_) => None,
        })
        .flatten()
        .filter(|call| call.result.is_none())
        .count();
    (conversation.orphans().len(), unanswered, empty)
}

/// Builds messages; entries are named `u1`, `a2`, `r3`, … by position.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) messages: Vec<ContextMessage>,
}

impl Script {
    fn push(&mut self, kind: char, json: String) -> &mut Script {
        let id = format!("{kind}{}", self.messages.len());
        self.messages
            .push(ContextMessage::new(EntryId::from(id.as_str()), json));
        self
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Script {
        self.push(
            'u',
            format!(r#"{{"role":"user","content":{}}}"#, json::quote(text)),
        )
    }

    pub(crate) fn answer(&mut self, text: &str) -> &mut Script {
        let text = json::quote(text);
        self.push(
            'a',
            format!(r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}]}}"#),
        )
    }

    /// One round: a call and its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &str, output: &str) -> &mut Script {
        self.round(tool, arguments, &text_content(output), "false")
    }

    pub(crate) fn failing(&mut self, tool: &str, arguments: &str, output: &str) -> &mut Script {
        self.round(tool, arguments, &text_content(output), "true")
    }

    pub(crate) fn round(
        &mut self,
        tool: &str,
        arguments: &str,
        content: &str,
        error: &str,
    ) -> &mut Script {
        let id = format!("c{}", self.messages.len());
        let tool = json::quote(tool);
        self.push(
            'a',
            format!(
                r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":{tool},"arguments":{arguments}}}]}}"#
            ),
        );
        self.push(
            'r',
            format!(
                r#"{{"role":"toolResult","toolCallId":"{id}","toolName":{tool},"content":{content},"isError":{error}}}"#
            ),
        )
    }

    pub(crate) fn read(&mut self, path: &str, output: &str) -> &mut Script {
        self.call(
            "read",
            &format!(r#"{{"path":{}}}"#, json::quote(path)),
            output,
        )
    }

    pub(crate) fn bash(&mut self, command: &str, output: &str) -> &mut Script {
        self.call(
            "bash",
            &format!(r#"{{"command":{}}}"#, json::quote(command)),
            output,
        )
    }

    pub(crate) fn shell_run(&mut self, command: &str, output: &str) -> &mut Script {
        let (command, output) = (json::quote(command), json::quote(output));
        self.push(
            'b',
            format!(r#"{{"role":"bashExecution","command":{command},"output":{output},"exitCode":0,"cancelled":false}}"#),
        )
    }

    /// Rounds of small talk with tools, each different and too small to prune.
    pub(crate) fn rounds(&mut self, count: usize) -> &mut Script {
        for round in 0..count {
            self.bash(&format!("step {round}"), &format!("done {round}"));
        }
        self
    }
}

pub(crate) fn text_content(text: &str) -> String {
    format!(r#"[{{"type":"text","text":{}}}]"#, json::quote(text))
}

/// Prose of a given length whose every line differs.
pub(crate) fn lines(chars: usize) -> String {
    let mut text = String::new();
    for line in 0.. {
        if text.len() >= chars {
            break;
        }
        text.push_str(&format!("line number {line} of a long output\n"));
    }
    text.truncate(chars);
    text
}
