//! Somebody else's links, pipes and devices under the names that commands read
//! and write: nothing outside changes, nothing waits for ever, and what failed is
//! said.
//!
//! The names are not listed by hand: every command runs once, and whatever lies
//! there afterwards is a name that somebody could have taken before. Then each
//! command runs with a trap at every name at once. What it meets it names; that
//! is taken away, and it runs again, until nothing is in its way. Every command
//! meets every name, and every name is met with every kind of trap; with
//! `LONGHAUL_LONG` set every command meets every kind at every name.
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_memory::Source;
use longhaul_testkit::loopback::{Loopback, Said};
use serde_json::{Value, json};

use crate::choosing_models::static_model;
use crate::dreaming::{TODAY, ids, log};
use crate::machine::{Machine, NOW, age};
use crate::talk::{compacted, long, long_claude};

/// More than any of these commands needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// A terminal that shows nothing new for so long waits for a key.
const QUIET: Duration = Duration::from_millis(300);

/// What each command of the program is run as, in an order in which one makes
/// what another reads. CANDIDATE is one that waits, OTHER another.
const COMMANDS: [&str; 68] = [
    "completions bash",
    "config path",
    "config schema",
    "config show",
    "config set gauge.enabled true",
    "doctor",
    "memory init",
    "session list",
    "session show s",
    "session verify s",
    "context status s",
    "context show s --assembled",
    "context inspect s",
    "context history s",
    "context diff --session s",
    "context windows",
    "context autocompact off --session s",
    "checkpoint create long",
    "checkpoint list --session long",
    "checkpoint show --session long",
    "checkpoint show --as-restored --session long",
    "compact long --window 20k --yes",
    "session archive s --yes",
    "recall header",
    "session restore s --yes",
    "session archive s --zstd --yes",
    "session restore s --yes",
    "session label e01 first --session torn",
    "session pin e01 --session s",
    "session branch e01 --session torn",
    "session rename name --session torn",
    "session pins s",
    "session delete torn --yes",
    "session undelete torn",
    "session fork --session s -o fork.jsonl",
    "session import s -o import.jsonl",
    "context export s -o export.json",
    "session import export.json -o begun.jsonl",
    "session handoff s -o handoff.xml",
    "session handoff --check handoff.xml",
    "session handoff --accept handoff.xml -o taken.jsonl",
    "redact log.txt",
    "memory index",
    "memory status",
    "memory search header",
    "memory get MEMORY.md",
    "memory lint",
    "memory lint --fix --yes",
    "memory verify --accept",
    "dream run",
    "dream backfill",
    "dream status",
    "dream review --json",
    "dream edit CANDIDATE text",
    "dream merge CANDIDATE OTHER",
    "dream promote CANDIDATE --yes",
    "dream reject CANDIDATE",
    "dream undo --yes",
    "sample sample.jsonl",
    "replay long --window 20k -o replayed.jsonl --report html --report-file page.html",
    "man --dir man",
    "hook install --claude-code",
    "hook install --claude-code --project",
    "hook uninstall --claude-code",
    "memory model add MODEL",
    "memory model use alder",
    "memory model list",
    "memory model remove alder",
];

/// The same for those that agents and people work with for longer, or that are
/// told by others what to do. What they are told is in [`told`]; those in a
/// TERMINAL have one.
const DOORS: [&str; 12] = [
    "chat --session c -p hello --model anthropic/claude-sonnet-4-5 --base-url SERVER",
    "chat --session c -p again --yes --base-url SERVER",
    "TERMINAL chat --session c --base-url SERVER",
    "rpc --stdio",
    "mcp",
    "serve --write",
    "hook pre-compact",
    "hook post-compact",
    "hook session-start",
    "hook stop",
    "dream run",
    "TERMINAL dream review",
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
        // A line, and the end of the input.
        Some("TERMINAL") if line.contains("chat") => "hello there\n\u{4}".into(),
        Some("TERMINAL") => "q".into(),
        _ => String::new(),
    }
}

fn claude_path(machine: &Machine) -> PathBuf {
    machine.home().join(".claude/projects/-work/claude.jsonl")
}

/// What somebody may have put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

const TRAPS: [Trap; 4] = [Trap::Link, Trap::Dangling, Trap::Pipe, Trap::Device];

