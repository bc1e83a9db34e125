//! Codex's rollouts, made small.

use longhaul_transcript::{Body, FaultKind, Role, Session};
use serde_json::{Value, json};

use crate::{check, entries, file, orphans, outline, typed};

fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-01-22T16:00:00.000Z", "type": kind, "payload": payload})
}

fn item(payload: Value) -> Value {
    line("response_item", payload)
}

fn event(payload: Value) -> Value {
    line("event_msg", payload)
}

fn meta() -> Value {
    line(
        "session_meta",
        json!({"id": "s", "timestamp": "2026-01-22T16:00:00.000Z", "cwd": "/w",
        "model_provider": "openai"}),
    )
}

fn said(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "name": "shell", "call_id": id,
        "arguments": format!("{{\n\"command\": [\"{id}\"]}}")})
}

fn output(id: &str, output: Value) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

fn count(total: u64) -> Value {
    let usage = json!({"input_tokens": total - 10, "cached_input_tokens": 20, "output_tokens": 10,
        "total_tokens": total});
    event(
        json!({"type": "token_count", "info": {"total_token_usage": usage.clone(),
        "last_token_usage": usage, "model_context_window": 258_400}}),
    )
}

fn session(lines: &[Value]) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "rollout-1.jsonl", lines);
    let session = Session::open(&path).unwrap();
    check(&session);
    assert_eq!(orphans(&session.context().unwrap()), [""; 0]);
    (folder, session)
}

