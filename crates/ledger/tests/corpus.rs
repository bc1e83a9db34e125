//! The ledger against the truth files of recorded sessions.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;

use longhaul_testkit::recorded;
use longhaul_transcript::Channel;
use serde_json::Value;

fn strings(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Array(list) => list
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        Value::Object(map) => map.keys().cloned().collect(),
        _ => BTreeSet::new(),
    }
}

#[test]
fn recorded_sessions_keep_what_their_truth_files_list() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut files = recorded::in_order(&folder);
    files.retain(|path| path.to_string_lossy().ends_with(".truth.json"));
    for truth in files {
        let name = truth.file_name().unwrap().to_str().unwrap().to_owned();
        let packed = truth.with_file_name(name.replace(".truth.json", ".jsonl.gz"));
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
        let (cwd, entries) = common::path_of(&recorded::unpacked(&packed, scratch.path()));
        let ledger = common::fold(cwd.clone(), &entries);

        let expected = strings(&truth["modified"]);
        let modified: BTreeSet<String> = ledger
            .modified_files()
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let missed: Vec<_> = expected.difference(&modified).collect();
        let further: Vec<_> = modified.difference(&expected).collect();
        assert!(
            missed.is_empty(),
            "{name}: modified files missed: {missed:?}"
        );

        let read: BTreeSet<String> = ledger
            .read_files()
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let expected_read = strings(&truth["read_only"]);
        // To the truth, which knows no shell, a file that only a command
        // changed is read-only; it is counted apart, not as found.
        let absent: Vec<_> = expected_read
            .iter()
            .filter(|path| !read.contains(*path))
            .collect();
        let (by_shell, unread): (Vec<_>, Vec<_>) = absent
            .into_iter()
            .partition(|path| modified.contains(*path));
        assert!(unread.is_empty(), "{name}: read files missed: {unread:?}");

        let prompts = truth["user_prompts"].as_array().unwrap();
        let said = |text: &str| {
            let mut heard = ledger.utterances.iter();
            heard.any(|said| {
                said.text == text || (text.len() >= 1_900 && said.text.starts_with(text))
            })
        };
        let kept = prompts
            .iter()
            .filter(|prompt| said(prompt["text"].as_str().unwrap().trim()))
            .count();
        assert_eq!(kept, prompts.len(), "{name}: prompts");

        let todos = truth["todos_end"].as_object().unwrap();
        let exact = todos
            .iter()
            .filter(|(text, state)| {
                let state = state.as_str().unwrap();
                ledger.items.iter().any(|item| {
                    item.text == **text
                        && serde_json::to_value(item.state).unwrap()
                            == match state {
                                "completed" => "done",
                                "pending" => "open",
                                other => other,
                            }
                })
            })
            .count();
        println!(
            "{name}: modified {} (+{} by shell), read only {} ({} of them changed by shell), said {}, to-dos {exact}/{}, failing {}, agreed {}",
            expected.len(),
            further.len(),
            expected_read.len(),
            by_shell.len(),
            ledger.utterances.len(),
            todos.len(),
            ledger.failing().count(),
            ledger.agreements.len(),
        );
    }
}

/// Other agents' sessions fold without harm.
#[test]
fn every_transcript_folds() {
    let scratch = tempfile::tempdir().unwrap();
    for path in recorded::files(&["transcripts", "pi"]) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if ![".gz", ".jsonl", ".sqlite"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            continue;
        }
        let file = recorded::unpacked(&path, scratch.path());
        if longhaul_transcript::Session::open(&file).is_err() {
            continue;
        }
        let (cwd, entries) = common::path_of(&file);
        let ledger = common::fold(cwd, &entries);
        println!(
            "{name}: {} entries, {} said, {} modified, {} read, {} commands, {} failing, {} items",
            ledger.entries,
            ledger.utterances.len(),
            ledger.modified_files().len(),
            ledger.read_files().len(),
            ledger.commands.len(),
            ledger.failing().count(),
            ledger.items.len(),
        );
    }
}

/// Whatever is given as said, as an error or as a file stands in the session.
#[test]
fn nothing_is_made_up() {
    let Some(folder) = recorded::folder("pi") else {
        return;
    };
    for name in [
        "pi-mono_before-compaction.jsonl",
        "pi-mono_large-session.jsonl",
    ] {
        let (cwd, entries) = common::path_of(&folder.join(name));
        let ledger = common::fold(cwd.clone(), &entries);
        let said: String = entries
            .iter()
            .filter_map(|entry| entry.message())
            .map(|message| message.text() + "\n")
            .collect();
        let calls: String = entries
            .iter()
            .filter_map(|entry| entry.message_json())
            .collect();
        for heard in &ledger.utterances {
            assert!(said.contains(&heard.text), "{}", heard.text);
        }
        for run in ledger.failing() {
            let line = run.error.as_deref().unwrap_or_default();
            assert!(said.contains(line), "{line}");
        }
        for file in ledger.files.values() {
            let name = file.path.rsplit('/').next().unwrap();
            assert!(calls.contains(name), "{}", file.path);
        }
    }
}

/// pi stores steering and follow-ups as user messages like any other; that they
/// waited is seen by their own time, which is older than what the agent did before.
#[test]
fn what_waited_while_the_agent_worked_is_told_from_prompts_by_its_time() {
    let Some(folder) = recorded::folder("pi") else {
        return;
    };
    let queued = |name: &str| {
        let (cwd, entries) = common::path_of(&folder.join(name));
        let ledger = common::fold(cwd, &entries);
        let waited = ledger.utterances.into_iter();
        waited
            .filter(|said| said.channel == Channel::Queued)
            .map(|said| said.text.lines().next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let waited = queued("pi-mono_before-compaction.jsonl");
    assert_eq!(waited.len(), 3, "{waited:?}");
    assert!(waited[1].starts_with("after you are done and commited"));
    assert_eq!(queued("pi-mono_large-session.jsonl"), [""; 0]);
}
