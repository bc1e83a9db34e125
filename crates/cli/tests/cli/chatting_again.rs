//! What a chat leaves behind for the next one: sessions in turns, after a kill.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use longhaul_model::loopback::Said;

use crate::chatting::Ground;

#[test]
fn sessions_are_worked_on_in_turns_without_waiting() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    for name in ["aa", "bb", "aa", "bb"] {
        let ran = ground.chat(&["--session", name, "-p", "hi"]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
    }
    let ran = ground.piped(&["--session", "aa"], "hi\n/new cc\nhi\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    for name in ["aa", "cc"] {
        let ran = ground.chat(&["--session", name, "-p", "hi"]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
    }
    assert_eq!(ground.sessions().len(), 3);
}

#[test]
fn commands_on_foreign_sessions_in_turns_know_their_own_writes() {
    let machine = crate::machine::Machine::new();
    for name in ["s", "t"] {
        machine.put_pi(name, crate::talk::small(name, "/w").text(), 1);
    }
    for label in ["one", "two", "three"] {
        for name in ["s", "t"] {
            let ran = machine.run(["session", "label", "e01", label, "--session", name]);
            assert_eq!(ran.code, 0, "{name}: {ran:?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_whose_chat_was_killed_is_gone_on_with_at_once() {
    let ground = Ground::saying(vec![Said::text("here")]);
    let mut first = ground
        .command(&["--session", "s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = first.stdin.take().unwrap();
    input.write_all(b"hello\n").unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(first.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "here\n");
    first.kill().unwrap();
    first.wait().unwrap();
    let ran = ground.chat(&["--session", "s", "-p", "now"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}
