//! `hook`: what Claude Code runs around its own compactions.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use longhaul_testkit::recorded;
use serde_json::{Value, json};

use crate::corpus::corpus;
use crate::machine::{Machine, NOW, Ran};

const ID: &str = "3f1c2b6a-0000-4000-8000-000000000001";

/// Runs a hook as Claude Code does: its words as JSON on standard input.
fn hook(machine: &Machine, event: &str, input: impl AsRef<[u8]>) -> Ran {
    hook_at(machine, NOW, event, input)
}

fn hook_at(machine: &Machine, now: &str, event: &str, input: impl AsRef<[u8]>) -> Ran {
    // A busy machine is no reason to fail.
    let mut child = machine
        .command()
        .env("LONGHAUL_NOW", now)
        .args(["hook", "--give-up-after", "120", event])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that reads nothing may be gone by now.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn input(machine: &Machine, transcript: &Path, more: Value) -> String {
    let mut input = json!({
        "session_id": ID,
        "transcript_path": transcript,
        "cwd": machine.work(),
        "permission_mode": "default",
    });
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    input.to_string()
}

/// What the hooks around a compaction are told.
fn compacting(machine: &Machine, transcript: &Path) -> String {
    let more = json!({ "trigger": "auto", "source": "compact" });
    input(machine, transcript, more)
}

/// Where the state of the work is kept.
fn state(machine: &Machine) -> PathBuf {
    machine.home().join(".longhaul/context/state").join(ID)
}

/// A transcript as Claude Code writes it, with one file changed and a to-do
/// left.
fn transcript(machine: &Machine) -> PathBuf {
    let mut parent = Value::Null;
    let mut nth = 0;
    let mut line = |kind: &str, message: Value| {
        nth += 1;
        let uuid = format!("00000000-0000-4000-8000-{nth:012}");
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": machine.work(), "sessionId": ID, "version": "2.1.17", "type": kind,
            "message": message, "uuid": uuid, "timestamp": format!("2026-03-10T11:00:{nth:02}.000Z"),
        });
        parent = json!(uuid);
        format!("{line}\n")
    };
    let call = |id: &str, name: &str, input: Value| {
        json!({
            "role": "assistant", "model": "claude-opus-4-5", "id": format!("msg_{id}"), "type": "message",
            "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }],
            "stop_reason": "tool_use",
            "usage": { "input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 9_000, "cache_creation_input_tokens": 100 },
        })
    };
    let result = |id: &str, text: &str| {
        json!({
            "role": "user",
            "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }],
        })
    };
    let text = [
        line("user", json!({ "role": "user", "content": "Move the ferry timetable to UTC." })),
        line("assistant", call("t1", "Edit", json!({
            "file_path": machine.work().join("src/timetable.rs"), "old_string": "Local", "new_string": "Utc",
        }))),
        line("user", result("t1", "The file has been updated.")),
        line("assistant", call("t2", "TodoWrite", json!({ "todos": [
            { "content": "Change the type", "status": "completed", "activeForm": "Changing" },
            { "content": "Check the winter harbour", "status": "pending", "activeForm": "Checking" },
        ] }))),
        line("user", result("t2", "Todos have been modified.")),
    ]
    .concat();
    machine.put(&format!(".claude/projects/-work/{ID}.jsonl"), text, 0)
}

fn context(ran: &Ran) -> String {
    let answer = ran.json();
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "SessionStart");
    specific["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_saved_before_a_compaction_comes_back_after_it() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let before = fs::read(&path).unwrap();
    let saved = hook(
        &machine,
        "pre-compact",
        input(&machine, &path, json!({ "trigger": "auto" })),
    );
    assert_eq!(
        (saved.code, saved.out.as_str(), saved.err.as_str()),
        (0, "", "")
    );
    let back = hook(
        &machine,
        "SessionStart",
        input(&machine, &path, json!({ "source": "compact" })),
    );
    assert_eq!((back.code, back.err.as_str()), (0, ""));
    let text = context(&back);
    for wanted in [
        "Move the ferry timetable to UTC.",
        "src/timetable.rs",
        "Check the winter harbour",
        "cp_001",
        "not a message of the user",
        &format!("(session \"{ID}\")"),
        &format!("longhaul recall --session {ID}"),
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in {text}");
    }
    assert!(text.chars().count() < 10_000);
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the transcript is only read"
    );
}

