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

/// What gives a secret away may stand far from it, so no text is redacted by
/// pieces, and none is larger than can be held.
#[test]
fn a_text_that_is_too_large_is_refused_before_it_is_read() {
    let machine = Machine::new();
    let path = machine.put("large.log", "", 1);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(100_000_001).unwrap();
    let ran = machine.run(["redact".as_ref(), path.as_os_str()]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("100 MB"), "{ran:?}");
}

#[test]
fn a_pipe_gets_the_bytes_as_they_are() {
    let machine = Machine::new();
    let path = machine.put("input", b"\x1b[2J\xff\xe2\x80\xae\n", 1);
    let mut command = machine.command();
    command.arg("redact").arg(&path);
    let output = command.output().unwrap();
    assert_eq!(output.stdout, b"\x1b[2J\xff\xe2\x80\xae\n");
}
