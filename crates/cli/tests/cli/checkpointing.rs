//! `checkpoint`, and the checkpoints that other commands write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::machine::{Machine, Ran, age};
use crate::talk::{Talk, long, small};

fn machine() -> (Machine, PathBuf) {
    let machine = Machine::new();
    let path = machine.put_pi("s", small("s", "/w").text(), 1);
    (machine, path)
}

/// The agent goes on working, so that there is something new to save.
fn work_on(machine: &Machine, nth: usize) {
    let mut talk = small("s", "/w");
    for n in 0..nth {
        talk = talk
            .user(&format!("Now step {n}."))
            .assistant_at(&format!("Step {n} is done."), 12_000 + 1_000 * n as u64);
    }
    machine.put_pi("s", talk.text(), 1);
}

fn ids(machine: &Machine) -> Vec<String> {
    let listed = machine.run_line("checkpoint list s --json").json();
    let rows = listed["checkpoints"].as_array().unwrap().clone();
    rows.iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

/// The file of a checkpoint of the session `s`.
fn file(machine: &Machine, id: &str) -> PathBuf {
    machine
        .home()
        .join(format!(".longhaul/context/checkpoints/s/{id}.yaml"))
}

fn run(machine: &Machine, line: &str) -> Ran {
    machine.run_line(line)
}

#[test]
fn what_is_created_is_listed_shown_and_restored() {
    let (machine, path) = machine();
    let before = fs::read(&path).unwrap();
    let created = run(&machine, "checkpoint create s --json");
    assert_eq!(created.code, 0, "{created:?}");
    assert_eq!(created.json()["id"], "cp_001");
    assert_eq!(fs::read(&path).unwrap(), before, "the session is only read");

    let again = run(&machine, "checkpoint create s");
    assert_eq!((again.code, again.out.as_str()), (3, ""), "{again:?}");
    assert!(again.err.contains("Unchanged: cp_001"), "{again:?}");

    work_on(&machine, 1);
    let text = run(&machine, "checkpoint create s");
    assert_eq!(text.code, 0, "{text:?}");
    assert!(text.out.starts_with("cp_002: "), "{text:?}");
    assert_eq!(ids(&machine), ["cp_002", "cp_001"]);

    let shown = run(&machine, "checkpoint show --session s");
    // Where the session lies is another matter in every test.
    let stored = fs::read_to_string(file(&machine, "cp_002")).unwrap();
    let (_, stored) = stored.split_once("created_at").unwrap();
    assert!(shown.out.ends_with(stored), "{shown:?}");
    let first = run(&machine, "checkpoint show cp_001 --session s --json").json();
    let listed = run(&machine, "checkpoint list s --json").json();
    assert_eq!(first["checkpoint"]["meta"]["checkpoint_id"], "cp_001");
    assert_eq!(
        first["checkpoint"]["working"]["topic"],
        listed["checkpoints"][1]["topic"]
    );

    let restored = run(&machine, "checkpoint show --as-restored --session s");
    assert!(
        restored
            .out
            .starts_with("[Post-compaction checkpoint restore]\n"),
        "{restored:?}"
    );
    let parts = run(&machine, "checkpoint show --as-restored --session s --json").json();
    assert_eq!(parts["text"], restored.out.as_str());
    assert!(parts["tokens"].as_u64() <= Some(700));
    assert_eq!(
        parts["parts"]["working"]["topic"],
        listed["checkpoints"][0]["topic"]
    );

    let table = run(&machine, "checkpoint list s");
    let head = table.out.lines().nth(1).unwrap();
    assert!(head.starts_with("CHECKPOINT  WHEN"), "{table:?}");
    let status = run(&machine, "context status s --json").json();
    assert_eq!(status["checkpoint"]["id"], "cp_002");
    assert!(
        run(&machine, "context status s")
            .out
            .contains("Checkpoint       cp_002")
    );
}

#[test]
fn a_session_is_the_same_however_it_is_named() {
    let machine = Machine::new();
    let text = small("s", "/w").text();
    fs::write(machine.work().join("f.jsonl"), &text).unwrap();
    assert_eq!(run(&machine, "checkpoint create f.jsonl").code, 0);
    let absolute = machine.work().join("f.jsonl");
    let mut command = machine.command();
    command.args(["checkpoint", "create"]).arg(&absolute);
    let again = machine.finish(command.current_dir(machine.home()));
    assert_eq!(again.code, 3, "{again:?}");
}

#[test]
fn five_are_kept() {
    let (machine, _) = machine();
    for nth in 0..7 {
        work_on(&machine, nth);
        assert_eq!(run(&machine, "checkpoint create s").code, 0);
    }
    assert_eq!(
        ids(&machine),
        ["cp_007", "cp_006", "cp_005", "cp_004", "cp_003"]
    );
    let gone = run(&machine, "checkpoint show cp_001 --session s");
    assert_eq!(gone.code, 1, "{gone:?}");
    assert!(gone.err.contains("no checkpoint cp_001"), "{gone:?}");
    assert!(
        gone.err.contains("help: `longhaul checkpoint list`"),
        "{gone:?}"
    );
}

#[test]
fn one_edited_into_nonsense_is_named_and_the_one_before_is_used() {
    let (machine, _) = machine();
    for nth in 0..2 {
        work_on(&machine, nth);
        run(&machine, "checkpoint create s");
    }
    let path = file(&machine, "cp_002");
    let good = fs::read_to_string(&path).unwrap();
    for nonsense in [
        "meta: [this is\nno: checkpoint\n".to_owned(),
        good.replace("in_progress", "asleep")
            .replace("idle", "asleep"),
        good.replace("200000", "1"),
        String::from("\u{0}\u{1}\u{2}"),
        String::new(),
        good[..good.len() / 2].to_owned(),
    ] {
        assert_ne!(nonsense, good);
        fs::write(&path, &nonsense).unwrap();
        let restored = run(&machine, "checkpoint show --as-restored --session s");
        assert_eq!(restored.code, 0, "{restored:?}");
        assert!(
            restored.err.contains("cp_002.yaml is damaged"),
            "{restored:?}"
        );
        assert!(
            restored.err.contains("the checkpoint before it is used"),
            "{restored:?}"
        );
        assert!(restored.err.contains("cp_001 as text"), "{restored:?}");

        let named = run(&machine, "checkpoint show cp_002 --session s");
        assert_eq!((named.code, named.out.as_str()), (1, ""), "{named:?}");
        assert!(named.err.contains("cp_002.yaml is damaged"), "{named:?}");
        assert!(
            named.err.contains("cp_001 is the newest that can be read"),
            "{named:?}"
        );
        assert!(named.err.contains("help: "), "{named:?}");

        let listed = run(&machine, "checkpoint list s");
        assert_eq!(listed.code, 0, "{listed:?}");
        assert!(listed.out.contains("damaged"), "{listed:?}");
        let rows = run(&machine, "checkpoint list s --json").json();
        assert!(
            rows["checkpoints"][0]["damaged"]["message"].is_string(),
            "{rows}"
        );
        assert_eq!(rows["checkpoints"][1]["damaged"], Value::Null);
        let status = run(&machine, "context status s");
        assert_eq!(status.code, 0, "{status:?}");
    }
    fs::write(&path, "meta: [this is\nno: checkpoint\n").unwrap();
    let named = run(&machine, "checkpoint show cp_002 --session s");
    assert!(named.err.contains("line "), "{named:?}");
    // Its name is not used again.
    work_on(&machine, 3);
    let created = run(&machine, "checkpoint create s --json");
    assert_eq!(created.json()["id"], "cp_003", "{created:?}");
    assert_eq!(created.json()["previous"], "cp_001", "{created:?}");
}

#[test]
fn without_checkpoints_there_is_nothing_to_show() {
    let (machine, _) = machine();
    let before = machine.files();
    for line in [
        "checkpoint show --session s",
        "checkpoint show --as-restored --session s",
    ] {
        let ran = run(&machine, line);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{ran:?}");
        assert!(ran.err.contains("`longhaul checkpoint create`"), "{ran:?}");
    }
    let listed = run(&machine, "checkpoint list s");
    assert!(listed.out.ends_with("No checkpoints yet.\n"), "{listed:?}");
    for name in ["cp_1", "latest", "../cp_001"] {
        let ran = machine.run(["checkpoint", "show", name, "--session", "s"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.err.contains("is not the name of a checkpoint"),
            "{ran:?}"
        );
    }
    assert!(machine.files() == before, "reading writes nothing");
    fs::write(
        machine.work().join("longhaul.yaml"),
        "sandbox:\n  readOnly: true\n",
    )
    .unwrap();
    for line in ["checkpoint create s", "compact s --yes"] {
        let ran = run(&machine, line);
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.err.contains("`sandbox.readOnly` is set"), "{ran:?}");
    }
}

/// A long session in this machine's own workspace.
fn long_here(machine: &Machine) -> PathBuf {
    let text = String::from_utf8(long(3)).unwrap();
    let here = machine.work().to_string_lossy().into_owned();
    machine.put_pi("s", text.replace("/home/ada/work/project", &here), 1)
}

fn key(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["id"].as_str().unwrap().to_owned()
}

fn compactions(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|entry| entry["type"] == "compaction")
        .collect()
}