#[test]
fn asking_twice_saves_once() {
    let machine = Machine::new();
    let path = transcript(&machine);
    for _ in 0..3 {
        hook(
            &machine,
            "PreCompact",
            input(&machine, &path, json!({ "trigger": "manual" })),
        );
    }
    let listed = machine.run(["checkpoint", "list", ID, "--json"]).json();
    let rows = listed["checkpoints"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{listed}");
    assert_eq!(rows[0]["trigger"], "manual");
}

#[test]
fn a_compaction_without_a_checkpoint_gets_one_from_the_transcript() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let back = hook(
        &machine,
        "session-start",
        input(&machine, &path, json!({ "source": "compact" })),
    );
    assert!(context(&back).contains("Check the winter harbour"));
}

#[test]
fn an_old_checkpoint_is_not_taken_for_that_of_the_compaction() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let told = input(
        &machine,
        &path,
        json!({ "source": "compact", "trigger": "auto" }),
    );
    hook(&machine, "pre-compact", &told);
    let mut text = fs::read_to_string(&path).unwrap();
    let line = json!({
        "parentUuid": "00000000-0000-4000-8000-000000000005", "isSidechain": false,
        "userType": "external", "cwd": machine.work(), "sessionId": ID, "version": "2.1.17",
        "type": "user", "message": { "role": "user", "content": "Leave the lighthouse out of it." },
        "uuid": "00000000-0000-4000-8000-000000000016", "timestamp": "2026-03-10T12:30:00.000Z",
    });
    text.push_str(&format!("{line}\n"));
    fs::write(&path, text).unwrap();
    let back = hook_at(&machine, "2026-03-10T13:00:00Z", "session-start", &told);
    let text = context(&back);
    assert!(text.contains("Leave the lighthouse out of it."), "{text}");
    assert!(text.contains("cp_002"), "{text}");
}

#[test]
fn a_start_without_a_compaction_is_left_alone() {
    let machine = Machine::new();
    let path = transcript(&machine);
    hook(
        &machine,
        "pre-compact",
        input(&machine, &path, json!({ "trigger": "auto" })),
    );
    for source in ["startup", "resume", "clear", "of a later version"] {
        let ran = hook(
            &machine,
            "session-start",
            input(&machine, &path, json!({ "source": source })),
        );
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (0, "", ""),
            "{source}"
        );
    }
}

#[test]
fn notes_of_the_workspace_come_back_within_the_limit_of_the_agent() {
    let machine = Machine::new();
    let path = transcript(&machine);
    fs::create_dir(machine.work().join("memories")).unwrap();
    fs::write(
        machine.work().join("MEMORY.md"),
        "- The harbour master is Ada\n",
    )
    .unwrap();
    fs::write(
        machine.work().join("memories/context.md"),
        "word ".repeat(20_000),
    )
    .unwrap();
    let back = hook(
        &machine,
        "session-start",
        input(&machine, &path, json!({ "source": "compact" })),
    );
    let text = context(&back);
    assert!(text.contains("The harbour master is Ada"), "{text}");
    assert!(text.chars().count() < 10_000, "{}", text.chars().count());
}

#[test]
fn stopping_notes_the_state_and_nothing_is_said() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let state = state(&machine).join("open_items.json");
    let active = input(&machine, &path, json!({ "stop_hook_active": true }));
    let ran = hook(&machine, "stop", active);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert!(!state.exists(), "a hook that is asked again does nothing");
    let ran = hook(
        &machine,
        "stop",
        input(&machine, &path, json!({ "stop_hook_active": false })),
    );
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let noted = fs::read_to_string(&state).unwrap();
    assert!(noted.contains("Check the winter harbour"), "{noted}");
}

