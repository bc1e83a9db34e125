//! Sessions named, deleted and brought back; pins; settings.

use std::fs;

use crate::machine::Machine;
use crate::talk::{claude, small};

fn machine() -> Machine {
    let machine = Machine::new();
    machine.put_pi("s", small("s", "/w").text(), 1);
    machine
}

#[test]
fn a_session_is_found_and_listed_by_the_name_it_was_given() {
    let machine = machine();
    let ran = machine.run(["session", "rename", "Build fix", "--session", "s"]);
    let said = "the session is called \"Build fix\" now\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, said), "{ran:?}");
    let ran = machine.run(["session", "show", "Build fix", "--json"]);
    assert_eq!(ran.json()["session"]["id"], "s");
    let listed = machine.run_line("session list --json").json();
    assert_eq!(listed["sessions"][0]["title"], "Build fix");
}

#[test]
fn a_deleted_session_is_gone_and_comes_back_byte_for_byte() {
    let machine = machine();
    let path = machine.put_pi("t", small("t", "/w").text(), 1);
    fs::write(path.with_extension("jsonl.bak"), "archived\n").unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(machine.run_line("session undelete").code, 3);
    assert_eq!(
        machine.run_line("session delete t").code,
        2,
        "nobody was asked"
    );

    let ran = machine.run_line("session delete t --yes");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!path.exists() && !path.with_extension("jsonl.bak").exists());
    assert_eq!(machine.run_line("session show t").code, 1);
    let listed = machine.run_line("session undelete");
    assert!(listed.out.contains("2026-03-10T12:00:00"), "{listed:?}");

    fs::write(&path, "something else\n").unwrap();
    let refused = machine.run_line("session undelete t");
    assert!(refused.err.contains("exists already"), "{refused:?}");
    fs::remove_file(&path).unwrap();
    assert_eq!(machine.run_line("session undelete t").code, 0);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(
        fs::read(path.with_extension("jsonl.bak")).unwrap(),
        b"archived\n"
    );
    assert_eq!(machine.run_line("session undelete").code, 3);
}

#[test]
fn a_session_that_another_process_runs_is_not_deleted() {
    let machine = machine();
    let path = machine.put_pi("t", small("t", "/w").text(), 1);
    let file = fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let ran = machine.run_line("session delete t --yes");
    assert_eq!(ran.code, 4, "{ran:?}");
    let ran = machine.run_line("session delete t --yes --force");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(path.exists());
    let path = machine.put(".claude/projects/-w/c.jsonl", claude("c", "/w"), 1);
    assert_eq!(machine.run_line("session delete c --yes").code, 1);
    assert!(path.exists());
}

#[test]
fn pins_are_listed_with_what_each_costs() {
    let machine = machine();
    assert_eq!(machine.run_line("session pins s").code, 3);
    machine.run(["session", "pin", "e01", "the question", "--session", "s"]);
    machine.run_line("session pin e04 --session s");
    machine.run_line("session label e03 error --session s");
    let pins = machine.run_line("session pins s --json").json();
    let of = |at: usize, field: &str| pins["pins"][at][field].clone();
    assert_eq!(
        (of(0, "entry"), of(0, "note")),
        ("e01".into(), "the question".into())
    );
    assert_eq!(
        (of(1, "entry"), of(1, "note")),
        ("e04".into(), serde_json::Value::Null)
    );
    assert_eq!(pins["pins"].as_array().unwrap().len(), 2);
    let sum = of(0, "tokens").as_u64().unwrap() + of(1, "tokens").as_u64().unwrap();
    assert_eq!(pins["tokens"], sum);
    let shown = machine.run_line("session pins s").out;
    assert!(shown.contains("Why does the build fail?"), "{shown}");
}

#[test]
fn our_own_sessions_are_listed_as_ours() {
    let machine = machine();
    assert_eq!(machine.run_line("session import s").code, 0);
    let ours = machine
        .run_line("session list --agent longhaul --json")
        .json();
    assert_eq!(ours["total"], 1);
    assert_eq!(ours["sessions"][0]["agent"], "longhaul");
    let pi = machine.run_line("session list --agent pi --json").json();
    assert_eq!(pi["sessions"][0]["id"], "s");
    let id = ours["sessions"][0]["id"].as_str().unwrap();
    let status = machine.run(["context", "status", id]);
    assert!(status.out.starts_with("longhaul "), "{status:?}");
    let status = machine.run(["context", "status", id, "--json"]).json();
    assert_eq!(status["session"]["agent"], "longhaul");
}

#[test]
fn a_value_is_set_and_the_comments_of_the_file_stay() {
    let machine = machine();
    let ran = machine.run_line("config set compaction.warnAtCompaction 4");
    assert_eq!(ran.code, 0, "{ran:?}");
    let path = machine.home().join(".longhaul/longhaul.yaml");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "compaction:\n  warnAtCompaction: 4\n"
    );
    let text =
        "# mine\ncompaction:\n  warnAtCompaction: 4 # often enough\ntools:\n  deny:\n    - bash\n";
    fs::write(&path, text).unwrap();
    machine.run_line("config set compaction.warnAtCompaction 5");
    let changed = text.replace("4 #", "5 #");
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);

    for (line, code, why) in [
        (
            "config set compaction.warnAtCompactoin 5",
            2,
            "warnAtCompaction",
        ),
        ("config set compaction.warnAtCompaction many", 2, "many"),
        ("config set tools.deny write", 1, "by hand"),
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, code, "{line}: {ran:?}");
        assert!(ran.err.contains(why), "{line}: {ran:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), changed, "{line}");
    }
    let json5 = "{ /* mine */ gauge: { enabled: true } }\n";
    let other = machine.work().join("longhaul.json5");
    fs::write(&other, json5).unwrap();
    let ran = machine.run_line("config set gauge.enabled false --json");
    assert_eq!(ran.json()["value"], false, "{ran:?}");
    assert_eq!(
        fs::read_to_string(&other).unwrap(),
        json5.replace("true", "false")
    );
}

#[test]
fn help_tells_the_ways_into_a_fresh_session_and_hides_what_few_need() {
    let machine = machine();
    let help = machine.run_line("session --help").out;
    for way in [
        "chat --new",
        "session fork",
        "session import",
        "session handoff",
    ] {
        assert!(help.contains(way), "{way}: {help}");
    }
    assert!(!machine.run_line("--help").out.contains("manual page"));
    assert!(
        !machine
            .run_line("context --help")
            .out
            .contains("Windows learnt")
    );
    let hook = machine.run_line("hook --help").out;
    assert!(!hook.contains("Before a compaction"), "{hook}");
    assert!(hook.contains("pre-compact"), "{hook}");
}
