//! Other agents' sessions are read as native ones, with nothing lost.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod claude_code;
mod codex;
mod corpus;
mod openclaw;
mod typed;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_testkit::recorded;
use longhaul_transcript::{Context, Entry, Fault, Format, Role, Session};
use serde_json::Value;

/// Files of a folder whose name passes, in order.
fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut files = recorded::in_order(folder);
    files.retain(|path| wanted(path.file_name().unwrap().to_str().unwrap()));
    files
}

/// A session file with these lines.
fn file(folder: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = folder.join(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path
}

fn entries(session: &Session) -> (Vec<Entry>, Vec<Fault>) {
    let mut entries = Vec::new();
    let faults = session
        .each(&mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })
        .unwrap();
    (entries, faults)
}

/// What was typed, in order: channel, question and words.
fn typed(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .flat_map(|entry| entry.user_text())
        .map(|said| match said.question {
            Some(question) => format!("{}: {question} {}", said.channel.as_str(), said.text),
            None => format!("{}: {}", said.channel.as_str(), said.text),
        })
        .collect()
}

/// The context in short: role and text, calls and results by their id.
fn outline(context: &Context) -> Vec<String> {
    context
        .messages
        .iter()
        .map(|message| {
            let view = message.view();
            let mut line = format!("{}: {}", message.role, view.text());
            for call in view.tool_calls() {
                line.push_str(&format!(" [{} {}]", call.name, call.id));
            }
            if let Some(id) = view.tool_call_id() {
                line.push_str(&format!(" ({id})"));
            }
            line
        })
        .collect()
}

/// Results whose call is not before them.
fn orphans(context: &Context) -> Vec<String> {
    let mut called = HashSet::new();
    let mut orphans = Vec::new();
    for message in &context.messages {
        let view = message.view();
        called.extend(
            view.tool_calls()
                .into_iter()
                .map(|call| call.id.into_owned()),
        );
        if message.role == Role::ToolResult {
            let id = view.tool_call_id().unwrap_or_default();
            if !called.contains(&*id) {
                orphans.push(id.into_owned());
            }
        }
    }
    orphans
}

/// What holds for every import: ids are unique, parents are there, and the
/// tree's leaf gives the same context as the load.
fn check(session: &Session) {
    if session.format() == Format::Pi {
        return;
    }
    let (entries, _) = entries(session);
    let ids: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), entries.len(), "ids are unique");
    for entry in &entries {
        let value: Value = serde_json::from_str(entry.raw()).unwrap();
        assert_eq!(value["id"].as_str(), Some(entry.id.as_str()));
        assert_eq!(
            value["parentId"].as_str(),
            entry.parent.as_ref().map(|id| id.as_str())
        );
        assert!(!entry.raw().contains('\n'));
        if let Some(parent) = &entry.parent {
            assert!(
                ids.contains(parent.as_str()),
                "{} hangs on {parent}",
                entry.id
            );
        }
    }
    let tree = session.tree().unwrap();
    let Some(leaf) = tree.leaf().map(|leaf| leaf.id.clone()) else {
        return;
    };
    let loaded = session.load().unwrap();
    let whole = session.load_at(&leaf).unwrap();
    let texts = |loaded: &longhaul_transcript::Loaded| {
        Context::build(loaded)
            .messages
            .iter()
            .map(|message| message.json().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&loaded), texts(&whole));
    let ids = |loaded: &longhaul_transcript::Loaded| {
        loaded
            .entries
            .iter()
            .map(|entry| (entry.id.to_string(), entry.place.offset))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&loaded), ids(&whole));
    assert_eq!(loaded.boundary, whole.boundary);
    assert!(loaded.epoch.count() <= whole.epoch.count());
}
