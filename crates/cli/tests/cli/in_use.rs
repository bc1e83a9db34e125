//! A session that somebody is running is not written to from outside.

use std::fs::{self, File};
use std::path::PathBuf;

use crate::machine::{Machine, Ran};
use crate::talk::{compacted, small};

const WRITES: [&str; 7] = [
    "session pin e01 --session s",
    "session label e01 name --session s",
    "session branch e01 --session s",
    "session archive s --yes",
    "session restore s --yes",
    "compact s --window 4k --yes",
    "compact s --undo --yes",
];

fn blocked(machine: &Machine, reason: &str) {
    let before = machine.files();
    for line in WRITES {
        let Ran { code, out, err } = machine.run_line(line);
        assert_eq!((code, out.as_str()), (4, ""), "{line}: {err}");
        assert!(err.contains(reason), "{line}: {err}");
        assert!(err.contains("\nhelp: "), "{line}: {err}");
    }
    // Reading is always allowed.
    assert_eq!(machine.run_line("context status s").code, 0);
    assert!(machine.files() == before);
}

fn session(machine: &Machine) -> PathBuf {
    machine.put_pi("s", compacted("s", "/w").text(), 1)
}

#[test]
fn when_it_was_written_to_a_moment_ago() {
    let machine = Machine::new();
    let path = session(&machine);
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text).unwrap();
    blocked(&machine, "is in use: it was written to ");
}

#[test]
fn when_its_lock_is_held() {
    let machine = Machine::new();
    let file = File::open(session(&machine)).unwrap();
    file.lock().unwrap();
    blocked(&machine, "is locked by another process");
}

#[cfg(target_os = "linux")]
#[test]
fn when_another_process_has_it_open() {
    let machine = Machine::new();
    let _held = File::open(session(&machine)).unwrap();
    blocked(
        &machine,
        &format!("is in use: process {} (", std::process::id()),
    );
}

#[test]
fn unless_forced() {
    let machine = Machine::new();
    let _held = File::open(session(&machine)).unwrap();
    let ran = machine.run_line("session pin e05 --session s --force");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "e05 is pinned\n"),
        "{ran:?}"
    );
    assert_eq!(machine.run_line("session archive s --yes --force").code, 0);
    assert_eq!(machine.run_line("session restore s --yes --force").code, 0);
}

#[test]
fn force_does_not_break_a_lock() {
    let machine = Machine::new();
    let file = File::open(session(&machine)).unwrap();
    file.lock().unwrap();
    let before = machine.files();
    let ran = machine.run_line("session archive s --yes --force");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(machine.files() == before);
}

#[test]
fn our_own_last_write_is_no_sign_of_use() {
    let machine = Machine::new();
    let path = machine.put_pi("s", small("s", "/w").text(), 1);
    for name in ["one", "two", "three"] {
        let ran = machine.run(["session", "label", "e01", name, "--session", "s"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let mut text = fs::read(&path).unwrap();
    text.push(b'\n');
    fs::write(&path, text).unwrap();
    assert_eq!(
        machine.run_line("session label e01 four --session s").code,
        4
    );
}
