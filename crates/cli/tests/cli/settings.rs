//! Settings: that a value other than the default changes what commands do.

use serde_json::Value;

use crate::machine::{Machine, Ran};
use crate::talk::{compacted, long};

/// A machine with this configuration and a session `s`.
fn machine(config: &str, session: impl AsRef<[u8]>) -> Machine {
    let machine = Machine::new();
    machine.put(".longhaul/longhaul.yaml", config, 1);
    machine.put_pi("s", session, 1);
    machine
}

fn done(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// The summary that `compact` writes with this configuration.
fn summary(config: &str) -> String {
    let machine = machine(config, long(8));
    done(machine.run_line("compact s --yes --window 60k"));
    let shown = machine.run_line("context show s --json").json();
    let first = &shown["messages"][0];
    first["summary"].as_str().unwrap().to_owned()
}

#[test]
fn summaries_are_as_large_as_was_set() {
    let usual = summary("");
    let small = "compaction: {summary: {userWordsTokens: 100, mechanicalTokens: 100}}";
    assert!(summary(small).len() * 2 < usual.len());
}

#[test]
fn risk_loss_and_warning_follow_the_settings() {
    let status = |config: &str| {
        let machine = machine(config, compacted("s", "/w").text());
        done(machine.run_line("context status s --json")).json()
    };
    assert_eq!(status("")["risk"], "low");
    let worn = status("compaction: {risk: {mediumAt: 1, highAt: 1, criticalAt: 1}}");
    assert_eq!(worn["risk"], "critical");
    let recommendation = |answer: &Value| answer["recommendation"].as_str().unwrap().to_owned();
    assert!(recommendation(&worn).ends_with("nothing to do yet"));
    let warned = status("compaction: {warnAtCompaction: 1}");
    assert!(recommendation(&warned).contains("fresh session"));
    let dear = status("compaction: {risk: {lossPercentEach: 70, lossPercentMost: 60}}");
    assert_eq!(status("")["lossPercent"], 10);
    assert_eq!(dear["lossPercent"], 60);
}

#[test]
fn a_compaction_that_frees_too_little_by_the_settings_is_a_failure() {
    let failures = |config: &str| {
        let machine = machine(config, long(8));
        done(machine.run_line("compact s --yes --window 60k"));
        let files = machine.files();
        let mut files = files.into_iter();
        // Nothing is written where there is nothing to remember.
        let state = files.find(|(path, _)| path.ends_with("engine.json"));
        state.map_or(0, |(_, (bytes, _))| {
            let state: Value = serde_json::from_slice(&bytes).unwrap();
            state["breaker"]["failures"].as_u64().unwrap()
        })
    };
    assert_eq!(failures(""), 0);
    assert_eq!(
        failures("compaction: {breaker: {minimumFreedPercent: 99.9}}"),
        1
    );
}

#[test]
fn a_replay_leaves_out_the_layers_that_are_not_listed() {
    let layers = |config: &str| -> Vec<String> {
        let machine = machine(config, long(8));
        let report = done(machine.run_line("replay s --window 30k --json")).json();
        let rows = report["compactions"].as_array().unwrap().clone();
        let layer = |row: &Value| row["layer"].as_str().unwrap().to_owned();
        rows.iter().map(layer).collect()
    };
    assert!(layers("").contains(&"summarize".to_owned()));
    let full = layers("compaction: {layers: [{layer: full}]}");
    assert!(!full.is_empty() && full.iter().all(|layer| layer == "full"));
    assert!(layers("compaction: {layers: []}").is_empty());
}

#[test]
fn a_layer_that_is_not_listed_can_be_asked_for() {
    let machine = machine("compaction: {layers: []}", long(8));
    done(machine.run_line("compact s --yes --window 60k --layer full"));
}

#[test]
fn a_checkpoint_holds_as_much_as_was_set() {
    let lists = |config: &str| {
        let machine = machine(config, long(8));
        done(machine.run_line("checkpoint create s"));
        let shown = done(machine.run_line("checkpoint show --session s --json")).json();
        let text = shown.to_string();
        (text.len(), text)
    };
    let (usual, _) = lists("");
    let (few, _) = lists(
        "checkpoint: {state: {files: 1, tools: 1, exchanges: 1, exchangeChars: 10, decisions: 1}}",
    );
    assert!(few < usual, "{few} {usual}");
}

#[test]
fn archives_are_packed_where_that_was_set() {
    let packed = |config: &str| {
        let machine = machine(config, compacted("s", "/w").text());
        done(machine.run_line("session archive s --yes"));
        let files = machine.files();
        let mut names = files.keys().map(|path| path.to_string_lossy());
        names.any(|name| name.ends_with(".bak.zst"))
    };
    assert!(!packed(""));
    assert!(packed("transcript: {compressArchive: true}"));
}
