//! Claude Code's links, made small.

use longhaul_transcript::{Body, Entry, FaultKind, Role, Session};
use serde_json::{Value, json};

use crate::{check, entries, file, orphans, outline};

/// A record with the fields that all of them have.
pub(crate) fn record(kind: &str, uuid: &str, parent: Option<&str>, fields: Value) -> Value {
    let mut record = json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/w",
        "isSidechain": false, "timestamp": "2026-01-22T16:00:00.000Z",
    });
    for (key, value) in fields.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

pub(crate) fn prompt(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    record(
        "user",
        uuid,
        parent,
        json!({"message": {"role": "user", "content": text}}),
    )
}

pub(crate) fn answer(uuid: &str, parent: &str, id: &str, block: Value) -> Value {
    let usage = json!({"input_tokens": 1, "output_tokens": uuid.len(),
        "cache_read_input_tokens": 10, "cache_creation_input_tokens": 100});
    let message = json!({"id": id, "role": "assistant", "model": "claude-opus-4-5",
        "content": [block], "stop_reason": null, "usage": usage});
    record(
        "assistant",
        uuid,
        Some(parent),
        json!({ "message": message }),
    )
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}})
}

pub(crate) fn result(uuid: &str, parent: &str, id: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": format!("did {id}")});
    let fields =
        json!({"message": {"role": "user", "content": [block]}, "toolUseResult": {"ok": 1}});
    record("user", uuid, Some(parent), fields)
}

pub(crate) fn boundary(uuid: &str, logical: &str, metadata: Value) -> Value {
    record(
        "system",
        uuid,
        None,
        json!({"subtype": "compact_boundary",
        "logicalParentUuid": logical, "compactMetadata": metadata}),
    )
}

pub(crate) fn summary(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    let mut record = prompt(uuid, parent, text);
    record["isCompactSummary"] = json!(true);
    record
}

pub(crate) fn session(lines: &[Value]) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "s.jsonl", lines);
    let session = Session::open(&path).unwrap();
    check(&session);
    (folder, session)
}

fn context(lines: &[Value]) -> Vec<String> {
    let (_folder, session) = session(lines);
    let context = session.context().unwrap();
    assert_eq!(orphans(&context), [""; 0]);
    outline(&context)
}

#[test]
fn blocks_of_one_answer_become_one_message_with_the_last_usage() {
    let (_folder, session) = session(&[
        prompt("u1", None, "go"),
        answer(
            "a1",
            "u1",
            "m1",
            json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
        ),
        answer("a2", "a1", "m1", text("I will.")),
        answer("a3long", "a2", "m1", call("t1")),
        result("r1", "a3long", "t1"),
        answer("a4", "r1", "m2", text("Done.")),
    ]);
    let (entries, faults) = entries(&session);
    assert_eq!(faults, []);
    let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["u1", "a1", "r1", "a4"]);
    let message: Value = serde_json::from_str(entries[1].message_json().unwrap()).unwrap();
    let expected = json!({
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
            {"type": "text", "text": "I will."},
            {"type": "toolCall", "id": "t1", "name": "Bash", "arguments": {"command": "t1"}},
        ],
        "api": "anthropic-messages", "provider": "anthropic", "model": "claude-opus-4-5",
        "usage": {"input": 1, "output": 6, "cacheRead": 10, "cacheWrite": 100, "totalTokens": 117,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
        "stopReason": "toolUse", "timestamp": 1_769_097_600_000i64, "responseId": "m1",
    });
    assert_eq!(message, expected);
    let message: Value = serde_json::from_str(entries[2].message_json().unwrap()).unwrap();
    let expected = json!({
        "role": "toolResult", "toolCallId": "t1", "toolName": "Bash",
        "content": [{"type": "text", "text": "did t1"}], "details": {"ok": 1},
        "isError": false, "timestamp": 1_769_097_600_000i64,
    });
    assert_eq!(message, expected);
    assert_eq!(session.header().id, "s");
    assert_eq!(session.header().version, 3);
}

/// The next answer hangs on one result only; the other calls and results are
/// on forks of the links.
#[test]
fn parallel_calls_that_fork_the_links_all_stay_on_the_path() {
    let lines = [
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", call("t1")),
        result("r1", "a1", "t1"),
        answer("a2", "a1", "m1", call("t2")),
        answer("a3", "a2", "m1", call("t3")),
        result("r3", "a3", "t3"),
        result("r2", "a2", "t2"),
        answer("a4", "r1", "m2", text("All three.")),
    ];
    assert_eq!(
        context(&lines),
        [
            "user: go",
            "assistant:  [Bash t1] [Bash t2] [Bash t3]",
            "toolResult: did t1 (t1)",
            "toolResult: did t3 (t3)",
            "toolResult: did t2 (t2)",
            "assistant: All three.",
        ]
    );
    // The last record is a block of an answer whose result is already there.
    assert_eq!(context(&lines[..4]).len(), 3);
}

