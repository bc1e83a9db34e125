//! `compact`, and what `context` says about it afterwards.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use longhaul_testkit::loopback::{Loopback, Reply, Said};
use serde_json::{Value, json};

use crate::machine::{Machine, Ran, age};
use crate::talk::{Talk, long, long_claude, small};

/// A machine with a session `s` that is several windows of 30,000 long.
fn machine() -> (Machine, PathBuf) {
    let machine = Machine::new();
    let path = machine.put_pi("s", long(8), 1);
    (machine, path)
}

fn show(machine: &Machine) -> Ran {
    machine.run_line("context show s --json")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The agent goes on working: it appends a message at the leaf.
fn append_user(path: &Path, id: &str, text: &str) {
    let leaf = lines(path).last().unwrap()["id"].clone();
    let entry = json!({
        "type": "message", "id": id, "parentId": leaf, "timestamp": "2026-03-10T11:00:00.000Z",
        "message": { "role": "user", "content": [{ "type": "text", "text": text }] },
    });
    let mut file = File::options().append(true).open(path).unwrap();
    writeln!(file, "{entry}").unwrap();
    age(path, 1);
}

#[test]
fn a_pin_stays_word_for_word_through_compactions_that_read_the_file_anew() {
    let (machine, path) = machine();
    let asked = lines(&path)
        .into_iter()
        .find(|line| line["message"]["role"] == "user")
        .unwrap();
    let id = asked["id"].as_str().unwrap();
    let text = asked["message"]["content"][0]["text"].as_str().unwrap();
    let begin: String = text.lines().next().unwrap().chars().take(60).collect();
    assert_eq!(
        machine.run(["session", "pin", id, "--session", "s"]).code,
        0
    );
    age(&path, 1);
    for window in ["30k", "20k", "14k"] {
        let line = format!("compact s --yes --layer full --window {window}");
        let ran = machine.run_line(&line);
        assert_eq!(ran.code, 0, "{window}: {ran:?}");
        age(&path, 1);
        let summary = lines(&path)
            .into_iter()
            .rfind(|line| line["type"] == "compaction")
            .unwrap();
        let summary = summary["summary"].as_str().unwrap();
        let (_, pinned) = summary.split_once("## Pinned").unwrap();
        assert!(pinned.contains(&begin), "{window}: {summary}");
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let (machine, _) = machine();
    let before = machine.files();
    for layer in ["prune", "summarize", "full"] {
        let line = format!("compact s --dry-run --window 30k --layer {layer}");
        let ran = machine.run_line(&line);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.out.contains(&format!("Layer            {layer}\n")),
            "{ran:?}"
        );
        assert!(ran.err.contains("nothing was changed"), "{ran:?}");
        let answer = machine.run_line(&format!("{line} --json")).json();
        assert_eq!(answer["dryRun"], true);
        assert_eq!(answer["entry"], Value::Null);
        assert!(answer["tokensAfter"].as_u64() < answer["tokensBefore"].as_u64());
    }
    assert!(machine.files() == before);
}

#[test]
fn a_dry_run_that_fails_is_no_failure_for_the_breaker() {
    let (machine, path) = machine();
    let shown = show(&machine).json();
    let sizes = shown["perMessage"].as_array().unwrap();
    let large = sizes.iter().position(|size| size.as_u64() > Some(4_000));
    let entry = shown["entries"][large.unwrap()].as_str().unwrap();
    assert_eq!(
        machine
            .run(["session", "pin", entry, "--session", "s"])
            .code,
        0
    );
    age(&path, 1);
    let before = machine.files();
    let ran = machine.run_line("compact s --dry-run --window 8k");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("pinned entries take"), "{ran:?}");
    assert!(machine.files() == before);

    for _ in 0..3 {
        assert_eq!(machine.run_line("compact s --yes --window 8k").code, 1);
    }
    let ran = machine.run_line("compact s --reset-breaker --json");
    assert_eq!((ran.code, &ran.json()["breaker"]), (0, &json!("closed")));
    assert_eq!(machine.run_line("compact s --reset-breaker").code, 3);
}

