//! Dreams: staged, reviewed, promoted, taken back.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use jiff::civil::{Date, date};
use longhaul_memory::files::{Body, Note, Origin, Section};
use longhaul_memory::{MemoryFolder, Seal, Source};

use longhaul_testkit::loopback::{Loopback, Reply, Said};
use serde_json::Value;

use crate::chatting::{Ground, MODEL};
use crate::documented::{assert_same_fields, example};
use crate::machine::{Machine, Ran};
use crate::talk::{long, small};

/// The clock of all tests stands on 2026-03-10.
pub(crate) const TODAY: Date = date(2026, 3, 10);

pub(crate) fn read(machine: &Machine, name: &str) -> String {
    fs::read_to_string(machine.work().join(name)).unwrap_or_default()
}

pub(crate) fn log(machine: &Machine, day: Date, section: &str, text: &str, source: Source) {
    let seal = Seal::of_state_dir(&machine.home().join(".longhaul"), &[9; 32]).unwrap();
    let memory = MemoryFolder::open(&machine.work(), Some(seal)).unwrap();
    let body = Body::Sections(vec![Section {
        title: section.into(),
        notes: vec![Note {
            text: text.into(),
            source,
            entry: None,
            said: None,
        }],
    }]);
    memory
        .append_log(day.at(9, 0, 0, 0), "Flush", Origin::default(), &body)
        .unwrap();
}

/// The states as they are kept, each by its file.
pub(crate) fn states(machine: &Machine) -> Vec<(PathBuf, Value)> {
    let files = machine.files().into_keys();
    let states =
        files.filter(|path| path.ends_with("state.json") || path.ends_with("state.copy.json"));
    let read = |path: PathBuf| {
        let state = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        (path, state)
    };
    states.map(read).collect()
}

/// Leaves the last change as a kill leaves it that comes before it is done: written
/// down, with the candidates as they were.
pub(crate) fn interrupt(machine: &Machine, before: &[(PathBuf, Value)]) {
    for ((path, mut state), (_, before)) in states(machine).into_iter().zip(before) {
        state["candidates"] = before["candidates"].clone();
        state["unfinished"] = true.into();
        fs::write(path, state.to_string()).unwrap();
    }
}

/// Lets the policy promote from this confidence on.
fn promote_at(machine: &Machine, confidence: &str) {
    let folder = machine.home().join(".longhaul");
    fs::create_dir_all(&folder).unwrap();
    let text = format!("dreaming:\n  promoteAtConfidence: {confidence}\n");
    fs::write(folder.join("longhaul.yaml"), text).unwrap();
}

/// What stands in the three things of [`machine`], in the order in which they wait.
const QUOTES: [&str; 3] = ["Never push", "RS256 for tokens", "the API spec"];

/// A workspace with three things to decide about.
pub(crate) fn machine() -> Machine {
    let machine = Machine::new();
    machine.run_line("memory init --name Tides");
    let yesterday = date(2026, 3, 9);
    log(
        &machine,
        yesterday,
        "User Preferences",
        "Never push on Fridays.",
        Source::User,
    );
    log(
        &machine,
        TODAY,
        "User Preferences",
        "never push on Fridays",
        Source::User,
    );
    log(
        &machine,
        TODAY,
        "Important Decisions",
        "RS256 for tokens of the login service",
        Source::Agent,
    );
    fs::write(
        machine.work().join("memory/2026-03-08.md"),
        "- the API spec lives in /docs/api-spec.yaml\n",
    )
    .unwrap();
    machine
}

pub(crate) fn ids(machine: &Machine) -> Vec<(String, String)> {
    let listed = machine.run_line("dream review --json").json();
    let listed = listed["candidates"].as_array().unwrap();
    let field = |one: &serde_json::Value, name: &str| one[name].as_str().unwrap().to_owned();
    listed
        .iter()
        .map(|one| (field(one, "id"), field(one, "text")))
        .collect()
}

pub(crate) fn id(machine: &Machine, text: &str) -> String {
    let all = ids(machine);
    all.into_iter()
        .find(|(_, said)| said.contains(text))
        .unwrap()
        .0
}

