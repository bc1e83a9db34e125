use std::collections::BTreeSet;

use longhaul_transcript::{Body, Context, Role, Session};

use super::*;

fn lines(turns: u32, compact_at: Option<u32>) -> Vec<String> {
    let (header, entries) = session(turns, compact_at);
    let entries = entries.iter().map(|entry| entry.raw().to_owned());
    std::iter::once(header.to_line()).chain(entries).collect()
}

fn opened(turns: u32, compact_at: Option<u32>) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.jsonl");
    let (header, entries) = session(turns, compact_at);
    longhaul_transcript::write_path(&path, &header, &entries).unwrap();
    let session = Session::open(&path).unwrap();
    (folder, session)
}

#[test]
fn the_same_turns_give_the_same_bytes() {
    assert_eq!(lines(30, Some(60_000)), lines(30, Some(60_000)));
}

#[test]
fn a_sample_of_any_length_opens_without_a_fault_and_has_that_many_turns() {
    for turns in [1, 2, 9, 120] {
        let (_folder, session) = opened(turns, None);
        let tree = session.tree().unwrap();
        assert_eq!(tree.faults(), []);
        let ids: BTreeSet<_> = tree.nodes().iter().map(|node| node.id.clone()).collect();
        assert_eq!(ids.len(), tree.nodes().len());
        let loaded = session.load().unwrap();
        assert_eq!(loaded.faults, []);
        let mut said = loaded.entries.iter().map(|entry| entry.user_text().len());
        assert_eq!(said.by_ref().sum::<usize>(), turns as usize);
        let text = lines(turns, None).concat();
        for name in [
            "{part}", "{file}", "{noun}", "{old}", "{new}", "{task}", "{n}",
        ] {
            assert!(!text.contains(name), "{name}");
        }
    }
}

#[test]
fn every_call_has_its_result_and_every_edit_changes_something() {
    let (_, entries) = session(60, None);
    let mut asked = Vec::new();
    for entry in &entries {
        let Some(message) = entry.message() else {
            continue;
        };
        let role = message.object().str("role");
        let value: Value = serde_json::from_str(entry.message_json().unwrap()).unwrap();
        if role.as_deref() == Some("toolResult") {
            assert_eq!(value["toolCallId"], asked.remove(0));
            continue;
        }
        assert_eq!(asked, Vec::<Value>::new());
        for block in value["content"].as_array().unwrap() {
            if block["type"] == "toolCall" {
                let arguments = &block["arguments"];
                assert!(
                    arguments["oldText"].is_null() || arguments["oldText"] != arguments["newText"]
                );
                asked.push(block["id"].clone());
            }
        }
    }
    assert_eq!(asked, Vec::<Value>::new());
}

#[test]
fn compactions_bound_the_context() {
    let limit = 60_000;
    let (_folder, session) = opened(60, Some(limit));
    let loaded = session.load().unwrap();
    let boundary = &loaded.entries[loaded.boundary.unwrap()];
    assert!(matches!(boundary.body, Body::Compaction(_)));
    let context = Context::build(&loaded);
    assert_eq!(context.messages[0].role, Role::CompactionSummary);
    let most = lines(60, Some(limit));
    let most = most.iter().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["message"]["usage"]["totalTokens"]
            .as_u64()
            .unwrap_or(0)
    });
    assert!(most.max().unwrap() < u64::from(limit) + 20_000);
}
