//! What the tests share.
#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used)]

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_ledger::Ledger;
use longhaul_transcript::sample::{Plan, Truth, generate};
use longhaul_transcript::{Entry, Session};
use serde_json::{Value, json};

/// The corpus beside the project, if it is there.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus")
        .join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no corpus beside the project");
    None
}

/// Unpacks a file of the corpus into a folder.
pub(crate) fn unpacked(path: &Path, folder: &Path) -> PathBuf {
    let target = folder.join(path.file_stem().unwrap());
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    std::fs::write(&target, bytes).unwrap();
    target
}

/// The working folder and the entries of the path.
pub(crate) fn path_of(file: &Path) -> (Option<String>, Vec<Entry>) {
    let session = Session::open(file).unwrap();
    let mut entries = Vec::new();
    session
        .each(&mut |entry| {
            entries.push(Some(entry));
            ControlFlow::Continue(())
        })
        .unwrap();
    let tree = session.tree().unwrap();
    let path = tree
        .path()
        .into_iter()
        .filter_map(|at| entries[at].take())
        .collect();
    (
        session
            .header()
            .cwd
            .as_ref()
            .map(|cwd| cwd.to_string_lossy().into_owned()),
        path,
    )
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