#[test]
fn a_dream_stages_and_tells_and_the_next_one_changes_nothing() {
    let machine = machine();
    let ran = machine.run_line("dream run");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.out,
        "Read 3 logs with 4 lines worth a look.\n     3  new\n     1  said again\n3 candidates wait: longhaul dream review\n"
    );
    assert!(read(&machine, "DREAMS.md").contains("Finding: Never push on Fridays.\n"));
    let before = machine.files();
    machine.run_line("dream run");
    let changed: Vec<_> = machine
        .files()
        .into_iter()
        .filter(|(path, state)| before.get(path) != Some(state))
        .map(|(path, _)| path.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(changed, ["last_run.json"]);
}

#[test]
fn a_promotion_needs_leave_and_can_be_taken_back() {
    let machine = machine();
    machine.run_line("dream run");
    let id = id(&machine, "push");
    let memory = read(&machine, "MEMORY.md");
    let unasked = machine.run_line(&format!("dream promote {id}"));
    assert_eq!(
        (unasked.code, read(&machine, "MEMORY.md")),
        (2, memory.clone())
    );
    let promoted = machine.run_line(&format!("dream promote {} --yes", &id[..6]));
    assert_eq!(promoted.code, 0, "{promoted:?}");
    assert!(read(&machine, "MEMORY.md").contains(&format!(
        "- Never push on Fridays. | Details → memories/project.md#{id}\n"
    )));
    assert_eq!(machine.run_line("memory lint").code, 0);
    assert_eq!(
        machine.run_line(&format!("dream promote {id} --yes")).code,
        1
    );
    let undone = machine.run_line("dream undo --yes");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(read(&machine, "MEMORY.md"), memory);
    assert_eq!(machine.run_line("dream undo --yes").code, 3);
}

#[test]
fn any_promotion_can_be_taken_back_and_what_was_edited_stays_and_is_named() {
    let machine = machine();
    machine.run_line("dream run");
    let all = ids(&machine);
    for (id, _) in &all {
        machine.run_line(&format!("dream promote {id} --yes"));
    }
    let memory = read(&machine, "MEMORY.md");
    let edited = memory.replace("- Never push on Fridays.", "- Never push on Sundays.");
    assert_ne!(edited, memory);
    fs::write(machine.work().join("MEMORY.md"), &edited).unwrap();
    let id = all.iter().find(|(_, text)| text.contains("push")).unwrap();
    let listed = machine.run_line("dream undo --list --json").json();
    let changes = listed["changes"].as_array().unwrap();
    assert_eq!(changes.len(), all.len());
    let of = changes.iter().find(|one| one["candidate"] == id.0.as_str());
    let of = of.unwrap();
    assert_eq!(of["possible"], true, "{listed}");
    assert_eq!(of["left"][0]["text"], "- Never push on Sundays.");
    let number = of["change"].as_u64().unwrap();
    let undone = machine.run_line(&format!("dream undo {number} --yes --json"));
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(undone.json()["left"][0]["file"], "MEMORY.md");
    assert!(read(&machine, "MEMORY.md").contains("- Never push on Sundays.\n"));
    let again = machine.run_line(&format!("dream undo {} --yes", id.0));
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("was taken back before"), "{again:?}");
    for left in (1..all.len()).rev() {
        assert_eq!(machine.run_line("dream undo --yes").code, 0, "{left}");
    }
    assert_eq!(machine.run_line("dream undo --yes").code, 3);
    let told = machine.run_line("dream undo --list");
    assert_eq!(told.out.matches("taken back by change").count(), all.len());
    assert_eq!(machine.run_line("dream undo 99 --yes").code, 1);
}

