//! What the tests share.
#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::Path;

use longhaul_ledger::Ledger;
use longhaul_testkit::recorded;
use longhaul_testkit::sample::{Plan, Truth, generate};
use longhaul_transcript::{Entry, Session};
use serde_json::{Value, json};

/// The working folder and the entries of the path.
pub(crate) fn path_of(file: &Path) -> (Option<String>, Vec<Entry>) {
    let (header, entries) = recorded::path_of(&Session::open(file).unwrap());
    let cwd = header.cwd.map(|cwd| cwd.to_string_lossy().into_owned());
    (cwd, entries)
}

pub(crate) fn fold(cwd: Option<String>, entries: &[Entry]) -> Ledger {
    let mut ledger = Ledger::new(cwd);
    ledger.observe_all(entries);
    ledger
}

/// A sample with its truth, folded.
pub(crate) fn sample(plan: &Plan) -> (Truth, Vec<Entry>, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    let truth = generate(plan, &mut file).unwrap();
    drop(file);
    let (cwd, entries) = path_of(&path);
    let ledger = fold(cwd, &entries);
    (truth, entries, ledger)
}

/// Entries of a session file with these messages.
pub(crate) fn entries(messages: &[Value]) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut text = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    for (at, message) in messages.iter().enumerate() {
        let parent = at.checked_sub(1).map(|at| format!("e{at}"));
        let line = json!({"type":"message","id":format!("e{at}"),"parentId":parent,"timestamp":"2026-01-01T00:00:00.000Z","message":message});
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, text).unwrap();
    path_of(&path).1
}