#[test]
fn compacting_appends_one_entry() {
    let (machine, path) = machine();
    let before = fs::read(&path).unwrap();
    let context = show(&machine).json();
    let ran = machine.run_line("compact s --yes --window 30k --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();

    let after = fs::read(&path).unwrap();
    let added = after.strip_prefix(before.as_slice()).unwrap();
    let entry: Value = serde_json::from_slice(added).unwrap();
    assert_eq!(entry["type"], "compaction");
    assert_eq!(entry["id"], answer["entry"]);
    assert_eq!(entry["summary"], answer["summary"]);
    assert_eq!(entry["details"]["fidelity"], answer["fidelity"]);
    assert_eq!(answer["fidelity"]["lost"], json!([]));

    let compacted = show(&machine).json();
    let kept = answer["messagesKept"].as_u64().unwrap() as usize;
    let entries = |shown: &Value| shown["entries"].as_array().unwrap().clone();
    assert_eq!(entries(&compacted).len(), kept + 1);
    assert_eq!(entries(&compacted)[1..], {
        let all = entries(&context);
        all[all.len() - kept..].to_vec()
    });
    assert_eq!(compacted["tokens"], answer["tokensAfter"]);
    assert_eq!(machine.run_line("session verify s").code, 0);

    let again = machine.run_line("compact s --yes --window 30k");
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.err.starts_with("Nothing to compact"), "{again:?}");
    assert_eq!(fs::read(&path).unwrap(), after);
}

#[test]
fn history_and_diff_tell_of_it() {
    let (machine, _) = machine();
    let before = show(&machine).json();
    let answer = machine
        .run_line("compact s --yes --window 30k --json")
        .json();
    let history = machine.run_line("context history s --json").json();
    let row = &history["compactions"][0];
    for field in [
        "epoch",
        "entry",
        "layer",
        "trigger",
        "tokensBefore",
        "tokensAfter",
        "messagesCompacted",
        "summarizer",
        "fidelity",
        "summary",
    ] {
        assert_eq!(row[field], answer[field], "{field}");
        assert_ne!(row[field], Value::Null, "{field}");
    }
    let table = machine.run_line("context history s").out;
    let heads: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(
        heads[..9],
        [
            "#", "WHEN", "LAYER", "TRIGGER", "BEFORE", "AFTER", "WORDS", "LOST", "BY"
        ]
    );

    let diff = machine.run_line("context diff --session s --json").json();
    let entries = |of: &str| -> Vec<Value> {
        let all = diff[of].as_array().unwrap().iter();
        all.map(|one| one["entry"].clone()).collect()
    };
    let (left, stayed) = (entries("left"), entries("stayed"));
    let all: Vec<&Value> = left.iter().chain(&stayed).collect();
    assert_eq!(
        all,
        before["entries"]
            .as_array()
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(left.len(), answer["messagesCompacted"]);
    assert_eq!(diff["compaction"], history["compactions"][0]);
    let shown = machine.run_line("context diff 1 --session s --limit 2");
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains(left[1].as_str().unwrap()), "{shown:?}");
    assert!(!shown.out.contains(left[2].as_str().unwrap()) || left.len() < 3);
    assert_eq!(machine.run_line("context diff 7 --session s").code, 1);

    let status = machine.run_line("context status s").out;
    assert!(status.contains("only by recall, measured"), "{status}");
}

#[test]
fn diff_of_a_session_that_was_never_compacted_is_nothing_to_do() {
    let (machine, _) = machine();
    let ran = machine.run_line("context diff --session s");
    assert_eq!((ran.code, ran.err.as_str()), (3, "Never compacted.\n"));
}

#[test]
fn undo_restores_the_context_to_the_byte_and_redo_brings_the_summary_back() {
    let (machine, path) = machine();
    let before = show(&machine);
    let ran = machine.run_line("compact s --undo --yes");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (3, "There is no compaction to undo.\n")
    );
    machine.run_line("compact s --yes --window 30k");
    append_user(&path, "later", "And one thing more.");
    let compacted = show(&machine);

    let bytes = fs::read(&path).unwrap();
    let ran = machine.run_line("compact s --undo --yes --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(fs::read(&path).unwrap().starts_with(&bytes));
    let undone = show(&machine);
    let start = before.messages().strip_suffix(']').unwrap();
    let rest = undone.messages().strip_prefix(start).unwrap();
    assert_eq!(rest.matches("\"role\"").count(), 1, "{rest}");
    assert!(rest.contains("And one thing more."), "{rest}");
    assert_eq!(machine.run_line("session verify s").code, 0);
    assert_eq!(machine.run_line("compact s --undo --yes").code, 3);

    let ran = machine.run_line("compact s --redo --yes");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(show(&machine).messages(), compacted.messages());
    assert_eq!(machine.run_line("session verify s").code, 0);
    let ran = machine.run_line("compact s --redo --yes");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (3, "There is no undo to take back.\n")
    );
}