/// Claude Code compacts: a boundary and a summary, appended.
fn compact(machine: &Machine, path: &Path) {
    let mut text = fs::read_to_string(path).unwrap();
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": "00000000-0000-4000-8000-000000000005",
        "isSidechain": false, "userType": "external", "cwd": machine.work(), "sessionId": ID,
        "version": "2.1.17", "type": "system", "subtype": "compact_boundary",
        "content": "Conversation compacted", "isMeta": false, "level": "info",
        "uuid": "00000000-0000-4000-8000-000000000006", "timestamp": "2026-03-10T11:01:00.000Z",
        "compactMetadata": { "trigger": "auto", "preTokens": 155_000 },
    });
    let summary = json!({
        "parentUuid": "00000000-0000-4000-8000-000000000006", "isSidechain": false,
        "userType": "external", "cwd": machine.work(), "sessionId": ID, "version": "2.1.17",
        "type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
        "message": { "role": "user", "content": "This session is being continued." },
        "uuid": "00000000-0000-4000-8000-000000000007", "timestamp": "2026-03-10T11:01:01.000Z",
    });
    text.push_str(&format!("{boundary}\n{summary}\n"));
    fs::write(path, text).unwrap();
}

/// Records that say nothing, so that the file is long.
fn filler(bytes: usize) -> String {
    format!(
        "{}\n",
        json!({ "type": "progress", "data": "-".repeat(bytes) })
    )
}

#[test]
fn what_was_folded_once_is_not_read_again() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, filler(8 << 10) + &text + &filler(512 << 10)).unwrap();
    compact(&machine, &path);
    let told = compacting(&machine, &path);
    let ran = hook(&machine, "stop", &told);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    // Were what came before read again, it would be another file.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("timetable.rs", "timetadle.rs")).unwrap();
    let packet = context(&hook(&machine, "session-start", &told));
    assert!(packet.contains("src/timetable.rs"), "{packet}");
    assert!(packet.contains("Check the winter harbour"), "{packet}");
    fs::write(&path, &text).unwrap();
    fs::write(survey(&machine), "damaged").unwrap();
    let ran = hook(&machine, "pre-compact", &told);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, ""),
        "a damaged survey is made anew"
    );
    assert!(fs::read(survey(&machine)).unwrap().len() > 1_000);
}

/// Where the survey of the session is.
fn survey(machine: &Machine) -> PathBuf {
    let files = fs::read_dir(state(machine)).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|kind| kind == "sqlite"));
    found.unwrap()
}

#[test]
fn a_checkpoint_of_an_earlier_compaction_is_not_given_back_for_a_later_one() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let told = compacting(&machine, &path);
    // Saved a moment after the first compaction, and the hook before the second
    // was given up.
    assert_eq!(
        hook_at(&machine, "2026-03-10T11:01:00Z", "pre-compact", &told).err,
        ""
    );
    compact(&machine, &path);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + &more(&machine, false)).unwrap();
    let packet = context(&hook_at(
        &machine,
        "2026-03-10T11:13:00Z",
        "session-start",
        &told,
    ));
    assert!(packet.contains("harbour0.rs"), "{packet}");
}

#[test]
fn whatever_is_wrong_with_its_arguments_a_hook_does_not_block_the_agent() {
    let machine = Machine::new();
    for line in [
        "hook --give-up-after 0 stop",
        "--window bogus hook stop",
        "hook pre-compact --unknown",
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert!(ran.err.contains("error"), "{line}: {ran:?}");
    }
    assert_eq!(machine.run_line("hook install --unknown").code, 2);
}