#[test]
fn commands_that_only_read_say_that_a_change_is_half_done() {
    let machine = machine();
    machine.run_line("dream run");
    let id = id(&machine, "push");
    // As a kill leaves it: the section is written, the pointer is not, and what becomes
    // of the candidate is not.
    let (memory, before) = (read(&machine, "MEMORY.md"), states(&machine));
    machine.run_line(&format!("dream promote {id} --yes"));
    fs::write(machine.work().join("MEMORY.md"), memory).unwrap();
    interrupt(&machine, &before);
    let half = format!("the promotion of {id} was interrupted");
    for line in [
        "dream status",
        "dream undo --list",
        "dream review",
        "dream review --json",
        "memory lint",
        "memory verify",
        "memory status",
    ] {
        let told = machine.run_line(line);
        assert_eq!(told.err.matches(&half).count(), 1, "{line}: {told:?}");
        assert!(told.err.contains("`longhaul dream run`"), "{line}");
    }
    for line in ["dream status", "dream undo --list", "dream review"] {
        let told = machine.run_line(&format!("{line} --json")).json();
        let told = told["unfinished"].as_str().unwrap().to_owned();
        assert!(told.starts_with(&half), "{line}: {told}");
    }
    let ran = machine.run_line("dream run");
    assert!(ran.err.contains("was completed"), "{ran:?}");
    let after = machine.run_line("dream status --json").json();
    assert!(after["unfinished"].is_null(), "{after}");
    assert_eq!(after["promoted"], 1, "{after}");
}

#[test]
fn what_is_rejected_does_not_come_back() {
    let machine = machine();
    machine.run_line("dream run");
    let id = id(&machine, "push");
    assert_eq!(machine.run_line(&format!("dream reject {id}")).code, 0);
    log(
        &machine,
        TODAY,
        "User Preferences",
        "Never push on Fridays!",
        Source::User,
    );
    machine.run_line("dream run");
    assert_eq!(ids(&machine).len(), 2);
}

#[test]
fn the_policy_promotes_what_the_user_said_and_a_model_would_keep_and_leaves_the_rest() {
    let machine = machine();
    promote_at(&machine, "0.3");
    let without = machine.run_line("dream run --json").json();
    assert_eq!(
        without["promoted"].as_array().unwrap().len(),
        0,
        "{without}"
    );
    let server = Loopback::start(|request| {
        let judged = |at: usize| {
            format!(
                r#"{{"note": {at}, "keep": true, "quote": "{}"}}"#,
                QUOTES[at - 1]
            )
        };
        Said::text([judged(1), judged(2), judged(3)].join("\n")).reply(request)
    })
    .unwrap();
    let url = server.url();
    let mut command = machine.command();
    command.env("ANTHROPIC_API_KEY", "sk-test");
    let line = [
        "dream",
        "run",
        "--json",
        "--model",
        MODEL,
        "--base-url",
        &url,
    ];
    let ran = machine.finish(command.args(line)).json();
    assert_eq!(ran["promoted"].as_array().unwrap().len(), 1, "{ran}");
    let left = ids(&machine);
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|(_, text)| !text.contains("push")));
}

#[test]
fn a_name_that_fits_nothing_or_several_is_told() {
    let machine = machine();
    machine.run_line("dream run");
    let none = machine.run_line("dream reject d-zzzz");
    assert_eq!(none.code, 2);
    assert!(
        none.err.contains("no candidate is called \"d-zzzz\""),
        "{none:?}"
    );
}

#[test]
fn a_review_without_a_terminal_says_how_to_go_on() {
    let machine = machine();
    assert_eq!(machine.run_line("dream review").code, 3);
    machine.run_line("dream run");
    let refused = machine.run_line("dream review");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("dream review --json"), "{refused:?}");
}

#[test]
fn triggers_are_heeded() {
    let machine = machine();
    // Three in the morning has passed, and nobody has dreamt yet.
    let due = machine.run_line("dream status --json").json();
    assert_eq!(
        (&due["due"], &due["lastRun"]),
        (&"schedule".into(), &serde_json::Value::Null)
    );
    assert_eq!(due["next"], "2026-03-11T03:00:00.000Z");
    assert_eq!(machine.run_line("dream run --if-due").code, 0);
    let again = machine.run_line("dream run --if-due");
    assert_eq!((again.code, again.err.as_str()), (3, "no dream is due\n"));
    // Today's log outgrows its threshold.
    let path = machine.work().join("memory/2026-03-10.md");
    let large = format!(
        "{}{}",
        fs::read_to_string(&path).unwrap(),
        "x\n".repeat(30_000)
    );
    fs::write(&path, large).unwrap();
    let status = machine.run_line("dream status --json").json();
    assert_eq!(status["due"], "dailyLogSize");
    fs::write(
        machine.work().join("longhaul.yaml"),
        "dreaming:\n  enabled: false\n",
    )
    .unwrap();
    assert_eq!(machine.run_line("dream run --if-due").code, 3);
    assert_eq!(machine.run_line("dream run").code, 0);
}

