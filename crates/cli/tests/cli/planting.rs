//! Somebody else's links, pipes and devices under the names that commands read
//! and write: nothing outside changes, nothing waits for ever, and what failed is
//! said.
//!
//! The names are not listed by hand: every command runs once, and whatever lies
//! there afterwards is a name that somebody could have taken before. Each name is
//! tried with one of the traps, and with `LONGHAUL_LONG` set with all of them.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use longhaul_model::loopback::{Loopback, Said};
use serde_json::{Value, json};

use crate::choosing_models::static_model;
use crate::machine::{Machine, age};
use crate::talk::{compacted, long, long_claude};

/// More than any of these commands needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// What each command of the program is run as, in an order in which one makes
/// what another reads.
const COMMANDS: [&str; 29] = [
    "config show",
    "doctor",
    "memory init",
    "session list",
    "session verify s",
    "context status s",
    "context show s --assembled",
    "context autocompact off --session s",
    "checkpoint create long",
    "checkpoint show --session long",
    "compact long --window 20k --yes",
    "session archive s --yes",
    "recall header",
    "session restore s --yes",
    "session archive s --zstd --yes",
    "session restore s --yes",
    "session label e01 first --session torn",
    "session fork --session s -o fork.jsonl",
    "session import s -o import.jsonl",
    "context export s -o export.json",
    "context import export.json -o begun.jsonl",
    "session handoff s -o handoff.xml",
    "session handoff --accept handoff.xml -o taken.jsonl",
    "memory index",
    "memory search header",
    "memory lint",
    "memory verify --accept",
    "dream run",
    "sample sample.jsonl",
];

/// The same for those that agents and people work with for longer, or that are
/// told by others what to do. What they are told is in [`told`].
const DOORS: [&str; 16] = [
    "chat --session c -p hello --model anthropic/claude-sonnet-4-5 --base-url SERVER",
    "chat --session c -p again --yes --base-url SERVER",
    "session pin e01 --session s",
    "rpc --stdio",
    "mcp",
    "hook install --claude-code",
    "hook install --claude-code --project",
    "hook pre-compact",
    "hook post-compact",
    "hook session-start",
    "hook stop",
    "replay long --window 20k -o replayed.jsonl --report html --report-file page.html",
    "man --dir man",
    "memory model add MODEL",
    "memory model use alder",
    "memory model remove alder",
];

/// What a command is told on its standard input.
fn told(line: &str, machine: &Machine) -> String {
    let lines = |all: &[Value]| all.iter().map(|one| format!("{one}\n")).collect();
    let ask = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let host = json!({ "protocol": 1, "host": { "name": "test", "version": "1" } });
    let said = json!({ "role": "user", "content": "hello", "timestamp": 1_773_144_000_000_u64 });
    let id = "11111111-2222-4333-8444-555555555555";
    let client = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let tool = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    match line.split_whitespace().next() {
        Some("rpc") => lines(&[
            ask(1, "initialize", host),
            ask(
                2,
                "assemble",
                json!({ "sessionId": id, "messages": [said] }),
            ),
            ask(
                3,
                "commitTurn",
                json!({ "sessionId": id, "advancementKey": "k", "messages": [said] }),
            ),
            ask(4, "compact", json!({ "sessionId": id, "force": true })),
        ]),
        Some("mcp") => lines(&[
            ask(1, "initialize", client),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            ask(2, "tools/call", tool("context_status", json!({}))),
            ask(
                3,
                "tools/call",
                tool("recall", json!({ "query": "header" })),
            ),
            ask(
                4,
                "tools/call",
                tool("memory_search", json!({ "query": "header" })),
            ),
            ask(
                5,
                "tools/call",
                tool("note", json!({ "text": "the header is whole" })),
            ),
        ]),
        Some("hook") => json!({
            "session_id": "claude", "transcript_path": claude_path(machine),
            "cwd": machine.work(), "trigger": "auto", "source": "compact",
        })
        .to_string(),
        _ => String::new(),
    }
}

fn claude_path(machine: &Machine) -> PathBuf {
    machine.home().join(".claude/projects/-work/claude.jsonl")
}

/// What somebody may have put there.
#[derive(Debug, Clone, Copy)]
enum Trap {
    /// A link to a file outside.
    Link,
    /// A link to a file that is not there yet.
    Dangling,
    /// A pipe with nobody at its other end.
    Pipe,
    /// A link to a device that never ends.
    Device,
}

/// How many kinds of traps there are.
const TRAPS: usize = Trap::Device as usize + 1;

struct Ground {
    machine: Machine,
    commands: &'static [&'static str],
    server: Loopback,
    outside: tempfile::TempDir,
    start: BTreeMap<PathBuf, Vec<u8>>,
}

