//! Sessions that were deleted, renamed or cut, and those that only cannot be
//! seen.

use std::fs;

use serde_json::{Value, json};

use crate::machine::Machine;
use crate::searching_kept::records;

/// A session in which everything but the last message has left the context.
fn session(machine: &Machine, said: &[(&str, &str)]) -> String {
    let time = "2026-03-01T10:00:00.000Z";
    let mut lines = vec![json!({
        "type": "session", "version": 3, "id": "s", "timestamp": time, "cwd": machine.work(),
    })];
    let mut parent = Value::Null;
    for (id, text) in said.iter().chain(&[("last", "go on")]) {
        lines.push(json!({
            "type": "message", "id": id, "parentId": parent, "timestamp": time,
            "message": {"role": "user", "content": text, "timestamp": 1_772_359_200_000_i64},
        }));
        parent = json!(id);
    }
    lines.push(json!({
        "type": "compaction", "id": "cut", "parentId": parent, "timestamp": time,
        "summary": "fruit", "firstKeptEntryId": "last", "tokensBefore": 1000,
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const FRUIT: [(&str, &str); 3] = [
    ("a1", "the kumquat is in the cellar"),
    ("a2", "the durian is in the garden"),
    ("a3", "the lychee is in the kitchen"),
];

/// The keys that a search for a word finds.
fn found(machine: &Machine, word: &str) -> Vec<String> {
    let ran = machine.run(["memory", "search", "--json", word]);
    if ran.code != 0 {
        assert!(ran.err.contains("nothing was found"), "{ran:?}");
        return Vec::new();
    }
    let hits = ran.json()["hits"].as_array().unwrap().clone();
    let keys = hits.iter().map(|hit| hit["entry"].as_str().unwrap());
    keys.map(str::to_owned).collect()
}

#[test]
fn a_session_that_was_deleted_is_not_found_any_more() {
    let machine = Machine::new();
    let path = machine.put_pi("s", session(&machine, &FRUIT), 1);
    let all = records(&machine);
    assert_eq!(found(&machine, "durian"), ["a2"]);
    fs::remove_file(&path).unwrap();
    // Who does not ask for sessions does not look at them.
    let ran = machine.run_line("memory index --no-sessions --json").json();
    assert_eq!(ran["removed"], 0, "{ran:#}");
    let ran = machine.run_line("memory index --json").json();
    assert_eq!((&ran["removed"], &ran["records"]), (&json!(all), &json!(0)));
    assert_eq!(ran["notes"], json!([]));
    assert_eq!(found(&machine, "durian"), [""; 0]);
    let key = format!("{}#a2", path.canonicalize().unwrap_or(path).display());
    assert_eq!(machine.run(["memory", "get", &key]).code, 1);
}

#[test]
fn a_session_that_was_renamed_or_put_away_is_found_once() {
    let machine = Machine::new();
    let path = machine.put_pi("s", session(&machine, &FRUIT), 1);
    let all = records(&machine);
    fs::rename(&path, path.with_file_name("t.jsonl")).unwrap();
    assert_eq!(records(&machine), all);
    assert_eq!(found(&machine, "durian"), ["a2"]);
    // A whole folder of them.
    let folder = path.parent().unwrap();
    fs::rename(folder, folder.with_file_name("--other--")).unwrap();
    assert_eq!(records(&machine), all);
    assert_eq!(found(&machine, "durian"), ["a2"]);
}

#[test]
fn what_was_cut_from_a_session_is_not_found_any_more() {
    let machine = Machine::new();
    machine.put_pi("s", session(&machine, &FRUIT), 1);
    let all = records(&machine);
    machine.put_pi("s", session(&machine, &FRUIT[..1]), 1);
    let ran = machine.run_line("memory index --json").json();
    assert_eq!(ran["removed"], 2, "{ran:#}");
    assert_eq!(ran["records"], all - 2);
    assert_eq!(found(&machine, "durian"), [""; 0]);
    assert_eq!(found(&machine, "kumquat"), ["a1"]);
    assert_eq!(machine.run_line("memory index --json").json()["removed"], 0);
}

#[test]
fn what_cannot_be_read_of_a_session_stays() {
    let machine = Machine::new();
    let text = session(&machine, &FRUIT);
    machine.put_pi("s", &text, 1);
    let all = records(&machine);
    let (before, after) = text.split_once("the durian").unwrap();
    machine.put_pi("s", format!("{before}\"{{[,\\{after}"), 1);
    assert_eq!(records(&machine), all);
    assert_eq!(found(&machine, "durian"), ["a2"]);
    // Nothing of it can be read.
    machine.put_pi("s", "\0".repeat(99), 1);
    assert_eq!(records(&machine), all);
    assert_eq!(found(&machine, "durian"), ["a2"]);
}

#[test]
fn sessions_whose_disk_is_away_stay_and_are_told() {
    let machine = Machine::new();
    let text = session(&machine, &FRUIT);
    machine.put_pi("s", &text, 1);
    let all = records(&machine);
    let folder = machine.home().join(".pi/agent/sessions");
    let away = machine.home().join("away");
    let told = |said: &str| {
        let ran = machine.run_line("memory index --json").json();
        let notes = ran["notes"].to_string();
        assert_eq!(
            notes.contains("as where a disk is not mounted"),
            !said.is_empty(),
            "{said}: {ran:#}"
        );
        assert_eq!(
            (&ran["removed"], &ran["records"]),
            (&json!(0), &json!(all)),
            "{said}"
        );
        assert_eq!(found(&machine, "durian"), ["a2"], "{said}");
    };
    fs::rename(&folder, &away).unwrap();
    told("the folder is missing");
    fs::create_dir(&folder).unwrap();
    told("only the place of the disk is there");
    fs::remove_dir(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    told("");
}
