//! Reads Claude Code's own lines: events, in order, on the path to the leaf.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::event::{Channel, Event, Placed, Said, said_in_result};

/// Whether a file is one of Claude Code's.
pub(super) fn is_claude(lines: &[&str]) -> bool {
    lines.iter().take(200).any(|line| {
        serde_json::from_str::<Value>(line)
            .is_ok_and(|record| record.get("parentUuid").is_some() && record["message"].is_object())
    })
}

/// The events of a file.
pub(super) fn read(lines: &[&str]) -> Vec<Placed> {
    let records: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or(Value::Null))
        .collect();
    let path = path(&records);
    let mut reader = Reader::default();
    for (at, record) in records.iter().enumerate() {
        reader.line = at as u64 + 1;
        let uuid = record["uuid"].as_str().unwrap_or_default();
        reader.record = uuid.to_owned();
        let repeated = !uuid.is_empty() && !reader.seen.insert(uuid.to_owned());
        if repeated || record["isSidechain"] == true || record["isMeta"] == true {
            continue;
        }
        match record["type"].as_str().unwrap_or_default() {
            "queue-operation" => reader.queue(record),
            _ if !path.contains(uuid) => {}
            "user" if record["isCompactSummary"] == true => {
                let summary = texts(&record["message"]["content"]).join("\n");
                reader.push(Event::Compacted(summary));
            }
            "user" => reader.user(record),
            "assistant" => reader.assistant(record),
            "attachment" => reader.attachment(record),
            _ => {}
        }
    }
    reader.events
}

/// Lines before which something can be planted: a request, or the beginning of
/// an answer, with no call open.
pub(super) fn places(lines: &[&str]) -> Vec<usize> {
    let records: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or(Value::Null))
        .collect();
    let path = path(&records);
    let mut open: HashSet<&str> = HashSet::new();
    let mut answer = "";
    let mut places = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let on_path = record["uuid"]
            .as_str()
            .is_some_and(|uuid| path.contains(uuid));
        let kind = record["type"].as_str().unwrap_or_default();
        if !on_path || !matches!(kind, "user" | "assistant") {
            continue;
        }
        let id = record["message"]["id"].as_str().unwrap_or_default();
        let content = &record["message"]["content"];
        let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
        let begins = match kind {
            "assistant" => id != answer,
            _ => {
                let meta = record["isMeta"] == true || record["isCompactSummary"] == true;
                !meta && texts(content).iter().any(|text| typed(text).is_some())
            }
        };
        if begins && open.is_empty() && record["parentUuid"].is_string() {
            places.push(at);
        }
        if kind == "assistant" {
            answer = id;
        }
        for block in blocks {
            match block["type"].as_str().unwrap_or_default() {
                "tool_use" => drop(open.insert(block["id"].as_str().unwrap_or_default())),
                "tool_result" => {
                    open.remove(block["tool_use_id"].as_str().unwrap_or_default());
                }
                _ => {}
            }
        }
    }
    places
}

/// Ids of the records on the way from the newest one to the first. Blocks of
/// one answer belong together, and a result belongs to its call, though with
/// several calls at a time only one of them is an ancestor.
fn path(records: &[Value]) -> HashSet<String> {
    let text = |record: &Value, key: &str| record[key].as_str().map(str::to_owned);
    let mut at: HashMap<&str, usize> = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        if let Some(uuid) = record["uuid"].as_str() {
            at.entry(uuid).or_insert(index);
        }
    }
    let is_leaf = |record: &&Value| {
        matches!(record["type"].as_str(), Some("user" | "assistant"))
            && record["isSidechain"] != true
            && record["uuid"].is_string()
    };
    let mut path = HashSet::new();
    let mut answers: HashSet<String> = HashSet::new();
    let mut next = records.iter().rev().find(is_leaf);
    while let Some(record) = next {
        let uuid = text(record, "uuid").unwrap_or_default();
        let index = at.get(uuid.as_str()).copied().unwrap_or(0);
        if !path.insert(uuid) {
            break;
        }
        answers.extend(text(&record["message"], "id"));
        let parent = record["parentUuid"]
            .as_str()
            .or_else(|| record["logicalParentUuid"].as_str());
        next = match parent {
            None => None,
            Some(parent) => match at.get(parent) {
                Some(parent) => Some(&records[*parent]),
                // A parent that was never written: what stands before it.
                None => records[..index].iter().rev().find(is_leaf),
            },
        };
    }
    let mut calls: HashSet<&str> = HashSet::new();
    for record in records {
        let same_answer = record["message"]["id"]
            .as_str()
            .is_some_and(|id| answers.contains(id));
        let blocks = record["message"]["content"].as_array();
        let blocks = blocks.map_or(&[][..], Vec::as_slice);
        let answered = blocks
            .iter()
            .filter_map(|block| block["tool_use_id"].as_str())
            .any(|call| calls.contains(call));
        if let Some(uuid) = record["uuid"].as_str()
            && (same_answer || answered)
        {
            path.insert(uuid.to_owned());
        }
        if record["uuid"]
            .as_str()
            .is_some_and(|uuid| path.contains(uuid))
        {
            let uses = blocks.iter().filter(|block| block["type"] == "tool_use");
            calls.extend(uses.filter_map(|block| block["id"].as_str()));
        }
    }
    path
}

#[derive(Default)]
struct Reader {
    events: Vec<Placed>,
    seen: HashSet<String>,
    /// Names of tools by the id of the call.
    tools: HashMap<String, String>,
    /// What was typed while the agent worked: line and words.
    waiting: VecDeque<(u64, String)>,
    line: u64,
    record: String,
}

impl Reader {
    fn push(&mut self, event: Event) {
        self.events.push(Placed {
            line: self.line,
            record: self.record.clone(),
            event,
        });
    }