/// What follows a compaction: a file is changed, and it is compacted again.
fn more(machine: &Machine, again: bool) -> String {
    let (from, nth) = if again { (12, 1) } else { (7, 0) };
    let uuid = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
    let line = |n: u32, parent: Value, kind: &str, more: Value| {
        let mut line = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": machine.work(), "sessionId": ID, "version": "2.1.17", "type": kind,
            "uuid": uuid(n), "timestamp": format!("2026-03-10T11:{n:02}:00.000Z"),
        });
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        format!("{line}\n")
    };
    let file = machine.work().join(format!("src/harbour{nth}.rs"));
    [
        line(from + 1, json!(uuid(from)), "assistant", json!({ "message": {
            "role": "assistant", "model": "claude-opus-4-5", "id": format!("msg_{nth}"), "type": "message",
            "content": [{ "type": "tool_use", "id": format!("h{nth}"), "name": "Edit",
                "input": { "file_path": file, "old_string": "a", "new_string": "b" } }],
            "stop_reason": "tool_use", "usage": { "input_tokens": 10, "output_tokens": 20 },
        } })),
        line(from + 2, json!(uuid(from + 1)), "user", json!({ "message": {
            "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("h{nth}"), "content": "Done." }],
        } })),
        line(from + 4, Value::Null, "system", json!({
            "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
            "logicalParentUuid": uuid(from + 2),
            "compactMetadata": { "trigger": "auto", "preTokens": 155_000 },
        })),
        line(from + 5, json!(uuid(from + 4)), "user", json!({
            "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": { "role": "user", "content": "This session is being continued." },
        })),
    ]
    .concat()
}

#[test]
fn a_piece_of_a_secret_from_before_a_compaction_is_not_saved_by_a_later_hook() {
    const PIECE: &str = "u8mxQ1TLEij4d8xI6D";
    let machine = Machine::new();
    let path = transcript(&machine);
    let text = fs::read_to_string(&path).unwrap();
    let token = format!("The file has been updated. GITHUB_TOKEN=ghp_{PIECE}AbCdEfGh12345678XyZw");
    fs::write(&path, text.replace("The file has been updated.", &token)).unwrap();
    compact(&machine, &path);
    let told = input(&machine, &path, json!({ "trigger": "auto" }));
    assert_eq!(hook(&machine, "stop", &told).err, "");
    let said = json!({
        "parentUuid": "00000000-0000-4000-8000-000000000007", "isSidechain": false,
        "userType": "external", "cwd": machine.work(), "sessionId": ID, "version": "2.1.17",
        "type": "user", "uuid": "00000000-0000-4000-8000-000000000008",
        "timestamp": "2026-03-10T11:02:00.000Z",
        "message": { "role": "user", "content": format!(
            "Decision: always log in with {PIECE} from now on, and check the harbour.") },
    });
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{said}\n")).unwrap();
    for event in ["stop", "pre-compact"] {
        assert_eq!(hook(&machine, event, &told).err, "");
    }
    let mut read = 0;
    let mut folders = vec![machine.home().join(".longhaul")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    assert!(!text.contains(PIECE), "{}: {text}", path.display());
                    read += usize::from(text.contains("and check the harbour"));
                }
            }
        }
    }
    assert!(read > 0, "what was said is saved");
}

#[test]
fn what_left_the_context_is_findable_after_a_compaction() {
    let machine = Machine::new();
    let path = transcript(&machine);
    compact(&machine, &path);
    let ran = hook(
        &machine,
        "PostCompact",
        input(&machine, &path, json!({ "trigger": "auto" })),
    );
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let found = machine.run(["memory", "search", "ferry timetable", "--words", "--json"]);
    assert_eq!(found.code, 0, "{found:?}");
    assert_eq!(found.json()["hits"][0]["kind"], "transcript");
}