#[test]
fn a_compaction_writes_one_first_and_puts_state_back() {
    let machine = Machine::new();
    let path = long_here(&machine);
    fs::write(
        machine.work().join("MEMORY.md"),
        "- the plan is in docs/plan.md\n",
    )
    .unwrap();
    let rules = "# Rules\n## Red Lines\n- Never push to main.\n";
    fs::write(machine.work().join("AGENTS.md"), rules).unwrap();
    let answer = run(&machine, "compact s --yes --window 16k --json").json();
    assert_eq!(answer["checkpoint"], "cp_001");
    let kinds: Vec<&str> = answer["restored"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["checkpoint", "memory", "context-notes", "agents-section"]
    );
    let task = fs::read_to_string(machine.work().join("memories/context.md")).unwrap();
    assert!(task.contains("**Latest request:**"), "{task}");
    assert_eq!(compactions(&path)[0]["details"]["checkpointId"], "cp_001");
    let history = run(&machine, "context history s --json").json();
    assert_eq!(history["compactions"][0]["checkpoint"], "cp_001");
    let listed = run(&machine, "checkpoint list s --json").json();
    assert_eq!(listed["checkpoints"][0]["trigger"], "compaction");
    assert_eq!(listed["checkpoints"][0]["compactions"], 0);

    let before = machine.files();
    let shown = run(&machine, "context show s --json").json();
    let texts = shown["restored"].as_array().unwrap();
    assert_eq!(texts.len(), 4);
    assert!(texts[3]["text"].as_str().unwrap().contains("Never push"));
    assert!(machine.files() == before, "showing records nothing");
}

