//! What a provider is sent is never refused, whatever the session is like.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use longhaul_transcript::{Context, ContextMessage, EntryId};
use proptest::prelude::*;
use serde_json::{Value, json};

fn context(messages: &[Value]) -> Context {
    let messages = messages.iter().enumerate();
    Context {
        messages: messages
            .map(|(at, message)| {
                ContextMessage::new(
                    EntryId::from(format!("e{at}").as_str()),
                    message.to_string(),
                )
            })
            .collect(),
    }
}

fn sent(messages: &[Value]) -> Vec<Value> {
    let ready = context(messages).for_provider();
    ready
        .iter()
        .map(|message| serde_json::from_str(message.json()).unwrap())
        .collect()
}

fn is_said(content: &Value) -> bool {
    match content {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(blocks) => {
            !blocks.is_empty()
                && blocks.iter().all(|block| match block["type"].as_str() {
                    Some("text") => block["text"].as_str().is_some_and(|t| !t.trim().is_empty()),
                    _ => true,
                })
        }
        _ => false,
    }
}

/// What Anthropic's and OpenAI's interfaces refuse; shares no code with the view.
fn faults(messages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut begun = false;
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("none");
        if role != "toolResult" && !open.is_empty() {
            faults.push(format!("{at}: calls {open:?} have no result"));
            open.clear();
        }
        if !begun && role != "system" {
            begun = true;
            if role != "user" {
                faults.push(format!("{at}: {role} speaks first"));
            }
        }
        if !is_said(&message["content"]) {
            faults.push(format!("{at}: {role} says nothing"));
        }
        match role {
            "system" | "user" => {}
            "assistant" => {
                if let "error" | "aborted" = message["stopReason"].as_str().unwrap_or("") {
                    faults.push(format!("{at}: a failed answer"));
                }
                for block in message["content"].as_array().into_iter().flatten() {
                    if block["type"] == "toolCall" {
                        let id = block["id"].as_str().unwrap_or("").to_owned();
                        if id.is_empty() || open.contains(&id) {
                            faults.push(format!("{at}: the id {id:?} is of no use"));
                        }
                        open.push(id);
                    }
                }
            }
            "toolResult" => {
                let id = message["toolCallId"].as_str().unwrap_or("");
                match open.iter().position(|open| open == id) {
                    Some(found) => drop(open.remove(found)),
                    None => faults.push(format!("{at}: result {id:?} without its call")),
                }
            }
            other => faults.push(format!("{at}: the role {other}")),
        }
    }
    if !open.is_empty() {
        faults.push(format!("end: calls {open:?} have no result"));
    }
    faults
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text, "timestamp": 1 })
}

fn calls(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "type": "toolCall", "id": id, "name": "bash", "arguments": {} }))
        .collect();
    json!({ "role": "assistant", "content": calls, "stopReason": "toolUse", "timestamp": 2 })
}

fn result(id: &str, text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "role": "toolResult", "toolCallId": id, "toolName": "bash", "content": content, "isError": false, "timestamp": 3 })
}

fn aborted(mut answer: Value) -> Value {
    answer["stopReason"] = json!("aborted");
    answer
}

#[test]
fn a_sound_context_is_sent_as_it_is() {
    let messages = [
        json!({ "role": "system", "content": "", "sections": { "base": "Be brief." } }),
        user("go"),
        calls(&["1", "2"]),
        result("2", "b"),
        result("1", "a"),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "done" }] }),
        user("next"),
    ];
    assert_eq!(sent(&messages), messages);
}

#[test]
fn the_answer_of_a_failed_request_is_left_out_with_its_results() {
    let messages = [
        user("go"),
        aborted(calls(&["1"])),
        result("1", "late"),
        user("again"),
    ];
    assert_eq!(sent(&messages), [user("go"), user("again")]);
}

