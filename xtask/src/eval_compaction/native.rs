//! Reads native messages: the text that a model would see, and the events of
//! sessions that are not Claude Code's.

use std::collections::HashMap;

use longhaul_transcript::{Body, Entry};
use serde_json::Value;

use super::event::{Channel, Event, Placed, Said, said_in_result};

/// The events of a path of entries; its lines count entries.
pub(super) fn read(entries: &[Entry]) -> Vec<Placed> {
    let mut tools: HashMap<String, String> = HashMap::new();
    let mut events = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut push = |event: Event| {
            events.push(Placed {
                line: at as u64 + 1,
                record: entry.id.as_str().to_owned(),
                event,
            });
        };
        if let Body::Compaction(compaction) = &entry.body {
            push(Event::Compacted(compaction.summary.clone()));
            continue;
        }
        let Some(message) = message(entry) else {
            continue;
        };
        match message["role"].as_str().unwrap_or_default() {
            "user" => {
                for said in said(&message) {
                    push(Event::Said(said));
                }
            }
            "assistant" => {
                for block in blocks(&message) {
                    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
                    match block["type"].as_str().unwrap_or_default() {
                        "text" => push(Event::Words(text("text"))),
                        "toolCall" => {
                            tools.insert(text("id"), text("name"));
                            push(Event::Call {
                                id: text("id"),
                                name: text("name"),
                                input: block["arguments"].clone(),
                            });
                        }
                        _ => {}
                    }
                }
            }
            "toolResult" => {
                let call = message["toolCallId"].as_str().unwrap_or_default();
                let text = content_text(&message);
                push(Event::Result {
                    call: call.to_owned(),
                    is_error: message["isError"] == true,
                    text: text.clone(),
                });
                let tool = tools.get(call).map_or("", String::as_str);
                let words = match message.get("userText") {
                    Some(_) => said(&message),
                    None => said_in_result(tool, &text, None),
                };
                for said in words {
                    push(Event::Said(said));
                }
            }
            _ => {}
        }
    }
    events
}

fn message(entry: &Entry) -> Option<Value> {
    serde_json::from_str(entry.message_json()?).ok()
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

fn content_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        _ => {
            let texts = blocks(message)
                .iter()
                .filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// What a message says that a person typed.
fn said(message: &Value) -> Vec<Said> {
    let Some(fields) = message["userText"].as_array() else {
        let text = content_text(message);
        let blank = text.trim().is_empty();
        return (!blank)
            .then(|| Said::new(Channel::Prompt, &text))
            .into_iter()
            .collect();
    };
    fields
        .iter()
        .filter_map(|field| {
            let channel = Channel::parse(field["channel"].as_str()?)?;
            Some(Said {
                question: field["question"].as_str().map(str::to_owned),
                ..Said::new(channel, field["text"].as_str()?)
            })
        })
        .collect()
}

/// Everything that a message shows, decoded: its texts, calls with their
/// arguments, and the words of fields beside the content.
pub(super) fn shown(json: &str) -> String {
    let Ok(message) = serde_json::from_str::<Value>(json) else {
        return json.to_owned();
    };
    let mut text = String::new();
    for key in ["summary", "command", "output"] {
        line(&mut text, message[key].as_str());
    }
    for field in message["userText"].as_array().into_iter().flatten() {
        line(&mut text, field["question"].as_str());
        line(&mut text, field["text"].as_str());
    }
    if let Value::String(content) = &message["content"] {
        line(&mut text, Some(content));
    }
    for block in blocks(&message) {
        line(&mut text, block["text"].as_str());
        line(&mut text, block["thinking"].as_str());
        line(&mut text, block["name"].as_str());
        strings(&block["arguments"], &mut text);
    }
    text
}

fn line(text: &mut String, more: Option<&str>) {
    if let Some(more) = more {
        text.push_str(more);
        text.push('\n');
    }
}

fn strings(value: &Value, text: &mut String) {
    match value {
        Value::String(more) => line(text, Some(more)),
        Value::Array(values) => values.iter().for_each(|value| strings(value, text)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, text)),
        Value::Number(number) => line(text, Some(&number.to_string())),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The longest string among the arguments of a message's calls.
pub(super) fn longest_argument(json: &str) -> String {
    let message: Value = serde_json::from_str(json).unwrap_or_default();
    let arguments = blocks(&message).iter().map(|block| &block["arguments"]);
    let strings = arguments
        .filter_map(Value::as_object)
        .flat_map(|arguments| arguments.values())
        .filter_map(Value::as_str);
    strings
        .max_by_key(|text| text.len())
        .unwrap_or_default()
        .to_owned()
}

/// The role and the text of the content of a message that is sent.
pub(super) fn spoken(json: &str) -> (String, String) {
    let message: Value = serde_json::from_str(json).unwrap_or_default();
    let role = message["role"].as_str().unwrap_or_default().to_owned();
    (role, content_text(&message))
}