#[test]
fn switched_off_a_compaction_writes_none() {
    let machine = Machine::new();
    let path = long_here(&machine);
    fs::write(
        machine.work().join("longhaul.yaml"),
        "checkpoint:\n  enabled: false\n",
    )
    .unwrap();
    let answer = run(&machine, "compact s --yes --window 16k --json").json();
    assert_eq!(answer["checkpoint"], Value::Null);
    assert_eq!(compactions(&path)[0]["details"].get("checkpointId"), None);
    assert_eq!(ids(&machine), [""; 0]);
    assert_eq!(
        run(&machine, "checkpoint create s").code,
        0,
        "by hand it is written"
    );
}

#[test]
fn a_state_folder_that_cannot_be_written_stops_no_compaction() {
    let machine = Machine::new();
    let path = long_here(&machine);
    fs::write(machine.home().join("state"), "a file").unwrap();
    let state = machine.home().join("state/below");
    let mut command = machine.command();
    command.args([
        "compact",
        "s",
        "--yes",
        "--window",
        "16k",
        "--json",
        "--state-dir",
    ]);
    let ran = machine.finish(command.arg(&state));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["checkpoint"], Value::Null);
    assert!(ran.err.contains("cannot create"), "{ran:?}");
    assert_eq!(compactions(&path).len(), 1);
}