#[test]
fn undo_says_how_large_the_context_is_then_and_that_it_is_too_large() {
    let machine = Machine::new();
    let talk = Talk::new("s", "/w")
        .user("Read it all.")
        .assistant_at("It was much.", 190_000)
        .compaction("e01", "Much was read.")
        .user("Go on.")
        .assistant_at("Done.", 30_000);
    machine.put_pi("s", talk.text(), 1);
    let ran = machine.run_line("compact s --undo --yes --window 200k");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("190,0"), "{ran:?}");
    assert!(ran.err.contains("beyond the hard limit"), "{ran:?}");
    let status = machine.run_line("context status s --json --window 200k");
    assert!(
        status.json()["tokens"].as_u64() >= Some(190_000),
        "{status:?}"
    );
    let ran = machine.run_line("compact s --redo --yes --json --window 200k");
    assert_eq!(ran.json()["tokens"].as_u64().unwrap() / 1000, 30, "{ran:?}");
}

#[test]
fn what_lies_in_the_archive_is_restored_before_it_can_be_undone() {
    let (machine, _) = machine();
    let before = show(&machine);
    machine.run_line("compact s --yes --window 30k");
    assert_eq!(machine.run_line("session archive s --yes").code, 0);
    let compacted = machine.files();
    let ran = machine.run_line("compact s --undo --yes");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("longhaul session restore"), "{ran:?}");
    let diff = machine.run_line("context diff --session s --json").json();
    assert_eq!(
        (&diff["archived"], &diff["left"]),
        (&json!(true), &json!([]))
    );
    assert!(machine.files() == compacted);

    assert_eq!(machine.run_line("session restore s --yes").code, 0);
    assert_eq!(machine.run_line("compact s --undo --yes").code, 0);
    assert_eq!(show(&machine).messages(), before.messages());
}

#[test]
fn an_archive_does_not_hinder_the_undo_of_what_came_after_it() {
    let (machine, _) = machine();
    machine.run_line("compact s --yes --window 60k");
    assert_eq!(machine.run_line("session archive s --yes").code, 0);
    let before = show(&machine);
    let ran = machine.run_line("compact s --yes --window 20k");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = machine.run_line("compact s --undo --yes");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(show(&machine).messages(), before.messages());
    // The first one is the one whose past was moved away.
    assert_eq!(machine.run_line("compact s --undo --yes").code, 1);
    assert_eq!(show(&machine).messages(), before.messages());
}

