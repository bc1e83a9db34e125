//! `docs/src/json.md` says what the commands print: the same fields, in the same order.

use serde_json::Value;

use crate::machine::Machine;
use crate::talk::{compacted, small};

const PAGE: &str = include_str!("../../../../docs/src/json.md");

/// The example below a heading of the page.
fn example(heading: &str) -> Value {
    let (_, section) = PAGE
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading:?}"));
    let (_, rest) = section.split_once("```json\n").unwrap();
    let (json, _) = rest.split_once("```").unwrap();
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{heading}: {error}"))
}

/// The names of all fields. An object or list that the page leaves empty may
/// hold anything; of a list, the first element speaks for all.
fn assert_same_fields(documented: &Value, printed: &Value, at: &str) {
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
    for (heading, line) in [
        ("session list", "session list"),
        ("session show", "session show s"),
        ("session verify", "session verify s"),
        (
            "session import, session fork",
            "session import s -o copy.jsonl",
        ),
        (
            "session branch, session pin, session label",
            "session pin e01 --session other",
        ),
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
        ("context inspect", "context inspect s"),
        ("context history", "context history s"),
        ("sample", "sample demo.jsonl --turns 2"),
    ] {
        let printed = machine.run_line(&format!("{line} --json")).json();
        assert_same_fields(&example(heading), &printed, heading);
    }
    let (_, session) = PAGE.split_once("**session**").unwrap();
    let (_, session) = session.split_once("```json\n").unwrap();
    let session: Value = serde_json::from_str(session.split_once("```").unwrap().0).unwrap();
    let printed = machine.run_line("context status s --json").json();
    assert_same_fields(&session, &printed["session"], "session");
}