#[test]
fn a_replay_keeps_them_in_memory() {
    let machine = Machine::new();
    machine.put_pi("s", long(8), 1);
    let before = machine.files();
    let ran = run(&machine, "replay s --window 30k");
    assert!(ran.out.contains("checkpoint cp_001: "), "{ran:?}");
    let report = run(&machine, "replay s --window 30k --json").json();
    let rows = report["checkpoints"].as_array().unwrap();
    assert_eq!(rows[0]["checkpoint"], "cp_001");
    assert_eq!(rows[0]["previous"], Value::Null);
    assert!(ran.out.contains(&format!(
        "Checkpoints      {}, kept in memory only",
        rows.len()
    )));
    for compaction in report["compactions"].as_array().unwrap() {
        let named = &compaction["checkpoint"];
        let row = rows.iter().find(|row| row["checkpoint"] == *named).unwrap();
        assert!(row["at"].as_u64() <= compaction["at"].as_u64());
        assert_eq!(
            row["epoch"].as_u64().unwrap() + 1,
            compaction["epoch"].as_u64().unwrap()
        );
    }
    assert!(machine.files() == before);
}

#[test]
fn many_processes_at_once_damage_nothing() {
    let machine = Machine::new();
    for name in ["a", "b", "c"] {
        machine.put_pi(name, small(name, "/w").text(), 1);
    }
    let spawn = |name: &str| {
        let mut command = machine.command();
        command.args(["checkpoint", "create", name]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut running: Vec<_> = (0..4)
        .flat_map(|_| ["a", "b", "c"])
        .map(|name| (name, spawn(name)))
        .collect();
    let mut written = std::collections::BTreeMap::new();
    for (name, child) in &mut running {
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 3)), "{name}: {code:?}");
        *written.entry(*name).or_insert(0) += i32::from(code == Some(0));
    }
    for (name, count) in written {
        assert_eq!(count, 1, "{name}: one wrote, the others found it");
        let listed = run(&machine, &format!("checkpoint list {name} --json")).json();
        let rows = listed["checkpoints"].as_array().unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["damaged"], Value::Null);
    }
}

