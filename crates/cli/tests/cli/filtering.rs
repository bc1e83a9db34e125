//! `redact`: a text without its secrets, for pipes.

use std::fs::File;

use crate::documented::{assert_same_fields, example};
use crate::machine::{Machine, Ran};

/// What the filter makes of a text.
fn filtered(machine: &Machine, text: &str, args: &[&str]) -> Ran {
    let path = machine.put("input.txt", text, 1);
    let mut command = machine.command();
    command.arg("redact").args(args);
    machine.finish(command.stdin(File::open(path).unwrap()))
}

#[test]
fn what_comes_in_goes_out_without_its_secrets() {
    let machine = Machine::new();
    let ran = filtered(&machine, "a=1\nDB_PASSWORD=Kx92mQ7z\nb=Kx92mQ7z\n", &[]);
    assert_eq!(
        ran.out,
        "a=1\nDB_PASSWORD=[redacted:password#1]\nb=[redacted:password#1]\n"
    );
    assert!(
        ran.err.contains("secrets taken out: 2 password"),
        "{}",
        ran.err
    );
}

#[test]
fn json_has_the_text_and_the_counts() {
    let machine = Machine::new();
    let ran = filtered(&machine, "DB_PASSWORD=Kx92mQ7z\n", &["--json"]);
    let json = ran.json();
    assert_same_fields(&example("redact"), &json, "redact");
    assert_eq!(json["redacted"]["password"], 1);
    assert_eq!(json["total"], 1);
}

#[test]
fn the_configuration_adds_rules_and_switches_some_off() {
    let machine = Machine::new();
    machine.put(
        ".longhaul/longhaul.yaml",
        "redaction:\n  names: [door code]\n  rules:\n    - {id: acme, prefix: acme_, alphabet: hex, length: \"8\"}\n  off: [curl]\n",
        1,
    );
    let text = "door_code: 4711-ABC\nacme_1234abcd\ncurl -u admin:Kx92mQ7z https://h\n";
    let ran = filtered(&machine, text, &[]);
    assert_eq!(
        ran.out,
        "door_code: [redacted:password#1]\n[redacted:own-rule#1]\ncurl -u admin:Kx92mQ7z https://h\n",
        "{}",
        ran.err
    );
}

#[test]
fn a_rule_that_cannot_be_read_is_an_error_of_the_configuration() {
    let machine = Machine::new();
    machine.put(".longhaul/longhaul.yaml", "redaction: {off: [githib]}\n", 1);
    let ran = filtered(&machine, "text\n", &[]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("githib"), "{}", ran.err);
}