#[test]
fn the_parts_of_an_answer_become_one_message_with_its_usage() {
    let (_folder, session) = session(&[
        meta(),
        line("turn_context", json!({"model": "gpt-5.2", "cwd": "/w"})),
        item(said("developer", "rules")),
        item(said("user", "<environment_context>x</environment_context>")),
        event(json!({"type": "user_message", "message": "go"})),
        item(said("user", "go")),
        item(
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "secret"}),
        ),
        event(json!({"type": "agent_reasoning", "text": "hm"})),
        item(call("c1")),
        item(call("c2")),
        item(output(
            "c1",
            json!("{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}"),
        )),
        count(100),
        item(output("c2", json!({"content": "fine", "success": true}))),
        count(100),
        item(said("assistant", "Done.")),
        event(json!({"type": "agent_message", "message": "Done."})),
        count(200),
    ]);
    let context = session.context().unwrap();
    assert_eq!(
        outline(&context),
        [
            "custom: rules",
            "user: <environment_context>x</environment_context>",
            "user: go",
            "assistant:  [shell c1] [shell c2]",
            "toolResult: {\"output\":\"no\",\"metadata\":{\"exit_code\":1}} (c1)",
            "toolResult: fine (c2)",
            "assistant: Done.",
        ]
    );
    let json = |at: usize| -> Value { serde_json::from_str(context.messages[at].json()).unwrap() };
    assert_eq!(json(1)["isMeta"], true);
    assert_eq!(json(2).get("isMeta"), None);
    let answer = json(3);
    assert_eq!(answer["content"][0]["thinking"], "hm");
    assert_eq!(
        answer["content"][1]["arguments"],
        json!({"command": ["c1"]})
    );
    assert_eq!(answer["model"], "gpt-5.2");
    assert_eq!(answer["stopReason"], "toolUse");
    let usage = json!({"input": 70, "output": 10, "cacheRead": 20, "cacheWrite": 0,
        "totalTokens": 100, "contextWindow": 258_400,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    assert_eq!(answer["usage"], usage);
    assert_eq!(json(6)["usage"]["totalTokens"], 200);
    assert_eq!(
        (&json(4)["isError"], &json(5)["isError"]),
        (&json!(true), &json!(false))
    );
    // Events are kept, beside the path.
    let (all, _) = entries(&session);
    let events = all.iter().filter(|entry| {
        matches!(&entry.body,
        Body::Custom { custom_type } if custom_type.starts_with("codex:event_msg:"))
    });
    assert_eq!(events.count(), 6);
    assert_eq!(session.header().id, "s");
}

#[test]
fn after_a_compaction_the_context_is_what_codex_put_in_its_place() {
    let kept = [
        said("user", "go"),
        said("user", "SUMMARY"),
        json!({"type": "ghost_snapshot"}),
    ];
    let mut lines = vec![
        meta(),
        item(said("user", "go")),
        item(said("assistant", "long work")),
        count(500),
        line(
            "compacted",
            json!({"message": "SUMMARY", "replacement_history": kept}),
        ),
        item(said("user", "on")),
        item(said("assistant", "yes")),
    ];
    let (_folder, session_) = session(&lines);
    let expected = [
        "compactionSummary: SUMMARY",
        "user: go",
        "user: on",
        "assistant: yes",
    ];
    assert_eq!(outline(&session_.context().unwrap()), expected);
    let loaded = session_.load().unwrap();
    assert_eq!(loaded.compaction().unwrap().1.tokens_before, Some(500));
    assert_eq!(loaded.epoch.count(), 1);

    // Without a replacement Codex keeps the user's own messages.
    lines[4] = line("compacted", json!({"message": "SUMMARY"}));
    let (_folder, session_) = session(&lines);
    assert_eq!(outline(&session_.context().unwrap()), expected);
}

#[test]
fn a_rollback_leaves_the_turns_on_a_branch() {
    let mut lines = vec![
        meta(),
        item(said("user", "go")),
        item(said("assistant", "one")),
        item(said("user", "wrong way")),
        item(said("assistant", "two")),
        event(json!({"type": "thread_rolled_back", "num_turns": 1})),
    ];
    let (_folder, session_) = session(&lines);
    assert_eq!(
        outline(&session_.context().unwrap()),
        ["user: go", "assistant: one"]
    );
    lines.push(item(said("user", "right way")));
    let (_folder, session_) = session(&lines);
    assert_eq!(
        outline(&session_.context().unwrap()),
        ["user: go", "assistant: one", "user: right way"]
    );
}

#[test]
fn the_format_without_envelopes_is_read() {
    let (_folder, session) = session(&[
        json!({"id": "old", "timestamp": "2025-07-01T00:00:00Z", "instructions": null, "git": {}}),
        json!({"record_type": "state"}),
        said("user", "go"),
        call("c1"),
        output("c1", json!("Exit code: 2\nWall time: 1s\nOutput:\nno")),
        json!({"record_type": "state"}),
        said("assistant", "Failed."),
    ]);
    let context = session.context().unwrap();
    assert_eq!(
        outline(&context),
        [
            "user: go",
            "assistant:  [shell c1]",
            "toolResult: Exit code: 2\nWall time: 1s\nOutput:\nno (c1)",
            "assistant: Failed.",
        ]
    );
    assert!(context.messages[2].view().is_error());
    assert_eq!(session.header().id, "old");
}

/// As codex-cli 0.169.0 writes it when a turn is steered, a command refused,
/// one stopped, one run by the user and a question answered.
#[test]
fn every_channel_of_a_rollout_is_user_text() {
    let sourced = |source: &str, text: &str| {
        let mut said = said("user", text);
        said["internal_chat_message_metadata_passthrough"] =
            json!({"content_item_metadata": [{"provenance": {"type": source}}]});
        item(said)
    };
    let started = || event(json!({"type": "task_started"}));
    let shell = "<user_shell_command>\n<command>\necho hi; false\n</command>\n<result>\nExit code: 1\nDuration: 0.2 seconds\nOutput:\nhi\n\n</result>\n</user_shell_command>";
    let refused =
        "exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }";
    let question = json!({"type": "function_call", "call_id": "c3", "name": "request_user_input",
        "arguments": "{\"questions\":[{\"id\":\"q1\",\"question\":\"Which db?\"}]}"});
    let answer = "{\"answers\":{\"q1\":{\"answers\":[\"SQLite\",\"user_note: it is small\"]}}}";
    let (_folder, session) = session(&[
        meta(),
        started(),
        sourced("harness", "# AGENTS.md instructions for /w"),
        sourced("user", "<turn_aborted> is what I typed"),
        item(call("c1")),
        item(output("c1", json!(refused))),
        sourced("user", "steered"),
        item(said("assistant", "I see.")),
        event(json!({"type": "task_complete"})),
        item(said("user", shell)),
        started(),
        item(said(
            "user",
            "# Context from my IDE setup:\nx\n## My request for Codex:\ngo on\n",
        )),
        item(call("c2")),
        item(output(
            "c2",
            json!("Wall time: 0.1 seconds\naborted by user"),
        )),
        item(said("user", "<turn_aborted>\nx\n</turn_aborted>")),
        event(json!({"type": "turn_aborted"})),
        item(question),
        item(output("c3", json!(answer))),
        item(said("assistant", "Done.")),
    ]);
    let (entries, faults) = entries(&session);
    assert_eq!(faults, []);
    assert_eq!(
        typed(&entries),
        [
            "prompt: <turn_aborted> is what I typed",
            "queued: steered",
            "prompt: go on",
            "answer: Which db? SQLite",
            "answer: Which db? it is small",
        ]
    );
    let rejected = entries
        .iter()
        .filter_map(|entry| entry.message())
        .filter(|message| message.is_rejected())
        .map(|message| message.tool_call_id().unwrap().into_owned());
    assert_eq!(rejected.collect::<Vec<_>>(), ["c1", "c2"]);
    let ran = entries
        .iter()
        .find(|entry| entry.role() == Some(&Role::BashExecution));
    let ran: Value = serde_json::from_str(ran.unwrap().message_json().unwrap()).unwrap();
    assert_eq!(
        (&ran["command"], &ran["output"], &ran["exitCode"]),
        (&json!("echo hi; false"), &json!("hi\n"), &json!(1))
    );
}

#[test]
fn what_a_compaction_repeats_is_not_typed_again() {
    let kept = [said("user", "go"), said("user", "only here")];
    let (_folder, session) = session(&[
        meta(),
        item(said("user", "go")),
        item(said("assistant", "ok")),
        line(
            "compacted",
            json!({"message": "S", "replacement_history": kept}),
        ),
        item(said("user", "next")),
    ]);
    assert_eq!(
        typed(&entries(&session).0),
        ["prompt: go", "prompt: only here", "prompt: next"]
    );
}

#[test]
fn an_unknown_item_with_text_is_a_fault_with_its_name() {
    let unknown = json!({"type": "dictation", "content": [{"type": "x", "text": "words"}]});
    let (_folder, session) = session(&[meta(), item(said("user", "go")), item(unknown)]);
    let (_, faults) = entries(&session);
    let kind = FaultKind::UnknownText {
        kind: "dictation".into(),
    };
    assert_eq!(faults.len(), 1);
    assert_eq!((faults[0].line, &faults[0].kind), (3, &kind));
}
