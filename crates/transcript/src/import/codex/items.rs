//! The items of Codex's rollouts as native blocks and messages.

use crate::entry::Place;
use crate::import::lineup::{image_block, list, text_block};
use crate::json::{self, Object, ObjectWriter};

/// What one item means for the conversation.
pub(super) enum Item {
    /// Something the user said, or Codex in the user's name.
    User { content: String, is_context: bool },
    /// Text for the model from elsewhere: instructions, another agent.
    Note {
        custom_type: String,
        content: String,
    },
    /// A block of the model's answer.
    Block { json: String, call: Option<Call> },
    /// The output of a call.
    Output(Output),
    /// Nothing that has a native counterpart.
    Other,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
}

/// What a tool returned.
pub(super) struct Output {
    /// The call; older files and other writers leave it out.
    pub(super) call: Option<String>,
    pub(super) name: Option<String>,
    pub(super) content: String,
    pub(super) is_error: bool,
}

impl Item {
    pub(super) fn read(item: &Object<'_>, raw: &str, place: Place) -> Item {
        let kind = item.str("type").unwrap_or_default();
        match kind.as_ref() {
            "message" => message(item),
            "" if item.has("role") => message(item),
            "reasoning" => Item::Block {
                json: thinking(item, raw),
                call: None,
            },
            "function_call" | "tool_call" | "local_shell_call" | "custom_tool_call"
            | "tool_search_call" => call(&kind, item, place),
            "function_call_output"
            | "custom_tool_call_output"
            | "function_result"
            | "tool_result"
            | "local_shell_call_output" => Item::Output(output(item)),
            "tool_search_output" => Item::Output(Output {
                call: text(item, "call_id"),
                name: Some("tool_search".into()),
                content: list(&[text_block(&json::quote(item.raw("tools").unwrap_or("[]")))]),
                is_error: false,
            }),
            "agent_message" => Item::Note {
                custom_type: "codex:agent_message".into(),
                content: blocks(item.raw("content")),
            },
            _ => Item::Other,
        }
    }
}

fn text(item: &Object<'_>, key: &str) -> Option<String> {
    item.str(key)
        .filter(|text| !text.is_empty())
        .map(|text| text.into_owned())
}

fn message(item: &Object<'_>) -> Item {
    let content = blocks(item.raw("content").or_else(|| item.raw("message")));
    match item.str("role").unwrap_or_default().as_ref() {
        "user" => Item::User {
            is_context: is_context(&content),
            content,
        },
        "assistant" => {
            // One message may hold several texts; they stay separate blocks.
            let inner = &content[1..content.len() - 1];
            if inner.is_empty() {
                Item::Other
            } else {
                Item::Block {
                    json: inner.to_owned(),
                    call: None,
                }
            }
        }
        role => Item::Note {
            custom_type: format!("codex:{role}"),
            content,
        },
    }
}

/// How Codex opens the messages that it writes in the user's name.
const CONTEXT_STARTS: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
];

fn is_context(content: &str) -> bool {
    let Some(first) = json::array(content).and_then(|blocks| blocks.first().map(|raw| raw.get()))
    else {
        return false;
    };
    Object::parse(first).is_ok_and(|block| {
        block.str("text").is_some_and(|text| {
            let text = text.trim_start();
            CONTEXT_STARTS.iter().any(|start| text.starts_with(start))
        })
    })
}

/// Content as native blocks: from a text, an object or an array.
fn blocks(raw: Option<&str>) -> String {
    let items: Vec<String> = match raw {
        Some(raw) if raw.starts_with('"') => vec![text_block(raw)],
        Some(raw) if raw.starts_with('{') => block(raw).into_iter().collect(),
        Some(raw) => json::array(raw)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|raw| block(raw.get()))
            .collect(),
        None => Vec::new(),
    };
    list(&items)
}

fn block(raw: &str) -> Option<String> {
    let Ok(item) = Object::parse(raw) else {
        return raw.starts_with('"').then(|| text_block(raw));
    };
    if let Some(text) = item.raw("text").filter(|text| text.starts_with('"')) {
        return Some(text_block(text));
    }
    match item.raw("image_url") {
        Some("null") => None,
        Some(url) => Some(image(url).unwrap_or_else(|| raw.to_owned())),
        None => Some(raw.to_owned()),
    }
}

