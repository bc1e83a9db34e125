//! `memory index`, `search`, `get` and `model`.

use std::fs;

use serde_json::json;

use crate::machine::Machine;
use crate::talk::compacted;

/// A workspace with memory, and a session in it that was compacted.
fn machine() -> Machine {
    let machine = Machine::new();
    let work = machine.work();
    fs::create_dir_all(work.join("memories")).unwrap();
    fs::write(
        work.join("memories/errors.md"),
        "# Errors\n\nThe deploy fails without TIDE-6943.\n",
    )
    .unwrap();
    let session = compacted("s", &work.to_string_lossy());
    machine.put_pi("s", session.text(), 1);
    machine
}

#[test]
fn what_was_written_down_is_found_and_got() {
    let machine = machine();
    let ran = machine.run_line("memory index --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["model"], json!(null));
    let ran = machine.run(["memory", "search", "why do deployments fail?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out
            .starts_with("── found memories/errors.md:1-3 · memory ──\n# Errors"),
        "{}",
        ran.out
    );
    let ran = machine.run_line("memory get memories/errors.md --lines 3-3");
    assert_eq!(
        ran.out,
        "── memories/errors.md:3-3 of 3 lines ──\n\
         The deploy fails without TIDE-6943.\n\
         ── end of memories/errors.md ──\n"
    );
}

#[test]
fn what_left_the_context_is_found_with_its_entry() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    let ran = machine.run_line("memory search build --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();
    let hits = answer["hits"].as_array().unwrap();
    assert!(
        hits.iter()
            .any(|hit| hit["kind"] == "transcript" && hit["entry"] == "e01"),
        "{answer:#}"
    );
}

#[test]
fn a_second_run_writes_nothing_and_a_rebuild_all() {
    let machine = machine();
    let first = machine.run_line("memory index --json").json();
    let second = machine.run_line("memory index --json").json();
    let rebuilt = machine.run_line("memory index --rebuild --json").json();
    assert_eq!(second["written"], json!(0));
    assert_eq!(second["unchanged"], first["written"]);
    assert_eq!(rebuilt["written"], first["written"]);
}

#[test]
fn bad_input_is_told() {
    let machine = machine();
    let ran = machine.run_line("memory search nothing");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("the index is empty"), "{ran:?}");
    let ran = machine.run_line("memory get nowhere.md");
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = machine.run_line("memory search x --since yesterday");
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = machine.run_line("memory model add nowhere");
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = machine.run_line("memory model remove nothing");
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = machine.run_line("memory model list");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "no model is installed: searches go by words alone\n")
    );
}
