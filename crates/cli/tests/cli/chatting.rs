//! `chat` through pipes, against a server that speaks as the providers do.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use longhaul_model::Usage;
use longhaul_testkit::content;
use longhaul_testkit::loopback::{Ending, Loopback, Recorded, Reply, Said};
use serde_json::{Value, json};

use crate::machine::{Machine, Ran};

/// A machine and a model that it can ask.
pub(crate) struct Ground {
    pub(crate) machine: Machine,
    pub(crate) server: Loopback,
}

pub(crate) const MODEL: &str = "anthropic/claude-sonnet-4-5";

impl Ground {
    pub(crate) fn new(script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Ground {
        Ground {
            machine: Machine::new(),
            server: Loopback::start(script).unwrap(),
        }
    }

    /// A model that says these, one after the other, and then the last again.
    pub(crate) fn saying(answers: Vec<Said>) -> Ground {
        let next = std::sync::atomic::AtomicUsize::new(0);
        Ground::new(move |request| {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            answers[at.min(answers.len() - 1)].reply(request)
        })
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.machine.command();
        command
            .arg("chat")
            .args(["--model", MODEL, "--base-url", &self.server.url()])
            .args(args)
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
            .env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    pub(crate) fn chat(&self, args: &[&str]) -> Ran {
        self.machine.finish(self.command(args).stdin(Stdio::null()))
    }

    /// A chat that is in the session `s`, was greeted there and has answered.
    pub(crate) fn in_session(&self, answer: &str) -> (Child, ChildStdin, BufReader<ChildStdout>) {
        let mut child = self
            .command(&["--session", "s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"hello\n").unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert_eq!(line, answer);
        (child, input, out)
    }

    pub(crate) fn piped(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that has given up reads no more.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let folder = self.machine.home().join(".longhaul/sessions");
        let Ok(files) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The messages of the only session, which must be whole.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        let path = sessions[0].to_str().unwrap();
        let verified = self.machine.run(["session", "verify", path]);
        assert_eq!(verified.code, 0, "{verified:?}");
        fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|entry| entry["type"] == "message")
            .map(|entry| entry["message"].clone())
            .collect()
    }
}

fn usage() -> Option<Usage> {
    Some(Usage {
        input: 1000,
        output: 100,
        cache_read: 2000,
        cache_write: 300,
    })
}

#[test]
fn one_message_prints_the_answer_and_nothing_else() {
    let ground = Ground::saying(vec![Said::text("The answer is 4.")]);
    let ran = ground.chat(&["-p", "What is 2 + 2?"]);
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (0, "The answer is 4.\n", "")
    );
    let messages = ground.messages();
    assert_eq!(content::text(&messages[0]), "What is 2 + 2?");
    assert_eq!(content::text(&messages[1]), "The answer is 4.");
    assert_eq!(messages[1]["role"], "assistant");
}

#[cfg(unix)]
#[test]
fn a_link_among_the_memory_files_is_told_as_left_out_and_as_nothing_else() {
    let ground = Ground::saying(vec![Said::text("Done.")]);
    let logs = ground.machine.work().join("memory");
    fs::create_dir_all(&logs).unwrap();
    std::os::unix::fs::symlink("/etc", logs.join("link.md")).unwrap();
    // The files are looked at beside the work; a chat may end before.
    for _ in 0..20 {
        let ran = ground.chat(&["-p", "hello"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.err.contains("left the context"), "{ran:?}");
        if ran.err.contains("memory/link.md is a link") {
            assert!(ran.err.contains("the link was left out"), "{ran:?}");
            return;
        }
    }
    panic!("the link was never told");
}

#[test]
fn a_message_may_come_from_standard_input() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.piped(&["-p"], "two\nlines\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"));
    assert_eq!(content::text(&ground.messages()[0]), "two\nlines\n");
}

#[test]
fn what_is_piped_in_follows_the_message() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.piped(&["-p", "review this"], "- old\n+ new\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{ran:?}");
    let said = content::text(&ground.messages()[0]);
    assert_eq!(said, "review this\n\n- old\n+ new\n");
    // An empty pipe adds nothing.
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.piped(&["-p", "the message"], "");
    assert_eq!(content::text(&ground.messages()[0]), "the message");
}

