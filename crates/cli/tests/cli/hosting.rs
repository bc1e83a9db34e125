//! `longhaul rpc`: a host that has the messages and runs the model itself.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hosting_client::{Client, long_turn, turn};
use crate::machine::Machine;

const S: &str = "11111111-2222-4333-8444-555555555555";

fn mirror(machine: &Machine, session: &str) -> PathBuf {
    let folder = machine.home().join(".longhaul/sessions/test/main");
    folder.join(format!("{session}.jsonl"))
}

fn commit(client: &mut Client, key: &str, messages: &[Value]) -> String {
    let params = json!({ "sessionId": S, "advancementKey": key, "messages": messages });
    let answer = client.ask("commitTurn", params);
    answer["status"].as_str().unwrap().to_owned()
}

fn assemble(client: &mut Client, messages: &[Value]) -> Value {
    let params = json!({
        "sessionId": S, "messages": messages, "tokenBudget": 200_000, "refs": true,
    });
    client.ask("assemble", params)
}

/// Refs as numbers, messages of ours as -1.
fn refs(answer: &Value) -> Vec<i64> {
    let messages = answer["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message.get("ref").map_or(-1, |at| at.as_i64().unwrap()))
        .collect()
}

/// The texts of the messages on the path of the mirror.
fn kept(machine: &Machine) -> Vec<String> {
    let path = mirror(machine, S);
    let ran = machine.run(["context", "show", path.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let messages: Vec<Value> = serde_json::from_str(ran.messages()).unwrap();
    messages.iter().map(text).collect()
}

fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn texts(messages: &[Value]) -> Vec<String> {
    messages.iter().map(text).collect()
}

#[test]
fn a_host_introduces_itself_and_is_told_what_there_is() {
    let machine = Machine::new();
    let mut client = Client::start(&machine);
    let (code, _) = client.fail("assemble", json!({ "sessionId": S, "messages": [] }));
    assert_eq!(code, -32002);
    let id = client.send("initialize", json!({ "protocol": 2 }));
    let error = client.answer(id)["error"].clone();
    assert_eq!(error["code"], -32001);
    assert_eq!(error["data"], json!({ "supported": [1] }));
    let (code, _) = client.fail("initialize", json!({}));
    assert_eq!(code, -32001);
    let info = client.introduce(json!({}));
    assert_eq!(info["protocol"], 1);
    assert_eq!(info["info"]["ownsCompaction"], true);
    assert_eq!(
        info["info"]["transcriptSemantics"]["turnAdvancementIdempotency"],
        "atomic-idempotent-v1"
    );
    let methods = info["methods"].as_array().unwrap().clone();
    for method in ["bootstrap", "commitTurn", "assemble", "tools/call"] {
        assert!(methods.contains(&method.into()), "{method}");
    }
    assert_eq!(client.ask("ping", json!({})), json!({}));
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["memory_get", "memory_search", "recall"]);
    let (code, message) = client.fail("levitate", json!({}));
    assert_eq!(code, -32601);
    assert!(message.contains("levitate"), "{message}");
    assert!(client.end());
}

#[test]
fn settings_of_a_host_count_and_wrong_ones_are_named() {
    let machine = Machine::new();
    let mut client = Client::start(&machine);
    let config = json!({ "compaction": { "contextWindow": 50_000 } });
    client.introduce(json!({ "config": config }));
    let status = client.ask("status", json!({ "sessionId": S }));
    assert_eq!(status["window"], 50_000);
    let wrong = json!({
        "protocol": 1, "config": { "compaction": { "contextWindom": 1 } },
    });
    let (code, message) = client.fail("initialize", wrong);
    assert_eq!(code, -32602);
    assert!(message.contains("contextWindom"), "{message}");
}

#[test]
fn a_search_of_notes_gives_as_many_as_the_host_configured() {
    let machine = Machine::new();
    let folder = machine.work().join("memory");
    std::fs::create_dir_all(&folder).unwrap();
    for day in 1..=4 {
        let text = format!("The harbour was closed for {day} hours.\n");
        std::fs::write(folder.join(format!("2026-03-0{day}.md")), text).unwrap();
    }
    let mut client = Client::start(&machine);
    let config = json!({ "memory": { "search": { "maxResults": 2 } } });
    client.introduce(json!({ "config": config }));
    let mut passages = |arguments: Value| {
        let call = json!({ "sessionId": S, "name": "memory_search", "arguments": arguments });
        let said = client.ask("tools/call", call).to_string();
        said.matches("── memory ").count()
    };
    assert_eq!(passages(json!({ "query": "harbour closed" })), 2);
    let more = json!({ "query": "harbour closed", "maxResults": 3 });
    assert_eq!(passages(more), 3);
}

#[test]
fn lines_that_are_no_requests_are_answered_and_the_connection_goes_on() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    for (line, code) in [
        ("this is not JSON", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":9,", -32700),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]",
            -32600,
        ),
        ("42", -32600),
        ("{\"id\":null}", -32600),
    ] {
        client.line(line);
        let answer = client.hear();
        assert_eq!(answer["error"]["code"], code, "{line}");
        assert_eq!(answer["id"], Value::Null, "{line}");
    }
    client.line("");
    for params in [
        json!({}),
        json!({ "sessionId": 7, "messages": [] }),
        json!({ "sessionId": "", "messages": [] }),
        json!({ "sessionId": S }),
        json!({ "sessionId": S, "messages": 5 }),
        json!([1, 2]),
    ] {
        let (code, _) = client.fail("assemble", params.clone());
        assert_eq!(code, -32602, "{params}");
    }
    assert_eq!(client.ask("ping", json!({})), json!({}));
}