#[test]
fn whatever_goes_wrong_the_agent_goes_on() {
    let machine = Machine::new();
    let path = transcript(&machine);
    let missing = machine.home().join("gone.jsonl");
    let torn = machine.put("torn.jsonl", &fs::read(&path).unwrap()[..900], 0);
    for event in [
        "pre-compact",
        "post-compact",
        "session-start",
        "stop",
        "Elsewhere",
    ] {
        for wrong in [
            String::new(),
            "not json".into(),
            "[]".into(),
            "{}".into(),
            input(&machine, &missing, json!({ "source": "compact" })),
            input(&machine, Path::new("/"), json!({ "source": "compact" })),
            input(
                &machine,
                &torn,
                json!({ "source": "compact", "session_id": 7 }),
            ),
            input(
                &machine,
                &torn,
                json!({ "source": "compact", "trigger": "auto" }),
            ),
        ] {
            let ran = hook(&machine, event, &wrong);
            assert_eq!(ran.code, 0, "{event} {wrong}: {ran:?}");
            assert!(!ran.err.contains("panicked"), "{event} {wrong}: {ran:?}");
        }
    }
    let said = hook(&machine, "pre-compact", "not json");
    assert_eq!(said.out, "");
    assert!(
        said.err.starts_with("longhaul: the hook did nothing: "),
        "{said:?}"
    );
}

#[test]
fn a_broken_configuration_does_not_stop_the_agent() {
    let machine = Machine::new();
    let path = transcript(&machine);
    machine.put(".longhaul/longhaul.yaml", "compaction:\n  nonsense: 1\n", 0);
    let saved = hook(
        &machine,
        "pre-compact",
        input(&machine, &path, json!({ "trigger": "auto" })),
    );
    assert_eq!((saved.code, saved.out.as_str()), (0, ""));
    assert!(saved.err.contains("goes on with the defaults"), "{saved:?}");
    let back = hook(
        &machine,
        "session-start",
        input(&machine, &path, json!({ "source": "compact" })),
    );
    assert!(context(&back).contains("src/timetable.rs"));
    let mut command = machine.command();
    command
        .env("LONGHAUL_NOW", "yesterday")
        .args(["hook", "stop"]);
    let ran = machine.finish(command.stdin(Stdio::null()));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("LONGHAUL_NOW"), "{ran:?}");
}

#[test]
fn what_takes_too_long_is_given_up() {
    let machine = Machine::new();
    let mut command = machine.command();
    command.args(["hook", "--give-up-after", "1", "stop"]);
    // An agent that never closes its end.
    let mut child = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let status = child.wait().unwrap();
    drop(open);
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("given up after 1 s"), "{said}");
}

#[test]
fn nothing_is_written_where_nothing_may_be() {
    let machine = Machine::new();
    let path = transcript(&machine);
    machine.put(".longhaul/longhaul.yaml", "sandbox:\n  readOnly: true\n", 0);
    let before = machine.files();
    for event in ["pre-compact", "post-compact", "session-start", "stop"] {
        let ran = hook(
            &machine,
            event,
            input(&machine, &path, json!({ "source": "compact" })),
        );
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (0, "", ""),
            "{event}"
        );
    }
    assert!(machine.files() == before);
}

#[test]
fn hooks_are_installed_once_beside_what_is_there_and_taken_out_again() {
    let machine = Machine::new();
    let theirs = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n        ]\n    }\n}\n";
    let path = machine.put(".claude/settings.json", theirs, 0);
    let dry = machine.run_line("hook install --claude-code --dry-run");
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.out.contains("hook pre-compact"), "{dry:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), theirs);

    let done = machine.run_line("hook install --claude-code");
    assert_eq!(done.code, 0, "{done:?}");
    let settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(settings["model"], "opus");
    assert_eq!(
        settings["hooks"]["Stop"][0]["hooks"][0]["command"],
        "say done"
    );
    let command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    assert!(command.ends_with(" hook session-start"), "{command}");
    let backup = path.with_file_name("settings.json.longhaul-backup");
    assert_eq!(fs::read_to_string(backup).unwrap(), theirs);
    let again = machine.run_line("hook install --claude-code --user");
    assert_eq!(again.code, 3, "{again:?}");

    let gone = machine.run_line("hook uninstall --claude-code");
    assert_eq!(gone.code, 0, "{gone:?}");
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let wanted: Value = serde_json::from_str(theirs).unwrap();
    assert_eq!(left, wanted);
}