#[test]
fn a_schedule_that_is_none_is_told_with_its_remedy() {
    let machine = machine();
    fs::write(
        machine.work().join("longhaul.yaml"),
        "dreaming:\n  triggers:\n    - type: schedule\n      cron: \"99 3 * * *\"\n",
    )
    .unwrap();
    let failed = machine.run_line("dream run --if-due");
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(
        failed.err.contains("99 3 * * *") && failed.err.contains("help:"),
        "{failed:?}"
    );
}

#[test]
fn old_sessions_are_read_once_and_nothing_of_them_is_promoted() {
    let machine = Machine::new();
    let none = machine.run_line("dream backfill");
    assert_eq!(none.code, 3, "{none:?}");
    machine.put_pi("long", long(8), 2);
    machine.put_pi("small", small("small", "/w").text(), 1);
    promote_at(&machine, "0.0");
    let sessions = machine.files();
    let first = machine.run_line("dream backfill --all --json").json();
    assert_eq!(
        (&first["read"], &first["unchanged"]),
        (&2.into(), &0.into()),
        "{first}"
    );
    let second = machine.run_line("dream backfill --all --json").json();
    assert_eq!(
        (&second["read"], &second["unchanged"]),
        (&0.into(), &2.into()),
        "{second}"
    );
    machine.run_line("dream run");
    assert!(!machine.work().join("MEMORY.md").exists());
    for (path, state) in sessions {
        assert_eq!(machine.files().get(&path), Some(&state), "{path:?}");
    }
}

#[test]
fn a_dream_in_another_process_blocks() {
    let machine = machine();
    machine.run_line("dream run");
    let mut folders = fs::read_dir(machine.home().join(".longhaul/dreams")).unwrap();
    let lock = folders.next().unwrap().unwrap().path().join(".dreaming");
    let held = fs::File::options().append(true).open(lock).unwrap();
    held.lock().unwrap();
    let blocked = machine.run_line("dream run");
    assert_eq!(blocked.code, 4, "{blocked:?}");
    assert_eq!(machine.run_line("dream status").code, 0);
}

/// Runs a review on a terminal of its own with these keys typed.
fn at_a_terminal(machine: &Machine, keys: &str) -> Option<Ran> {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: no script(1) to make a terminal with");
        return None;
    }
    let program = assert_cmd::cargo::cargo_bin!("longhaul");
    let mut command = Command::new("script");
    command
        .args([
            "-qec",
            &format!("{} dream review --color never", program.display()),
            "/dev/null",
        ])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .env("HOME", machine.home())
        .env("LONGHAUL_NOW", crate::machine::NOW)
        .current_dir(machine.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let keys = keys.to_owned();
    // A key that is typed before anybody listens is lost on a terminal.
    let typist = std::thread::spawn(move || {
        for key in keys.chars() {
            std::thread::sleep(std::time::Duration::from_millis(400));
            if stdin.write_all(key.to_string().as_bytes()).is_err() {
                break;
            }
            let _ = stdin.flush();
        }
    });
    let output = child.wait_with_output().unwrap();
    typist.join().unwrap();
    Some(Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).replace('\r', ""),
        err: String::new(),
    })
}

#[test]
fn a_review_at_a_terminal_shows_evidence_and_change_and_does_as_it_is_told() {
    let machine = machine();
    machine.run_line("dream run");
    let Some(ran) = at_a_terminal(&machine, "?kld") else {
        return;
    };
    assert_eq!(ran.code, 0, "{}", ran.out);
    for shown in [
        "1 of 3  d-",
        "  Never push on Fridays.\n",
        "user    memory/2026-03-09.md:6  “Never push on Fridays.”",
        "  MEMORY.md\n",
        "+ - Never push on Fridays. | Details → memories/project.md#d-",
        "[k]eep  [e]dit  [d]rop  [l]ater  [b]ack  [q]uit",
        "nobody vouches for this",
        "1 kept, 0 merged, 1 dropped, 1 left for later; 1 candidate waits.",
    ] {
        assert!(ran.out.contains(shown), "{shown:?} in\n{}", ran.out);
    }
    assert!(read(&machine, "MEMORY.md").contains("Never push on Fridays."));
    assert_eq!(ids(&machine).len(), 1);
}