#[test]
fn committed_turns_are_kept_once_and_shown_as_the_hosts_own() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let start = client.ask("bootstrap", json!({ "sessionId": S, "sessionFile": "x" }));
    assert_eq!(start["bootstrapped"], true);
    let mut list = Vec::new();
    for number in 0..3 {
        let answer = assemble(&mut client, &list);
        assert_eq!(refs(&answer), (0..list.len() as i64).collect::<Vec<_>>());
        assert!(answer.get("degraded").is_none(), "{answer}");
        let new = turn(number);
        let key = format!("key-{number}");
        assert_eq!(commit(&mut client, &key, &new), "committed");
        assert_eq!(commit(&mut client, &key, &new), "duplicate");
        list.extend(new);
    }
    assemble(&mut client, &list);
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&list));
    let ran = machine.run(["session", "verify", mirror(&machine, S).to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let listed = machine.run_line("session list");
    assert!(listed.out.contains(&S[..8]), "{listed:?}");
}

#[test]
fn nothing_is_doubled_or_lost_by_a_restart_between_any_two_calls() {
    let machine = Machine::new();
    let mut list = Vec::new();
    for number in 0..3 {
        let mut client = Client::ready(&machine);
        assemble(&mut client, &list);
        client.kill();
        let new = turn(number);
        let key = format!("key-{number}");
        let mut client = Client::ready(&machine);
        assert_eq!(commit(&mut client, &key, &new), "committed");
        client.kill();
        let mut client = Client::ready(&machine);
        assert_eq!(commit(&mut client, &key, &new), "duplicate");
        list.extend(new);
        client.ask(
            "afterTurn",
            json!({ "sessionId": S, "messages": list, "prePromptMessageCount": 0 }),
        );
        client.kill();
        let mut client = Client::ready(&machine);
        client.ask("maintain", json!({ "sessionId": S, "sessionFile": "x" }));
        client.kill();
    }
    assert_eq!(kept(&machine), texts(&list));
}

#[test]
fn messages_are_taken_by_whichever_way_they_come_and_kept_once() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let list: Vec<Value> = (0..2).flat_map(turn).collect();
    let one = |message: &Value| json!({ "sessionId": S, "message": message });
    assert_eq!(
        client.ask("ingest", one(&list[0])),
        json!({ "ingested": true })
    );
    assert_eq!(
        client.ask("ingest", one(&list[0])),
        json!({ "ingested": false })
    );
    let batch = json!({ "sessionId": S, "messages": &list[..2] });
    assert_eq!(
        client.ask("ingestBatch", batch),
        json!({ "ingestedCount": 1 })
    );
    // A list that has more than was committed, and then the commit.
    assemble(&mut client, &list);
    assert_eq!(commit(&mut client, "a", &list[..2]), "committed");
    assert_eq!(commit(&mut client, "b", &list[2..]), "committed");
    // The same words once more are another turn.
    let again: Vec<Value> = turn(1)
        .into_iter()
        .map(|mut message| {
            message["timestamp"] = json!(message["timestamp"].as_u64().unwrap() + 100);
            message
        })
        .collect();
    assert_eq!(commit(&mut client, "c", &again), "committed");
    assert!(client.end());
    let all: Vec<Value> = list.into_iter().chain(again).collect();
    assert_eq!(kept(&machine), texts(&all));
}