#[test]
fn pruning_hides_results_and_undo_gives_them_back() {
    let (machine, path) = machine();
    let before = show(&machine);
    let ran = machine.run_line("compact s --layer prune --yes --window 30k --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();
    let edits = lines(&path)
        .iter()
        .filter(|entry| entry["type"] == "context_edit")
        .count();
    assert!(edits > 0);
    assert_eq!(answer["results"], edits);
    let pruned = show(&machine);
    assert!(pruned.messages().len() < before.messages().len());
    assert_eq!(pruned.json()["entries"], before.json()["entries"]);
    assert_eq!(machine.run_line("session verify s").code, 0);
    let again = machine.run_line("compact s --layer prune --yes --window 30k");
    assert_eq!(again.code, 3, "{again:?}");

    assert_eq!(machine.run_line("compact s --undo --yes").code, 0);
    assert_eq!(show(&machine).messages(), before.messages());
}

#[test]
fn an_undone_pruning_is_done_again_and_can_be_undone_again() {
    let (machine, _) = machine();
    let before = show(&machine);
    machine.run_line("compact s --layer prune --yes --window 30k");
    let pruned = show(&machine);
    for _ in 0..2 {
        assert_eq!(machine.run_line("compact s --redo --yes").code, 3);
        assert_eq!(machine.run_line("compact s --undo --yes").code, 0);
        assert_eq!(show(&machine).messages(), before.messages());
        assert_eq!(machine.run_line("compact s --redo --yes").code, 0);
        assert_eq!(show(&machine).messages(), pruned.messages());
    }
    assert_eq!(machine.run_line("session verify s").code, 0);
}

#[test]
fn a_pruning_is_undone_once() {
    let (machine, path) = machine();
    machine.run_line("compact s --layer prune --yes --window 30k");
    assert_eq!(machine.run_line("compact s --undo --yes").code, 0);
    let undone = fs::read(&path).unwrap();
    assert_eq!(machine.run_line("compact s --undo --yes").code, 3);
    assert_eq!(fs::read(&path).unwrap(), undone);
}

#[test]
fn results_that_answer_no_call_are_named_and_not_counted() {
    let machine = Machine::new();
    let text = "lorem ipsum ".repeat(1_000);
    let talk = (0..200).fold(Talk::new("s", "/w"), |talk, _| talk.result("bash", &text));
    machine.put_pi("s", talk.text(), 1);
    let before = machine.files();
    let note = "note: 200 tool results answer no call; they are never sent and not counted\n";
    for line in ["compact s --yes", "compact s --yes --layer full"] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 3, "{line}: {ran:?}");
        assert!(ran.err.contains(note), "{line}: {ran:?}");
        assert!(ran.err.contains("the context has 0 tokens"), "{ran:?}");
    }
    assert_eq!(machine.run_line("compact s --yes --layer prune").code, 3);
    let status = machine.run_line("context status s");
    assert!(status.err.contains(note), "{status:?}");
    assert!(!status.out.contains("would not fit"), "{status:?}");
    let inspect = machine.run_line("context inspect s");
    assert!(inspect.err.contains(note), "{inspect:?}");
    let answer = machine.run_line("context inspect s --json").json();
    assert_eq!(
        (&answer["tokens"], &answer["counted"]),
        (&json!(0), &json!(0))
    );
    let replay = machine.run_line("replay s");
    assert_eq!(replay.code, 0, "{replay:?}");
    assert!(!replay.out.contains("+"), "{replay:?}");
    assert!(machine.files() == before);
}

#[test]
fn other_agents_sessions_are_only_tried() {
    let machine = Machine::new();
    let text = long_claude("cc", "/w", 40);
    machine.put(".claude/projects/-w/cc.jsonl", text, 1);
    let before = machine.files();
    let ran = machine.run_line("compact cc --dry-run --window 20k --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.json()["messagesCompacted"].as_u64() > Some(10));
    let ran = machine.run_line("compact cc --yes --force --window 20k");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("belongs to Claude Code"), "{ran:?}");
    assert!(
        ran.err
            .contains("help: make a native copy with `longhaul session import`"),
        "{ran:?}"
    );
    assert!(machine.files() == before);
}

