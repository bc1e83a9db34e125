//! Every transcript of the corpus.

use std::collections::HashSet;
use std::path::Path;

use longhaul_testkit::recorded;
use longhaul_transcript::{Body, Channel, Error, FaultKind, Format, Role, Session};
use serde_json::Value;

use crate::{check, entries, files, orphans};

#[test]
fn every_claude_code_session_keeps_what_its_truth_file_lists() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let truths = files(&folder, |name| name.ends_with(".truth.json"));
    assert!(!truths.is_empty());
    for truth in truths {
        let name = truth.file_name().unwrap().to_str().unwrap();
        let packed = truth.with_file_name(name.replace(".truth.json", ".jsonl.gz"));
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
        let session = Session::open(&recorded::unpacked(&packed, scratch.path())).unwrap();
        assert_eq!(session.format(), Format::ClaudeCode);
        check(&session);
        assert_eq!(orphans(&session.context().unwrap()), [""; 0], "{name}");
        let (entries, faults) = entries(&session);
        assert_eq!(faults, [], "{name}");

        let mut calls = HashSet::new();
        let mut results = HashSet::new();
        let mut compactions = 0;
        for entry in &entries {
            if let Body::Compaction(compaction) = &entry.body {
                compactions += 1;
                assert!(!compaction.summary.is_empty());
                assert!(compaction.tokens_before.unwrap() > 100_000);
            }
            let Some(message) = entry.message() else {
                continue;
            };
            calls.extend(
                message
                    .tool_calls()
                    .into_iter()
                    .map(|call| call.id.into_owned()),
            );
            if message.role == Role::ToolResult {
                assert!(!message.tool_name().unwrap().is_empty());
                results.insert(message.tool_call_id().unwrap().into_owned());
            }
        }
        assert_eq!(
            calls.len() as u64,
            truth["tool_use"].as_u64().unwrap(),
            "{name}"
        );
        assert_eq!(
            results.len() as u64,
            truth["tool_result"].as_u64().unwrap(),
            "{name}"
        );
        assert_eq!(
            calls.difference(&results).count(),
            truth["unpaired_use"].as_array().unwrap().len(),
            "{name}"
        );
        assert_eq!(
            compactions,
            truth["compactions"].as_array().unwrap().len(),
            "{name}"
        );
        let complete = session.load().unwrap().complete;
        assert_eq!(
            complete,
            compactions == 0,
            "{name}: read from the latest compaction"
        );
        let source = std::fs::read_to_string(session.path()).unwrap();
        let lines: Vec<&str> = source.lines().collect();
        let said: Vec<(u64, String, String)> = entries
            .iter()
            .flat_map(|entry| {
                let line = entry.place.line;
                entry.user_text().into_iter().map(move |said| {
                    (
                        line,
                        said.channel.as_str().to_owned(),
                        said.text.into_owned(),
                    )
                })
            })
            .collect();
        let mut expected = typed_by_truth(&truth, &lines);
        let mut extra = said.clone();
        for text in &said {
            if let Some(at) = expected.iter().position(|wanted| wanted == text) {
                expected.remove(at);
                extra.retain(|other| other != text);
            }
        }
        assert_eq!(expected, [], "{name}: typed and not found");
        // The words behind a slash command, which the truth files leave out.
        extra.retain(|(line, _, text)| {
            !lines[*line as usize - 1].contains(&format!("<command-args>{text}</command-args>"))
        });
        assert_eq!(extra, [], "{name}: found and not typed");
    }
}

/// What the truth file lists, each whole from its line of the source.
fn typed_by_truth(truth: &Value, lines: &[&str]) -> Vec<(u64, String, String)> {
    let mut typed = Vec::new();
    let others = truth["other_user_texts"].as_array();
    let listed = truth["user_prompts"].as_array().unwrap().iter();
    for item in listed.chain(others.into_iter().flatten()) {
        let line = item["line"].as_u64().unwrap();
        let record: Value = serde_json::from_str(lines[line as usize - 1]).unwrap();
        let content = &record["message"]["content"];
        let start = item["text"].as_str().unwrap();
        let channel = item["channel"].as_str().unwrap_or("prompt");
        match channel {
            "notification" => {}
            "prompt" => {
                let blocks = content.as_array().into_iter().flatten();
                let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
                let whole = content.as_str().map_or(texts.join("\n"), str::to_owned);
                let whole = without_reminders(&whole);
                assert!(whole.starts_with(start), "{start} is not at line {line}");
                typed.push((line, channel.into(), whole));
            }
            "queued" => {
                let whole = record["content"].as_str().unwrap();
                typed.push((line, channel.into(), whole.into()));
            }
            "rejection" => {
                let result = content[0]["content"].as_str().unwrap();
                let whole = result.split_once("the user said:\n").unwrap().1;
                let call = content[0]["tool_use_id"].as_str().unwrap();
                let plan = lines[..line as usize]
                    .iter()
                    .any(|line| line.contains(call) && line.contains("\"name\":\"ExitPlanMode\""));
                let channel = if plan { "plan" } else { channel };
                typed.push((line, channel.into(), whole.into()));
            }
            "answer" => {
                for answer in record["toolUseResult"]["answers"]
                    .as_object()
                    .unwrap()
                    .values()
                {
                    typed.push((line, channel.into(), answer.as_str().unwrap().into()));
                }
            }
            other => panic!("a channel {other}"),
        }
    }
    typed
}