#[test]
fn a_list_may_be_given_as_a_change_of_the_one_before() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let list: Vec<Value> = (0..2).flat_map(turn).collect();
    let first = assemble(&mut client, &list);
    let base = first["base"].as_str().unwrap();
    let more = turn(2);
    let change = json!({
        "sessionId": S, "refs": true, "tokenBudget": 100_000,
        "history": { "base": base, "keep": 4, "tail": more },
    });
    let answer = client.ask("assemble", change.clone());
    assert_eq!(refs(&answer), [0, 1, 2, 3, 4, 5]);
    // A list that is no longer the last is not known any more.
    let (code, _) = client.fail("assemble", change.clone());
    assert_eq!(code, -32010);
    // Without refs the messages come whole, the host's old ones too.
    let base = assemble(&mut client, &list)["base"].clone();
    let whole = client.ask(
        "assemble",
        json!({ "sessionId": S, "tokenBudget": 100_000, "history": { "base": base, "keep": 4 } }),
    );
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(texts(messages), texts(&list));
    drop(client);
    let mut client = Client::ready(&machine);
    let (code, _) = client.fail("assemble", change);
    assert_eq!(code, -32010);
}

#[test]
fn a_limit_on_history_takes_nothing_out_of_what_is_kept() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list: Vec<Value> = (0..4).flat_map(turn).collect();
    assemble(&mut client, &list);
    let answer = assemble(&mut client, &list[4..]);
    assert_eq!(refs(&answer), [0, 1, 2, 3]);
    let more = turn(4);
    assert_eq!(commit(&mut client, "k", &more), "committed");
    list.extend(more);
    assert_eq!(refs(&assemble(&mut client, &list[6..])), [0, 1, 2, 3]);
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&list));
}

#[test]
fn a_host_that_goes_back_leaves_a_branch_behind() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let list: Vec<Value> = (0..3).flat_map(turn).collect();
    assemble(&mut client, &list);
    let answer = assemble(&mut client, &list[..2]);
    assert_eq!(refs(&answer), [0, 1]);
    let other = turn(7);
    assert_eq!(commit(&mut client, "other", &other), "committed");
    let mut now = list[..2].to_vec();
    now.extend(other);
    assert_eq!(refs(&assemble(&mut client, &now)), [0, 1, 2, 3]);
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&now));
    // What was left is in the file all the same.
    let ran = machine.run([
        "recall",
        "question 2",
        "--session",
        mirror(&machine, S).to_str().unwrap(),
    ]);
    assert!(ran.out.contains("question 2"), "{ran:?}");
}

#[test]
fn what_a_host_rewrites_or_takes_out_is_no_longer_shown() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list: Vec<Value> = (0..3).flat_map(turn).collect();
    list[2]["content"] = json!("my key is SWORDFISH");
    assemble(&mut client, &list);
    list[2]["content"] = json!("[redacted]");
    assert_eq!(refs(&assemble(&mut client, &list)), [0, 1, 2, 3, 4, 5]);
    // Neither is it found again.
    let recalled = client.ask(
        "tools/call",
        json!({ "sessionId": S, "name": "recall", "arguments": { "text": "key is SWORDFISH" } }),
    );
    let said = recalled["text"].as_str().unwrap();
    assert!(!said.contains("── recalled"), "{said}");
    list.remove(3);
    assert_eq!(refs(&assemble(&mut client, &list)), [0, 1, 2, 3, 4]);
    drop(client);
    let path = mirror(&machine, S);
    let ran = machine.run(["recall", "SWORDFISH", "--session", path.to_str().unwrap()]);
    assert!(!ran.out.contains("my key"), "{ran:?}");
    let shown = kept(&machine);
    assert_eq!(shown, texts(&list));
    // And after a restart it is still the same list.
    let size = fs::metadata(mirror(&machine, S)).unwrap().len();
    let mut client = Client::ready(&machine);
    assert_eq!(refs(&assemble(&mut client, &list)), [0, 1, 2, 3, 4]);
    assert!(client.end());
    assert_eq!(fs::metadata(mirror(&machine, S)).unwrap().len(), size);
}

