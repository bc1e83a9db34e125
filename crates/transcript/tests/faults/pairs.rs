//! Calls without a result, and results without a call.

use std::fs;

use longhaul_transcript::{Context, FaultKind, Session, verify};
use serde_json::{Value, json};

/// What `verify` finds of calls and results in a session of these: `u` a user,
/// `a12` an answer that calls 1 and 2, `e3` a failed one, `r1` a result, `x2`
/// that the third entry is taken out of the context.
fn found(words: &str) -> [Vec<String>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "s", "cwd": "/"})];
    for (at, word) in words.split(' ').enumerate() {
        let (kind, calls) = word.split_at(1);
        let blocks: Vec<Value> = calls
            .chars()
            .map(|id| json!({"type": "toolCall", "id": id, "name": "bash", "arguments": {}}))
            .collect();
        let message = match kind {
            "u" => json!({"role": "user", "content": "go on"}),
            "a" => json!({"role": "assistant", "stopReason": "toolUse", "content": blocks}),
            "e" => json!({"role": "assistant", "stopReason": "error", "content": blocks}),
            _ => json!({"role": "toolResult", "toolCallId": calls, "content": []}),
        };
        let mut line = match kind {
            "x" => json!({"type": "context_edit", "targetId": calls, "replacement": null}),
            _ => json!({"type": "message", "message": message}),
        };
        line["id"] = json!(at.to_string());
        line["parentId"] = json!(at.checked_sub(1).map(|before| before.to_string()));
        lines.push(line);
    }
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, lines).unwrap();
    let session = Session::open(&path).unwrap();
    let report = verify(&session).unwrap();
    let context = Context::build(&session.load().unwrap());
    assert_eq!(report.context_messages, context.messages.len() as u64);
    let (mut orphans, mut unanswered) = (Vec::new(), Vec::new());
    for fault in report.faults {
        match fault.kind {
            FaultKind::OrphanResult { call, .. } => orphans.push(call),
            FaultKind::UnansweredCall { call, .. } => unanswered.push(call),
            other => panic!("{other:?}"),
        }
    }
    [orphans, unanswered]
}

#[test]
fn a_call_or_a_result_that_is_alone_is_found() {
    let all = |orphans: &[&str], unanswered: &[&str]| {
        [orphans, unanswered].map(|list| list.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
    };
    for sound in [
        "u a12 r2 r1 u",
        "u a12 r1",
        "u a1",
        "u a1 u r1 a2 r2 u",
        "u e1 u",
    ] {
        assert_eq!(found(sound), all(&[], &[]), "{sound}");
    }
    assert_eq!(found("u a12 r1 u"), all(&[], &["2"]));
    assert_eq!(found("u a1 a2 r2"), all(&[], &["1"]));
    assert_eq!(found("r1 u a2 r2 r2"), all(&["1", "2"], &[]));
    assert_eq!(found("a1 a1 r1 r1 r1 u"), all(&["1"], &[]));
    // The third entry is the result, and no longer in the context.
    assert_eq!(found("u a1 r1 u x2"), all(&[], &["1"]));
}