#[test]
fn a_rewound_branch_is_kept_beside_the_path() {
    let (_folder, session) = session(&[
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", text("one")),
        prompt("u2", Some("a1"), "wrong way"),
        answer("a2", "u2", "m2", call("t2")),
        result("r2", "a2", "t2"),
        prompt("u3", Some("a1"), "right way"),
        answer("a3", "u3", "m3", text("two")),
    ]);
    assert_eq!(
        outline(&session.context().unwrap()),
        [
            "user: go",
            "assistant: one",
            "user: right way",
            "assistant: two"
        ]
    );
    let tree = session.tree().unwrap();
    let branch: Vec<&str> = tree
        .path_to(&"r2".into())
        .unwrap()
        .into_iter()
        .map(|at| tree.nodes()[at].id.as_str())
        .collect();
    assert_eq!(branch, ["u1", "a1", "u2", "a2", "r2"]);
    assert_eq!(tree.faults(), []);
    assert_eq!(tree.leaf().unwrap().id.as_str(), "a3");
}

#[test]
fn a_subagent_has_a_tree_of_its_own_and_is_never_the_leaf() {
    let mut side = prompt("x1", None, "look around");
    side["isSidechain"] = json!(true);
    side["agentId"] = json!("7");
    let mut said = answer("x2", "x1", "m9", text("found it"));
    said["isSidechain"] = json!(true);
    let lines = [
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", call("t1")),
        side,
        said,
        result("r1", "a1", "t1"),
        record(
            "progress",
            "p1",
            Some("r1"),
            json!({"data": {"type": "hook_progress"}}),
        ),
        json!({"type": "file-history-snapshot", "messageId": "r1", "snapshot": {}}),
    ];
    let (folder, session) = session(&lines);
    assert_eq!(
        outline(&session.context().unwrap()),
        [
            "user: go",
            "assistant:  [Bash t1]",
            "toolResult: did t1 (t1)"
        ]
    );
    let (all, _) = entries(&session);
    let kinds = |entry: &Entry| match &entry.body {
        Body::Custom { custom_type } => format!("{} {custom_type}", entry.id),
        _ => entry.id.to_string(),
    };
    let kinds: Vec<String> = all.iter().map(kinds).collect();
    assert_eq!(
        kinds[..5],
        ["u1", "x1:sidechain claude-code:sidechain", "x1", "x2", "a1"]
    );
    assert_eq!(kinds[5], "p1 claude-code:progress");
    assert!(kinds[6].ends_with("claude-code:file-history-snapshot"));
    assert_eq!(kinds[7], "r1");
    let raw: Value = serde_json::from_str(all[5].raw()).unwrap();
    assert_eq!(raw["data"], lines[5], "nothing of the record is lost");
    let side = |at: usize| {
        let raw: Value = serde_json::from_str(all[at].raw()).unwrap();
        raw["message"].get("isSidechain").cloned()
    };
    assert_eq!((side(0), side(2)), (None, Some(json!(true))));

    // In a subagent's own file it is the conversation.
    let path = file(folder.path(), "agent-7.jsonl", &lines[2..4]);
    let session = Session::open(&path).unwrap();
    check(&session);
    assert_eq!(
        outline(&session.context().unwrap()),
        ["user: look around", "assistant: found it"]
    );
    assert_eq!(session.header().id, "agent-7");
    assert_eq!(session.header().parent_session.as_deref(), Some("s"));
}

/// Claude Code keeps what hooks gave as a list; early versions as one text.
#[test]
fn what_a_hook_gave_back_after_a_compaction_is_in_the_context() {
    for content in [
        json!("the packet"),
        json!(["the packet"]),
        json!(["the", "packet"]),
    ] {
        let given = json!({ "type": "hook_additional_context", "content": content,
            "hookName": "SessionStart:compact", "hookEvent": "SessionStart", "toolUseID": "x" });
        let lines = vec![
            prompt("u1", None, "go"),
            answer("a1", "u1", "m1", text("long work")),
            boundary(
                "b1",
                "a1",
                json!({"trigger": "manual", "preTokens": 155_830}),
            ),
            summary("s1", Some("b1"), "what was done"),
            record(
                "attachment",
                "n1",
                Some("s1"),
                json!({ "attachment": given }),
            ),
            prompt("u2", Some("n1"), "on"),
        ];
        let (_folder, session_) = session(&lines);
        let shown = outline(&session_.context().unwrap());
        assert_eq!(shown.len(), 3, "{shown:?}");
        let words: Vec<&str> = shown[1].split_whitespace().collect();
        assert!(words.ends_with(&["the", "packet"]), "{shown:?}");
    }
}