#[test]
fn another_conversation_under_the_same_name_begins_anew() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let list: Vec<Value> = (0..3).flat_map(turn).collect();
    assemble(&mut client, &list);
    let other: Vec<Value> = (50..52).flat_map(turn).collect();
    assert_eq!(refs(&assemble(&mut client, &other)), [0, 1, 2, 3]);
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&other));
}

#[test]
fn strange_messages_and_budgets_never_break_a_turn() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list = turn(0);
    list.push(json!({ "role": "hologram", "beam": [1, 2], "timestamp": 5 }));
    list.push(json!({ "content": 7 }));
    list.push(json!({ "role": "toolResult", "toolCallId": "nobody", "content": [] }));
    list.extend(turn(1));
    for budget in [
        Value::Null,
        json!(0),
        json!(-5),
        json!(1e300),
        json!("many"),
        json!(3.7),
    ] {
        let params = json!({
            "sessionId": S, "messages": list, "tokenBudget": budget, "refs": true,
        });
        let answer = client.ask("assemble", params);
        assert!(answer["degraded"].is_string(), "{budget}: {answer}");
        let shown = refs(&answer);
        for at in [0, 1, 2, 5, 6] {
            assert!(shown.contains(&at), "{budget}: {shown:?}");
        }
        assert!(!shown.contains(&4), "{shown:?}");
    }
    for (budget, named) in [(json!("8000"), "\"8000\""), (json!(true), "true")] {
        let params = json!({ "sessionId": S, "messages": list, "tokenBudget": budget });
        let answer = client.ask("assemble", params.clone());
        let degraded = answer["degraded"].as_str().unwrap();
        assert!(degraded.contains(named), "{degraded}");
        assert!(!degraded.contains("NaN"), "{degraded}");
        client.told.clear();
        client.ask("compact", params);
        assert!(warned(&client, named), "{:?}", client.told);
    }
}

/// Whether a warning with these words was told.
fn warned(client: &Client, words: &str) -> bool {
    client.told.iter().any(|told| {
        let said = told["params"]["message"].as_str().unwrap_or_default();
        told["params"]["level"] == "warn" && said.contains(words)
    })
}

#[test]
fn what_is_no_message_takes_nothing_else_of_its_list_with_it() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list = turn(0);
    list.extend([json!("a string"), json!(5), Value::Null, json!([1])]);
    list.extend(turn(1));
    assert_eq!(commit(&mut client, "t0", &list), "committed");
    assert!(warned(&client, "no object"), "{:?}", client.told);
    assert_eq!(commit(&mut client, "t0", &list), "duplicate");
    let said = kept(&machine).join("\n");
    for words in ["question 0", "answer 0", "question 1", "answer 1"] {
        assert!(said.contains(words), "{said}");
    }
    let answer = assemble(&mut client, &list);
    assert_eq!(refs(&answer), (0..8).collect::<Vec<i64>>());
    assert!(answer.get("degraded").is_none(), "{answer}");
    // Written out, they are what they were, also where they are not sent again.
    let params = json!({
        "sessionId": S, "tokenBudget": 200_000,
        "history": { "base": answer["base"], "keep": 8, "tail": [null] },
    });
    let answer = client.ask("assemble", params);
    let shown = answer["messages"].as_array().unwrap();
    list.push(Value::Null);
    assert_eq!(shown, &list);
    client.ask("ingest", json!({ "sessionId": "other", "message": "text" }));
    let params = json!({ "sessionId": S, "messages": list });
    let after = client.ask("afterTurn", params);
    assert!(after.get("degraded").is_none(), "{after}");
}

#[test]
fn a_key_with_other_messages_is_told_and_an_empty_one_refused() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    assert_eq!(commit(&mut client, "t0", &turn(0)), "committed");
    assert_eq!(commit(&mut client, "t0", &turn(0)), "duplicate");
    assert!(!warned(&client, "other messages"));
    assert_eq!(commit(&mut client, "t0", &turn(1)), "duplicate");
    assert!(warned(&client, "other messages"), "{:?}", client.told);
    assert_eq!(kept(&machine), texts(&turn(0)));
    let params = json!({ "sessionId": S, "advancementKey": "", "messages": turn(2) });
    let (code, message) = client.fail("commitTurn", params);
    assert_eq!(code, -32602);
    assert!(message.contains("advancementKey"), "{message}");
}

