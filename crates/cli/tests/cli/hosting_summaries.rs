//! `longhaul rpc`: summaries, made here or by the model of the host.

use std::fs;

use longhaul_testkit::content::{text, turn};
use serde_json::{Value, json};

use crate::hosting::{S, assemble, commit, mirror, refs};
use crate::hosting_client::{Client, long_turn};
use crate::machine::Machine;

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
    for (session, said) in [
        ("one", Some("## Goal\n- THE SUMMARY OF IT ALL")),
        ("two", None),
    ] {
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
    // Its turn, behind today's log that the flush before the summary wrote.
    assert_eq!(answer["messages"].as_array().unwrap().len(), 3);
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