#[test]
fn a_signal_ends_a_review_and_gives_the_terminal_back_as_it_was() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("script") || !has("stty") {
        eprintln!("skipped: no script(1) and stty(1) for a terminal");
        return;
    }
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("QUIT", 131), ("INT", 130)] {
        let machine = machine();
        machine.run_line("dream run");
        let program = assert_cmd::cargo::cargo_bin!("longhaul");
        let pid = machine.home().join("pid");
        let inner = format!(
            "trap : INT; sh -c 'echo $$ > {}; exec {} dream review --color never'; echo code $?; stty -a",
            pid.display(),
            program.display()
        );
        let mut child = machine.in_terminal(&inner);
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (mut shown, mut typed, mut killers) = (String::new(), false, Vec::new());
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut part) {
            shown.push_str(&String::from_utf8_lossy(&part[..count]));
            if !typed && shown.contains("[q]uit") {
                typed = true;
                stdin.write_all(b"e").unwrap();
                stdin.flush().unwrap();
            }
            if killers.is_empty() && shown.contains("The line as it should read") {
                let pid = fs::read_to_string(&pid).unwrap().trim().to_owned();
                // Again until it has ended: the first may come before it waits.
                killers.push(std::thread::spawn(move || {
                    let kill = || Command::new("kill").args(["-s", signal, &pid]).output();
                    while kill().unwrap().status.success() {
                        std::thread::sleep(std::time::Duration::from_millis(300));
                    }
                }));
            }
        }
        child.wait().unwrap();
        for killer in killers {
            killer.join().unwrap();
        }
        assert!(shown.contains(&format!("code {code}")), "{shown}");
        assert!(shown.contains("0 kept, 0 merged, 0 dropped"), "{shown}");
        let (_, settings) = shown.split_once("code ").unwrap();
        for setting in ["icanon", "echo", "isig"] {
            let off = format!("-{setting}");
            let words: Vec<&str> = settings.split_whitespace().collect();
            assert!(
                words.contains(&setting) && !words.contains(&&*off),
                "{settings}"
            );
        }
    }
}

#[test]
fn a_person_may_put_it_in_their_own_words_and_stop() {
    let machine = machine();
    machine.run_line("dream run");
    let Some(ran) = at_a_terminal(&machine, "e Ever.\nkq") else {
        return;
    };
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(
        ran.out
            .contains("1 kept, 0 merged, 0 dropped, 0 left for later; 2 candidates wait."),
        "{}",
        ran.out
    );
    let memory = read(&machine, "MEMORY.md");
    assert!(
        memory.contains("- Never push on Fridays. Ever. | Details"),
        "{memory}"
    );
    let project = read(&machine, "memories/project.md");
    assert!(
        project.contains("“Never push on Fridays.”"),
        "the words that were said stay"
    );
}

#[test]
fn a_person_may_go_back_and_begin_a_line_anew() {
    let machine = machine();
    machine.run_line("dream run");
    // Nothing is before the first; skipped, come back to, worded anew, taken.
    let Some(ran) = at_a_terminal(&machine, "blbe\u{15}Push on Mondays.\nkq") else {
        return;
    };
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("Nothing before it waits"), "{}", ran.out);
    assert_eq!(ran.out.matches("2 of 3  d-").count(), 2, "{}", ran.out);
    assert!(
        ran.out
            .contains("1 kept, 0 merged, 0 dropped, 0 left for later; 2 candidates wait."),
        "{}",
        ran.out
    );
    let memory = read(&machine, "MEMORY.md");
    assert!(memory.contains("- Push on Mondays. | Details"), "{memory}");
}