#[test]
fn the_very_id_of_a_session_means_it_although_another_begins_so() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    for (number, session) in ["T", "T2"].into_iter().enumerate() {
        let messages = turn(number as u64);
        let params = json!({ "sessionId": session, "advancementKey": "k", "messages": messages });
        client.ask("commitTurn", params);
    }
    let ran = machine.run(["context", "show", "T", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.messages().contains("question 0"), "{ran:?}");
    assert!(!ran.messages().contains("question 1"), "{ran:?}");
}

#[test]
fn a_long_session_is_summarised_and_the_hosts_list_is_shown_from_there() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list = Vec::new();
    let mut epoch = 0;
    for number in 0..40 {
        let params = json!({
            "sessionId": S, "messages": list, "tokenBudget": 32_000, "refs": true,
        });
        let answer = client.ask("assemble", params);
        assert!(
            answer["estimatedTokens"].as_u64().unwrap() < 32_000,
            "{answer}"
        );
        let messages = answer["messages"].as_array().unwrap();
        let shown = refs(&answer);
        if shown.first() == Some(&-1) {
            epoch += 1;
            assert!(text(&messages[0]).contains("summary"), "{}", messages[0]);
        }
        let newest = list.len() as i64 - 1;
        assert_eq!(shown.iter().max().copied().unwrap_or(-1), newest);
        let new = long_turn(number, 300);
        commit(&mut client, &format!("k{number}"), &new);
        client.ask(
            "maintain",
            json!({ "sessionId": S, "runtimeContext": { "tokenBudget": 32_000 } }),
        );
        list.extend(new);
    }
    assert!(epoch > 0, "nothing was ever summarised");
    let found = client.ask(
        "tools/call",
        json!({ "sessionId": S, "name": "recall", "arguments": { "query": "please do step 3" } }),
    );
    assert_eq!(found["isError"], false, "{found}");
    assert!(found["text"].as_str().unwrap().contains("please do step 3"));
    let refused = client.ask(
        "tools/call",
        json!({ "sessionId": S, "name": "bash", "arguments": { "command": "true" } }),
    );
    assert_eq!(refused["isError"], true);
    assert!(client.end());
    let path = mirror(&machine, S);
    let ran = machine.run(["session", "verify", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_hosts_model_writes_the_summary_and_may_fail() {
    let machine = Machine::new();
    for (session, said) in [("one", Some("THE SUMMARY OF IT ALL")), ("two", None)] {
        let mut client = Client::ready_with(&machine, json!({ "llm": true }));
        client.model = said.map(str::to_owned);
        let list: Vec<Value> = (0..12).flat_map(|number| long_turn(number, 300)).collect();
        let params = json!({ "sessionId": session, "messages": list, "tokenBudget": 200_000 });
        client.ask("assemble", params);
        let params = json!({
            "sessionId": session, "sessionKey": "agent:main:x", "tokenBudget": 32_000,
            "force": true, "customInstructions": "keep step 5",
        });
        let answer = client.ask("compact", params);
        assert_eq!(answer["compacted"], true, "{answer}");
        let result = &answer["result"];
        assert!(result["tokensAfter"].as_u64() < result["tokensBefore"].as_u64());
        let summary = result["summary"].as_str().unwrap();
        assert_eq!(summary.contains("THE SUMMARY"), said.is_some(), "{summary}");
        assert!(!client.asked.is_empty());
        let asked = &client.asked[0];
        assert_eq!(asked["method"], "llm.complete");
        assert_eq!(asked["params"]["sessionId"], session);
        let events: Vec<&str> = client
            .told
            .iter()
            .filter_map(|told| told["params"]["event"]["event"].as_str())
            .collect();
        assert!(events.contains(&"compacted"), "{events:?}");
        assert_eq!(events.contains(&"summaryFallback"), said.is_none());
    }
}

#[test]
fn an_answer_of_the_hosts_model_that_says_nothing_is_a_failed_one() {
    let machine = Machine::new();
    for (session, odd) in [
        ("null", json!({ "result": null })),
        ("both", json!({ "result": null, "error": null })),
        ("nothing", json!({})),
        ("text", json!({ "result": "a string" })),
    ] {
        let mut client = Client::ready_with(&machine, json!({ "llm": true }));
        client.odd = Some(odd);
        let list: Vec<Value> = (0..12).flat_map(|number| long_turn(number, 300)).collect();
        let params = json!({ "sessionId": session, "messages": list, "tokenBudget": 200_000 });
        client.ask("assemble", params);
        let params = json!({ "sessionId": session, "tokenBudget": 32_000, "force": true });
        let answer = client.ask("compact", params);
        assert_eq!(answer["compacted"], true, "{session}: {answer}");
        assert!(!client.asked.is_empty(), "{session}");
        let fell_back = |told: &Value| told["params"]["event"]["event"] == "summaryFallback";
        assert!(client.told.iter().any(fell_back), "{session}");
    }
}

#[test]
fn a_model_that_never_answers_is_given_up_within_the_time_of_the_request() {
    let machine = Machine::new();
    let mut client = Client::ready_with(&machine, json!({ "llm": true }));
    let list: Vec<Value> = (0..12).flat_map(|number| long_turn(number, 300)).collect();
    assemble(&mut client, &list);
    let params = json!({
        "sessionId": S, "tokenBudget": 32_000, "force": true, "timeoutMs": 400,
    });
    let slow = client.send("compact", params);
    let call = client.hear_call();
    assert_eq!(call["method"], "llm.complete");
    let answer = client.answer(slow);
    assert_eq!(answer["result"]["compacted"], true, "{answer}");
    let told = |wanted: &dyn Fn(&Value) -> bool| client.told.iter().any(wanted);
    assert!(told(&|told| {
        told["method"] == "cancel" && told["params"]["id"] == call["id"]
    }));
    assert!(told(&|told| {
        let said = told["params"]["message"].as_str().unwrap_or_default();
        told["params"]["level"] == "warn" && said.contains("llm.complete was not answered")
    }));
}

#[test]
fn a_slow_summary_holds_up_no_other_session_and_can_be_cancelled() {
    let machine = Machine::new();
    let mut client = Client::ready_with(&machine, json!({ "llm": true }));
    let list: Vec<Value> = (0..12).flat_map(|number| long_turn(number, 300)).collect();
    assemble(&mut client, &list);
    let before = fs::read(mirror(&machine, S)).unwrap();
    let params = json!({ "sessionId": S, "tokenBudget": 32_000, "force": true });
    let slow = client.send("compact", params);
    let call = client.hear_call();
    assert_eq!(call["method"], "llm.complete");
    let other = json!({ "sessionId": "other", "messages": turn(0), "tokenBudget": 32_000 });
    let answer = client.ask("assemble", other);
    assert_eq!(answer["messages"].as_array().unwrap().len(), 2);
    // Behind the summary in the same session, and never begun.
    let waiting = client.send("status", json!({ "sessionId": S }));
    client.notify("cancel", json!({ "id": waiting }));
    client.notify("cancel", json!({ "id": slow }));
    assert_eq!(client.answer(slow)["error"]["code"], -32800);
    assert_eq!(client.answer(waiting)["error"]["code"], -32800);
    let cancelled = client
        .told
        .iter()
        .any(|told| told["method"] == "cancel" && told["params"]["id"] == call["id"]);
    assert!(cancelled, "{:?}", client.told);
    assert_eq!(fs::read(mirror(&machine, S)).unwrap(), before);
    assert_eq!(refs(&assemble(&mut client, &list)).len(), list.len());
}

#[test]
fn a_mirror_that_cannot_be_used_gives_the_hosts_messages_back_and_recovers() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let list: Vec<Value> = (0..2).flat_map(turn).collect();
    assemble(&mut client, &list);
    let path = mirror(&machine, S);
    // A file where its folder was: it can be neither read nor written.
    let folder = path.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "").unwrap();
    let answer = assemble(&mut client, &list);
    assert_eq!(refs(&answer), [0, 1, 2, 3]);
    assert!(answer["degraded"].is_string(), "{answer}");
    let params = json!({ "sessionId": S, "advancementKey": "k", "messages": turn(2) });
    let (code, message) = client.fail("commitTurn", params);
    assert_eq!(code, -32011, "{message}");
    let answer = client.ask("ingest", json!({ "sessionId": S, "message": turn(3)[0] }));
    assert_eq!(answer["ingested"], false);
    assert!(answer["degraded"].is_string());
    fs::remove_file(folder).unwrap();
    assert_eq!(refs(&assemble(&mut client, &list)), [0, 1, 2, 3]);
    assert_eq!(commit(&mut client, "k", &turn(2)), "committed");
    // Another file under its name, and one that is no session at all.
    fs::write(&path, "garbage\n").unwrap();
    let answer = assemble(&mut client, &list);
    assert_eq!(refs(&answer), [0, 1, 2, 3]);
    let beside: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".damaged-"))
        .collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&list));
}

