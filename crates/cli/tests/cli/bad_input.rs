//! What is not as it should be: one clear message, the right exit code, and
//! nothing touched.

use std::ffi::OsString;
use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::machine::Machine;
use crate::talk::{compacted, small};

/// Every reading command says the same about a bad file.
fn refused(machine: &Machine, session: &str) -> String {
    let before = machine.files();
    let said = machine.run(["context", "status", session]);
    for line in [
        "context show",
        "context inspect",
        "context history",
        "session show",
        "session verify",
        "session import",
        "session archive --yes",
        "session restore --yes",
    ] {
        let ran = machine.run(line.split(' ').chain([session]));
        assert_eq!(ran, said, "{line}");
    }
    assert!(machine.files() == before);
    said.shown()
}

#[test]
fn what_is_no_session_is_refused_by_every_command_in_the_same_words() {
    let machine = Machine::new();
    let put = |name: &str, bytes: &[u8]| machine.put(name, bytes, 1).to_str().unwrap().to_owned();
    let log: &[u8] = b"{\"level\":\"info\",\"msg\":\"started\"}\n";
    for (case, file, bytes) in [
        ("empty", "x.jsonl", &b""[..]),
        ("binary", "x.jsonl", &[0, 159, 146, 150, 0, 1, 2][..]),
        ("gzip", "x.jsonl", &b"\x1f\x8b\x08\x00\x00"[..]),
        ("foreign", "x.jsonl", log),
        ("prose", "notes.jsonl", &b"Dear diary,\n"[..]),
    ] {
        assert_snapshot!(case, refused(&machine, &put(file, bytes)));
    }
    assert_snapshot!("missing", refused(&machine, "/tmp/test-none/x.jsonl"));
    assert_snapshot!("folder", refused(&Machine::new(), "./"));
}

#[test]
fn events_of_copilot_are_called_that_however_few_they_are() {
    let machine = Machine::new();
    let event = r#"{"type":"session.start","data":{"sessionId":"x","version":1,"producer":"copilot-agent"},"id":"1"}"#;
    for lines in [1, 3] {
        let path = machine.put("events.jsonl", format!("{event}\n").repeat(lines), 1);
        for command in ["session verify", "context status", "session import"] {
            let ran = machine.run_line(&format!("{command} {}", path.display()));
            assert_eq!(ran.code, 1, "{ran:?}");
            assert!(ran.err.contains("events of GitHub Copilot"), "{ran:?}");
        }
    }
}

