//! Samples are reproducible, sound, and hold what their truth says.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use longhaul_testkit::sample::{Compactions, Plan, Size, Truth, generate};
use longhaul_transcript::{Body, Context, Role, Session};
use serde_json::Value;
use sha2::{Digest, Sha256};

struct Sample {
    bytes: Vec<u8>,
    truth: Truth,
    lines: Vec<Value>,
}

fn sample(plan: &Plan) -> Sample {
    let mut bytes = Vec::new();
    let truth = generate(plan, &mut bytes).unwrap();
    let lines = std::str::from_utf8(&bytes)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    Sample {
        bytes,
        truth,
        lines,
    }
}

fn turns(seed: u64, turns: u32) -> Plan {
    Plan {
        seed,
        size: Size::Turns(turns),
        ..Plan::default()
    }
}

fn sized(seed: u64, bytes: u64) -> Plan {
    Plan {
        seed,
        size: Size::AtLeastBytes(bytes),
        ..Plan::default()
    }
}

impl Sample {
    fn sha256(&self) -> String {
        Sha256::digest(&self.bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn message(&self, line: u64) -> &Value {
        &self.lines[line as usize - 1]["message"]
    }

    /// All text of a line's message.
    fn text(&self, line: u64) -> String {
        let content = self.message(line)["content"].as_array().unwrap();
        content
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn calls(&self) -> Vec<&Value> {
        self.lines
            .iter()
            .filter_map(|line| line["message"]["content"].as_array())
            .flatten()
            .filter(|block| block["type"] == "toolCall")
            .collect()
    }

    fn open(&self, folder: &Path) -> Session {
        let path = folder.join("sample.jsonl");
        std::fs::write(&path, &self.bytes).unwrap();
        Session::open(&path).unwrap()
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let plan = turns(7, 12);
    let (once, twice) = (sample(&plan), sample(&plan));
    assert_eq!(once.bytes, twice.bytes);
    assert_eq!(once.truth, twice.truth);
    assert_ne!(once.bytes, sample(&turns(8, 12)).bytes);
    assert_eq!(
        once.sha256(),
        "7cfd3fc1a43c10f8301027a72c7bba32869739b3928375db0a3003cc075afc74",
        "samples have changed; if that is wanted, so must this hash"
    );
}

#[test]
fn every_sample_opens_without_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..10 {
        let plan = Plan {
            images: seed % 3 == 0,
            planted: seed % 4 != 3,
            compactions: match seed % 2 {
                0 => Compactions::None,
                _ => Compactions::Every(60_000),
            },
            ..turns(seed, 40)
        };
        let made = sample(&plan);
        let session = made.open(folder.path());
        let tree = session.tree().unwrap();
        assert_eq!(tree.faults(), [], "seed {seed}");
        assert_eq!(tree.nodes().len() as u64 + 1, made.truth.lines);
        assert_eq!(tree.path().len(), tree.nodes().len(), "one line of descent");
        let loaded = session.load().unwrap();
        assert_eq!(loaded.faults, [], "seed {seed}");
        assert!(!Context::build(&loaded).messages.is_empty());
        let times: Vec<_> = tree.nodes().iter().map(|node| node.time.unwrap()).collect();
        assert!(times.is_sorted(), "time goes forward");
    }
}

#[test]
fn every_call_has_its_result_right_after_it() {
    for seed in 0..10 {
        let made = sample(&turns(seed, 30));
        let mut waiting: Vec<String> = Vec::new();
        let mut results = 0;
        for line in &made.lines {
            let message = &line["message"];
            if message["role"] == "toolResult" {
                assert_eq!(message["toolCallId"], waiting.remove(0));
                results += 1;
            } else if message.is_object() {
                assert!(waiting.is_empty(), "{waiting:?}");
            }
            let blocks = message["content"].as_array();
            for call in blocks
                .into_iter()
                .flatten()
                .filter(|b| b["type"] == "toolCall")
            {
                assert!(call["arguments"].is_object());
                waiting.push(call["id"].as_str().unwrap().to_owned());
            }
        }
        assert!(waiting.is_empty());
        let ids: HashSet<&str> = made
            .calls()
            .iter()
            .map(|c| c["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len() as u64, made.truth.tool_use);
        assert_eq!(results, made.truth.tool_result);
        let bash = made
            .calls()
            .iter()
            .filter(|call| call["name"] == "bash")
            .count();
        assert_eq!(bash as u64, made.truth.bash);
    }
}

#[test]
fn prompts_stand_on_the_lines_that_the_truth_names() {
    for seed in 0..10 {
        let made = sample(&turns(seed, 60));
        let truth = &made.truth;
        assert_eq!(truth.lines as usize, made.lines.len());
        assert_eq!(truth.user_prompts.len(), 60);
        for prompt in &truth.user_prompts {
            assert_eq!(made.text(prompt.line), prompt.text);
            assert_eq!(made.message(prompt.line)["role"], "user");
        }
    }
}

#[test]
fn errors_files_and_tasks_agree_with_the_calls() {
    for seed in 0..10 {
        let made = sample(&turns(seed, 50));
        let truth = &made.truth;
        for error in &truth.errors {
            assert!(made.text(error.line).starts_with(&error.text));
            assert_eq!(made.message(error.line)["isError"], true);
            assert!(error.resolved_line.is_none_or(|line| line > error.line));
        }
        let failed = made
            .lines
            .iter()
            .filter(|line| line["message"]["isError"] == true);
        assert_eq!(failed.count(), truth.errors.len());

        let cwd = "/home/ada/work/project/";
        let arguments: Vec<String> = made
            .calls()
            .iter()
            .map(|call| call["arguments"].to_string())
            .collect();
        let named = |path: &str| {
            let short = path.strip_prefix(cwd).unwrap_or(path);
            arguments.iter().any(|text| text.contains(short))
        };
        assert!(truth.modified.keys().all(|path| named(path)));
        assert!(truth.read_only.iter().all(|path| named(path)));
        assert!(
            truth
                .read_only
                .iter()
                .all(|path| !truth.modified.contains_key(path))
        );
        let mut changed: BTreeSet<String> = BTreeSet::new();
        for call in made.calls() {
            if call["name"] == "edit" || call["name"] == "write" {
                let path = call["arguments"]["path"].as_str().unwrap();
                changed.insert(format!("{cwd}{}", path.strip_prefix(cwd).unwrap_or(path)));
            }
        }
        assert!(changed.iter().all(|path| truth.modified.contains_key(path)));

        let todos = made
            .calls()
            .into_iter()
            .rfind(|call| call["name"] == "todo")
            .unwrap();
        for item in todos["arguments"]["todos"].as_array().unwrap() {
            let state = &truth.todos_end[item["content"].as_str().unwrap()];
            assert_eq!(item["status"], state.as_str());
        }
        assert!(truth.open_items_end.len() >= 3);
        assert!(
            truth
                .open_items_end
                .iter()
                .all(|item| !truth.done_items.contains(item))
        );

        let last = truth.last_error.as_ref().unwrap();
        assert_eq!(
            made.text(last.line).lines().next().unwrap(),
            last.first_line
        );
        assert_eq!(truth.errors.last().unwrap().line, last.line);
        let flight = truth.in_flight.as_ref().unwrap();
        assert_eq!(flight.command, last.command);
        assert!(flight.command.contains(&flight.test));
        assert!(truth.modified.contains_key(&flight.file));
        match &flight.question {
            Some(question) => assert!(made.text(truth.lines).ends_with(question.as_str())),
            None => assert_eq!(truth.lines, last.line),
        }
    }
}

#[test]
fn a_sized_file_is_at_most_five_percent_longer() {
    for seed in 0..6 {
        for bytes in [200_000, 1_000_000, 3_000_000] {
            for compactions in [Compactions::None, Compactions::Every(100_000)] {
                let plan = Plan {
                    compactions,
                    images: seed == 1,
                    ..sized(seed, bytes)
                };
                let mut file = Vec::new();
                generate(&plan, &mut file).unwrap();
                let length = file.len() as u64;
                assert!(
                    length >= bytes && length <= bytes * 105 / 100,
                    "seed {seed}: {length} for {bytes}"
                );
            }
        }
    }
}

#[test]
fn compactions_bound_the_context() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, limit) in [(1, 24_000), (2, 60_000), (3, 180_000)] {
        let plan = Plan {
            compactions: Compactions::Every(limit),
            ..sized(seed, 4_000_000)
        };
        let made = sample(&plan);
        assert!(made.truth.compactions.len() > 3);
        for at in &made.truth.compactions {
            let entry = &made.lines[at.line as usize - 1];
            assert_eq!(entry["type"], "compaction");
            assert_eq!(entry["tokensBefore"], at.pre_tokens);
            let summary = entry["summary"].as_str().unwrap();
            assert_eq!(summary.chars().count() as u64, at.summary_chars);
            let first = made.lines[..at.line as usize - 1]
                .iter()
                .find(|line| line["id"] == entry["firstKeptEntryId"])
                .expect("the first kept entry stands before the compaction");
            assert_ne!(first["message"]["role"], "toolResult");
        }
        let session = made.open(folder.path());
        let loaded = session.load().unwrap();
        assert_eq!(loaded.faults, []);
        assert!(matches!(
            loaded.entries[loaded.boundary.unwrap()].body,
            Body::Compaction(_)
        ));
        let context = session.context().unwrap();
        assert_eq!(context.messages[0].role, Role::CompactionSummary);
        let most = made
            .lines
            .iter()
            .filter_map(|line| line["message"]["usage"]["totalTokens"].as_u64())
            .max()
            .unwrap();
        let slack = 60_000;
        assert!(
            most < u64::from(limit) + slack,
            "{most} tokens, limit {limit}"
        );
    }
}

#[test]
fn usage_grows_with_the_context_and_falls_with_a_compaction() {
    let made = sample(&Plan {
        compactions: Compactions::Every(60_000),
        ..turns(5, 60)
    });
    let mut before = 0;
    let mut drops = 0;
    for line in &made.lines {
        let usage = &line["message"]["usage"];
        let part = |key: &str| usage[key].as_u64().unwrap();
        if usage.is_object() && part("totalTokens") > 0 {
            let prompt = part("input") + part("cacheRead") + part("cacheWrite");
            assert_eq!(part("totalTokens"), prompt + part("output"));
            drops += usize::from(prompt < before);
            before = prompt;
        }
    }
    assert_eq!(drops, made.truth.compactions.len());
}