#[test]
fn it_ends_when_its_input_does_and_on_request() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    commit(&mut client, "k", &turn(0));
    assert!(client.end());
    let mut client = Client::ready(&machine);
    assert_eq!(client.ask("shutdown", json!({})), json!({}));
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&turn(0)));
}

/// The process that starts it is killed: nobody closes anything by hand.
#[cfg(target_os = "linux")]
#[test]
fn it_ends_when_its_parent_is_killed() {
    use std::io::BufRead;
    use std::process::{Command, Stdio};
    let machine = Machine::new();
    let binary = assert_cmd::cargo::cargo_bin!("longhaul");
    // The shell holds the other end of its input.
    let script = format!(
        "exec 3<>fifo; '{}' rpc <fifo 3<&- & echo $!; exec 4>fifo 3<&-; read forever",
        binary.display()
    );
    assert!(
        Command::new("mkfifo")
            .arg(machine.work().join("fifo"))
            .status()
            .unwrap()
            .success()
    );
    let mut shell = machine.command();
    let mut shell = Command::new("sh")
        .args(["-c", &script])
        .env_clear()
        .envs(
            shell
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", "/usr/bin:/bin")
        .current_dir(machine.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .inspect(|_| {
            shell.arg("rpc");
        })
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let child: u32 = line.trim().parse().unwrap();
    let runs = || {
        let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    assert!(runs());
    shell.kill().unwrap();
    shell.wait().unwrap();
    for _ in 0..1_200 {
        if !runs() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it still runs");
}

#[test]
fn a_subagent_knows_whose_work_it_does() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    assemble(&mut client, &turn(0));
    let spawn = json!({
        "parentSessionKey": "agent:main:main", "parentSessionId": S,
        "childSessionKey": "agent:main:subagent:x", "contextMode": "isolated",
    });
    client.ask("prepareSubagentSpawn", spawn);
    let child = json!({
        "sessionId": "child", "sessionKey": "agent:main:subagent:x",
        "messages": turn(9), "tokenBudget": 32_000,
    });
    client.ask("assemble", child);
    let ended = json!({ "childSessionKey": "agent:main:subagent:x", "reason": "completed" });
    client.ask("onSubagentEnded", ended);
    let text = fs::read_to_string(mirror(&machine, "child")).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let parent = header["parentSession"].as_str().unwrap();
    assert_eq!(parent, mirror(&machine, S).to_str().unwrap());
    assert_eq!(
        client.ask("dispose", json!({ "sessionId": "child" })),
        json!({})
    );
    assert!(client.id() > 0);
}

/// Runs it under `strace` with some lines as input; what it answered. `None`
/// where the machine has no strace, or does not let a process be traced.
#[cfg(target_os = "linux")]
fn traced(machine: &Machine, inject: &str, lines: &[Value]) -> Option<(bool, Vec<Value>)> {
    use std::process::{Command, Stdio};
    let longhaul = machine.command();
    let input = machine.work().join("input");
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&input, text.join("\n")).unwrap();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", "/dev/null", "-P"])
        .arg(mirror(machine, S))
        .args(["-e", inject])
        .arg(longhaul.get_program())
        .arg("rpc")
        .env_clear()
        .current_dir(machine.work())
        .stdin(Stdio::from(fs::File::open(&input).unwrap()))
        .stderr(Stdio::null());
    for (name, value) in longhaul.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = command.output().ok()?;
    let answers = String::from_utf8_lossy(&output.stdout);
    let answers = answers
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Some((output.status.success(), answers.collect()))
}

#[cfg(target_os = "linux")]
fn can_trace() -> bool {
    let traced = std::process::Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    traced.is_ok_and(|status| status.success())
}

#[cfg(target_os = "linux")]
fn three_turns() -> Vec<Value> {
    let mut lines = vec![json!({
        "id": 0, "method": "initialize",
        "params": { "protocol": 1, "host": { "name": "test" } },
    })];
    lines.extend((1..=3).map(|number| {
        json!({
            "id": number, "method": "commitTurn",
            "params": {
                "sessionId": S, "advancementKey": format!("k{number}"), "messages": turn(number),
            },
        })
    }));
    lines
}

#[cfg(target_os = "linux")]
#[test]
fn turns_killed_at_any_write_are_there_once_when_they_are_committed_again() {
    if !can_trace() {
        return;
    }
    let list: Vec<Value> = (1..=3).flat_map(turn).collect();
    let mut kills = 0;
    for call in ["write", "fdatasync", "fsync"] {
        for nth in 1.. {
            let machine = Machine::new();
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let Some((survived, answers)) = traced(&machine, &inject, &three_turns()) else {
                return;
            };
            if survived {
                break;
            }
            kills += 1;
            let at = format!("killed at {call} {nth}");
            let mut client = Client::ready(&machine);
            for number in 1..=3u64 {
                let done = answers.iter().any(|answer| {
                    answer["id"] == number && answer["result"]["status"] == "committed"
                });
                let status = commit(&mut client, &format!("k{number}"), &turn(number));
                assert!(!done || status == "duplicate", "{at}: {number} is lost");
            }
            assert_eq!(
                refs(&assemble(&mut client, &list)),
                [0, 1, 2, 3, 4, 5],
                "{at}"
            );
            assert!(client.end());
            assert_eq!(kept(&machine), texts(&list), "{at}");
        }
    }
    assert!(kills >= 6, "only {kills} places to die at");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_the_turn_can_be_committed_later() {
    if !can_trace() {
        return;
    }
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    assert_eq!(commit(&mut client, "k1", &turn(1)), "committed");
    assert!(client.end());
    let inject = "inject=write:error=ENOSPC:when=1+";
    let Some((_, answers)) = traced(&machine, inject, &three_turns()) else {
        return;
    };
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["status"], "duplicate", "{answers:?}");
    for id in [2, 3] {
        assert_eq!(of(id)["error"]["code"], -32011, "{answers:?}");
        let message = of(id)["error"]["message"].as_str().unwrap();
        assert!(message.contains(S), "{message}");
    }
    let mut client = Client::ready(&machine);
    for (number, expected) in [(1, "duplicate"), (2, "committed"), (3, "committed")] {
        let status = commit(&mut client, &format!("k{number}"), &turn(number));
        assert_eq!(status, expected);
    }
    assert!(client.end());
    let list: Vec<Value> = (1..=3).flat_map(turn).collect();
    assert_eq!(kept(&machine), texts(&list));
}

const PAGE: &str = include_str!("../../../../docs/src/rpc.md");

/// Whether an answer has everything that the page shows; `"…"` is anything.
fn assert_shown(shown: &Value, heard: &Value, at: &str) {
    match (shown, heard) {
        (Value::String(any), _) if any == "…" => {
            assert!(!heard.is_null(), "{at} is not there");
        }
        (Value::Object(shown), Value::Object(heard)) => {
            for (name, value) in shown {
                let heard = heard.get(name).unwrap_or(&Value::Null);
                assert_shown(value, heard, &format!("{at}.{name}"));
            }
        }
        _ => assert_eq!(shown, heard, "{at}"),
    }
}

#[test]
fn the_conversation_in_the_book_is_held() {
    let machine = Machine::new();
    let mut client = Client::start(&machine);
    let (_, rest) = PAGE.split_once("```rpc\n").unwrap();
    let (conversation, _) = rest.split_once("```").unwrap();
    let mut lines = 0;
    for line in conversation.lines() {
        if let Some(sent) = line.strip_prefix("→ ") {
            client.line(sent);
        } else if let Some(shown) = line.strip_prefix("← ") {
            let shown: Value = serde_json::from_str(shown).unwrap();
            let heard = client.hear();
            assert_shown(&shown, &heard, &shown["id"].to_string());
            lines += 1;
        }
    }
    assert_eq!(lines, 11);
    assert!(client.end());
}
