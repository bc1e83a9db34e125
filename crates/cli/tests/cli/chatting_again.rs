//! What a chat leaves behind for the next one: sessions in turns, after a kill.

use std::fs;
use std::process::Stdio;

use longhaul_testkit::loopback::Said;

use crate::chatting::Ground;
use crate::machine::Ran;

/// A chat that is told nothing but the session.
fn resume(ground: &Ground, args: &[&str]) -> Ran {
    let mut command = ground.machine.command();
    command
        .arg("chat")
        .args(args)
        .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
        .env("OPENAI_API_KEY", "sk-test-0123456789")
        .stdin(Stdio::null());
    ground.machine.finish(&mut command)
}

#[test]
fn a_resumed_session_is_asked_at_the_same_server_and_in_the_same_format() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let url = ground.server.url();
    let model = ["--model", "openai+chat/gpt-5", "--base-url", &url];
    let begin = [&model[..], &["--session", "s", "-p", "x"]].concat();
    let ran = resume(&ground, &begin);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = resume(&ground, &["--session", "s", "-p", "y"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{ran:?}");
    let paths: Vec<String> = ground
        .server
        .requests()
        .iter()
        .map(|request| request.path.clone())
        .collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    assert_eq!(paths[0], paths[1]);
    assert!(paths[0].ends_with("/chat/completions"), "{paths:?}");
    // Another server is a word to say so.
    let other = Ground::saying(vec![Said::text("elsewhere")]);
    let url = other.server.url();
    let ran = resume(&ground, &["--session", "s", "--base-url", &url, "-p", "z"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "elsewhere\n"), "{ran:?}");
    assert!(
        ran.err.contains("was asked as openai+chat/gpt-5@"),
        "{ran:?}"
    );
}

#[test]
fn a_new_session_of_a_key_begins_with_what_the_user_said_in_the_one_before() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.chat(&["--session", "s", "-p", "Never touch deploy.lock."]);
    ground.chat(&["--session", "s", "--new", "-p", "Go on."]);
    let ran = ground.piped(&["--session", "s"], "/new\nAnd on.\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    let requests = ground.server.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests[1..] {
        let sent = request.json().to_string();
        assert!(sent.contains("in the session before this one"), "{sent}");
        assert_eq!(
            sent.matches("Never touch deploy.lock.").count(),
            1,
            "{sent}"
        );
    }
    assert!(requests[2].json().to_string().contains("Go on."));
    assert_eq!(ground.sessions().len(), 3);
}

#[test]
fn a_session_of_another_folder_is_told() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.chat(&["--session", "s", "-p", "x"]);
    let elsewhere = ground.machine.home().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    let workspace = elsewhere.to_str().unwrap();
    let ran = ground.chat(&["--session", "s", "--workspace", workspace, "-p", "x"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the session was begun in "), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    let ran = ground.chat(&["--session", "s", "-p", "x"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn the_window_of_a_chat_counts_for_whoever_looks_at_its_session() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    ground.chat(&["--session", "s", "--window", "8k", "-p", "x"]);
    let path = ground.sessions()[0].to_str().unwrap().to_owned();
    let window = |more: &[&str]| {
        let args = [&["context", "status", &path, "--json"], more].concat();
        ground.machine.run(args).json()["window"].clone()
    };
    assert_eq!(window(&[]), 8000);
    assert_eq!(window(&["--window", "16k"]), 16_000);
}

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
    let (mut first, _input, _out) = ground.in_session("here\n");
    first.kill().unwrap();
    first.wait().unwrap();
    let ran = ground.chat(&["--session", "s", "-p", "now"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_chat_that_ends_leaves_an_index_that_is_closed_and_up_to_date() {
    let ground = Ground::saying(vec![Said::text("noted").usage(None)]);
    let work = ground.machine.work();
    fs::create_dir_all(work.join("memories")).unwrap();
    fs::write(work.join("memories/project.md"), "# Project\n\nTide.\n").unwrap();
    // Enough for a compaction, so that something left the context.
    let input: String = (0..7)
        .map(|nth| format!("message {nth}: {}\n", "some words to fill it ".repeat(200)))
        .collect();
    let ran = ground.piped(&["--session", "s"], &input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let folder = ground.machine.home().join(".longhaul/memory");
    let names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let is = |end: &str| names.iter().any(|name| name.ends_with(end));
    assert!(is(".sqlite") && !is("-wal") && !is("-shm"), "{names:?}");
    let ran = ground.machine.run_line("memory status");
    assert!(ran.out.contains(", as the memory files are now"), "{ran:?}");
    fs::write(work.join("memories/errors.md"), "# Errors\n\nEbb.\n").unwrap();
    let ran = ground.machine.run_line("memory status");
    assert!(ran.out.contains("1 memory file changed since"), "{ran:?}");
}