#[test]
fn a_session_in_use_is_blocked_unless_forced() {
    let (machine, path) = machine();
    let _held = File::open(&path).unwrap();
    let before = machine.files();
    let ran = machine.run_line("compact s --yes --window 30k");
    assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{ran:?}");
    assert!(ran.err.contains("is in use"), "{ran:?}");
    assert_eq!(machine.run_line("compact s --dry-run --window 30k").code, 0);
    assert!(machine.files() == before);
    let ran = machine.run_line("compact s --yes --force --window 30k");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn nobody_to_ask_is_a_usage_error() {
    let (machine, _) = machine();
    let before = machine.files();
    for line in [
        "compact s --window 30k",
        "compact s --window 30k --layer prune",
    ] {
        let ran = machine.run_line(line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains("help: add --yes"), "{ran:?}");
    }
    for line in ["compact s --undo --redo", "compact s --undo --dry-run"] {
        assert_eq!(machine.run_line(line).code, 2, "{line}");
    }
    assert!(machine.files() == before);
}

#[test]
fn the_focus_is_recorded() {
    let (machine, path) = machine();
    let focus = "the failing calibration tests";
    let ran = machine.run(["compact", "s", "--yes", "--window", "30k", "--focus", focus]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let entry = lines(&path).pop().unwrap();
    assert_eq!(entry["details"]["customInstruction"], focus);
}

#[test]
fn a_small_session_has_nothing_to_compact() {
    let machine = Machine::new();
    machine.put_pi("s", small("s", "/w").text(), 1);
    machine.put_pi("empty", Talk::new("empty", "/w").text(), 1);
    let before = machine.files();
    for line in [
        "compact s --yes",
        "compact s --dry-run",
        "compact s --yes --layer prune",
        "compact s --undo --yes",
        "compact s --redo --yes",
        "compact s --reset-breaker",
        "compact empty --yes",
    ] {
        let ran = machine.run_line(line);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{line}: {ran:?}");
        assert!(ran.err.ends_with(".\n"), "{line}: {ran:?}");
    }
    assert!(machine.files() == before);
}

#[test]
fn autocompact_is_remembered() {
    let (machine, path) = machine();
    let session = fs::read(&path).unwrap();
    for (switch, on) in [("off", false), ("on", true), ("off", false)] {
        let line = format!("context autocompact {switch} --session s");
        let ran = machine.run_line(&format!("{line} --json"));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.json()["autocompact"], on);
        let before = machine.files();
        let state = before
            .iter()
            .find(|(path, _)| path.ends_with("engine.json"))
            .unwrap();
        let state: Value = serde_json::from_slice(&state.1.0).unwrap();
        assert_eq!(state["autocompact"], on);
        let again = machine.run_line(&line);
        assert_eq!(
            (again.code, again.err),
            (3, format!("Automatic compaction is {switch} already.\n"))
        );
        assert!(machine.files() == before);
    }
    assert_eq!(fs::read(&path).unwrap(), session);
    // What was switched off stays off, whatever else is remembered.
    machine.run_line("compact s --yes --window 30k");
    let again = machine.run_line("context autocompact off --session s");
    assert_eq!(again.code, 3, "{again:?}");
}

/// Nobody, not even root, makes a folder in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn one_cause_that_stops_many_writes_is_told_once() {
    let machine = Machine::new();
    machine.put_pi("s", long(8), 1);
    let ran = machine.run_line("compact s --yes --window 30k --state-dir /proc/none");
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut notes: Vec<&str> = ran.err.lines().filter(|l| l.contains("cannot")).collect();
    let all = notes.len();
    assert!((1..=3).contains(&all), "{ran:?}");
    notes.sort_unstable();
    notes.dedup();
    assert_eq!(notes.len(), all, "{ran:?}");
}

/// Configures who writes summaries.
fn configure(machine: &Machine, server: &Loopback) {
    let config = format!(
        "compaction:\n  model:\n    provider: openai-compatible\n    modelName: writer\n    baseUrl: {}/v1\n",
        server.url()
    );
    machine.put(".longhaul/longhaul.yaml", config, 1);
}

#[test]
fn the_configured_model_writes_the_summary_and_a_dry_run_does_not_ask_it() {
    let (machine, path) = machine();
    let said = "## Work done\n- THE MODEL WROTE THIS";
    let server = Loopback::start(move |request| Said::text(said).reply(request)).unwrap();
    configure(&machine, &server);
    let dry = machine.run_line("compact s --dry-run --window 30k");
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.out.contains("openai-compatible/writer"), "{dry:?}");
    assert!(dry.err.contains("was not asked"), "{dry:?}");
    assert!(server.requests().is_empty());

    let ran = machine.run_line("compact s --yes --window 30k --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();
    assert_eq!(answer["summarizer"], "openai-compatible/writer", "{ran:?}");
    assert!(answer["summary"].as_str().unwrap().contains(said));
    assert!(!server.requests().is_empty());
    let kinds: Vec<Value> = lines(&path)
        .iter()
        .map(|line| line["type"].clone())
        .collect();
    assert!(kinds.contains(&json!("compaction")), "{kinds:?}");
}

#[test]
fn a_model_that_fails_is_told_and_the_summary_extracted() {
    let (machine, _) = machine();
    let refuse = |_: &_| Reply::json(401, &json!({ "error": { "message": "no" } }));
    let server = Loopback::start(refuse).unwrap();
    configure(&machine, &server);
    let ran = machine.run_line("compact s --yes --window 30k");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("Summarizer       extractive"), "{ran:?}");
    assert!(
        ran.err
            .contains("the model wrote no summary, it was extracted"),
        "{ran:?}"
    );
}