#[test]
fn two_processes_compact_a_session_once() {
    let machine = Machine::new();
    let path = long_here(&machine);
    let spawn = || {
        let mut command = machine.command();
        command.args(["compact", "s", "--yes", "--window", "16k"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut running = [spawn(), spawn(), spawn()];
    let codes = running.each_mut().map(|child| child.wait().unwrap().code());
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1);
    let refused = codes.iter().filter(|code| matches!(code, Some(3 | 4)));
    assert_eq!(refused.count(), 2, "{codes:?}");
    assert_eq!(compactions(&path).len(), 1);
    assert_eq!(run(&machine, "session verify s").code, 0);
}

/// Runs a command that dies as it enters the `nth` call of a kind; whether it
/// lived so long.
fn killed_at(machine: &Machine, call: &str, nth: usize, words: &[&str]) -> Option<bool> {
    let longhaul = machine.command();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:signal=KILL:when={nth}"))
        .arg(longhaul.get_program())
        .args(words)
        .env_clear()
        .current_dir(machine.work())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in longhaul.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let status = command.status().ok()?;
    Some(!status.success())
}

#[cfg(target_os = "linux")]
#[test]
fn a_compaction_killed_at_any_write_is_completed_by_the_next() {
    // Not every machine has it, or lets a process be traced.
    let traced = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        return;
    }
    let words = ["compact", "s", "--yes", "--window", "16k"];
    let mut kills = 0;
    for call in ["rename", "fsync", "fdatasync", "unlink"] {
        for nth in 1.. {
            let machine = Machine::new();
            let path = long_here(&machine);
            let Some(killed) = killed_at(&machine, call, nth, &words) else {
                return;
            };
            if !killed {
                break;
            }
            kills += 1;
            let at = format!("killed at {call} {nth}");
            age(&path, 1);
            let ran = machine.run(words);
            assert!(matches!(ran.code, 0 | 3), "{at}: {ran:?}");
            let entries = compactions(&path);
            assert_eq!(entries.len(), 1, "{at}: {ran:?}");
            assert_eq!(
                entries[0]["details"]["checkpointId"], "cp_001",
                "{at}: {ran:?}"
            );
            let listed = run(&machine, "checkpoint list s --json").json();
            assert_eq!(listed["checkpoints"].as_array().unwrap().len(), 1, "{at}");
            assert_eq!(listed["checkpoints"][0]["damaged"], json!(null), "{at}");
            let key = key(&path);
            let folder = machine.home().join(".longhaul/context/state").join(&key);
            let mut notes: Vec<String> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.ends_with(".json"))
                .map(|name| name.split('-').next().unwrap().to_owned())
                .collect();
            notes.sort();
            notes.retain(|name| name != "engine.json");
            assert_eq!(notes, ["restored"], "{at}");
            assert_eq!(run(&machine, "session verify s").code, 0, "{at}");
            let again = machine.run(words);
            assert_eq!(again.code, 3, "{at}: {again:?}");
        }
    }
    assert!(kills > 20, "only {kills} places to die at");
}

#[test]
fn an_interrupted_compaction_keeps_its_focus() {
    let machine = Machine::new();
    let path = long_here(&machine);
    let words = [
        "compact",
        "s",
        "--yes",
        "--window",
        "16k",
        "--focus",
        "the tests",
    ];
    // While the state is saved: only the journal knows what was meant.
    let Some(true) = killed_at(&machine, "rename", 3, &words) else {
        return;
    };
    assert!(compactions(&path).is_empty());
    let status = run(&machine, "context status s");
    assert!(
        status.err.contains("a compaction was interrupted"),
        "{status:?}"
    );
    let ran = run(&machine, "compact s --yes --window 16k");
    assert!(
        ran.err
            .contains("completing a compaction that was interrupted after \"intent\""),
        "{ran:?}"
    );
    assert_eq!(
        compactions(&path)[0]["details"]["customInstruction"],
        "the tests"
    );
}

#[test]
fn the_gauge_says_that_a_checkpoint_was_saved() {
    let machine = Machine::new();
    let full = Talk::new("s", "/w")
        .user("Go on.")
        .assistant_at("I do.", 170_000);
    machine.put_pi("s", full.text(), 1);
    let gauge = |machine: &Machine| run(machine, "context show s --json").json()["gauge"].clone();
    assert_eq!(gauge(&machine), "[Context: 85% | 170k/200k tokens]");
    assert_eq!(run(&machine, "checkpoint create s").code, 0);
    assert_eq!(
        gauge(&machine),
        "[Context: 85% | 170k/200k tokens | Checkpoint saved]"
    );
}

/// A project that was moved is named by the flag.
#[test]
fn what_is_put_back_comes_from_the_workspace_that_was_named() {
    let machine = Machine::new();
    machine.put_pi("s", long(3), 1);
    let moved = machine.work().join("moved");
    fs::create_dir_all(&moved).unwrap();
    fs::write(moved.join("AGENTS.md"), "## Red Lines\n\nNever push.\n").unwrap();
    let ran = run(&machine, "compact s --yes --window 30k --workspace moved");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("agents section"), "{ran:?}");
}