#[test]
fn answers_about_dreams_are_as_documented() {
    let machine = machine();
    machine.put_pi("long", long(8), 2);
    for (heading, line) in [
        ("dream status", "dream status"),
        ("dream run", "dream run"),
        ("dream status", "dream status"),
        ("dream review", "dream review"),
        ("dream backfill", "dream backfill --all"),
    ] {
        let printed = machine.run_line(&format!("{line} --json")).json();
        assert_same_fields(&example(heading), &printed, heading);
    }
    let (push, tokens) = (id(&machine, "push"), id(&machine, "RS256"));
    for (heading, line) in [
        ("dream promote", format!("dream promote {push} --yes")),
        ("dream reject", format!("dream reject {tokens}")),
        ("dream undo", "dream undo --yes".to_owned()),
    ] {
        let printed = machine.run_line(&format!("{line} --json")).json();
        assert_same_fields(&example(heading), &printed, heading);
    }
}

#[test]
fn a_model_words_candidates_and_what_it_makes_up_is_dropped() {
    let machine = machine();
    let server = Loopback::start(|request| {
        let asked = String::from_utf8_lossy(&request.body).into_owned();
        assert!(asked.contains("RS256"), "{asked}");
        let said = r#"{"note": 1, "keep": true, "quote": "Never push", "wording": "Never push on Fridays, says Alice Cooper"}
{"note": 2, "keep": true, "quote": "RS256 for tokens", "wording": "RS256: tokens of the login service"}
{"note": 3, "keep": false, "quote": "the API spec lives"}"#;
        Said::text(said).reply(request)
    })
    .unwrap();
    let url = server.url();
    let line = [
        "dream",
        "run",
        "--model",
        MODEL,
        "--base-url",
        &url,
        "--json",
    ];
    let mut command = machine.command();
    let ran = machine.finish(command.env("ANTHROPIC_API_KEY", "sk-test").args(line));
    assert_eq!(ran.code, 0, "{ran:?}");
    let model = &ran.json()["model"];
    assert_eq!(
        (&model["worded"], &model["ungrounded"]),
        (&1.into(), &1.into())
    );
    assert_eq!(model["failure"], serde_json::Value::Null);
    // What is paid is seen.
    let paid = &model["paid"];
    assert_eq!(paid["requests"], model["calls"]);
    assert!(paid["output"].as_u64() > Some(0), "{paid}");
    assert!(paid["dollars"].as_f64() > Some(0.0), "{paid}");
    let status = machine.run_line("dream status --json").json();
    assert_eq!((&status["lastRun"]["paid"], &status["paid"]), (paid, paid));
    let status = machine.run_line("dream status");
    assert!(status.out.contains("cost: all dreams"), "{status:?}");
    let dreams = read(&machine, "DREAMS.md");
    assert!(
        dreams.contains("RS256: tokens of the login service"),
        "{dreams}"
    );
    assert!(!dreams.contains("Alice"), "{dreams}");
    // What was asked is not asked again.
    let before = server.requests().len();
    let mut command = machine.command();
    machine.finish(command.env("ANTHROPIC_API_KEY", "sk-test").args(line));
    assert_eq!(server.requests().len(), before);
}