type Files = BTreeMap<PathBuf, Vec<u8>>;

struct Ground {
    machine: Machine,
    server: Loopback,
    outside: tempfile::TempDir,
    pipe: PathBuf,
    start: Files,
}

/// A command, what was there before it, and which candidate waited.
struct Stage {
    line: &'static str,
    before: Files,
    candidate: String,
}

/// The host and the one-time token of a dashboard that says where it is.
fn served(printed: &str) -> Option<(&str, &str)> {
    let (before, rest) = printed.split_once("/open?token=")?;
    let (_, host) = before.rsplit_once("http://")?;
    Some((host, rest.split_once("&to=")?.0))
}

/// Opens the pages of a dashboard that read and write files.
fn visit(host: &str, once: &str) {
    let ask = |request: String| {
        let mut stream = std::net::TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let about = format!("HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n");
    let opened = ask(format!("GET /open?token={once} {about}\r\n"));
    let cookie = opened.split("set-cookie: ").nth(1).unwrap();
    let about = format!("{about}Cookie: {}\r\n", cookie.split(';').next().unwrap());
    let mut page = String::new();
    for path in [
        "/",
        "/api/sessions/long/timeline",
        "/sessions/s/compactions/1",
        "/search?q=header",
        "/memory",
        "/dreams",
        "/sessions/s/context",
    ] {
        page = ask(format!("GET {path} {about}\r\n"));
    }
    let part = |mark: &str| {
        let found = page.split(mark).nth(1);
        found
            .and_then(|rest| rest.split('"').next())
            .map(str::to_owned)
    };
    // Where the session cannot be read there is nothing to pin.
    if let (Some(csrf), Some(entry)) = (part("data-csrf=\""), part("data-entry=\"")) {
        let csrf = format!("X-Longhaul-Csrf: {csrf}\r\n");
        ask(format!(
            "POST /sessions/s/entries/{entry}/pin {about}{csrf}\r\n"
        ));
    }
}

impl Ground {
    fn new() -> Ground {
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
        put("log.txt", "nothing secret\n");
        put("longhaul.yaml", "compaction:\n  contextWindow: 200000\n");
        put(
            "memory/2026-03-01.md",
            "# 2026-03-01\n\n- the header is missing\n",
        );
        for text in ["Never push on Fridays.", "Always test on Mondays."] {
            log(&machine, TODAY, "User Preferences", text, Source::User);
        }
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("canary"), "canary\n").unwrap();
        let pipe = machine.home().with_file_name("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let mut ground = Ground {
            machine,
            server,
            outside,
            pipe,
            start: Files::new(),
        };
        ground.start = ground.files();
        ground
    }

    fn roots(&self) -> [PathBuf; 2] {
        [self.machine.home(), self.machine.work()]
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        for root in self.roots() {
            collect(&root, &mut files);
        }
        files
    }

    /// Everything as it was, except for what is planted.
    fn plant(&self, before: &Files, planted: &BTreeMap<PathBuf, Trap>) {
        for root in self.roots() {
            fs::remove_dir_all(&root).unwrap();
            fs::create_dir(&root).unwrap();
        }
        for (path, bytes) in before
            .iter()
            .filter(|(path, _)| !planted.contains_key(*path))
        {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
            age(path, 30);
        }
        for (name, trap) in planted {
            fs::create_dir_all(name.parent().unwrap()).unwrap();
            match trap {
                Trap::Link => symlink(self.outside.path().join("canary"), name),
                Trap::Dangling => symlink(self.outside.path().join("new"), name),
                Trap::Device => symlink("/dev/zero", name),
                Trap::Pipe => fs::hard_link(&self.pipe, name),
            }
            .unwrap();
        }
    }

    /// Runs a command within its time: its exit code, and what it said.
    fn run(&self, line: &str, candidate: &str) -> (i32, String) {
        let said = tempfile::tempdir().unwrap();
        let to = |name: &str| File::create(said.path().join(name)).unwrap();
        fs::write(said.path().join("in"), told(line, &self.machine)).unwrap();
        let mut words: Vec<String> = line
            .split_whitespace()
            .map(|word| match word {
                "SERVER" => self.server.url(),
                "MODEL" => self.machine.home().join("alder").display().to_string(),
                "CANDIDATE" => candidate.split(' ').next().unwrap().to_owned(),
                "OTHER" => candidate.split(' ').next_back().unwrap().to_owned(),
                word => word.to_owned(),
            })
            .collect();
        let mut command = self.machine.command();
        let mut input = Stdio::from(File::open(said.path().join("in")).unwrap());
        if words[0] == "TERMINAL" {
            input = Stdio::piped();
            words[0] = command.get_program().to_string_lossy().into_owned();
            let line = ["-qec", &words.join(" "), "/dev/null"].map(str::to_owned);
            words = line.into();
            let home = self.machine.home();
            command = Command::new("script");
            command
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .env("TERM", "xterm")
                .env("HOME", home)
                .env("LONGHAUL_NOW", NOW)
                .current_dir(self.machine.work());
        }
        let mut child = command
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
            .args(words)
            .stdin(input)
            .stdout(to("out"))
            .stderr(to("err"))
            .spawn()
            .unwrap();
        let typed = told(line, &self.machine);
        let mut typed = typed.split_inclusive('\n').peekable();
        let (mut shown, mut quiet) = (0, Instant::now());
        let begun = Instant::now();
        let mut visited = false;
        let status = loop {
            let printed = fs::read_to_string(said.path().join("err")).unwrap_or_default();
            if let Some((host, once)) = served(&printed).filter(|_| !visited) {
                visited = true;
                visit(host, once);
                let pid = child.id().to_string();
                Command::new("kill").arg(pid).status().unwrap();
            }
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    panic!("`{line}` waits for ever");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
            // Who is at a terminal types when it has become quiet, and the last
            // word again if nobody listened.
            let length = fs::metadata(said.path().join("out")).unwrap().len();
            if length != shown {
                (shown, quiet) = (length, Instant::now());
            } else if let Some(stdin) = &mut child.stdin
                && shown > 0
                && quiet.elapsed() > QUIET
            {
                let now = typed.peek().copied().unwrap_or_default();
                let _ = stdin.write_all(now.as_bytes());
                if now.ends_with('\n') {
                    typed.next();
                }
                quiet = Instant::now();
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

    /// The commands, each as it runs where nothing is planted.
    fn stages(&self, commands: &[&'static str]) -> Vec<Stage> {
        let mut stages = Vec::new();
        for &line in commands {
            let candidate = match line.contains("CANDIDATE") {
                true => {
                    let waiting = ids(&self.machine);
                    let other = &waiting.last().unwrap().0;
                    format!("{} {other}", waiting[0].0)
                }
                false => String::new(),
            };
            let before = self.files();
            let (code, said) = self.run(line, &candidate);
            assert!([0, 3].contains(&code), "`{line}`: {code} {said}");
            stages.push(Stage {
                line,
                before,
                candidate,
            });
        }
        stages
    }

    /// Every name that the commands read or write, as far as it is known before
    /// they run.
    fn names(&self, stages: &[Stage]) -> Vec<PathBuf> {
        let before = stages.iter().flat_map(|stage| stage.before.keys().cloned());
        let mut names: BTreeSet<PathBuf> = before.chain(self.files().into_keys()).collect();
        // Made on the way and removed at its end, or only after a crash.
        for path in names.clone() {
            let endings: &[&str] = match path.extension().and_then(|ending| ending.to_str()) {
                Some("jsonl") if self.start.contains_key(&path) => {
                    &[".torn", ".bak", ".bak.zst", ".bak.json"]
                }
                Some("sqlite") => &["-wal", "-shm", "-journal", ".lock"],
                _ => &[],
            };
            names.extend(endings.iter().map(|end| beside(&path, end)));
        }
        names.retain(|name| !is_random(name));
        names.into_iter().collect()
    }

    /// Those of the planted names that are told.
    fn told<'p>(&self, said: &str, planted: &'p BTreeMap<PathBuf, Trap>) -> Vec<&'p PathBuf> {
        let [home, work] = self.roots();
        let shown = |name: &Path| match (name.strip_prefix(&home), name.strip_prefix(&work)) {
            (Ok(below), _) | (_, Ok(below)) => below.display().to_string(),
            _ => name.display().to_string(),
        };
        let whole = planted.keys().filter(|name| said.contains(&shown(name)));
        let whole: Vec<&PathBuf> = whole.collect();
        if !whole.is_empty() {
            return whole;
        }
        let last = |name: &Path| name.file_name().unwrap().to_string_lossy().into_owned();
        planted
            .keys()
            .filter(|name| said.contains(&last(name)))
            .collect()
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

fn is_session(name: &Path) -> bool {
    name.extension().is_some_and(|ending| ending == "jsonl")
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

fn every_name_of(commands: &[&'static str]) {
    let ground = Ground::new();
    let stages = ground.stages(commands);
    let names = ground.names(&stages);
    assert!(names.len() > 20, "{names:#?}");
    let turns = match std::env::var_os("LONGHAUL_LONG") {
        Some(_) => TRAPS.len(),
        None => 1,
    };
    for (nth, stage) in stages.iter().enumerate() {
        for turn in 0..turns {
            let trap = |at: usize| TRAPS[(at + nth + turn) % TRAPS.len()];
            let names = names.iter().cloned().enumerate();
            ground.gets_through(stage, names.map(|(at, name)| (name, trap(at))).collect());
        }
    }
}

impl Ground {
    /// Runs a command, and takes away what it names, until nothing is in its way.
    fn gets_through(&self, stage: &Stage, mut planted: BTreeMap<PathBuf, Trap>) {
        let line = stage.line;
        loop {
            self.plant(&stage.before, &planted);
            let (code, said) = self.run(line, &stage.candidate);
            let what = format!("`{line}` with {planted:#?}: {code}\n{said}");
            assert!((0..=4).contains(&code), "{what}");
            assert!(!said.contains("panicked"), "{what}");
            assert!(code == 0 || !said.trim().is_empty(), "{what}");
            self.nothing_changed_outside(&what);
            let met: Vec<PathBuf> = self.told(&said, &planted).into_iter().cloned().collect();
            let is_through = [0, 3].contains(&code) && met.is_empty();
            println!(
                "{line}: {code}, {} in its way, {} left",
                met.len(),
                planted.len()
            );
            if is_through {
                break;
            }
            // A session that is no file is none, and which it would be nobody knows.
            let sessions = planted.len();
            if met.is_empty() {
                planted.retain(|name, _| !is_session(name) || !self.start.contains_key(name));
            }
            if planted.len() < sessions {
                continue;
            }
            if met.is_empty() {
                // It takes what it cannot read for not there: what, the halves tell.
                let middle = planted.keys().nth(planted.len() / 2).cloned();
                let middle = middle.unwrap_or_else(|| panic!("nothing is in its way: {what}"));
                let second = planted.split_off(&middle);
                if !planted.is_empty() {
                    self.gets_through(stage, planted);
                    self.gets_through(stage, second);
                }
                break;
            }
            planted.retain(|name, _| !met.contains(name));
        }
    }
}

#[test]
fn nothing_that_is_planted_is_followed_awaited_or_read_by_any_command() {
    every_name_of(&COMMANDS);
}

#[test]
fn nothing_that_is_planted_is_followed_awaited_or_read_by_a_chat_a_host_a_client_or_a_hook() {
    every_name_of(&DOORS);
}

/// A command that is added is tried as well.
#[test]
fn every_command_is_tried() {
    let machine = Machine::new();
    machine.run_line("man --dir man");
    let pages = fs::read_dir(machine.work().join("man")).unwrap();
    let pages: BTreeSet<String> = pages
        .map(|page| {
            page.unwrap()
                .file_name()
                .to_string_lossy()
                .replace(".1", " ")
        })
        .collect();
    let tried: Vec<String> = COMMANDS
        .iter()
        .chain(&DOORS)
        .map(|line| format!("longhaul {} ", line.trim_start_matches("TERMINAL ")))
        .collect();
    for page in &pages {
        let line = page.replace('-', " ");
        let has_more = pages
            .iter()
            .any(|other| other.starts_with(&format!("{}-", page.trim())));
        let is_tried = tried
            .iter()
            .any(|tried| tried.replace('-', " ").starts_with(&line));
        assert!(has_more || is_tried, "{line}");
    }
}

/// The user's own link is followed; what it leads to must be a configuration.
#[test]
fn a_configuration_is_a_regular_file_of_at_most_a_megabyte() {
    let ground = Ground::new();
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
        let (code, said) = ground.run(&format!("config show --config {name}"), "");
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