#[test]
fn a_compaction_is_one_entry_and_the_load_reads_from_it() {
    let mut lines = vec![
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", text("long work")),
        boundary(
            "b1",
            "a1",
            json!({"trigger": "manual", "preTokens": 155_830}),
        ),
        record(
            "attachment",
            "n1",
            Some("b1"),
            json!({"attachment": {"type": "auto_mode"}}),
        ),
        summary("s1", Some("b1"), "what was done"),
        prompt("u2", Some("s1"), "on"),
    ];
    let (_folder, session_) = session(&lines);
    let loaded = session_.load().unwrap();
    assert!(!loaded.complete);
    let (entry, compaction) = loaded.compaction().unwrap();
    assert_eq!(entry.id.as_str(), "b1");
    assert_eq!(compaction.summary, "what was done");
    assert_eq!(compaction.tokens_before, Some(155_830));
    assert_eq!(compaction.trigger.as_deref(), Some("manual"));
    assert_eq!(compaction.layer.as_deref(), Some("full"));
    let (all, _) = entries(&session_);
    let found = all.iter().find(|entry| entry.id.as_str() == "b1").unwrap();
    assert_eq!(found.parent.as_ref().unwrap().as_str(), "a1");
    let after = ["compactionSummary: what was done", "user: on"];
    assert_eq!(outline(&session_.context().unwrap()), after);

    // Rewinding to before the compaction undoes it.
    lines.push(prompt("u3", Some("a1"), "instead"));
    assert_eq!(
        context(&lines),
        ["user: go", "assistant: long work", "user: instead"]
    );
}

#[test]
fn a_boundary_without_a_summary_cuts_nothing_and_a_summary_alone_does() {
    let start = [
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", text("long work")),
    ];
    let mut lines = start.to_vec();
    lines.push(boundary(
        "b1",
        "a1",
        json!({"trigger": "auto", "preTokens": 1}),
    ));
    lines.push(prompt("u2", Some("b1"), "on"));
    assert_eq!(
        context(&lines),
        ["user: go", "assistant: long work", "user: on"]
    );

    let mut lines = start.to_vec();
    lines.push(summary("s1", None, "older versions"));
    lines.push(prompt("u2", Some("s1"), "on"));
    assert_eq!(
        context(&lines),
        ["compactionSummary: older versions", "user: on"]
    );
}

/// Newer versions keep a part of the history, and what follows hangs either
/// on the summary or on the kept part.
#[test]
fn what_a_compaction_kept_stays_in_the_context() {
    for follows in ["s1", "a2"] {
        let kept = json!({"trigger": "auto", "preTokens": 9,
            "preservedSegment": {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a2"}});
        let lines = [
            prompt("u1", None, "go"),
            answer("a1", "u1", "m1", text("old work")),
            prompt("u2", Some("a1"), "more"),
            answer("a2", "u2", "m2", text("new work")),
            boundary("b1", "a2", kept),
            summary("s1", Some("b1"), "old work was done"),
            prompt("u3", Some(follows), "on"),
        ];
        let expected = [
            "compactionSummary: old work was done",
            "user: more",
            "assistant: new work",
            "user: on",
        ];
        assert_eq!(context(&lines), expected);
    }
}

#[test]
fn copies_are_dropped_and_a_lost_line_does_not_take_the_history_along() {
    let lines = [
        prompt("u1", None, "go"),
        prompt("u1", None, "go"),
        answer("a1", "u1", "m1", text("one")),
        prompt("u2", Some("lost"), "on"),
        prompt("u2", Some("a1"), "another record"),
    ];
    let (_folder, session) = session(&lines);
    let (all, faults) = entries(&session);
    assert_eq!(all.len(), 4);
    assert!(
        matches!(faults[0].kind, FaultKind::DuplicateId { .. }),
        "{faults:?}"
    );
    assert_eq!(
        context(&lines[..4]),
        ["user: go", "assistant: one", "user: on"]
    );
}

#[test]
fn marks_errors_queued_prompts_and_titles_are_understood() {
    let mut meta = prompt("u2", Some("u1"), "caveat");
    meta["isMeta"] = json!(true);
    let mut failed = answer("a1", "q1", "m1", text("API Error: 529"));
    failed["isApiErrorMessage"] = json!(true);
    failed["message"]["model"] = json!("<synthetic>");
    let queued = json!({"attachment": {"type": "queued_command", "prompt": "and this"}});
    let image = json!([
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
    ]);
    let lines = [
        json!({"type": "summary", "summary": "another session's", "leafUuid": "zzz"}),
        record(
            "user",
            "u1",
            None,
            json!({"message": {"role": "user", "content": image}}),
        ),
        meta,
        record("attachment", "q1", Some("u2"), queued),
        failed,
        json!({"type": "summary", "summary": "A picture", "leafUuid": "a1"}),
    ];
    let (_folder, session) = session(&lines);
    let context = session.context().unwrap();
    let expected = [
        "user: see",
        "user: caveat",
        "user: and this",
        "assistant: API Error: 529",
    ];
    assert_eq!(outline(&context), expected);
    let json = |at: usize| -> Value { serde_json::from_str(context.messages[at].json()).unwrap() };
    let picture = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    assert_eq!(json(0)["content"][1], picture);
    assert_eq!(json(1)["isMeta"], true);
    assert_eq!(json(3)["stopReason"], "error");
    assert_eq!(json(3)["errorMessage"], "API Error: 529");
    let (all, _) = entries(&session);
    let names: Vec<&str> = all
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::SessionInfo { name } => name.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["A picture"]);
    assert_eq!(all.last().unwrap().role(), Some(&Role::Assistant));
}
