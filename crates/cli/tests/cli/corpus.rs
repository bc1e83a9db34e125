//! Real sessions, where they lie beside the project.

use std::fs;
use std::path::PathBuf;

use longhaul_testkit::recorded;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::machine::Machine;

pub(crate) fn corpus() -> Option<PathBuf> {
    recorded::folder("")
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn printed_messages_have_the_golden_hash() {
    let Some(corpus) = corpus() else { return };
    let machine = Machine::new();
    for name in ["large-session", "before-compaction"] {
        let golden = fs::read_to_string(corpus.join(format!("pi/golden_{name}.json"))).unwrap();
        // Other parts of the file are nested too deep for a parser.
        let (_, rest) = golden.split_once("\"messagesSha256\"").unwrap();
        let wanted = rest.split('"').nth(1).unwrap();
        for file in [
            format!("pi-mono_{name}.jsonl"),
            format!("pi-mono_{name}.migrated-v3-by-pi1.5.0.jsonl"),
        ] {
            let path = corpus.join("pi").join(&file);
            let ran = machine.run(["context", "show", "--json", path.to_str().unwrap()]);
            assert_eq!(ran.code, 0, "{}", ran.err);
            assert_eq!(sha256(ran.messages()), wanted, "{file}");
        }
    }
}

#[test]
fn verify_and_import_agree_about_the_joined_line() {
    let Some(corpus) = corpus() else { return };
    let machine = Machine::new();
    let name = "cc-entire-37_995ebed6e4_2.CORRUPT-joined-line.jsonl.gz";
    let packed = corpus.join("transcripts").join(name);
    let text = recorded::read(&packed);
    let path = machine.put(".claude/projects/-w/joined.jsonl", text, 1);
    let path = path.to_str().unwrap();
    let verified = machine.run(["session", "verify", path, "--json"]).json();
    let imported = machine
        .run(["session", "import", path, "-o", "copy.jsonl", "--json"])
        .json();
    assert_eq!(verified["entries"], imported["entries"]);
    let faults = verified["faults"].as_array().unwrap();
    assert_eq!(imported["faults"], faults.len());
    assert!(faults.iter().all(|fault| fault["loss"] == false));
    assert_eq!(imported["lost"], 0);
}

#[test]
fn every_real_session_is_listed_and_read_without_a_change() {
    let Some(corpus) = corpus() else { return };
    let machine = Machine::new();
    let mut count = 0;
    for entry in fs::read_dir(corpus.join("transcripts")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".jsonl.gz") else {
            continue;
        };
        let place = match stem {
            _ if stem.starts_with("cc-") || stem.contains("claude") => {
                format!(".claude/projects/-w/{stem}.jsonl")
            }
            _ if stem.contains("agents_codex") => {
                format!(
                    ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-0000000{count}-0000-4000-8000-000000000000.jsonl"
                )
            }
            _ if stem.contains("_pi_") => format!(".pi/agent/sessions/--w--/{stem}.jsonl"),
            _ => continue,
        };
        let text = recorded::read(&path);
        machine.put(&place, text, 1);
        count += 1;
    }
    let database =
        fs::read(corpus.join("pi/openclaw-agent_schema23_large-session.sqlite")).unwrap();
    machine.put(
        ".openclaw/agents/main/agent/openclaw-agent.sqlite",
        database,
        1,
    );
    let before = machine.files();
    let list = machine.run_line("session list --all --json").json();
    assert_eq!(list["total"], count + 1);
    for session in list["sessions"].as_array().unwrap() {
        assert_eq!(session.get("error"), None, "{session}");
        let short = session["short"].as_str().unwrap();
        let status = machine.run(["context", "status", "--json", short]).json();
        assert_eq!(status["session"]["id"], session["id"]);
        if session["tokens"] != Value::Null {
            let difference =
                status["tokens"].as_f64().unwrap() - session["tokens"].as_f64().unwrap();
            assert!(
                difference.abs() <= 0.01 * status["tokens"].as_f64().unwrap(),
                "{short}: {difference}"
            );
        }
        for line in [
            "session show",
            "context inspect",
            "context history",
            "context show",
        ] {
            let ran = machine.run(line.split(' ').chain([short]));
            assert_eq!(ran.code, 0, "{line} {short}: {}", ran.err);
        }
    }
    assert!(machine.files() == before);
}