#[test]
fn a_pipe_in_which_nothing_comes_is_not_waited_for() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let mut child = ground
        .command(&["-p", "the message"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(held);
    assert_eq!(output.stdout, b"ok\n");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("nothing came on standard input"), "{told}");
}

#[test]
fn a_task_is_done_by_a_subagent_with_its_own_session_and_limits() {
    let ground = Ground::new(|request| {
        let asked = request.json().to_string();
        let said = match (asked.contains("# Subagent"), asked.contains("tool_result")) {
            (true, _) => Said::text("There are 12 tests."),
            (false, false) => Said::call(
                "call-1",
                "task",
                &json!({ "task": "Count the tests.", "rounds": 7 }).to_string(),
            ),
            (false, true) => Said::text("Twelve."),
        };
        said.reply(request)
    });
    let ran = ground.chat(&["-p", "--session", "s", "how many tests?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Twelve.\n"), "{ran:?}");
    let requests = ground.server.requests();
    let of_subagent = requests.iter().map(|one| one.json().to_string());
    let of_subagent: Vec<String> = of_subagent
        .filter(|one| one.contains("# Subagent"))
        .collect();
    assert_eq!(of_subagent.len(), 1);
    assert!(
        of_subagent[0].contains("7 model calls"),
        "{}",
        of_subagent[0]
    );
    assert!(
        !of_subagent[0].contains("\"name\":\"task\""),
        "{}",
        of_subagent[0]
    );
    let result = requests.last().unwrap().json().to_string();
    assert!(result.contains("There are 12 tests."), "{result}");
    let mut headers = ground.sessions().into_iter().map(|path| {
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str::<Value>(text.lines().next().unwrap()).unwrap()
    });
    let child = headers.find(|header| header["id"].as_str().unwrap().contains(":subagent:"));
    let parent = child.unwrap()["parentSession"].clone();
    assert!(parent.as_str().unwrap().ends_with("_s.jsonl"), "{parent}");
}

