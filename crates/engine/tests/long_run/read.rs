//! A request as a provider reads it, whichever of its formats it is in, and what
//! a strict one would find wrong with it.

use longhaul_model::Protocol;
use serde_json::Value;

/// A request in plain terms.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// Everything that is said in it.
    pub(crate) text: String,
    /// The last thing the user says.
    pub(crate) asked: String,
    /// What is wrong with it.
    pub(crate) wrong: Vec<String>,
}

enum Part<'v> {
    Says { role: &'v str, text: String },
    Calls { id: &'v str, arguments: String },
    Answers { id: &'v str, text: String },
}

pub(crate) fn read(protocol: Protocol, body: &Value) -> Wire {
    let mut wire = Wire::default();
    let mut parts = Vec::new();
    match protocol {
        Protocol::Messages => messages(body, &mut parts, &mut wire),
        Protocol::Chat => chat(body, &mut parts, &mut wire),
        Protocol::Responses => responses(body, &mut parts, &mut wire),
    }
    let mut open: Vec<&str> = Vec::new();
    let mut spoken = false;
    for part in &parts {
        match part {
            Part::Says { role, text } => {
                if text.trim().is_empty() {
                    wire.wrong.push(format!("{role} says nothing"));
                }
                if !open.is_empty() {
                    wire.wrong.push(format!("calls without results: {open:?}"));
                    open.clear();
                }
                match *role {
                    "user" => {
                        spoken = true;
                        wire.asked.clone_from(text);
                    }
                    "assistant" if !spoken => wire.wrong.push("the model speaks first".into()),
                    "assistant" | "system" | "developer" => {}
                    other => wire.wrong.push(format!("nobody is called {other}")),
                }
                wire.text.push_str(text);
            }
            Part::Calls { id, arguments } => {
                if serde_json::from_str::<serde_json::Map<String, Value>>(arguments).is_err() {
                    wire.wrong
                        .push(format!("broken arguments: {arguments:.60}"));
                }
                open.push(id);
                wire.text.push_str(arguments);
            }
            Part::Answers { id, text } => {
                match open.iter().position(|own| own == id) {
                    Some(at) => {
                        open.remove(at);
                    }
                    None => wire
                        .wrong
                        .push(format!("a result that nobody asked for: {id}")),
                }
                if text.trim().is_empty() {
                    wire.wrong.push(format!("an empty result of {id}"));
                }
                wire.text.push_str(text);
            }
        }
        wire.text.push('\n');
    }
    if !open.is_empty() {
        wire.wrong
            .push(format!("calls without results at the end: {open:?}"));
    }
    if !spoken {
        wire.wrong.push("nobody asks anything".into());
    }
    wire
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Text, or blocks with text in them.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| string(&block["text"])).collect(),
        _ => String::new(),
    }
}

fn messages<'v>(body: &'v Value, parts: &mut Vec<Part<'v>>, wire: &mut Wire) {
    wire.text.push_str(&flat(&body["system"]));
    let mut last = "";
    for message in list(&body["messages"]) {
        let role = string(&message["role"]);
        if role == last && role == "assistant" {
            wire.wrong.push("the model speaks twice in a row".into());
        }
        last = role;
        if let Value::String(text) = &message["content"] {
            parts.push(Part::Says {
                role,
                text: text.clone(),
            });
            continue;
        }
        let blocks = list(&message["content"]);
        if blocks.is_empty() {
            wire.wrong.push(format!("{role} says nothing"));
        }
        for block in blocks {
            parts.push(match string(&block["type"]) {
                "text" => Part::Says {
                    role,
                    text: string(&block["text"]).to_owned(),
                },
                "tool_use" => Part::Calls {
                    id: string(&block["id"]),
                    arguments: block["input"].to_string(),
                },
                "tool_result" => Part::Answers {
                    id: string(&block["tool_use_id"]),
                    text: flat(&block["content"]),
                },
                _ => continue,
            });
        }
    }
}

fn chat<'v>(body: &'v Value, parts: &mut Vec<Part<'v>>, _: &mut Wire) {
    for message in list(&body["messages"]) {
        let role = string(&message["role"]);
        let text = flat(&message["content"]);
        if role == "tool" {
            parts.push(Part::Answers {
                id: string(&message["tool_call_id"]),
                text,
            });
            continue;
        }
        let calls = list(&message["tool_calls"]);
        if !text.is_empty() || calls.is_empty() {
            parts.push(Part::Says { role, text });
        }
        for call in calls {
            parts.push(Part::Calls {
                id: string(&call["id"]),
                arguments: string(&call["function"]["arguments"]).to_owned(),
            });
        }
    }
}

fn responses<'v>(body: &'v Value, parts: &mut Vec<Part<'v>>, wire: &mut Wire) {
    wire.text.push_str(&flat(&body["instructions"]));
    for item in list(&body["input"]) {
        match string(&item["type"]) {
            "function_call" => parts.push(Part::Calls {
                id: string(&item["call_id"]),
                arguments: string(&item["arguments"]).to_owned(),
            }),
            "function_call_output" => parts.push(Part::Answers {
                id: string(&item["call_id"]),
                text: flat(&item["output"]),
            }),
            "message" | "" => parts.push(Part::Says {
                role: string(&item["role"]),
                text: flat(&item["content"]),
            }),
            _ => {}
        }
    }
}
