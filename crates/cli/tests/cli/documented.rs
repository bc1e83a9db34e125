//! `docs/src/json.md` says what the commands print: the same fields, in the same order.

use serde_json::Value;

use crate::machine::Machine;
use crate::talk::{compacted, long, small};

const PAGE: &str = include_str!("../../../../docs/src/json.md");

/// The example below a heading of the page.
pub(crate) fn example(heading: &str) -> Value {
    let (_, section) = PAGE
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading:?}"));
    let (_, rest) = section.split_once("```json\n").unwrap();
    let (json, _) = rest.split_once("```").unwrap();
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{heading}: {error}"))
}

/// The example of a part that answers have in common.
fn part(name: &str) -> Value {
    let (_, text) = PAGE.split_once(&format!("**{name}**: ")).unwrap();
    let (_, json) = text.split_once("```json\n").unwrap();
    serde_json::from_str(json.split_once("```").unwrap().0).unwrap()
}

/// The names of all fields. An object or list that the page leaves empty may
/// hold anything; of a list, the first element speaks for all.
pub(crate) fn assert_same_fields(documented: &Value, printed: &Value, at: &str) {
    match (documented, printed) {
        (Value::Object(documented), Value::Object(printed)) if !documented.is_empty() => {
            let names = |fields: &serde_json::Map<String, Value>| -> Vec<String> {
                fields.keys().cloned().collect()
            };
            assert_eq!(names(documented), names(printed), "{at}");
            for (name, value) in documented {
                assert_same_fields(value, &printed[name], &format!("{at}.{name}"));
            }
        }
        (Value::Array(documented), Value::Array(printed)) => {
            if let (Some(documented), Some(printed)) = (documented.first(), printed.first()) {
                assert_same_fields(documented, printed, &format!("{at}[0]"));
            }
        }
        _ => {}
    }
}

#[test]
fn every_answer_is_as_documented() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    machine.put_pi("other", small("other", "/w").text(), 1);
    machine.put_pi("long", long(8), 1);
    std::fs::write(machine.work().join("MEMORY.md"), "the header is missing").unwrap();
    for (heading, line) in [
        ("session list", "session list"),
        ("session show", "session show s"),
        ("session verify", "session verify s"),
        (
            "session import, session fork",
            "session import s -o copy.jsonl",
        ),
        (
            "session branch, session pin, session label, session rename",
            "session pin e01 --session other",
        ),
        ("session pins", "session pins other"),
        (
            "session branch, session pin, session label, session rename",
            "session rename Other --session other",
        ),
        ("session delete", "session delete other --yes"),
        ("session undelete", "session undelete other"),
        (
            "session archive, session restore",
            "session archive s --yes",
        ),
        (
            "session archive, session restore",
            "session restore s --yes",
        ),
        ("context status", "context status s"),
        ("context show", "context show s"),
        ("context show --assembled", "context show s --assembled"),
        ("context inspect", "context inspect s"),
        ("context export", "context export s -o export.json"),
        (
            "session import FILE",
            "session import export.json -o new.jsonl",
        ),
        ("session handoff", "session handoff s"),
        ("context history", "context history s"),
        ("context diff", "context diff --session s"),
        ("context autocompact", "context autocompact off --session s"),
        ("recall", "recall e03 --session s"),
        ("memory index", "memory index"),
        ("memory search", "memory search header"),
        ("memory model list", "memory model list"),
        ("compact", "compact long --window 30k --dry-run"),
        (
            "compact --layer prune",
            "compact long --window 30k --layer prune --yes",
        ),
        ("compact", "compact long --window 20k --yes"),
        (
            "compact --undo, compact --redo",
            "compact long --undo --yes",
        ),
        (
            "compact --undo, compact --redo",
            "compact long --redo --yes",
        ),
        ("checkpoint create", "checkpoint create s"),
        ("checkpoint list", "checkpoint list long"),
        ("checkpoint show", "checkpoint show --session long"),
        (
            "checkpoint show --as-restored",
            "checkpoint show --as-restored --session long",
        ),
        ("context status", "context status long"),
        ("context show", "context show long"),
        ("context history", "context history long"),
        ("replay", "replay long --window 30k"),
        ("replay", "replay s"),
        ("sample", "sample demo.jsonl --turns 2"),
        ("doctor", "doctor"),
    ] {
        let printed = machine.run_line(&format!("{line} --json")).json();
        assert_same_fields(&example(heading), &printed, heading);
    }
    machine.run_line("session handoff s -o h.xml");
    for (heading, line) in [
        ("session handoff --check", "session handoff --check h.xml"),
        (
            "session handoff --accept",
            "session handoff --accept h.xml -o taken.jsonl",
        ),
    ] {
        let printed = machine.run_line(&format!("{line} --json")).json();
        assert_same_fields(&example(heading), &printed, heading);
    }
    let printed = machine.run_line("context status s --json").json();
    assert_same_fields(&part("session"), &printed["session"], "session");
    let fidelity =
        &machine.run_line("context history long --json").json()["compactions"][0]["fidelity"];
    assert_same_fields(&part("fidelity"), fidelity, "fidelity");
}