#[test]
fn the_installed_command_runs_in_a_shell() {
    let machine = Machine::new();
    let path = transcript(&machine);
    machine.run_line("hook install --claude-code");
    let settings = fs::read_to_string(machine.home().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let command = settings["hooks"]["PreCompact"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let mut child = std::process::Command::new("/bin/sh")
        .args(["-c", command])
        .env_clear()
        .env("HOME", machine.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = input(&machine, &path, json!({ "trigger": "auto" }));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(told.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    let saved = machine
        .home()
        .join(format!(".longhaul/context/checkpoints/{ID}/cp_001.yaml"));
    assert!(saved.exists());
}

#[test]
fn settings_that_cannot_be_read_are_left_as_they_are() {
    let machine = Machine::new();
    for wrong in ["{ \"hooks\": ", "[1]", "{ \"hooks\": 3 }", "{ // mine\n}"] {
        let path = machine.put(".claude/settings.json", wrong, 0);
        let ran = machine.run_line("hook install --claude-code");
        assert_eq!(ran.code, 1, "{wrong}: {ran:?}");
        assert!(ran.err.contains("is left as it is"), "{ran:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), wrong);
    }
}

#[test]
fn a_project_calls_the_program_by_its_name() {
    let machine = Machine::new();
    let done = machine.run_line("hook install --claude-code --project");
    assert_eq!(done.code, 0, "{done:?}");
    let text = fs::read_to_string(machine.work().join(".claude/settings.json")).unwrap();
    assert!(text.contains("\"longhaul hook stop\""), "{text}");
    assert!(!machine.home().join(".claude").exists());
}

/// Real transcripts: the packet names the task, files that were changed and
/// what is open, and no transcript is touched.
#[test]
fn real_sessions_come_back_with_their_task_and_files() {
    let Some(corpus) = corpus() else { return };
    let machine = Machine::new();
    let mut seen = 0;
    let mut with_items = 0;
    for file in fs::read_dir(corpus.join("transcripts")).unwrap() {
        let packed = file.unwrap().path();
        let name = packed.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name
            .strip_suffix(".jsonl.gz")
            .filter(|stem| stem.starts_with("cc-entire"))
        else {
            continue;
        };
        let text = recorded::read(&packed);
        let path = machine.put(&format!(".claude/projects/-w/{stem}.jsonl"), &text, 0);
        let saved = hook(
            &machine,
            "pre-compact",
            input(&machine, &path, json!({ "trigger": "auto" })),
        );
        assert_eq!(
            (saved.code, saved.out.as_str()),
            (0, ""),
            "{stem}: {saved:?}"
        );
        let back = hook(
            &machine,
            "session-start",
            input(&machine, &path, json!({ "source": "compact" })),
        );
        let packet = context(&back);
        let shown = path.to_str().unwrap();
        let checkpoint = machine
            .run(["checkpoint", "show", "--session", shown, "--json"])
            .json()["checkpoint"]
            .clone();
        let topic = checkpoint["working"]["topic"].as_str().unwrap();
        let start: String = topic
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(30)
            .collect();
        assert!(
            !start.is_empty() && packet.contains(&start),
            "{stem}: {start:?} in {packet}"
        );
        let modified = checkpoint["resources"]["files_modified"]
            .as_array()
            .unwrap();
        let named = |path: &Value| {
            let path = path.as_str().unwrap();
            packet.contains(path.rsplit('/').next().unwrap())
        };
        let truth = corpus.join(format!("transcripts/{stem}.truth.json"));
        if truth.exists() {
            assert!(
                modified.iter().any(named),
                "{stem}: no changed file in {packet}"
            );
        }
        let items = checkpoint["open_items"].as_array().unwrap();
        if let Some(item) = items.first().and_then(Value::as_str) {
            let start: String = item.chars().take(30).collect();
            assert!(packet.contains(&start), "{stem}: {start:?} in {packet}");
            with_items += 1;
        }
        assert!(packet.chars().count() < 10_000, "{stem}");
        assert_eq!(fs::read(&path).unwrap(), text, "{stem} is only read");
        seen += 1;
    }
    assert!(seen >= 8, "{seen} transcripts");
    assert!(with_items > 0, "none of {seen} has an open item");
}