#[test]
fn what_the_configuration_says_of_the_prompt_is_in_it() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    for (key, value) in [
        ("prompt.tts", "short sentences"),
        ("prompt.extra", "Be kind."),
    ] {
        let ran = ground.machine.run(["config", "set", key, value]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    ground.chat(&["-p", "hello"]);
    let asked = ground.server.requests()[0].json().to_string();
    for said in ["Your answer is read aloud: short sentences", "Be kind."] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
}

#[test]
fn one_message_tells_beside_the_answer_that_the_context_was_compacted() {
    for quiet in [false, true] {
        let ground = Ground::saying(vec![Said::text("noted").usage(None)]);
        let input: String = (0..7)
            .map(|nth| format!("message {nth}: {}\n", "some words to fill it ".repeat(200)))
            .collect();
        let ran = ground.piped(&["--session", "s"], &input);
        assert_eq!(ran.code, 0, "{ran:?}");
        let mut args = vec!["--session", "s", "--window", "8k", "-p", "and now?"];
        if quiet {
            args.push("--quiet");
        }
        let ran = ground.chat(&args);
        assert_eq!((ran.code, ran.out.as_str()), (0, "noted\n"), "{ran:?}");
        assert_eq!(ran.err.contains("compacted ("), !quiet, "{ran:?}");
        assert_eq!(ran.err.is_empty(), quiet, "{ran:?}");
    }
}

#[test]
fn events_for_programs_are_json_lines_and_end_with_the_result_and_its_cost() {
    let ground = Ground::saying(vec![Said::text("hello").usage(usage())]);
    let ran = ground.chat(&["--json", "hi"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    for name in [
        "turnBegan",
        "asked",
        "text",
        "answered",
        "turnEnded",
        "result",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let streamed: String = lines
        .iter()
        .filter(|line| line["event"] == "text")
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert_eq!(streamed, "hello");
    let result = lines.last().unwrap();
    assert_eq!(result["event"], "result");
    assert_eq!(
        (&result["ok"], &result["text"]),
        (&json!(true), &json!("hello"))
    );
    let spent = &result["spent"];
    assert_eq!(
        (
            &spent["input"],
            &spent["output"],
            &spent["cacheRead"],
            &spent["cacheWrite"]
        ),
        (&json!(1000), &json!(100), &json!(2000), &json!(300))
    );
    assert!(spent["dollars"].as_f64().unwrap() > 0.0, "{spent}");
    assert_eq!(result["error"], Value::Null);
}

#[test]
fn a_session_is_gone_on_with_by_its_name() {
    let ground = Ground::saying(vec![Said::text("noted"), Said::text("blue")]);
    let ran = ground.chat(&["--session", "work/π", "-p", "My colour is blue."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = ground.chat(&["--session", "work/π", "-p", "Which colour?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "blue\n"), "{ran:?}");
    assert_eq!(ground.messages().len(), 4);
    let sent = ground.server.requests()[1].json().to_string();
    assert!(sent.contains("My colour is blue."), "{sent}");
    // Another name is another session, and so is the same with --new.
    ground.chat(&["--session", "other", "-p", "x"]);
    ground.chat(&["--session", "work/π", "--new", "-p", "x"]);
    assert_eq!(ground.sessions().len(), 3);
    let sent = ground.server.requests()[2].json().to_string();
    assert!(!sent.contains("My colour is blue."), "{sent}");
}

#[test]
fn a_session_remembers_its_model() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.chat(&["--session", "s", "-p", "x"]);
    let mut command = ground.machine.command();
    command
        .args([
            "chat",
            "--session",
            "s",
            "-p",
            "y",
            "--base-url",
            &ground.server.url(),
        ])
        .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
        .stdin(Stdio::null());
    let ran = ground.machine.finish(&mut command);
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{ran:?}");
    assert_eq!(ground.server.requests()[1].model(), "claude-sonnet-4-5");
}

#[test]
fn lines_are_messages_and_commands_work_among_them() {
    let ground = Ground::saying(vec![Said::text("one").usage(usage()), Said::text("two")]);
    let ran = ground.piped(&[], "first\n\n/status\n/help\nsecond\n/quit\nnever\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("one\n"), "{ran:?}");
    assert!(ran.out.ends_with("two\n"), "{ran:?}");
    assert!(
        ran.out
            .contains("Cost: last turn  1,000 in, 100 out, cache 2,000 read, 300 written; $0.0"),
        "{ran:?}"
    );
    assert!(ran.out.contains("/compact [focus]"), "{ran:?}");
    assert_eq!(ground.messages().len(), 4);
}

#[test]
fn json_lines_answer_every_line_of_input() {
    let ground = Ground::saying(vec![Said::text("one"), Said::text("two")]);
    let ran = ground.piped(&["--json"], "first\nsecond\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    let results: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["event"] == "result")
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(results, [json!("one"), json!("two")]);
}

#[test]
fn without_a_session_lines_go_on_with_the_newest_of_the_workspace() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.piped(&[], "first\n");
    ground.piped(&[], "second\n");
    assert_eq!(ground.messages().len(), 4);
    ground.piped(&["--new"], "third\n");
    assert_eq!(ground.sessions().len(), 2);
}

#[test]
fn what_was_not_allowed_is_not_done_and_the_model_is_told() {
    let arguments = json!({"path": "a.txt", "content": "x"}).to_string();
    let ground = Ground::saying(vec![
        Said::call("c1", "write", &arguments),
        Said::text("I could not."),
    ]);
    let ran = ground.piped(&[], "write it\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ground.machine.work().join("a.txt").exists());
    let messages = ground.messages();
    assert_eq!(messages[2]["role"], "toolResult");
    assert_eq!(messages[2]["isError"], true);
    assert!(
        content::text(&messages[2]).contains("nobody is there"),
        "{}",
        messages[2]
    );
    assert!(ran.err.contains("• write a.txt ✗"), "{ran:?}");
}

#[test]
fn what_was_allowed_is_done() {
    let write = json!({"path": "src/a.txt", "content": "x\n"}).to_string();
    let bash = json!({"command": "cat src/a.txt; env"}).to_string();
    let script = vec![
        Said::call("c1", "write", &write),
        Said::call("c2", "bash", &bash),
        Said::text("done"),
    ];
    let ground = Ground::saying(script);
    let ran = ground.chat(&["--yes", "-p", "do it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{ran:?}");
    let written = fs::read_to_string(ground.machine.work().join("src/a.txt")).unwrap();
    assert_eq!(written, "x\n");
    let output = content::text(&ground.messages()[4]);
    assert!(output.starts_with("x\n"), "{output}");
    assert!(!output.contains("sk-test-0123456789"), "{output}");
}

#[test]
fn one_tool_or_one_command_can_be_allowed_alone() {
    let bash = |command: &str| json!({ "command": command }).to_string();
    let write = json!({"path": "a", "content": "x"}).to_string();
    let ground = Ground::saying(vec![
        Said::call("c1", "bash", &bash("echo hello")),
        Said::call("c2", "bash", &bash("echo hello > b")),
        Said::call("c3", "write", &write),
        Said::text("done"),
    ]);
    let ran = ground.chat(&["--allow", "bash:echo", "--allow", "write", "-p", "x"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let failed: Vec<bool> = ground
        .messages()
        .iter()
        .filter(|message| message["role"] == "toolResult")
        .map(|message| message["isError"].as_bool().unwrap())
        .collect();
    assert_eq!(failed, [false, true, false]);
    assert!(!ground.machine.work().join("b").exists());
}

#[test]
fn where_nothing_may_be_written_no_flag_gives_the_model_what_writes() {
    let arguments = json!({"path": "a.txt", "content": "x"}).to_string();
    let command = json!({"command": "touch b.txt"}).to_string();
    let ground = Ground::saying(vec![
        Said::call("c1", "write", &arguments),
        Said::call("c2", "bash", &command),
        Said::text("I could not."),
    ]);
    let config = "sandbox:\n  readOnly: true\n";
    ground.machine.put(".longhaul/longhaul.yaml", config, 1);
    let ran = ground.chat(&["--yes", "-p", "write it"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "I could not.\n"),
        "{ran:?}"
    );
    for file in ["a.txt", "b.txt"] {
        assert!(!ground.machine.work().join(file).exists(), "{file}");
    }
    let tools = ground.server.requests()[0].json()["tools"].to_string();
    for name in ["write", "edit", "bash", "memory_append"] {
        assert!(!tools.contains(&format!("\"name\":\"{name}\"")), "{tools}");
    }
    assert!(tools.contains("\"name\":\"read\""), "{tools}");
    for at in [2, 4] {
        assert_eq!(ground.messages()[at]["isError"], true);
    }
}

#[test]
fn without_tools_none_are_offered() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.chat(&["--no-tools", "-p", "x"]);
    ground.chat(&["-p", "x"]);
    let tools = |at: usize| ground.server.requests()[at].json()["tools"].clone();
    assert!(
        tools(0).as_array().is_none_or(Vec::is_empty),
        "{}",
        tools(0)
    );
    let names: Vec<String> = tools(1)
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    for name in [
        "bash",
        "edit",
        "memory_append",
        "memory_get",
        "memory_search",
        "read",
        "recall",
        "write",
    ] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
}

#[test]
fn what_the_agent_notes_while_it_works_is_not_called_a_flush() {
    let ground = Ground::saying(vec![
        Said::call("c1", "memory_append", r#"{"text":"the pier is 40 m long"}"#),
        Said::text("noted"),
    ]);
    ground.chat(&["-p", "x"]);
    let log = ground.machine.work().join("memory/2026-03-10.md");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("— Noted\n") && !log.contains("Pre-flush"),
        "{log}"
    );
}

#[test]
fn the_session_and_memory_are_within_reach_of_the_tools() {
    let ground = Ground::saying(vec![
        Said::call("c1", "recall", r#"{"text":"colour is blue"}"#),
        Said::call("c2", "memory_search", r#"{"query":"staging port"}"#),
        Said::text("done"),
    ]);
    fs::write(
        ground.machine.work().join("MEMORY.md"),
        "- the staging port is 5433\n",
    )
    .unwrap();
    let ran = ground.chat(&["-p", "My colour is blue."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let messages = ground.messages();
    let recalled = content::text(&messages[2]);
    assert!(recalled.contains("My colour is blue."), "{recalled}");
    let found = content::text(&messages[4]);
    assert!(found.contains("5433"), "{found}");
}

#[test]
fn a_guess_that_is_looked_for_is_no_evidence_of_itself() {
    let guess = "narwhal config lives in /etc/narwhal";
    let ground = Ground::saying(vec![
        Said::call("c1", "recall", &format!(r#"{{"text":"{guess}"}}"#)),
        Said::call("c2", "recall", &format!(r#"{{"query":"{guess}"}}"#)),
        Said::call("c3", "recall", r#"{"query":"greeting of today"}"#),
        Said::text("done"),
    ]);
    let ran = ground.chat(&["-p", "Good morning, and a greeting."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let messages = ground.messages();
    for at in [2, 4] {
        let recalled = content::text(&messages[at]);
        assert!(recalled.starts_with("Nothing was found."), "{recalled}");
    }
}

#[test]
fn what_it_cost_is_part_of_the_status() {
    let ground = Ground::saying(vec![Said::text("ok").usage(usage())]);
    ground.chat(&["--session", "s", "-p", "x"]);
    let path = ground.sessions()[0].to_str().unwrap().to_owned();
    let ran = ground.machine.run(["context", "status", &path]);
    assert!(
        ran.out.contains("Cost: session    1,000 in, 100 out"),
        "{ran:?}"
    );
    let ran = ground.machine.run(["context", "status", &path, "--json"]);
    assert_eq!(ran.json()["spending"]["turns"]["cacheRead"], 2000);
}

#[test]
fn silent_turns_and_compactions_are_counted_apart() {
    let ground = Ground::new(|request| {
        let prompt = request.body.len() as u64 / 4;
        let usage = Usage {
            input: prompt,
            output: 8,
            ..Usage::default()
        };
        Said::text("NOTHING_TO_FLUSH")
            .usage(Some(usage))
            .reply(request)
    });
    let mut input: String = (0..12)
        .map(|nth| format!("message {nth}: {}\n", "some words to fill it ".repeat(300)))
        .collect();
    input.push_str("/status\n");
    let ran = ground.piped(&["--window", "16k", "--session", "s"], &input);
    assert_eq!(ran.code, 0, "{ran:?}");
    for line in [
        "Cost: turns ",
        "Cost: silent ",
        "Cost: compaction ",
        "Cost: session ",
    ] {
        assert!(ran.out.contains(line), "{line}: {ran:?}");
    }
    assert!(ran.err.contains("compacted ("), "{ran:?}");
    assert!(ran.err.contains("saved "), "{ran:?}");
    let path = ground.sessions()[0].to_str().unwrap().to_owned();
    let status = ground
        .machine
        .run(["context", "status", &path, "--json"])
        .json();
    let requests = |of: &str| status["spending"][of]["requests"].as_u64().unwrap();
    let asked = requests("turns") + requests("flushes") + requests("compactions");
    assert_eq!(requests("turns"), 12);
    assert_eq!(asked, ground.server.requests().len() as u64);
}

#[test]
fn a_compaction_by_hand_can_be_taken_back_and_done_again() {
    let ground = Ground::saying(vec![Said::text("noted").usage(None)]);
    let mut input: String = (0..5)
        .map(|nth| format!("message {nth}: {}\n", "some words to fill it ".repeat(200)))
        .collect();
    input.push_str("/compact the words\n/undo\n/status\n/redo\n/status\n/pin\n");
    let ran = ground.piped(&["--window", "16k", "--session", "s"], &input);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("compacted (summarize"), "{ran:?}");
    assert!(ran.err.contains("taken back: "), "{ran:?}");
    assert!(ran.err.contains("done again: "), "{ran:?}");
    let undone = ran.out.find("Compactions      0 ").unwrap();
    assert!(ran.out[undone..].contains("Compactions      1 "), "{ran:?}");
    assert!(ran.err.contains(" is pinned"), "{ran:?}");
    let path = ground.sessions()[0].to_str().unwrap().to_owned();
    let verified = ground.machine.run(["session", "verify", &path]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_session_that_another_chat_is_in_is_refused() {
    let ground = Ground::saying(vec![Said::text("here")]);
    let (mut first, input, _out) = ground.in_session("here\n");
    let ran = ground.chat(&["--session", "s", "-p", "me too"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(ground.server.requests().len(), 1);
    drop(input);
    assert!(first.wait().unwrap().success());
    let ran = ground.chat(&["--session", "s", "-p", "now"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn another_model_answers_from_then_on_and_the_session_knows() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let input = "first\n/model anthropic/claude-opus-4-1\nsecond\n/model\n";
    let ran = ground.piped(&["--session", "s"], input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let models: Vec<String> = ground
        .server
        .requests()
        .iter()
        .map(Recorded::model)
        .collect();
    assert_eq!(models, ["claude-sonnet-4-5", "claude-opus-4-1"]);
    assert!(ran.out.contains("anthropic/claude-opus-4-1"), "{ran:?}");
    let sent = ground.server.requests()[1].json().to_string();
    assert!(sent.contains("first"), "{sent}");
    let stored = fs::read_to_string(&ground.sessions()[0]).unwrap();
    let changes = stored.matches("\"model_change\"").count();
    assert_eq!(changes, 2, "{stored}");
    // A name that makes no sense leaves everything as it is.
    let ran = ground.piped(&["--session", "s"], "/model nonsense\n");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn the_result_is_as_documented() {
    let page = include_str!("../../../../docs/src/json.md");
    let (_, section) = page.split_once("\n## chat\n").unwrap();
    let (_, example) = section.split_once("```json\n").unwrap();
    let documented: Value = serde_json::from_str(example.split_once("```").unwrap().0).unwrap();
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.chat(&["--json", "x"]);
    let printed: Value = serde_json::from_str(ran.out.lines().next_back().unwrap()).unwrap();
    let fields =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(fields(&documented), fields(&printed));
    for part in ["spent", "session"] {
        assert_eq!(fields(&documented[part]), fields(&printed[part]), "{part}");
    }
}

#[test]
fn every_line_for_programs_is_an_object_with_an_event_also_that_of_a_command() {
    let page = include_str!("../../../../docs/src/json.md");
    let (_, section) = page
        .split_once("the commands that begin with a slash")
        .unwrap();
    let (_, example) = section.split_once("```json\n").unwrap();
    let (example, rest) = example.split_once("```").unwrap();
    let mut documented: Vec<Value> = vec![serde_json::from_str(example).unwrap()];
    let (_, lines) = rest.split_once("```text\n").unwrap();
    let lines = lines.split_once("```").unwrap().0.lines();
    documented.extend(lines.map(|line| serde_json::from_str::<Value>(line).unwrap()));

    let ground = Ground::saying(vec![Said::text("ok").usage(usage())]);
    let mut input = "hi\n/context\n/status\n/help\n/compact\n/pin\n/model\n".to_owned();
    input.push_str("/model anthropic/claude-opus-4-1\n/new other\n");
    let ran = ground.piped(&["--json", "--window", "8k", "--session", "s"], &input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let printed: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}")))
        .collect();
    assert!(
        printed.iter().all(|line| line["event"].is_string()),
        "{ran:?}"
    );
    for shape in &documented {
        let name = shape["event"].as_str().unwrap();
        // There is nothing to take back here.
        if name == "undo" || name == "redo" {
            continue;
        }
        let line = printed.iter().find(|line| line["event"] == name);
        let line = line.unwrap_or_else(|| panic!("no {name}: {ran:?}"));
        crate::documented::assert_same_fields(shape, line, name);
    }
    let compact = printed.iter().find(|line| line["event"] == "compact");
    assert_eq!(compact.unwrap()["done"], false);
}

#[test]
fn what_fills_the_context_is_told_by_the_session_and_not_from_outside() {
    let ground = Ground::saying(vec![Said::text("ok").usage(usage())]);
    let ran = ground.piped(&["--json", "--window", "8k"], "hi\n/context\n/status\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = |event: &str| -> Value {
        ran.out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .find(|line| line["event"] == event)
            .unwrap()
    };
    let (context, status) = (line("context"), line("status"));
    assert_eq!(context["tokens"], status["status"]["size"]["tokens"]);
    assert_eq!(
        (&context["window"], &context["windowFrom"]),
        (&json!(8000), &json!("config"))
    );
    assert_eq!(context["reported"], true);
    // 1,000 fresh, 2,300 from the cache and into it, and a word of an answer.
    assert!(context["tokens"].as_u64().unwrap() >= 3300, "{context}");
    let part = |name: &str| {
        let parts = context["parts"].as_array().unwrap();
        let part = parts.iter().find(|part| part["name"] == name);
        part.unwrap()["tokens"].as_u64().unwrap()
    };
    for name in ["prompt", "tools", "history"] {
        assert!(part(name) > 0, "{name}: {context}");
    }
    // Nothing was put back yet: there is room for the time and the gauge alone.
    assert_eq!(part("restored"), 0, "{context}");
    assert!(part("dynamic") < 100, "{context}");
    let ran = ground.piped(&["--window", "8k"], "/context\n");
    assert!(ran.out.contains(" of 8,000 ("), "{ran:?}");
    assert!(!ran.out.contains("tool definitions          0 "), "{ran:?}");
}

#[test]
fn commands_that_change_the_session_work_through_a_pipe() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.piped(&[], "first\n/compact\n/context\n/new other\nsecond\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("nothing to compact"), "{ran:?}");
    assert_eq!(ground.sessions().len(), 2);
    let ran = ground.piped(&[], "/undo\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("error:"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_answer_and_keeps_what_had_arrived() {
    stopped_by("-INT", 130);
}

#[cfg(unix)]
#[test]
fn a_program_that_is_asked_to_end_keeps_what_had_arrived() {
    stopped_by("-TERM", 143);
}

#[cfg(unix)]
fn stopped_by(signal: &str, code: i32) {
    use std::io::Read;
    let ground = Ground::new(|request| {
        Said::text("The first part of it and much more")
            .reply(request)
            .only_to("event: content_block_stop", Ending::Hang)
    });
    let mut child = ground
        .command(&["--json", "go on"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Until something of the answer is here. If nothing comes, the output ends.
    let mut out = child.stdout.take().unwrap();
    let mut read = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&read).contains("\"event\":\"text\"") {
        assert_eq!(
            out.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&read)
        );
        read.push(byte[0]);
    }
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    out.read_to_end(&mut read).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(code));
    let last = String::from_utf8(read).unwrap();
    let result: Value = serde_json::from_str(last.lines().next_back().unwrap()).unwrap();
    assert_eq!(result["error"]["kind"], "cancelled");
    let messages = ground.messages();
    assert_eq!(messages[1]["stopReason"], "aborted");
    assert!(
        content::text(&messages[1]).contains("first part"),
        "{}",
        messages[1]
    );
    // And it goes on from there.
    let ran = ground.chat(&["--help"]);
    assert_eq!(ran.code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_ends_with_the_chat_also_when_that_is_killed() {
    let command = r#"{"command":"setsid sleep 1000 & echo $$ $! > started; sleep 1000"}"#;
    let ground = Ground::saying(vec![Said::call("c1", "bash", command)]);
    let mut child = ground
        .command(&["--yes", "-p", "go on"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let wait = || {
        assert!(std::time::Instant::now() < patience, "it takes for ever");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let file = ground.machine.work().join("started");
    let ids = loop {
        let said = fs::read_to_string(&file).unwrap_or_default();
        if said.ends_with('\n') {
            break said;
        }
        wait();
    };
    child.kill().unwrap();
    child.wait().unwrap();
    // One that nobody has waited for yet is dead all the same.
    let alive = |id: &str| {
        fs::read_to_string(format!("/proc/{id}/stat"))
            .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with('Z'))
    };
    for id in ids.split_whitespace() {
        while alive(id) {
            wait();
        }
    }
}