    fn queue(&mut self, record: &Value) {
        match record["operation"].as_str().unwrap_or_default() {
            "enqueue" => {
                let words = record["content"].as_str().unwrap_or_default();
                self.waiting.push_back((self.line, words.to_owned()));
            }
            "remove" => {
                let Some((line, words)) = self.waiting.pop_front() else {
                    return;
                };
                if let Some(words) = typed(&words) {
                    let said = Event::Said(Said::new(Channel::Queued, &words));
                    self.events.push(Placed {
                        line,
                        record: String::new(),
                        event: said,
                    });
                }
            }
            // Comes again as a prompt.
            "dequeue" => drop(self.waiting.pop_front()),
            "popAll" => self.waiting.clear(),
            _ => {}
        }
    }

    fn user(&mut self, record: &Value) {
        let content = &record["message"]["content"];
        for block in content.as_array().map_or(&[][..], Vec::as_slice) {
            if block["type"] != "tool_result" {
                continue;
            }
            let call = block["tool_use_id"].as_str().unwrap_or_default();
            let text = texts(&block["content"]).join("\n");
            let tool = self.tools.get(call).cloned().unwrap_or_default();
            let given = record["toolUseResult"]["answers"].as_object();
            self.push(Event::Result {
                call: call.to_owned(),
                is_error: block["is_error"] == true,
                text: text.clone(),
            });
            for said in said_in_result(&tool, &text, given) {
                self.push(Event::Said(said));
            }
        }
        let words: Vec<String> = texts(content)
            .iter()
            .filter_map(|text| typed(text))
            .collect();
        if words
            .iter()
            .any(|words| words.starts_with("[Request interrupted by user"))
        {
            self.push(Event::Interrupted);
        } else if !words.is_empty() {
            self.push(Event::Said(Said::new(Channel::Prompt, &words.join("\n"))));
        }
    }

    fn assistant(&mut self, record: &Value) {
        let blocks = record["message"]["content"].as_array();
        for block in blocks.map_or(&[][..], Vec::as_slice) {
            let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str().unwrap_or_default() {
                "text" => self.push(Event::Words(text("text"))),
                "tool_use" => {
                    self.tools.insert(text("id"), text("name"));
                    self.push(Event::Call {
                        id: text("id"),
                        name: text("name"),
                        input: block["input"].clone(),
                    });
                }
                _ => {}
            }
        }
    }

    /// Newer versions keep what was typed meanwhile as an attachment.
    fn attachment(&mut self, record: &Value) {
        let attachment = &record["attachment"];
        if attachment["type"] != "queued_command" {
            return;
        }
        let words = texts(&attachment["prompt"]).join("\n");
        let Some(words) = typed(&words) else { return };
        let known =
            self.events.iter().rev().take(20).any(
                |placed| matches!(&placed.event, Event::Said(said) if said.text == words.trim()),
            );
        if !known {
            self.push(Event::Said(Said::new(Channel::Queued, &words)));
        }
    }
}

/// A content's texts: the string itself, or its text blocks.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// What a person typed of a text in the user's place.
fn typed(text: &str) -> Option<String> {
    let text = without(text, "<system-reminder>", "</system-reminder>");
    let text = text.trim();
    let wrapper = |name: &str| text.starts_with(name);
    if wrapper("<command-name>") || wrapper("<command-message>") {
        let from = text.find("<command-args>")? + "<command-args>".len();
        let words = text[from..].split("</command-args>").next()?.trim();
        return (!words.is_empty()).then(|| words.to_owned());
    }
    let program = [
        "<local-command-",
        "<bash-input>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<task-notification>",
        "<agent-notification>",
    ];
    (!text.is_empty() && !program.into_iter().any(wrapper)).then(|| text.to_owned())
}

fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(open) {
        let Some(end) = rest[begin..].find(close) else {
            break;
        };
        kept.push_str(&rest[..begin]);
        rest = &rest[begin + end + close.len()..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(events: &[Placed]) -> Vec<(u64, Channel, &str)> {
        events
            .iter()
            .filter_map(|placed| match &placed.event {
                Event::Said(said) => Some((placed.line, said.channel, said.text.as_str())),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn words_come_from_every_channel_and_from_no_program() {
        let lines = [
            r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"do it<system-reminder>x</system-reminder>"}}"#,
            r#"{"type":"user","uuid":"b","parentUuid":"a","message":{"role":"user","content":"<command-name>/review</command-name><command-args>the branch</command-args>"}}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"and the tests"}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"<task-notification>done"}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"never sent"}"#,
            r#"{"type":"assistant","uuid":"c","parentUuid":"b","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
            r#"{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"m","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"rm"}}]}}"#,
            r#"{"type":"queue-operation","operation":"remove"}"#,
            r#"{"type":"queue-operation","operation":"remove"}"#,
            r#"{"type":"user","uuid":"e","parentUuid":"c","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The user doesn't want to proceed. The user said:\nno"}]}}"#,
            r#"{"type":"user","uuid":"f","parentUuid":"d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"The user doesn't want to proceed. To tell you how, the user said:\nnot that"}]}}"#,
            r#"{"type":"user","uuid":"left","parentUuid":"a","message":{"role":"user","content":"on a branch that was left"}}"#,
            r#"{"type":"user","uuid":"g","parentUuid":"f","message":{"role":"user","content":"[Request interrupted by user]"}}"#,
        ];
        assert!(is_claude(&lines));
        assert_eq!(
            said(&read(&lines)),
            [
                (1, Channel::Prompt, "do it"),
                (2, Channel::Prompt, "the branch"),
                (3, Channel::Queued, "and the tests"),
                (11, Channel::Rejection, "not that"),
            ]
        );
    }
}