#[test]
fn a_replay_asks_the_configured_model_only_with_a_model() {
    let (machine, _) = machine();
    let said = "## Work done\n- THE MODEL WROTE THIS";
    let server = Loopback::start(move |request| Said::text(said).reply(request)).unwrap();
    configure(&machine, &server);
    let summarizers = |line: &str| -> Vec<String> {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 0, "{ran:?}");
        let report = ran.json();
        let rows = report["compactions"].as_array().unwrap().iter();
        rows.map(|row| row["summarizer"].as_str().unwrap().to_owned())
            .collect()
    };
    let alone = summarizers("replay s --window 30k --json");
    assert!(!alone.is_empty());
    assert!(alone.iter().all(|name| name == "extractive"), "{alone:?}");
    assert!(server.requests().is_empty());
    let asked = summarizers("replay s --window 30k --json --model claude-sonnet-4-5");
    assert!(
        asked.iter().any(|name| name == "openai-compatible/writer"),
        "{asked:?}"
    );
}

#[test]
fn entry_answer_history_and_status_agree() {
    let (machine, path) = machine();
    let before = machine.run_line("context status s --window 30k --json");
    let answer = machine
        .run_line("compact s --yes --window 30k --json")
        .json();
    let numbers = |value: &Value| (value["tokensBefore"].clone(), value["tokensAfter"].clone());
    let expected = numbers(&answer);
    assert_eq!(before.json()["tokens"], expected.0);
    let entry = lines(&path).pop().unwrap();
    assert_eq!(entry["tokensBefore"], expected.0);
    assert_eq!(entry["details"]["tokensAfter"], expected.1);
    let history = machine.run_line("context history s --json").json();
    let rows = history["compactions"].as_array().unwrap();
    assert_eq!(numbers(rows.last().unwrap()), expected);
    let status = machine
        .run_line("context status s --window 30k --json")
        .json();
    assert_eq!(status["tokens"], expected.1);
}

#[test]
fn what_stops_compaction_is_shown() {
    let machine = Machine::new();
    let talk = (0..5).fold(small("s", "/w"), |talk, at| {
        talk.compaction("e01", &format!("summary {at}"))
    });
    machine.put_pi("s", talk.text(), 1);
    machine.run_line("context autocompact off --session s");
    let status = machine.run_line("context status s");
    assert!(
        status.out.contains("automatic compaction is off"),
        "{status:?}"
    );
    assert!(status.out.contains("maxAutoCompactions"), "{status:?}");
    let told = machine.run_line("context status s --json").json();
    assert_eq!(told["autocompact"], false);
    assert_eq!(told["guard"], json!({ "lossy": 5, "most": 5 }));
    assert_eq!(told["breaker"], Value::Null);
    assert_eq!(told["risk"], "critical");
}

/// What leaves is smaller than what would say that it left.
#[test]
fn a_compaction_that_would_grow_the_context_does_nothing_and_says_so() {
    let machine = Machine::new();
    let mut talk = Talk::new("s", "/w");
    for turn in 0..12 {
        let words = "word ".repeat(8);
        talk = talk
            .user(&format!("turn {turn} {words}"))
            .assistant(&format!("turn {turn} {words}"));
    }
    machine.put_pi("s", talk.text(), 30);
    let before = machine.files();
    for line in [
        "compact s --window 1100 --dry-run",
        "compact s --window 1100 --yes",
        "compact s --window 1100 --yes --json",
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 3, "{line}: {ran:?}");
        assert!(ran.err.contains("would make the context grow"), "{ran:?}");
    }
    assert!(machine.files() == before);
}

#[test]
fn a_read_only_sandbox_hides_what_is_old_of_fewer_than_eight_results() {
    let machine = Machine::new();
    let mut talk = Talk::new("s", "/w").user("Look at the logs.");
    for nth in 0..6 {
        talk = talk
            .call("bash", json!({ "command": format!("cat log{nth}") }))
            .result("bash", &format!("line of log {nth}\n").repeat(2_000));
    }
    machine.put_pi("s", talk.assistant("They are long.").text(), 30);
    let hidden = |read_only: &str| {
        let mut command = machine.command();
        command.env("LONGHAUL_SANDBOX_READ_ONLY", read_only);
        let line = "context inspect s --window 60k --json";
        let ran = machine.finish(command.args(line.split_whitespace()));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()["cache"]["numbers"]["freed"].as_u64().unwrap()
    };
    assert_eq!(hidden("false"), 0);
    assert!(hidden("true") > 5_000);
}
