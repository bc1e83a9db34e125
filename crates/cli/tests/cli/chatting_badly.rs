//! `chat` when something is wrong: each has an outcome, the session stays whole,
//! and the user learns what happened and what to do.

use std::process::Stdio;

use longhaul_testkit::content;
use longhaul_testkit::loopback::{Fault, Reply, Said};

use crate::chatting::{Ground, MODEL};
use crate::machine::Ran;

fn failing(fault: Fault) -> (Ground, Ran) {
    let ground = Ground::new(move |request| fault.reply(request));
    let ran = ground.chat(&["--session", "s", "-p", "the question"]);
    (ground, ran)
}

/// The question is kept, what went wrong beside it, and the next turn works on
/// the same file.
fn assert_kept(ground: &Ground) {
    let messages = ground.messages();
    assert_eq!(content::text(&messages[0]), "the question");
    assert_eq!(messages[1]["stopReason"], "error", "{}", messages[1]);
}

#[test]
fn no_model_and_no_such_model_are_errors_of_the_command_line() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let run = |args: &[&str]| {
        let mut command = ground.machine.command();
        command.arg("chat").args(args).stdin(Stdio::null());
        ground.machine.finish(&mut command)
    };
    let ran = run(&["-p", "x"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--model provider/name"), "{ran:?}");
    let ran = run(&["-p", "x", "--model", "claude-sonnet-4-5"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("anthropic/claude-sonnet-4-5"), "{ran:?}");
    let ran = run(&["-p", "x", "--model", "nobody/x"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ground.sessions().is_empty());
}

#[test]
fn no_key_is_said_with_the_variable_before_anything_is_written() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let mut command = ground.command(&["-p", "x"]);
    command.env_remove("ANTHROPIC_API_KEY").stdin(Stdio::null());
    let ran = ground.machine.finish(&mut command);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("set ANTHROPIC_API_KEY"), "{ran:?}");
    assert!(ground.sessions().is_empty());
    assert!(ground.server.requests().is_empty());
}

#[test]
fn a_wrong_key_is_said_and_not_shown() {
    let (ground, ran) = failing(Fault::Unauthorized);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("check that ANTHROPIC_API_KEY"), "{ran:?}");
    assert!(!ran.err.contains("sk-test-0123456789"), "{ran:?}");
    assert_kept(&ground);
}

#[test]
fn a_model_that_is_not_served_is_named() {
    let (ground, ran) = failing(Fault::UnknownModel);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("claude-sonnet-4-5"), "{ran:?}");
    assert!(ran.err.contains("help:"), "{ran:?}");
    assert_kept(&ground);
}

#[test]
fn a_page_for_people_is_no_answer() {
    let (ground, ran) = failing(Fault::Html);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("check the base URL"), "{ran:?}");
    assert_kept(&ground);
}

#[test]
fn no_credit_is_said() {
    let (ground, ran) = failing(Fault::Quota);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("credit"), "{ran:?}");
    assert_kept(&ground);
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.machine.finish(
        ground
            .machine
            .command()
            .args(["chat", "--model", MODEL, "--base-url", "http://127.0.0.1:9"])
            .args(["-p", "the question"])
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
            .stdin(Stdio::null()),
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("cannot reach"), "{ran:?}");
    assert_kept(&ground);
}

#[test]
fn a_provider_that_never_answers_is_given_up() {
    let ground = Ground::new(|_| Reply::silence());
    let ran = ground.chat(&["--timeout", "1", "-p", "the question"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("the beginning of the answer"), "{ran:?}");
    assert_kept(&ground);
}

#[test]
fn a_tool_call_in_broken_json_is_answered_and_mended() {
    let ground = Ground::saying(vec![
        Said::call("c1", "read", "{\"path\": \"a.txt\", \"limit\": 1x}"),
        Said::text("mended"),
    ]);
    let ran = ground.chat(&["-p", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "mended\n"), "{ran:?}");
    let messages = ground.messages();
    let result = content::text(&messages[2]);
    assert!(result.contains("⟪here⟫"), "{result}");
    assert!(result.contains("\"required\":[\"path\"]"), "{result}");
    assert_eq!(messages[2]["isError"], true);
}

#[test]
fn a_tool_that_does_not_exist_is_answered_with_those_that_do() {
    let ground = Ground::saying(vec![Said::call("c1", "fly", "{}"), Said::text("no")]);
    let ran = ground.chat(&["-p", "x"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let result = content::text(&ground.messages()[2]);
    assert!(result.contains("no tool named \"fly\""), "{result}");
}

#[test]
fn an_unknown_command_in_a_pipe_ends_it_with_advice() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.piped(&[], "/compct\nnever said\n");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("did you mean /compact?"), "{ran:?}");
    assert!(ground.server.requests().is_empty());
}

#[test]
fn a_line_that_fails_ends_the_conversation_with_its_code() {
    let ground = Ground::new(|request| Fault::Unauthorized.reply(request));
    let ran = ground.piped(&[], "first\nsecond\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ground.server.requests().len(), 1);
}

#[test]
fn nothing_to_say_is_told_from_a_failure() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    assert_eq!(ground.piped(&[], "\n\n").code, 3);
    assert_eq!(ground.piped(&["-p"], "").code, 2);
    assert_eq!(ground.chat(&["-p", "  "]).code, 2);
    assert_eq!(ground.chat(&["--session", "", "-p", "x"]).code, 2);
    assert!(ground.server.requests().is_empty());
}

#[test]
fn input_that_is_not_text_is_refused() {
    use std::io::Write;
    let ground = Ground::saying(vec![Said::text("ok")]);
    for args in [&["-p"][..], &[][..]] {
        let mut child = ground
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"caf\xe9\n");
        let output = child.wait_with_output().unwrap();
        let code = output.status.code().unwrap();
        assert!(code == 1 || code == 2, "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("UTF-8"), "{error}");
    }
    assert!(ground.server.requests().is_empty());
}

#[test]
fn leave_for_a_tool_that_does_not_exist_is_refused() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    for allowed in ["fly", "bash:", "read", "write:x"] {
        let ran = ground.chat(&["--allow", allowed, "-p", "x"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("bash:cargo test"), "{ran:?}");
    }
}

#[test]
fn a_workspace_that_is_not_there_is_said() {
    let ground = Ground::saying(vec![Said::text("ok")]);
    let ran = ground.chat(&["--workspace", "no-such-folder", "-p", "x"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("no-such-folder"), "{ran:?}");
    assert!(ground.sessions().is_empty());
}
