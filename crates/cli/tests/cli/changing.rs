//! Commands that write: what they write, and when there is nothing to do.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::machine::{Machine, age};
use crate::talk::{claude, compacted, small};

fn machine() -> Machine {
    let machine = Machine::new();
    machine.put_pi("s", small("s", "/w").text(), 1);
    machine
}

fn last_entry(machine: &Machine) -> Value {
    let path = machine
        .home()
        .join(".pi/agent/sessions/--work--/2026-03-01T10-00-00-000Z_s.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let mut entry: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    entry["id"] = "[id]".into();
    entry
}

#[test]
fn pins_and_unpins() {
    let machine = machine();
    assert_eq!(
        machine
            .run_line("session pin e01 --remove --session s")
            .code,
        3
    );
    let ran = machine.run(["session", "pin", "e01", "the question", "--session", "s"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "e01 is pinned\n"));
    assert_snapshot!("pin-entry", last_entry(&machine).to_string());
    let again = machine.run(["session", "pin", "e01", "the question", "--session", "s"]);
    assert_eq!(
        (again.code, again.err.as_str()),
        (3, "e01 is pinned already.\n")
    );
    let ran = machine.run_line("session pin e01 --remove --session s");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "e01 is no longer pinned\n")
    );
}

#[test]
fn labels_name_entries() {
    let machine = machine();
    let ran = machine.run_line("session label e04 cause --session s");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "e04 is called \"cause\" now\n")
    );
    assert_eq!(
        machine.run_line("session label e04 cause --session s").code,
        3
    );
    let ran = machine.run_line("session pin cause --session s");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("session label --remove"), "{ran:?}");
    assert_eq!(
        machine
            .run_line("session label cause --remove --session s")
            .code,
        0
    );
    assert_eq!(
        machine
            .run_line("session label e04 --remove --session s")
            .code,
        3
    );
    assert_eq!(
        machine
            .run(["session", "label", "e04", "", "--session", "s"])
            .code,
        2
    );
}

#[test]
fn branches_and_says_what_stays() {
    let machine = machine();
    let ran = machine.run_line("session branch e01 --session s");
    assert_eq!(
        ran.out,
        "the session continues from e01; e04 stays in the file\n"
    );
    assert_snapshot!("branch-entry", last_entry(&machine).to_string());
    let messages = machine.run_line("context show s --json").json();
    assert_eq!(messages["entries"], serde_json::json!(["e01"]));
    let ran = machine.run([
        "session",
        "branch",
        "e04",
        "--summary",
        "a dead end",
        "--session",
        "s",
    ]);
    assert_eq!(ran.code, 0);
    let ran = machine.run_line("context show s");
    assert!(ran.out.contains("a dead end"), "{ran:?}");
}

#[test]
fn branching_to_the_leaf_is_nothing_to_do() {
    let machine = machine();
    let before = machine.files();
    let ran = machine.run_line("session branch e04 --session s");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (3, "e04 is the leaf already.\n")
    );
    assert!(machine.files() == before);
}

#[test]
fn forks_and_imports_leave_the_source_alone() {
    let machine = machine();
    machine.put(".claude/projects/-w/cc.jsonl", claude("cc", "/w"), 1);
    let before = machine.files();
    let ran = machine.run_line("session fork e02 --session s -o fork.jsonl");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "2 entries forked to fork.jsonl\n")
    );
    let ran = machine.run_line("session import cc -o copy.jsonl");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "2 entries of Claude Code written to copy.jsonl\n")
    );
    for file in ["fork.jsonl", "copy.jsonl"] {
        assert_eq!(
            machine.run_line(&format!("session verify ./{file}")).code,
            0
        );
        fs::remove_file(machine.work().join(file)).unwrap();
    }
    assert!(machine.files() == before);
    let ran = machine.run_line("session fork --session s --json");
    let output = ran.json()["output"].as_str().unwrap().to_owned();
    assert!(
        output.starts_with("/tmp/test/home/.longhaul/sessions/2026-03-10T12-00-00-000Z_"),
        "{output}"
    );
    let parent = machine.run_line("context status --session s --json").json();
    assert_eq!(parent["session"]["parentSession"], Value::Null);
}

#[test]
fn never_overwrites() {
    let machine = machine();
    fs::write(machine.work().join("there.jsonl"), "mine").unwrap();
    let before = machine.files();
    for line in [
        "session fork --session s -o there.jsonl",
        "session import s -o there.jsonl",
        "sample there.jsonl",
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.err.contains("exists already") && ran.err.contains("choose another name"),
            "{ran:?}"
        );
    }
    assert!(machine.files() == before);
}

#[test]
fn archives_and_restores_to_the_byte() {
    for option in ["", "--zstd"] {
        let machine = Machine::new();
        let path = machine.put_pi("s", compacted("s", "/w").text(), 1);
        let before = fs::read(&path).unwrap();
        let context = machine.run_line("context show s --json").json()["messages"].clone();
        let ran = machine.run_line(&format!("session archive s --yes {option}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(fs::read(&path).unwrap().len() < before.len());
        assert_eq!(
            machine.run_line("context show s --json").json()["messages"],
            context
        );
        let ran = machine.run_line(&format!("session archive s --yes {option}"));
        assert_snapshot!("archive-nothing", ran.shown());
        assert_eq!(machine.run_line("session restore s --yes").code, 0);
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_snapshot!(
            "restore-nothing",
            machine.run_line("session restore s --yes").shown()
        );
    }
}

#[test]
fn archive_says_what_it_moved() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    assert_snapshot!(
        "archive",
        machine.run_line("session archive s --yes").shown()
    );
    assert_snapshot!(
        "restore-json",
        machine.run_line("session restore s --yes --json").shown()
    );
}

#[test]
fn nothing_before_the_boundary_is_nothing_to_archive() {
    let machine = machine();
    let before = machine.files();
    assert_snapshot!(
        "archive-nothing",
        machine.run_line("session archive s").shown()
    );
    assert!(machine.files() == before);
}

#[test]
fn rewriting_asks_first() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    let before = machine.files();
    assert_snapshot!(
        "archive-unasked",
        machine.run_line("session archive s").shown()
    );
    assert!(machine.files() == before);
}

#[test]
fn other_agents_sessions_are_not_written_to() {
    let machine = Machine::new();
    machine.put(".claude/projects/-w/cc.jsonl", claude("cc", "/w"), 1);
    let before = machine.files();
    for line in [
        "session pin u-1 --session cc",
        "session branch u-1 --session cc",
        "session archive cc --yes --force",
    ] {
        assert_snapshot!("foreign-write", machine.run_line(line).shown());
    }
    assert!(machine.files() == before);
}

#[test]
fn a_sample_reads_well() {
    let machine = Machine::new();
    let ran = machine.run_line("sample demo.jsonl --turns 6");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.err,
        "look at it with `longhaul context status demo.jsonl`\n"
    );
    age(&machine.work().join("demo.jsonl"), 1);
    assert_eq!(machine.run_line("session verify demo.jsonl").code, 0);
    let again = machine.run_line("sample again.jsonl --turns 6 --json");
    let read = |name: &str| fs::read(machine.work().join(name)).unwrap();
    let lines = read("demo.jsonl")
        .iter()
        .filter(|byte| **byte == b'\n')
        .count();
    assert_eq!(again.json()["lines"], lines);
    assert_eq!(read("demo.jsonl"), read("again.jsonl"));
}
