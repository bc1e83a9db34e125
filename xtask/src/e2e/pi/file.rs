//! pi's session file and the requests that pi made of it.

use std::fs;
use std::path::Path;

use longhaul_testkit::content::text;
use serde_json::Value;

use crate::Result;

/// The entries of a session file.
pub(super) fn entries(path: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().skip(1);
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

pub(super) fn of_type<'a>(entries: &'a [Value], kind: &str) -> Vec<&'a Value> {
    entries
        .iter()
        .filter(|entry| entry["type"] == kind)
        .collect()
}

/// The result of the latest call of a tool.
pub(super) fn last_result(entries: &[Value], tool: &str) -> Option<(String, String)> {
    let found = entries.iter().rev().find(|entry| {
        entry["message"]["role"] == "toolResult" && entry["message"]["toolName"] == tool
    })?;
    Some((found["id"].as_str()?.to_owned(), text(&found["message"])))
}

/// The messages of a request without what was added at its end for this once.
pub(super) fn lasting(request: &Value) -> Vec<&Value> {
    let mut messages: Vec<&Value> = request["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    if messages.last().is_some_and(|last| is_note(last)) {
        messages.pop();
    }
    messages
}

/// Whether a message is ours for one request.
pub(super) fn is_note(message: &Value) -> bool {
    let text = text(message);
    message["role"] == "user" && (text.contains("[Context: ") || text.contains("<longhaul:"))
}

/// Results in a request that answer no call of the answer before them.
pub(super) fn orphans(request: &Value) -> usize {
    let mut asked: Vec<&str> = Vec::new();
    let mut orphans = 0;
    for message in request["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("assistant") => {
                // A call that nothing answers is as bad.
                orphans += asked.len();
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                asked = calls.filter_map(|call| call["id"].as_str()).collect();
            }
            Some("tool") => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match asked.iter().position(|call| *call == id) {
                    Some(at) => drop(asked.remove(at)),
                    None => orphans += 1,
                }
            }
            _ => {}
        }
    }
    orphans + asked.len()
}

/// Whether a message puts the state of the work back.
pub(super) fn is_restored(message: &Value) -> bool {
    text(message).contains("<longhaul:checkpoint")
}

/// Whether the state of the work stands right behind what the user said.
pub(super) fn is_behind_the_user(request: &Value) -> bool {
    let all = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    all.windows(2).any(|pair| {
        let is_users = pair[0]["role"] == "user" && !text(&pair[0]).contains("<summary>");
        is_users && is_restored(&pair[1])
    })
}

/// How often the state of the work stood elsewhere than in the request before.
pub(super) fn moves(requests: &[Value]) -> usize {
    let pairs = requests.windows(2);
    pairs
        .filter(|pair| {
            let (before, after) = (lasting(&pair[0]), lasting(&pair[1]));
            let mut both = before.iter().zip(&after);
            both.find(|(before, after)| before != after)
                .is_some_and(|(before, _)| is_restored(before))
        })
        .count()
}

/// How often a request did not begin as the one before it.
pub(super) fn rewrites(requests: &[Value]) -> usize {
    let pairs = requests.windows(2);
    pairs
        .filter(|pair| {
            let (before, after) = (lasting(&pair[0]), lasting(&pair[1]));
            !after.starts_with(&before)
        })
        .count()
}