impl Ground {
    fn new(commands: &'static [&'static str]) -> Ground {
        let machine = Machine::new();
        let server = Loopback::start(|request| Said::text("noted").reply(request)).unwrap();
        let work = machine.work();
        let cwd = work.to_str().unwrap().to_owned();
        machine.put_pi("s", compacted("s", &cwd).text(), 30);
        machine.put_pi("long", long(6), 40);
        // A crash tore its last line, which the next write sets aside.
        let torn = compacted("torn", &cwd).text() + "{\"type\":\"mess";
        machine.put_pi("torn", torn, 50);
        let put = |name: &str, text: &str| {
            let path = work.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        machine.put(
            ".claude/projects/-work/claude.jsonl",
            long_claude("claude", &cwd, 4),
            60,
        );
        static_model(&machine, "alder", 7919);
        put("AGENTS.md", "# Rules\n\nTest what you change.\n");
        put("longhaul.yaml", "compaction:\n  contextWindow: 200000\n");
        put(
            "memory/2026-03-01.md",
            "# 2026-03-01\n\n- the header is missing\n",
        );
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("canary"), "canary\n").unwrap();
        let mut ground = Ground {
            machine,
            commands,
            server,
            outside,
            start: BTreeMap::new(),
        };
        ground.start = ground.files();
        ground
    }

    fn roots(&self) -> [PathBuf; 2] {
        [self.machine.home(), self.machine.work()]
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for root in self.roots() {
            collect(&root, &mut files);
        }
        files
    }

    /// Everything as it was, except for what is planted at one name.
    fn plant(&self, name: &Path, trap: Trap) {
        for root in self.roots() {
            fs::remove_dir_all(&root).unwrap();
            fs::create_dir(&root).unwrap();
        }
        for (path, bytes) in &self.start {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
            age(path, 30);
        }
        fs::create_dir_all(name.parent().unwrap()).unwrap();
        let _ = fs::remove_file(name);
        match trap {
            Trap::Link => symlink(self.outside.path().join("canary"), name).unwrap(),
            Trap::Dangling => symlink(self.outside.path().join("new"), name).unwrap(),
            Trap::Device => symlink("/dev/zero", name).unwrap(),
            Trap::Pipe => {
                let made = Command::new("mkfifo").arg(name).status().unwrap();
                assert!(made.success());
            }
        }
    }

    /// Runs a command within its time: its exit code, and what it said.
    fn run(&self, line: &str) -> (i32, String) {
        let said = tempfile::tempdir().unwrap();
        let to = |name: &str| File::create(said.path().join(name)).unwrap();
        fs::write(said.path().join("in"), told(line, &self.machine)).unwrap();
        let args = line.split_whitespace().map(|word| match word {
            "SERVER" => self.server.url(),
            "MODEL" => self.machine.home().join("alder").display().to_string(),
            word => word.to_owned(),
        });
        let mut child = self
            .machine
            .command()
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
            .args(args)
            .stdin(File::open(said.path().join("in")).unwrap())
            .stdout(to("out"))
            .stderr(to("err"))
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    panic!("`{line}` waits for ever");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let text = |name: &str| {
            let bytes = fs::read(said.path().join(name)).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (out, err) = (text("out"), text("err"));
        (status.code().unwrap_or(-1), format!("{out}{err}"))
    }

    fn nothing_changed_outside(&self, what: &str) {
        let names = fs::read_dir(self.outside.path()).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["canary"], "{what}");
        let canary = fs::read_to_string(self.outside.path().join("canary")).unwrap();
        assert_eq!(canary, "canary\n", "{what}");
    }

    /// Every name that the commands read or write, as far as it is known before
    /// they run.
    fn names(&self) -> BTreeSet<PathBuf> {
        let mut names: BTreeSet<PathBuf> = self.start.keys().cloned().collect();
        for line in self.commands {
            let (code, said) = self.run(line);
            assert!([0, 3].contains(&code), "`{line}`: {code} {said}");
            names.extend(self.files().into_keys());
        }
        // Made on the way and removed at its end, or only after a crash.
        let sessions: Vec<PathBuf> = self.start.keys().cloned().collect();
        for path in sessions {
            if path.extension().is_some_and(|ending| ending == "jsonl") {
                names.extend(
                    [".torn", ".bak", ".bak.zst", ".bak.json"].map(|end| beside(&path, end)),
                );
            }
        }
        let indexes: Vec<PathBuf> = names
            .iter()
            .filter(|name| name.extension().is_some_and(|ending| ending == "sqlite"))
            .cloned()
            .collect();
        for path in indexes {
            names.extend(["-wal", "-shm", "-journal", ".lock"].map(|end| beside(&path, end)));
        }
        names.retain(|name| !is_random(name));
        names
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether a name is another one each time.
fn is_random(name: &Path) -> bool {
    let name = name.file_name().unwrap().to_string_lossy();
    name.ends_with(".longhaul-tmp")
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_file() {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

fn every_name_with(trap: Trap, commands: &'static [&'static str]) {
    let ground = Ground::new(commands);
    let names = ground.names();
    assert!(names.len() > 20, "{names:#?}");
    let all = std::env::var_os("LONGHAUL_LONG").is_some();
    for (at, name) in names.into_iter().enumerate() {
        if !all && at % TRAPS != trap as usize {
            continue;
        }
        ground.plant(&name, trap);
        let mut failed = 0;
        for line in commands {
            let (code, said) = ground.run(line);
            let what = format!(
                "`{line}` with {trap:?} at {}: {code}\n{said}",
                name.display()
            );
            assert!((0..=4).contains(&code), "{what}");
            assert!(!said.contains("panicked"), "{what}");
            assert!(code == 0 || !said.trim().is_empty(), "{what}");
            ground.nothing_changed_outside(&what);
            failed += usize::from(code != 0);
        }
        println!("{failed} failed with {trap:?} at {}", name.display());
    }
}

#[test]
fn no_link_is_followed_at_any_name_of_any_command() {
    every_name_with(Trap::Link, &COMMANDS);
}

#[test]
fn no_file_is_made_through_a_link_at_any_name_of_any_command() {
    every_name_with(Trap::Dangling, &COMMANDS);
}

#[test]
fn no_pipe_holds_any_command_up() {
    every_name_with(Trap::Pipe, &COMMANDS);
}

#[test]
fn no_device_is_read_by_any_command() {
    every_name_with(Trap::Device, &COMMANDS);
}

#[test]
fn no_link_is_followed_at_any_name_of_a_chat_a_host_a_client_or_a_hook() {
    every_name_with(Trap::Link, &DOORS);
}

#[test]
fn no_file_is_made_through_a_link_by_a_chat_a_host_a_client_or_a_hook() {
    every_name_with(Trap::Dangling, &DOORS);
}

#[test]
fn no_pipe_holds_a_chat_a_host_a_client_or_a_hook_up() {
    every_name_with(Trap::Pipe, &DOORS);
}

#[test]
fn no_device_is_read_by_a_chat_a_host_a_client_or_a_hook() {
    every_name_with(Trap::Device, &DOORS);
}

/// What is refused is named, and what to do is said.
#[test]
fn what_is_in_the_way_is_named() {
    let ground = Ground::new(&COMMANDS);
    let names = ground.names();
    let named = |end: &str| {
        let mut found = names
            .iter()
            .filter(|name| name.to_string_lossy().ends_with(end));
        found
            .next()
            .unwrap_or_else(|| panic!("{end}: {names:#?}"))
            .clone()
    };
    for (end, line) in [
        ("_s.jsonl", "session list"),
        ("_s.jsonl.bak", "session restore s --yes"),
        ("_s.jsonl.bak.zst", "session archive s --yes"),
        ("longhaul.yaml", "config show"),
        ("AGENTS.md", "context inspect s"),
        ("MEMORY.md", "memory lint"),
        (".sqlite", "memory index"),
        ("export.json", "context import export.json -o x.jsonl"),
        ("handoff.xml", "session handoff --check handoff.xml"),
    ] {
        for trap in [Trap::Pipe, Trap::Device] {
            ground.plant(&named(end), trap);
            let (code, said) = ground.run(line);
            let file = named(end)
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned();
            assert!(
                said.contains(&file),
                "`{line}` with {trap:?} at {file}: {code}\n{said}"
            );
        }
    }
}

/// The user's own link is followed; what it leads to must be a configuration.
#[test]
fn a_configuration_is_a_regular_file_of_at_most_a_megabyte() {
    let ground = Ground::new(&COMMANDS);
    let work = ground.machine.work();
    fs::remove_file(work.join("longhaul.yaml")).unwrap();
    let text = "compaction:\n  contextWindow: 123456\n";
    fs::write(work.join("real.yaml"), text).unwrap();
    fs::write(
        work.join("large.yaml"),
        format!("{text}# {}\n", "x".repeat(1_000_000)),
    )
    .unwrap();
    symlink(work.join("real.yaml"), work.join("link.yaml")).unwrap();
    symlink("/dev/zero", work.join("device.yaml")).unwrap();
    let made = Command::new("mkfifo").arg(work.join("pipe.yaml")).status();
    assert!(made.unwrap().success());
    for (name, accepted) in [
        ("real.yaml", true),
        ("link.yaml", true),
        ("large.yaml", false),
        ("device.yaml", false),
        ("pipe.yaml", false),
    ] {
        let (code, said) = ground.run(&format!("config show --config {name}"));
        match accepted {
            true => assert!(
                code == 0 && said.contains("123456"),
                "{name}: {code} {said}"
            ),
            false => {
                assert_eq!(code, 2, "{name}: {said}");
                assert!(
                    said.contains(name) && said.contains("at most 1 MB"),
                    "{said}"
                );
            }
        }
    }
}
