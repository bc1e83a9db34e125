//! Contexts equal those of pi and OpenClaw, message for message.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_testkit::content::as_javascript;
use longhaul_testkit::recorded;
use longhaul_transcript::{Context, Session};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn corpus() -> Option<PathBuf> {
    recorded::folder("pi")
}

/// Reads a golden file. A field nested too deep for `serde_json` is left out;
/// its hash is still compared.
fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text).unwrap();
    fields
        .into_iter()
        .filter_map(|(key, raw)| Some((key, serde_json::from_str::<Value>(raw.get()).ok()?)))
        .collect()
}

#[test]
fn corpus_contexts_equal_pis_to_the_byte() {
    let Some(folder) = corpus() else { return };
    for name in ["large-session", "before-compaction"] {
        let golden = json(&folder.join(format!("golden_{name}.json")));
        for file in [
            format!("pi-mono_{name}.migrated-v3-by-pi1.5.0.jsonl"),
            format!("pi-mono_{name}.jsonl"),
        ] {
            let session = Session::open(&folder.join(&file)).unwrap();
            let loaded = session.load().unwrap();
            let context = Context::build(&loaded);
            let roles: Vec<&str> = context.messages.iter().map(|m| m.role.as_str()).collect();
            let expected: Vec<&str> = golden["pi"]["roles"]
                .as_array()
                .unwrap()
                .iter()
                .map(|role| role.as_str().unwrap())
                .collect();
            assert_eq!(roles, expected, "{file}");
            assert_eq!(
                sha256(&context.to_json()),
                golden["pi"]["messagesSha256"].as_str().unwrap(),
                "{file}"
            );
            assert!(loaded.faults.is_empty(), "{file}: {:?}", loaded.faults);
        }
    }
}

#[test]
fn generated_contexts_equal_those_of_the_program_that_wrote_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut checked = 0;
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".golden.json") else {
            continue;
        };
        let golden = json(&path);
        checked += 1;
        if let Err(why) = compare(&folder.join(format!("{stem}.jsonl")), &golden) {
            wrong.push(format!("{stem}: {why}"));
        }
    }
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(checked > 100, "only {checked} golden files found");
}

/// Where we mean to differ: the roles of our context, and why.
const DIFFERENT: [(&str, &[&str], &str); 11] = [
    (
        "byte-order-mark",
        &["user"],
        "a BOM is no reason to refuse a session",
    ),
    (
        "not-a-session",
        &["user"],
        "entries without a header are still read",
    ),
    (
        "context-edit-without-replacement",
        &["user"],
        "pi crashes; the edit is ignored",
    ),
    (
        "message-missing",
        &["user"],
        "pi crashes; the entry is ignored",
    ),
    (
        "joined-lines",
        &["user", "assistant", "user", "assistant"],
        "pi loses both records",
    ),
    ("scalar-last-line", &["user"], "pi loses the whole context"),
    (
        "json-lone-surrogates",
        &["user", "assistant"],
        "stored bytes are kept",
    ),
    ("json-numbers", &[], "stored bytes are kept"),
    (
        "openclaw-invalid-timestamp",
        &[],
        "OpenClaw crashes; the time is null",
    ),
    (
        "unknown-type-last",
        &["user"],
        "pi does not know OpenClaw's leaf",
    ),
    (
        "unknown-types-and-roles",
        &[],
        "pi does not know OpenClaw's reset",
    ),
];

fn compare(file: &Path, golden: &Value) -> Result<(), String> {
    let session = Session::open(file).map_err(|error| error.to_string())?;
    let loaded = session.load().map_err(|error| error.to_string())?;
    let context = Context::build(&loaded);
    let stem = file.file_stem().unwrap().to_string_lossy();
    let roles: Vec<&str> = context.messages.iter().map(|m| m.role.as_str()).collect();
    if let Some((_, expected, why)) = DIFFERENT.iter().find(|(name, ..)| *name == stem) {
        return if expected.is_empty() || roles == *expected {
            Ok(())
        } else {
            Err(format!("{roles:?} instead of {expected:?} ({why})"))
        };
    }
    if golden["error"].is_string() {
        return Err(format!("the program says: {}", golden["error"]));
    }
    let thinking = loaded.settings.thinking_level.as_deref().unwrap_or("off");
    if loaded.complete && thinking != golden["thinkingLevel"].as_str().unwrap_or("off") {
        return Err(format!("thinking level {thinking}"));
    }
    let leaf = loaded.leaf().map(|entry| entry.id.as_str());
    if golden["leafId"].is_string() && leaf != golden["leafId"].as_str() {
        let synthetic = loaded.header.version < 2;
        if !synthetic {
            return Err(format!("leaf {leaf:?} instead of {}", golden["leafId"]));
        }
    }
    let text = context.to_json();
    if sha256(&text) == golden["messagesSha256"].as_str().unwrap_or_default() {
        let sent: Vec<String> = context
            .for_model()
            .iter()
            .map(|message| message.json().to_owned())
            .collect();
        let sent = format!("[{}]", sent.join(","));
        // Without a summary pi sends the word "undefined".
        if stem != "compaction-odd-fields"
            && golden["producer"]
                .as_str()
                .is_some_and(|name| name.starts_with("pi"))
            && sha256(&sent) != golden["llmSha256"].as_str().unwrap_or_default()
        {
            return Err(format!("what the model is sent differs: {sent}"));
        }
        return Ok(());
    }
    if golden["contextMessages"].is_null() {
        return Err(format!("hash differs: {}", &text[..text.len().min(300)]));
    }
    let ours: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if as_javascript(&ours) == as_javascript(&golden["contextMessages"]) {
        return Ok(());
    }
    Err(format!(
        "\n  ours   {}\n  theirs {}",
        as_javascript(&ours),
        as_javascript(&golden["contextMessages"])
    ))
}
