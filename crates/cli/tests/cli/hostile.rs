//! Nothing from a session drives the terminal it is shown on.
#![cfg(unix)]

use std::fs;

use longhaul_testkit::loopback::Said;
use serde_json::json;

use crate::chatting::{Ground, MODEL};
use crate::machine::Machine;
use crate::talk::Talk;

/// Colours, a title, a cleared screen, a bell and a step back; the same in one
/// byte; writing turned round and shut in.
const EVIL: &str = "EV\u{1b}[31mIL\u{1b}]0;title\u{7}\u{1b}[2J\u{8}\u{7f}\u{9b}2J\u{9d}0;x\u{9c}\
                    \u{202e}\u{202b}\u{2066}\u{2068}\rEND";

/// What of it a terminal would obey.
const OBEYED: [&str; 14] = [
    "EV\u{1b}",
    "\u{1b}[31mIL",
    "\u{1b}]",
    "\u{7}",
    "\u{1b}[2J",
    "J\u{8}",
    "\u{7f}",
    "\u{9b}",
    "\u{9d}",
    "\u{9c}",
    "\u{202e}",
    "\u{202b}",
    "\u{2066}",
    "\u{2068}",
];

/// A session with it wherever a session has text.
fn hostile(machine: &Machine) {
    let cwd = machine.work().to_str().unwrap().to_owned();
    let mut talk = Talk::new("s", &cwd)
        .user(&format!("Fix the header. {EVIL}"))
        .call(
            "bash",
            json!({ "command": format!("make {EVIL}"), EVIL: EVIL }),
        )
        .result("bash", &format!("error: missing header {EVIL}"))
        .call(EVIL, json!({ "path": format!("{EVIL}.rs") }))
        .result(EVIL, EVIL)
        .entry(json!({
            "type": "message",
            "message": { "role": "user", "content": [
                { "type": "text", "text": EVIL },
                { "type": "image", "mimeType": EVIL, "data": "aGk=" },
            ]},
        }))
        .entry(json!({
            "type": "message",
            "message": {
                "role": "assistant", "provider": EVIL, "model": EVIL, "stopReason": EVIL,
                "content": [
                    { "type": "thinking", "thinking": EVIL },
                    { "type": "text", "text": EVIL },
                ],
                "usage": { "input": 10, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10 },
            },
        }))
        .entry(json!({ "type": "model_change", "provider": EVIL, "modelId": EVIL }))
        .entry(json!({ "type": "session_info", "name": EVIL }))
        .entry(json!({ "type": EVIL, "text": EVIL }))
        .label("e01", EVIL)
        .label("e03", &format!("pin: {EVIL}"));
    for at in 0..30 {
        talk = talk
            .user(&format!(
                "Step {at}: {EVIL} {}",
                "go on with it. ".repeat(60)
            ))
            .assistant(&format!(
                "Step {at} is done. {EVIL} {}",
                "It works. ".repeat(60)
            ));
    }
    talk = talk
        .compaction("e40", &format!("## Goal\nMake the header whole. {EVIL}"))
        .user(&format!("Now the tests. {EVIL}"))
        .assistant(&format!("They pass. {EVIL}"));
    machine.put_pi("s", talk.text(), 30);
    let log = format!("# 2026-03-01\n\n- the header is missing {EVIL}\n");
    for (path, text) in [
        ("memory/2026-03-01.md", log),
        (
            "MEMORY.md",
            format!("# Memory\n\n- header: `src/{EVIL}.h` {EVIL}\n"),
        ),
        ("AGENTS.md", format!("# Rules {EVIL}\n")),
    ] {
        let path = machine.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn on_a_terminal(machine: &Machine, line: &str) -> String {
    let program = assert_cmd::cargo::cargo_bin!("longhaul");
    let line = line.replace("longhaul", program.to_str().unwrap());
    let output = machine.in_terminal(&line).wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn nothing_is_obeyed(line: &str, shown: &str) {
    // The terminal says that nothing more will be typed.
    let shown = shown.replace("^D\u{8}\u{8}", "");
    for obeyed in OBEYED {
        assert!(!shown.contains(obeyed), "`{line}`: {obeyed:?} in {shown:?}");
    }
}

#[test]
fn no_command_lets_a_session_drive_the_terminal() {
    let machine = Machine::new();
    hostile(&machine);
    let mut told = 0;
    for line in [
        "longhaul session list",
        "longhaul session show s",
        "longhaul session show s --entry e01",
        "longhaul session verify s",
        "longhaul context status s",
        "longhaul context show s",
        "longhaul context show s --assembled",
        "longhaul context inspect s",
        "longhaul context history s",
        "longhaul context windows",
        "longhaul replay s --window 20k",
        "longhaul compact s --window 4k --dry-run",
        "longhaul compact s --window 4k --yes",
        "longhaul context diff --session s",
        "longhaul context history s",
        "longhaul checkpoint create s",
        "longhaul checkpoint list --session s",
        "longhaul checkpoint show --session s",
        "longhaul checkpoint show --session s --as-restored",
        "longhaul recall --session s header",
        "longhaul recall --session s e01",
        "longhaul recall --session s --path EV",
        "longhaul session pin e05 --session s",
        "longhaul session branch e05 --session s",
        "longhaul session handoff s",
        "longhaul session handoff s -o handoff.xml",
        "longhaul session handoff --check handoff.xml",
        "longhaul session handoff --accept handoff.xml -o taken.jsonl",
        "longhaul context show taken.jsonl",
        "longhaul context export s -o -",
        "longhaul session fork --session s -o fork.jsonl",
        "longhaul redact AGENTS.md",
        "longhaul redact < AGENTS.md",
        "longhaul session archive s --yes",
        "longhaul session restore s --yes",
        "longhaul memory index",
        "longhaul memory search header",
        "longhaul memory search header --explain",
        "longhaul memory get MEMORY.md",
        "longhaul memory lint",
        "longhaul memory status",
        "longhaul memory verify",
        "longhaul dream run",
        "longhaul dream status",
        "longhaul dream backfill --yes",
        "longhaul doctor",
        "longhaul session show \"$(printf 'EV\\033[31mIL')\"",
    ] {
        for line in [line.to_owned(), format!("{line} --json")] {
            let shown = on_a_terminal(&machine, &line);
            nothing_is_obeyed(&line, &shown);
            assert!(!shown.contains("panicked"), "`{line}`: {shown}");
            told += usize::from(shown.contains("IL"));
        }
    }
    // They do tell what there is.
    assert!(told > 30, "{told}");
}

#[test]
fn no_model_drives_the_terminal_of_a_chat() {
    let ground = Ground::saying(vec![Said::text(EVIL)]);
    let ask = format!(
        "ANTHROPIC_API_KEY=sk-test-0123456789 longhaul chat --model {MODEL} --base-url {}",
        ground.server.url()
    );
    for line in [
        format!("{ask} -p hello"),
        format!("{ask} -p hello --json"),
        format!("echo hello | {ask}"),
    ] {
        let shown = on_a_terminal(&ground.machine, &line);
        assert!(shown.contains("END"), "`{line}`: {shown:?}");
        nothing_is_obeyed(&line, &shown);
    }
}

/// Programs get what was written, to the byte.
#[test]
fn a_pipe_gets_whole_texts_as_they_are() {
    let machine = Machine::new();
    hostile(&machine);
    let shown = machine.run_line("recall --session s e01 --no-redact");
    assert!(shown.out.contains(EVIL), "{shown:?}");
}

/// A model that takes its time is waited for visibly, and only by a person.
#[test]
fn whoever_waits_for_an_answer_sees_that_something_happens() {
    let ground = Ground::new(|request| {
        std::thread::sleep(std::time::Duration::from_millis(800));
        Said::text("There.").reply(request)
    });
    let ask = format!(
        "ANTHROPIC_API_KEY=sk-test-0123456789 longhaul chat --model {MODEL} --base-url {} -p hello",
        ground.server.url()
    );
    let shown = on_a_terminal(&ground.machine, &ask);
    assert!(shown.contains("waiting for an answer"), "{shown:?}");
    assert!(shown.trim_end().ends_with("There."), "{shown:?}");
    for quiet in [format!("{ask} --json"), format!("{ask} --quiet")] {
        let shown = on_a_terminal(&ground.machine, &quiet);
        assert!(!shown.contains("waiting"), "{shown:?}");
    }
    let piped = ground.chat(&["-p", "hello"]);
    assert!(!piped.err.contains("waiting"), "{piped:?}");
}