#[test]
fn a_call_without_a_result_gets_one_that_says_so() {
    let messages = sent(&[
        user("go"),
        calls(&["1", "2"]),
        result("1", "a"),
        user("stop"),
    ]);
    let roles: Vec<&str> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["user", "assistant", "toolResult", "toolResult", "user"]
    );
    assert_eq!(messages[3]["toolCallId"], "2");
    assert_eq!(messages[3]["content"][0]["text"], "No result provided");
    assert_eq!(messages[3]["isError"], true);
}

#[test]
fn a_late_result_moves_to_its_answer_and_what_nobody_asked_for_is_left_out() {
    let messages = [
        result("0", "from before the cut"),
        user("go"),
        calls(&["1"]),
        user("hurry"),
        result("1", "a"),
        result("1", "once more"),
    ];
    let expected = [user("go"), calls(&["1"]), result("1", "a"), user("hurry")];
    assert_eq!(sent(&messages), expected);
}

#[test]
fn nothing_empty_is_sent_and_the_user_speaks_first() {
    let answer = json!([{ "type": "text", "text": " \n" }, { "type": "thinking", "thinking": "" }]);
    let messages = sent(&[
        json!({ "role": "assistant", "content": answer }),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "" }, { "type": "toolCall", "id": "1", "name": "read", "arguments": {} }] }),
        json!({ "role": "toolResult", "toolCallId": "1", "toolName": "read", "content": [] }),
        json!({ "role": "user", "content": [] }),
    ]);
    assert_eq!(faults(&messages), [""; 0]);
    let roles: Vec<&str> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "user"]);
    assert_eq!(messages[1]["content"].as_array().unwrap().len(), 1);
}

fn content() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just(""),
        Just(" \n"),
        Just("words"),
        Just("\u{2003}"),
        Just("\"q\"")
    ];
    let block = text
        .clone()
        .prop_map(|text| json!({ "type": "text", "text": text }));
    prop_oneof![
        text.prop_map(|text| json!(text)),
        prop::collection::vec(block, 0..3).prop_map(Value::Array),
        Just(Value::Null),
        Just(json!(7)),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let id = prop_oneof![Just(""), Just("1"), Just("2"), Just("3")];
    let stop = prop_oneof![
        4 => Just("stop"), 1 => Just("error"), 1 => Just("aborted"), 1 => Just("toolUse")
    ];
    let role = prop_oneof![
        Just("user"),
        Just("system"),
        Just("custom"),
        Just("elsewhere")
    ];
    let call = prop_oneof![
        3 => id.clone().prop_map(|id| json!({ "type": "toolCall", "id": id, "name": "bash", "arguments": {} })),
        1 => Just(json!({ "type": "text", "text": "" })),
        1 => Just(json!({ "type": "text", "text": "hm" })),
        1 => Just(json!({ "type": "thinking", "thinking": "", "thinkingSignature": "s" })),
    ];
    prop_oneof![
        (role, content()).prop_map(|(role, content)| json!({ "role": role, "content": content })),
        (content(), stop.clone()).prop_map(|(content, stop)| {
            json!({ "role": "assistant", "content": content, "stopReason": stop })
        }),
        (prop::collection::vec(call, 0..4), stop).prop_map(|(content, stop)| {
            json!({ "role": "assistant", "content": content, "stopReason": stop })
        }),
        (id, content()).prop_map(|(id, content)| {
            json!({ "role": "toolResult", "toolCallId": id, "toolName": "bash", "content": content })
        }),
    ]
}

proptest! {
    #[test]
    fn no_cut_of_any_session_is_refused(
        messages in prop::collection::vec(message(), 0..24),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = if messages.is_empty() { 0 } else { cut.index(messages.len()) };
        for part in [&messages[..], &messages[..cut], &messages[cut..]] {
            let ready = sent(part);
            prop_assert_eq!(faults(&ready), [""; 0], "{:?}", ready);
            // Making it ready again changes nothing.
            prop_assert_eq!(sent(&ready), ready);
        }
    }
}
