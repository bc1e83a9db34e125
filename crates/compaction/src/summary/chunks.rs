//! A conversation cut into pieces that a model can read.

use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::{Block, ContextMessage, Conversation, Role};

use super::text::{fenced, within};

/// Tool output and arguments beyond this are shortened: what matters of them is
/// in the ledger.
const TOOL_TOKENS: Tokens = Tokens(600);

/// The conversation as texts of at most `cap` tokens, whole exchanges each. An
/// exchange that is larger by itself is shortened.
pub(super) fn chunks(
    messages: &[ContextMessage],
    cap: Tokens,
    counter: &dyn Counter,
) -> Vec<String> {
    let spoken = messages
        .iter()
        .filter(|message| {
            !matches!(
                message.role,
                Role::CompactionSummary | Role::System | Role::Other(_)
            )
        })
        .cloned()
        .collect();
    let mut chunks = Vec::new();
    let mut open = String::new();
    let mut size = Tokens::ZERO;
    for piece in Conversation::new(spoken).pieces() {
        let whole: String = piece
            .messages()
            .iter()
            .map(|message| written(message, counter))
            .collect();
        let Some(text) = within(&whole, cap, counter) else {
            continue;
        };
        let cost = counter.count(&text, ContentKind::Code);
        if !open.is_empty() && size + cost > cap {
            chunks.push(std::mem::take(&mut open));
            size = Tokens::ZERO;
        }
        size += cost;
        open.push_str(&text);
    }
    if !open.trim().is_empty() {
        chunks.push(open);
    }
    chunks
}

/// A message as quoted text. Thinking is left out.
fn written(message: &ContextMessage, counter: &dyn Counter) -> String {
    let view = message.view();
    let mut out = String::new();
    let mut say = |who: &str, text: &str| {
        if !text.trim().is_empty() {
            out.push_str(who);
            out.push_str(&format!(" ·{}:\n{}\n", message.entry, fenced(text)));
        }
    };
    let short = |text: &str| within(text, TOOL_TOKENS, counter).unwrap_or_default();
    match message.role {
        Role::ToolResult => {
            let state = if view.is_error() { "failed" } else { "said" };
            let tool = view.tool_name().unwrap_or_default();
            say(&format!("tool {tool} {state}"), &short(&view.text()));
        }
        Role::BashExecution => say("user ran", &short(&view.text())),
        Role::Assistant => {
            for block in view.blocks() {
                match block {
                    Block::Text(text) => say("agent", &text),
                    Block::ToolCall(call) => {
                        say(
                            &format!("agent calls {}", call.name),
                            &short(call.arguments),
                        );
                    }
                    Block::Image { .. }
                    | Block::Document { .. }
                    | Block::Thinking { .. }
                    | Block::Other(_) => {}
                }
            }
        }
        Role::User => say("user", &view.text()),
        _ => say("note", &short(&view.text())),
    }
    out
}
