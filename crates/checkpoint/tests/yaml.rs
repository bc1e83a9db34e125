//! The document: S0's schema, exact through every reader.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{EXAMPLE, example, id};
use longhaul_checkpoint::{
    Checkpoint, Exchange, LastToolCall, Meta, Resources, Role, Seal, Status, TakenDecision, Thread,
    TokenUsage, Trigger, Working,
};
use longhaul_transcript::SessionKey;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Every key of a document, in order, with its depth; list items merged.
fn keys(yaml: &str) -> Vec<(usize, String)> {
    let mut keys: Vec<(usize, String)> = Vec::new();
    let mut block: Option<usize> = None;
    for line in yaml.lines() {
        let depth = line.len() - line.trim_start().len();
        if block.is_some_and(|deeper| depth > deeper || line.trim().is_empty()) {
            continue;
        }
        block = None;
        let (depth, rest) = match line.trim_start().strip_prefix("- ") {
            Some(rest) => (depth + 2, rest),
            None => (depth, line.trim_start()),
        };
        if rest.starts_with('#') || rest.starts_with('"') {
            continue;
        }
        let Some((key, value)) = rest.split_once(':') else {
            continue;
        };
        if value.trim_start().starts_with('|') {
            block = Some(depth);
        }
        let key = (depth, key.to_owned());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

#[test]
fn the_example_of_the_source_is_read_and_written_with_the_same_keys() {
    let example = example();
    assert_eq!(example.meta.checkpoint_id, id(3));
    assert_eq!(example.meta.previous_checkpoint, Some(id(2)));
    assert_eq!(example.meta.trigger, Trigger::Threshold);
    assert_eq!(example.working.topic, "Helping user plan a trip to Japan\n");
    assert_eq!(example.decisions.len(), 2);
    assert_eq!(example.open_items.len(), 2);
    let written = example.to_yaml();
    assert_eq!(keys(&written), keys(EXAMPLE));
    assert_eq!(Checkpoint::from_yaml(&written, Seal::Required), Ok(example));
}

#[test]
fn free_text_stands_in_blocks_and_names_in_quotes() {
    let mut checkpoint = example();
    checkpoint.working.topic = "a: b # c | > - % @ \\ \"d\"\n\ttab 日本 🙂".into();
    checkpoint.working.next_action = "  leading space".into();
    let yaml = checkpoint.to_yaml();
    assert!(
        yaml.contains("  topic: |-\n    a: b # c | > - % @ \\ \"d\"\n    \ttab 日本 🙂\n"),
        "{yaml}"
    );
    assert!(yaml.contains("- \"web_search\"\n"), "{yaml}");
    assert!(
        yaml.contains("next_action: \"  leading space\"\n"),
        "{yaml}"
    );
    assert_eq!(Checkpoint::from_yaml(&yaml, Seal::Required), Ok(checkpoint));
}

/// Text of the kinds that YAML readers are known to mistake.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 ]{1,12}",
        4 => prop::sample::select(vec![
            ": ", " #", "|", ">", "- ", "%", "@", "`", "\\", "\"", "'", "\t", "\n", "\n\n", "  ",
            "\r", "\r\n", "---", "\n---\n", "\n...\n", "!", "&a", "*a", "?", "{", "}", "[", "]", ",",
            "~", "日本語", "中文。", "한국어", "🙂", "👩‍👩‍👧", "é", "\u{85}", "\u{2028}", "\u{2029}",
            "\u{feff}", "\u{0}", "\u{7}", "\u{1b}[31m", "\u{7f}", "\u{9f}", "\u{a0}", "\u{fffe}",
            "\u{ffff}", "\u{e000}", "\u{10ffff}", "\\n", "\\u0041", "# blake3: 00",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "no", "yes", "on", "off", "null", "true", "1_000", "0x1f", "0o7", "1e3", ".inf", "12:30",
            "2026-01-01", "2026-01-01T00:00:00Z", "<<", "=", "",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        1 => Just(String::new()),
        9 => prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat()),
    ]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..4)
}

fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    let meta = (
        (2..3000_u32, text(), text(), text(), text()),
        (any::<bool>(), 0..10_u32, 0..2_000_000_u64, 1..2_000_000_u64),
    )
        .prop_map(
            |((number, key, file, channel, agent), (first, count, input, window))| Meta {
                checkpoint_id: id(number),
                session_key: SessionKey::new(key),
                session_file: file,
                created_at: "2026-02-24T15:30:00.000Z".into(),
                trigger: Trigger::Compaction,
                compaction_count: count,
                token_usage: TokenUsage {
                    input_tokens: input,
                    context_window: window,
                    utilization: (input as f64 / window as f64 * 100.0).round() / 100.0,
                },
                previous_checkpoint: (!first).then(|| id(number - 1)),
                channel,
                agent_id: agent,
            },
        );
    let call = prop::option::of(
        (text(), text()).prop_map(|(name, params_summary)| LastToolCall {
            name,
            params_summary,
        }),
    );
    let working = (text(), text(), any::<bool>(), call).prop_map(
        |(topic, next_action, interrupted, last_tool_call)| Working {
            topic,
            status: Status::WaitingForUser,
            interrupted,
            last_tool_call,
            next_action,
        },
    );
    let decisions = prop::collection::vec(
        (text(), text(), prop::option::of(text())).prop_map(|(id, what, when)| TakenDecision {
            id,
            what,
            when,
        }),
        0..4,
    );
    let resources = (texts(), texts(), texts()).prop_map(|(read, modified, tools)| Resources {
        files_read: read,
        files_modified: modified,
        tools_used: tools,
    });
    let exchanges = prop::collection::vec(
        (any::<bool>(), text()).prop_map(|(user, gist)| Exchange {
            role: if user { Role::User } else { Role::Agent },
            gist,
        }),
        0..4,
    );
    let thread = (text(), exchanges).prop_map(|(summary, key_exchanges)| Thread {
        summary,
        key_exchanges,
    });
    (
        meta,
        working,
        decisions,
        resources,
        thread,
        texts(),
        texts(),
    )
        .prop_map(
            |(meta, working, decisions, resources, thread, open_items, learnings)| Checkpoint {
                meta,
                working,
                decisions,
                resources,
                thread,
                open_items,
                learnings,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_text_comes_back_as_it_was(checkpoint in checkpoint()) {
        let yaml = checkpoint.to_yaml();
        prop_assert_eq!(Checkpoint::from_yaml(&yaml, Seal::Required), Ok(checkpoint), "{}", yaml);
    }

    #[test]
    fn a_changed_byte_is_always_noticed(checkpoint in checkpoint(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut bytes = checkpoint.to_yaml().into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert!(Checkpoint::from_yaml(&text, Seal::Required).is_err(), "{}", text);
        }
    }

    #[test]
    fn a_beginning_is_no_checkpoint(checkpoint in checkpoint(), at in any::<prop::sample::Index>()) {
        let yaml = checkpoint.to_yaml();
        let end = yaml.floor_char_boundary(at.index(yaml.len()));
        prop_assert!(Checkpoint::from_yaml(&yaml[..end], Seal::Required).is_err());
    }

    #[test]
    fn nonsense_is_refused_without_harm(text in "(?s).{0,200}") {
        prop_assert!(Checkpoint::from_yaml(&text, Seal::Optional).is_err());
    }
}

/// Reads documents parted by a line of their own and gives their values.
const PYTHON: &str = r##"
import json, sys, yaml
documents = sys.stdin.buffer.read().decode("utf-8").split("\n# === next ===\n")
json.dump([yaml.safe_load(text) for text in documents], sys.stdout)
"##;

#[test]
fn pythons_parser_reads_the_same_values() {
    let cases = match std::env::var_os("LONGHAUL_LONG") {
        Some(_) => 5_000,
        None => 400,
    };
    let python = std::env::var_os("LONGHAUL_PYTHON").unwrap_or_else(|| "python3".into());
    let started = Command::new(&python)
        .args(["-c", PYTHON])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            eprintln!("SKIPPED: cannot run {python:?} ({error}); YAML was not read by Python");
            return;
        }
    };
    let mut runner = TestRunner::deterministic();
    let checkpoints: Vec<Checkpoint> = (0..cases)
        .map(|_| checkpoint().new_tree(&mut runner).unwrap().current())
        .collect();
    let documents: Vec<String> = checkpoints.iter().map(Checkpoint::to_yaml).collect();
    let mut stdin = child.stdin.take().unwrap();
    let sent = documents.join("\n# === next ===\n");
    let writer = std::thread::spawn(move || stdin.write_all(sent.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "Python could not read them; it needs PyYAML (`{} -m pip install pyyaml`)",
        python.to_string_lossy()
    );
    writer.join().unwrap().unwrap();
    let read: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(read.len(), cases);
    for ((checkpoint, document), read) in checkpoints.iter().zip(&documents).zip(read) {
        let mut expected = serde_json::to_value(checkpoint).unwrap();
        expected["schema"] = json!("openclaw/checkpoint");
        expected["schema_version"] = json!(1);
        assert_eq!(read, expected, "{document}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let flaw = |from: &str, to: &str| {
        let text = EXAMPLE.replacen(from, to, 1);
        assert_ne!(text, EXAMPLE);
        Checkpoint::from_yaml(&text, Seal::Optional)
            .unwrap_err()
            .to_string()
    };
    let refusals = [
        flaw("openclaw/checkpoint", "openclaw/other"),
        flaw("schema_version: 1", "schema_version: 2"),
        flaw("status: \"in_progress\"", "status: \"busy\""),
        flaw("created_at: \"2026", "created_at: \"yesterday 2026"),
        flaw("utilization: 0.81", "utilization: .nan"),
        flaw(
            "previous_checkpoint: \"cp_002\"",
            "previous_checkpoint: \"cp_003\"",
        ),
        flaw("checkpoint_id: \"cp_003\"", "checkpoint_id: \"../../x\""),
        flaw("  channel:", "  chanel:"),
        flaw("working:", "working"),
    ];
    let expected = [
        "schema: \"openclaw/other\" is not openclaw/checkpoint",
        "schema_version: 2 is not 1, the version this program knows",
        "line 25: unknown variant `busy`, expected one of in_progress, idle, waiting_for_user",
    ];
    for (refusal, expected) in refusals.iter().zip(expected) {
        assert_eq!(refusal, expected);
    }
    for refusal in &refusals {
        println!("{refusal}");
        assert!(!refusal.contains('\n'), "{refusal}");
    }
}