fn without_reminders(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some((before, rest)) = text.split_once("<system-reminder>") {
        let after = rest
            .split_once("</system-reminder>")
            .map_or("", |parts| parts.1);
        text = format!("{before}{after}").trim_matches('\n').to_owned();
    }
    text
}

/// Without a compaction the path holds all calls with all results: parallel
/// calls fork the links, which must not cost one.
#[test]
fn parallel_calls_of_real_sessions_keep_their_results_on_the_path() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    for packed in files(&folder, |name| {
        name.starts_with("cc-") && name.ends_with(".gz")
    }) {
        let session = Session::open(&recorded::unpacked(&packed, scratch.path())).unwrap();
        let context = session.context().unwrap();
        let mut open = HashSet::new();
        for message in &context.messages {
            let view = message.view();
            open.extend(
                view.tool_calls()
                    .into_iter()
                    .map(|call| call.id.into_owned()),
            );
            if let Some(id) = view.tool_call_id() {
                assert!(open.remove(&*id), "{} answered twice", id);
            }
            let mut said = view.user_text().into_iter();
            if said.any(|said| said.channel == Channel::Queued) {
                assert!(open.is_empty(), "{}: {open:?}", packed.display());
            }
        }
        assert!(open.len() <= 1, "{}: {open:?}", packed.display());
    }
}

/// Lines lost here and there, and a torn end.
#[test]
fn damaged_sessions_still_load_as_their_whole_file_does() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let known = |name: &str| name.starts_with("cc-") || name.contains("_codex_small");
    for packed in files(&folder, |name| known(name) && name.ends_with(".gz")) {
        let path = recorded::unpacked(&packed, scratch.path());
        let text = std::fs::read_to_string(&path).unwrap();
        for every in [7, 31, 101] {
            let mut damaged: String = text
                .lines()
                .enumerate()
                .filter(|(at, _)| at % every != every / 2)
                .flat_map(|(_, line)| [line, "\n"])
                .collect();
            let mut end = damaged.len() * 9 / 10;
            while !damaged.is_char_boundary(end) {
                end -= 1;
            }
            damaged.truncate(end);
            std::fs::write(&path, damaged).unwrap();
            check(&Session::open(&path).unwrap());
        }
    }
}

#[test]
fn both_records_of_a_joined_line_are_recovered() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    for packed in files(&folder, |name| name.contains("CORRUPT-joined-line")) {
        let path = recorded::unpacked(&packed, scratch.path());
        let session = Session::open(&path).unwrap();
        check(&session);
        let (entries, faults) = entries(&session);
        let kinds: Vec<&FaultKind> = faults.iter().map(|fault| &fault.kind).collect();
        assert_eq!(kinds, [&FaultKind::Joined { records: 2 }]);
        let offset = faults[0].offset;
        let summary = entries
            .iter()
            .find(|entry| entry.place.offset == offset)
            .unwrap();
        assert!(
            summary
                .raw()
                .contains("Add agent name to logging context automatically")
        );
        // The other one is a block of an answer that began on the line before.
        // The session was resumed: the same block stands in the file again.
        let context = session.context().unwrap();
        let said: Vec<String> = context.messages.iter().map(|m| m.view().text()).collect();
        let done = said
            .iter()
            .filter(|text| text.contains("Done. I updated `TestLogging_Incl"));
        assert_eq!(
            done.map(|text| text.matches("Done. I updated").count())
                .sum::<usize>(),
            1
        );
    }
}

#[test]
fn every_transcript_of_a_known_agent_imports() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let expected = |name: &str| {
        Some(match name {
            _ if name.contains("_claude") || name.starts_with("obra") => Format::ClaudeCode,
            _ if name.starts_with("git-ai") => Format::ClaudeCode,
            _ if name.contains("agents_codex") => Format::Codex,
            _ if name.contains("agents_openclaw") || name.contains("agents_pi") => Format::Pi,
            _ => return None,
        })
    };
    for packed in files(&folder, |name| expected(name).is_some()) {
        let name = packed.file_name().unwrap().to_str().unwrap();
        let session = Session::open(&recorded::unpacked(&packed, scratch.path())).unwrap();
        assert_eq!(Some(session.format()), expected(name), "{name}");
        assert!(!session.header().id.is_empty());
        check(&session);
        let context = session.context().unwrap();
        assert!(!context.messages.is_empty(), "{name}");
        if !name.contains("jazzyalex") {
            assert_eq!(orphans(&context), [""; 0], "{name}");
        }
    }
}

#[test]
fn what_is_no_session_is_refused() {
    let Some(folder) = recorded::folder("transcripts") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let foreign = [
        "tau-bench",
        "sweagent",
        "SWE-agent",
        "OpenHands",
        "kimi",
        "copilot",
        "oss-story",
    ];
    let packed = files(&folder, |name| {
        foreign.iter().any(|part| name.contains(part))
    });
    assert!(packed.len() > 10);
    for packed in packed {
        let path = recorded::unpacked(&packed, scratch.path());
        assert!(is_unknown(&path), "{}", path.display());
        assert!(is_unknown(&packed), "{}", packed.display());
    }
}

fn is_unknown(path: &Path) -> bool {
    matches!(Session::open(path), Err(Error::UnknownFormat { .. }))
}