#[test]
fn a_dream_asks_the_model_of_the_option_else_the_configured_one_else_nobody() {
    let machine = machine();
    let configured = Loopback::start(|request| Said::text("KEEP").reply(request)).unwrap();
    let option = Loopback::start(|request| Said::text("KEEP").reply(request)).unwrap();
    fs::create_dir_all(machine.home().join(".longhaul")).unwrap();
    let (provider, name) = MODEL.split_once('/').unwrap();
    fs::write(
        machine.home().join(".longhaul/longhaul.yaml"),
        format!(
            "dreaming:\n  model:\n    provider: {provider}\n    modelName: {name}\n    baseUrl: {}\n",
            configured.url()
        ),
    )
    .unwrap();
    let asked = || (configured.requests().len(), option.requests().len());
    let dream = |key: &str, more: &[&str]| {
        let mut command = machine.command();
        command.env("ANTHROPIC_API_KEY", key);
        machine.finish(command.args(["dream", "run", "--json"]).args(more))
    };
    let without = dream("sk-test", &["--model", "extractive"]);
    assert_eq!((without.code, asked()), (0, (0, 0)), "{without:?}");
    // Nobody may be there to mend a configured model.
    let keyless = dream("", &[]);
    assert_eq!((keyless.code, asked()), (0, (0, 0)), "{keyless:?}");
    assert!(keyless.err.contains("without a model"), "{keyless:?}");
    let address = option.url();
    let typed = dream("sk-test", &["--model", MODEL, "--base-url", &address]);
    assert_eq!((typed.code, asked().0), (0, 0), "{typed:?}");
    assert!(asked().1 > 0);
    let typed = asked().1;
    log(
        &machine,
        TODAY,
        "Important Decisions",
        "the queue of the mailer is kept in Valkey",
        Source::Agent,
    );
    let ran = dream("sk-test", &[]);
    assert_eq!((ran.code, asked().1), (0, typed), "{ran:?}");
    assert!(asked().0 > 0 && ran.json()["model"]["calls"].as_u64() > Some(0));
    fs::write(
        machine.home().join(".longhaul/longhaul.yaml"),
        "dreaming:\n  model:\n    provider: nobody\n    modelName: m\n",
    )
    .unwrap();
    let wrong = dream("sk-test", &[]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("`dreaming.model`"), "{wrong:?}");
    fs::remove_file(machine.home().join(".longhaul/longhaul.yaml")).unwrap();
    let nowhere = dream("sk-test", &["--base-url", &address]);
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
}

#[test]
fn a_model_that_fails_costs_its_wording_and_a_wrong_name_is_a_mistake() {
    let machine = machine();
    let server =
        Loopback::start(|_| Reply::json(401, &serde_json::json!({ "error": { "message": "no" } })))
            .unwrap();
    let url = server.url();
    let line = ["dream", "run", "--model", MODEL, "--base-url", &url];
    let mut command = machine.command();
    let ran = machine.finish(command.env("ANTHROPIC_API_KEY", "sk-test").args(line));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the rest was done without it"), "{ran:?}");
    assert!(ran.out.contains("3 candidates wait"), "{ran:?}");
    assert_eq!(machine.run_line("dream run --model nonsense").code, 2);
}

#[test]
fn a_chat_dreams_at_its_end_when_the_day_s_log_has_grown() {
    let ground = Ground::saying(vec![Said::text("Good night.")]);
    let short = ground.piped(&[], "Good evening.\n");
    assert_eq!(short.code, 0, "{short:?}");
    assert!(!short.err.contains("dreamt"), "{short:?}");
    for at in 0..600 {
        let text = format!(
            "Decided: service number {at} {}",
            "keeps its own log ".repeat(4)
        );
        log(
            &ground.machine,
            TODAY,
            "Important Decisions",
            &text,
            Source::Agent,
        );
    }
    let long = ground.piped(&[], "Good night.\n");
    assert_eq!(long.code, 0, "{long:?}");
    assert!(long.err.contains("dreamt (daily log size): "), "{long:?}");
    assert!(read(&ground.machine, "DREAMS.md").contains("service number"));
    // Not again for the same log, and not a word where nobody wants one.
    let again = ground.piped(&[], "Good night.\n");
    assert!(!again.err.contains("dreamt"), "{again:?}");
}

#[test]
fn what_an_agent_looks_up_again_and_again_is_more_worth_keeping() {
    let confidence = |lookups: usize| {
        let call = r#"{"query":"push on Fridays"}"#;
        let mut said: Vec<Said> = (0..lookups)
            .map(|at| Said::call(&format!("c{at}"), "memory_search", call))
            .collect();
        said.push(Said::text("Not on Fridays."));
        let ground = Ground::saying(said);
        log(
            &ground.machine,
            TODAY,
            "User Preferences",
            "Never push on Fridays.",
            Source::User,
        );
        let ran = ground.chat(&["-p", "When may I push?"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ground.machine.run_line("dream run").code, 0);
        let listed = ground.machine.run_line("dream review --json").json();
        listed["candidates"][0]["confidence"].as_f64().unwrap()
    };
    let (never, thrice) = (confidence(0), confidence(3));
    assert!(thrice > never + 0.05, "{never} {thrice}");
}
