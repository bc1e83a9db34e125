//! `replay`: a recorded session through the engine, its source only read.

use std::fs;

use serde_json::Value;

use crate::machine::{Machine, age};
use crate::talk::{Talk, compacted, long, small};

fn machine() -> Machine {
    let machine = Machine::new();
    machine.put_pi("s", long(8), 1);
    machine
}

/// The time something took is the only thing that may differ.
fn without_times(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.remove("milliseconds");
            for field in fields.values_mut() {
                *field = without_times(field.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_times(item.take());
            }
        }
        _ => {}
    }
    value
}

#[test]
fn without_a_session_the_sample_is_replayed_and_nothing_is_left_behind() {
    let machine = Machine::new();
    let mut command = machine.command();
    command.env("TMPDIR", machine.work());
    let ran = machine.finish(command.args(["replay", "--window", "60k", "--json"]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("replaying the built-in sample"),
        "{}",
        ran.err
    );
    let report = ran.json();
    assert_eq!(report["session"]["path"], Value::Null);
    assert_eq!(report["totals"]["turns"], 120);
    assert_eq!(report["totals"]["nowhere"], 0);
    assert!(machine.files().is_empty(), "{:?}", machine.files().keys());
    assert_eq!(fs::read_dir(machine.home()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(machine.work()).unwrap().count(), 0);
}

#[test]
fn without_a_name_the_newest_session_is_replayed() {
    let machine = Machine::new();
    machine.put_pi("old", small("old", "/w").text(), 5);
    machine.put_pi("new", small("new", "/w").text(), 1);
    let ran = machine.run_line("replay --json");
    assert_eq!(ran.json()["session"]["id"], "new");
    assert!(
        ran.err.contains("the newest session on this machine"),
        "{ran:?}"
    );
    assert_eq!(machine.run_line("replay nowhere").code, 1);
}

#[test]
fn every_compaction_has_its_numbers_and_nothing_is_lost() {
    let machine = machine();
    let before = machine.files();
    let report = machine.run_line("replay s --window 30k --json").json();
    assert_eq!(report["window"], 30_000);
    let compactions = report["compactions"].as_array().unwrap();
    assert!(!compactions.is_empty(), "{report}");
    for (row, epoch) in compactions.iter().zip(1..) {
        assert_eq!(row["epoch"], epoch);
        assert_eq!(row["trigger"], "auto");
        assert!(["summarize", "full"].contains(&row["layer"].as_str().unwrap()));
        assert!(row["tokensAfter"].as_u64() < row["tokensBefore"].as_u64());
        assert!(row["milliseconds"].as_f64() >= Some(0.0));
        assert_eq!(row["fidelity"]["lost"], Value::Array(Vec::new()));
        let said = &row["fidelity"]["userText"];
        assert!(said["total"].as_u64() > Some(0), "{said}");
        assert_eq!(said["whole"], said["total"]);
    }
    let totals = &report["totals"];
    assert_eq!(totals["nowhere"], 0);
    assert_eq!(totals["turns"], 8);
    assert!(totals["largestContext"].as_u64() <= Some(30_000));
    assert!(totals["costLonghaul"].as_f64() < totals["costNothing"].as_f64());
    assert!(machine.files() == before);
}

#[test]
fn people_see_decisions_and_the_bill() {
    let machine = machine();
    let ran = machine.run_line("replay s --window 30k");
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "replayed at a window of 30,000 tokens",
        "compacted #1 (",
        "Lost for good    0\n",
        "INPUT BILL",
        "nothing removed",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let quiet = machine.run_line("replay s --window 30k --quiet");
    assert!(!quiet.out.contains("compacted #1"), "{}", quiet.out);
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
}

#[test]
fn the_same_replay_gives_the_same_report() {
    let machine = machine();
    let report = || without_times(machine.run_line("replay s --window 30k --json").json());
    assert_eq!(report(), report());
}

#[test]
fn the_agents_own_compactions_are_compared_with() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    let report = machine.run_line("replay s --json").json();
    assert_eq!(report["native"][0]["entry"], "e07");
    assert_eq!(report["native"][0]["tokensBefore"], 150_000);
    assert_eq!(report["compactions"], Value::Array(Vec::new()));
}

#[test]
fn the_result_can_be_kept_as_a_session() {
    let machine = machine();
    let source = machine.files();
    let report = machine
        .run_line("replay s --window 30k --output kept.jsonl --json")
        .json();
    let kept = machine.work().join("kept.jsonl");
    age(&kept, 1);
    let verified = machine.run_line("session verify kept.jsonl --json");
    assert_eq!(verified.code, 0, "{verified:?}");
    assert_eq!(verified.json()["faults"], Value::Array(Vec::new()));
    let status = machine.run_line("context status kept.jsonl --json").json();
    let compactions = report["compactions"].as_array().unwrap().len();
    assert_eq!(status["compactions"]["count"], compactions);
    // The recorded answers report the context they were given, so only our
    // own count tells the size of this one.
    let shown = machine.run_line("context show kept.jsonl --json").json();
    let sizes = shown["perMessage"].as_array().unwrap();
    assert!(sizes.iter().filter_map(Value::as_u64).sum::<u64>() < 30_000);
    let history = machine.run_line("context history kept.jsonl --json").json();
    assert_eq!(
        history["compactions"].as_array().unwrap().len(),
        compactions
    );

    let written = fs::read(&kept).unwrap();
    let again = machine.run_line("replay s --window 30k --output kept.jsonl");
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("exists already"), "{again:?}");
    assert_eq!(fs::read(&kept).unwrap(), written);
    // The checkpoints that its compactions name lie beside it.
    let folder = machine.work().join("kept.jsonl.checkpoints");
    let checkpoints = report["checkpoints"].as_array().unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), checkpoints.len());
    for row in history["compactions"].as_array().unwrap() {
        let name = format!("{}.yaml", row["checkpoint"].as_str().unwrap());
        assert!(folder.join(name).is_file(), "{row}");
    }
    fs::remove_dir_all(&folder).unwrap();
    fs::remove_file(&kept).unwrap();
    assert!(machine.files() == source);
}

#[test]
fn the_report_is_one_page_that_needs_nothing_else() {
    let machine = machine();
    for (line, file) in [
        (
            "replay s --window 30k --report html",
            "longhaul-replay.html",
        ),
        (
            "replay s --window 30k --report html --report-file r.html --json",
            "r.html",
        ),
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.err.contains(&format!("report written to {file}\n")),
            "{}",
            ran.err
        );
        let page = fs::read_to_string(machine.work().join(file)).unwrap();
        let page = page.to_lowercase();
        for part in [
            "<!doctype html>",
            "content=\"default-src 'none'; script-src 'unsafe-inline'",
            "type=\"application/json\">{\"session\":",
            "\"as recorded\":[",
            "</html>",
        ] {
            assert!(page.contains(part), "{part}");
        }
        for outside in [" src=", " href=", "url(", "@import", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
    let ran = machine.run_line("replay s --report-file r.html");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(machine.run_line("replay s --report pdf").code, 2);
}

#[test]
fn a_session_without_requests_costs_and_takes_nothing() {
    let machine = Machine::new();
    machine.put_pi("s", Talk::new("s", "/w").user("Hello?").text(), 1);
    let answer = machine.run_line("replay s --json");
    assert!(answer.out.contains("\"milliseconds\": 0.0"), "{answer:?}");
    let ran = machine.run_line("replay s");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.out.contains("-0"), "{ran:?}");
    let bill = ran.out.split("INPUT BILL").nth(1).unwrap();
    assert!(bill.contains('–') && !bill.contains(" %"), "{ran:?}");
}