/// Both say that there is a fault and that nothing is lost by it.
#[test]
fn verify_and_import_agree_about_two_records_on_a_line() {
    let machine = Machine::new();
    let text = crate::talk::long_claude("joined", "/w", 2);
    let third = text.match_indices('\n').nth(2).unwrap().0;
    let text = text[..third].to_owned() + &text[third + 1..];
    let path = machine.put(".claude/projects/-w/joined.jsonl", text, 1);
    let path = path.to_str().unwrap();
    let verified = machine.run(["session", "verify", path, "--json"]).json();
    assert_eq!(verified["entries"], 4);
    assert_eq!(verified["faults"].as_array().unwrap().len(), 1);
    assert_eq!(verified["faults"][0]["loss"], false);
    let imported = machine.run(["session", "import", path, "-o", "copy.jsonl"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    assert!(imported.out.starts_with("4 entries"), "{imported:?}");
    assert!(
        imported
            .err
            .contains("1 fault in the source, nothing is lost"),
        "{imported:?}"
    );
    let again = machine.run(["session", "import", path, "-o", "again.jsonl", "--json"]);
    assert_eq!(
        (&again.json()["faults"], &again.json()["lost"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn a_name_that_nothing_has_is_refused_with_the_nearest_one() {
    let machine = Machine::new();
    machine.put_pi("0195aaaa-1111", small("0195aaaa-1111", "/w").text(), 1);
    assert_snapshot!("unknown", refused(&machine, "zzz"));
    assert_snapshot!("unknown-but-near", refused(&machine, "aaaa"));
}

#[test]
fn a_prefix_that_several_have_lists_them() {
    let machine = Machine::new();
    machine.put_pi("0195aaaa-1111", small("0195aaaa-1111", "/w").text(), 1);
    machine.put_pi("0195aaaa-2222", small("0195aaaa-2222", "/w").text(), 2);
    assert_snapshot!("ambiguous", refused(&machine, "0195"));
}

#[test]
fn a_session_that_vanished_is_refused_with_its_path() {
    let machine = Machine::new();
    let path = machine.put(
        ".openclaw/agents/a/sessions/sessions.json",
        r#"{"agent:a:main":{"sessionId":"gone","sessionFile":"gone.jsonl"}}"#,
        1,
    );
    assert!(path.exists());
    assert_snapshot!("vanished", refused(&machine, "agent:a:main"));
}

#[test]
fn a_truncated_file_is_read_up_to_the_break() {
    let machine = Machine::new();
    let whole = compacted("s", "/w").text();
    machine.put_pi("s", &whole[..whole.len() - 40], 1);
    let before = machine.files();
    assert_snapshot!(
        "truncated-status",
        machine.run_line("context status s").shown()
    );
    assert_snapshot!(
        "truncated-verify",
        machine.run_line("session verify s").shown()
    );
    assert_snapshot!(
        "truncated-verify-json",
        machine.run_line("session verify s --json").shown()
    );
    assert!(machine.files() == before);
}

#[test]
fn verify_names_every_fault_with_its_line() {
    let machine = Machine::new();
    let mut lines: Vec<String> = small("s", "/w").text().lines().map(str::to_owned).collect();
    lines[2] = "{\"type\":\"message\", half".into();
    lines[4] = lines[4].replace("\"parentId\":\"e03\"", "\"parentId\":\"nowhere\"");
    lines.push(lines[1].clone() + &lines[3]);
    machine.put_pi("s", lines.join("\n") + "\n", 1);
    assert_snapshot!("faults", machine.run_line("session verify s").shown());
}

#[test]
fn an_entry_that_is_not_there_is_refused_with_how_to_find_it() {
    let machine = Machine::new();
    machine.put_pi("s", small("s", "/w").text(), 1);
    let before = machine.files();
    for line in [
        "session show s --entry zz",
        "context show s --at zz",
        "session pin zz --session s",
        "session label zz name --session s",
        "session branch zz --session s",
        "session fork zz --session s",
    ] {
        assert_snapshot!("unknown-entry", machine.run_line(line).shown());
    }
    assert_snapshot!(
        "ambiguous-entry",
        machine.run_line("session pin e0 --session s").shown()
    );
    assert!(machine.files() == before);
}

#[test]
fn usage_errors_are_told_from_failures() {
    let machine = Machine::new();
    for line in [
        "",
        "session",
        "session lists",
        "context status --window lots",
        "session label e01",
    ] {
        assert_eq!(machine.run_line(line).code, 2, "{line}");
    }
    assert_eq!(machine.run_line("--help").code, 0);
    assert_eq!(
        machine.run_line("--version").out,
        format!("longhaul {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn without_any_session_a_sample_is_offered() {
    let machine = Machine::new();
    assert_snapshot!("none", machine.run_line("context status").shown());
}

#[test]
fn without_a_home_folder_the_flag_for_another_is_named() {
    let machine = Machine::new();
    let ran = machine.finish(machine.command().env("HOME", "").args(["session", "list"]));
    // Where there is no HOME, the system's user database may still know one.
    assert!(ran.code == 0 || ran.err.contains("--state-dir"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_taken_and_shown() {
    use std::os::unix::ffi::OsStringExt;
    let machine = Machine::new();
    let name = OsString::from_vec(b"n\xffon.jsonl".to_vec());
    let path = machine.work().join(&name);
    fs::write(&path, small("s", "/w").text()).unwrap();
    crate::machine::age(&path, 1);
    for line in [
        "context status",
        "session verify",
        "session show",
        "context show",
        "session pin e01 --session",
    ] {
        let args = line.split(' ').map(OsString::from).chain([name.clone()]);
        let ran = machine.run(args.chain(["--json".into()]));
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.json();
    }
    fs::create_dir_all(machine.home().join(".pi/agent/sessions")).unwrap();
    fs::copy(&path, machine.home().join(".pi/agent/sessions").join(&name)).unwrap();
    let ran = machine.run_line("session list --json");
    assert_eq!(ran.json()["sessions"][0]["id"], "n\u{fffd}on");
}

#[cfg(unix)]
#[test]
fn a_file_that_nobody_may_read_is_refused_with_a_remedy() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    let path = machine.put_pi("s", small("s", "/w").text(), 1);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        return; // The superuser may read everything.
    }
    let ran = machine.run_line("context status s");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("check who owns"), "{ran:?}");
}