/// An image from a `data:` URL.
fn image(url: &str) -> Option<String> {
    let url = json::string(url)?;
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(image_block(&json::quote(data), &json::quote(mime)))
}

/// Reasoning as a thinking block. The item itself is the signature, as pi
/// keeps it for this API, so that it can be sent back.
fn thinking(item: &Object<'_>, raw: &str) -> String {
    let mut texts = Vec::new();
    for key in ["summary", "content"] {
        for part in item.array(key).unwrap_or_default() {
            if let Ok(part) = Object::parse(part.get())
                && let Some(text) = part.str("text")
            {
                texts.push(text.into_owned());
            }
        }
    }
    ObjectWriter::new()
        .str("type", "thinking")
        .str("thinking", &texts.join("\n\n"))
        .str("thinkingSignature", raw)
        .finish()
}

fn call(kind: &str, item: &Object<'_>, place: Place) -> Item {
    let id = text(item, "call_id")
        .or_else(|| text(item, "id"))
        .unwrap_or_else(|| format!("call_at_{}", place.offset));
    let name = match kind {
        "local_shell_call" => String::from("local_shell"),
        "tool_search_call" => String::from("tool_search"),
        _ => text(item, "name")
            .or_else(|| text(&item.object("function")?, "name"))
            .unwrap_or_default(),
    };
    let arguments = match kind {
        "local_shell_call" => item.raw("action").map(str::to_owned),
        "custom_tool_call" => item
            .raw("input")
            .map(|input| ObjectWriter::new().raw("input", input).finish()),
        _ => item.raw("arguments").and_then(arguments),
    };
    let arguments = arguments.unwrap_or_else(|| String::from("{}"));
    Item::Block {
        json: ObjectWriter::new()
            .str("type", "toolCall")
            .str("id", &id)
            .str("name", &name)
            .raw("arguments", &arguments)
            .finish(),
        call: Some(Call { id, name }),
    }
}

/// Arguments are an object inside a string. What is no object is kept too.
fn arguments(raw: &str) -> Option<String> {
    if raw.starts_with('{') {
        return Some(raw.to_owned());
    }
    let text = json::string(raw)?;
    if Object::parse(&text).is_ok() {
        // Entries are single lines, and JSON has no line breaks inside strings.
        return Some(text.replace(['\n', '\r'], " "));
    }
    (!text.is_empty()).then(|| ObjectWriter::new().raw("arguments", raw).finish())
}

fn output(item: &Object<'_>) -> Output {
    let raw = item.raw("output").or_else(|| item.raw("result"));
    let mut is_error = false;
    let content = match raw {
        Some(raw) if raw.starts_with('{') => {
            let object = Object::parse(raw).unwrap_or_default();
            is_error = object.bool("success") == Some(false)
                || object.u64("exitCode").is_some_and(|code| code != 0);
            if object.has("content") {
                blocks(object.raw("content"))
            } else if object.has("type") {
                blocks(Some(raw))
            } else {
                list(&[text_block(&json::quote(raw))])
            }
        }
        Some(raw) => {
            is_error = json::string(raw).is_some_and(|text| failed(&text));
            blocks(Some(raw))
        }
        None => String::from("[]"),
    };
    Output {
        call: text(item, "call_id"),
        name: text(item, "name"),
        content,
        is_error,
    }
}

/// Whether a shell's output says that the command failed: as JSON with its
/// metadata, or as a first line.
fn failed(output: &str) -> bool {
    if output.starts_with('{')
        && let Ok(object) = Object::parse(output)
    {
        let metadata = object.object("metadata").unwrap_or_default();
        return metadata.f64("exit_code").is_some_and(|code| code != 0.0);
    }
    output
        .lines()
        .take(4)
        .find_map(|line| {
            line.strip_prefix("Exit code: ")
                .or_else(|| line.strip_prefix("Process exited with code "))
        })
        .and_then(|code| code.trim().parse::<i64>().ok())
        .is_some_and(|code| code != 0)
}
