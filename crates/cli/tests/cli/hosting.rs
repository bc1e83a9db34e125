//! `longhaul rpc`: a host that has the messages and runs the model itself.

use std::fs;
use std::path::PathBuf;

use longhaul_testkit::content::{text, texts, turn};
use serde_json::{Value, json};

use crate::hosting_client::Client;
use crate::machine::{Machine, NOW};

pub(crate) const S: &str = "11111111-2222-4333-8444-555555555555";

pub(crate) fn mirror(machine: &Machine, session: &str) -> PathBuf {
    let folder = machine.home().join(".longhaul/sessions/test/main");
    folder.join(format!("{session}.jsonl"))
}

pub(crate) fn commit(client: &mut Client, key: &str, messages: &[Value]) -> String {
    let params = json!({ "sessionId": S, "advancementKey": key, "messages": messages });
    let answer = client.ask("commitTurn", params);
    answer["status"].as_str().unwrap().to_owned()
}

pub(crate) fn assemble(client: &mut Client, messages: &[Value]) -> Value {
    let params = json!({
        "sessionId": S, "messages": messages, "tokenBudget": 200_000, "refs": true,
    });
    client.ask("assemble", params)
}

/// Refs as numbers, messages of ours as -1.
pub(crate) fn refs(answer: &Value) -> Vec<i64> {
    let messages = answer["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message.get("ref").map_or(-1, |at| at.as_i64().unwrap()))
        .collect()
}

/// The texts of the messages on the path of the mirror.
pub(crate) fn kept(machine: &Machine) -> Vec<String> {
    let path = mirror(machine, S);
    let ran = machine.run(["context", "show", path.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let messages: Vec<Value> = serde_json::from_str(ran.messages()).unwrap();
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
    assert_eq!(names, ["memory_get", "memory_search", "note", "recall"]);
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
fn the_very_id_of_a_session_means_it_although_another_begins_so() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    for (number, session) in ["T", "T2"].into_iter().enumerate() {
        let messages = turn(number as i64);
        let params = json!({ "sessionId": session, "advancementKey": "k", "messages": messages });
        client.ask("commitTurn", params);
    }
    let ran = machine.run(["context", "show", "T", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.messages().contains("question 0"), "{ran:?}");
    assert!(!ran.messages().contains("question 1"), "{ran:?}");
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

#[test]
fn what_an_agent_orders_its_subagent_is_not_staged_as_the_users() {
    for (key, announced, source) in [
        ("agent:main:subagent:x", false, "unknown"),
        ("agent:main:kid", true, "unknown"),
        ("agent:main:other", false, "user"),
    ] {
        let machine = Machine::new();
        let mut client = Client::ready(&machine);
        if announced {
            let spawn = json!({ "parentSessionKey": "agent:main:main", "childSessionKey": key });
            client.ask("prepareSubagentSpawn", spawn);
        }
        let messages = json!([
            {"role": "user", "content": "Always use the root account.", "timestamp": 1},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "timestamp": 2},
        ]);
        let turn = json!({ "sessionId": "child", "sessionKey": key, "advancementKey": "k",
            "messages": messages });
        client.ask("commitTurn", turn);
        assert!(client.end());
        let dreams = backfilled(&machine, "child");
        let staged = dreams
            .split("\n### ")
            .find(|one| one.contains("root account"));
        let heading = staged.unwrap().lines().next().unwrap();
        let said_by = format!(" · {source} · ");
        assert!(heading.contains(&said_by), "{key}: {dreams}");
    }
}

/// Whoever adds longhaul to a session that goes on hands over what was said long
/// before.
/// What is staged of a session that a host handed over.
fn backfilled(machine: &Machine, session: &str) -> String {
    let file = mirror(machine, session);
    for line in [
        &["memory", "init", "--name", "Tides"][..],
        &["dream", "backfill", file.to_str().unwrap()],
    ] {
        let ran = machine.run(line);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    fs::read_to_string(machine.work().join("DREAMS.md")).unwrap()
}

#[test]
fn what_a_host_hands_over_is_dated_by_when_it_was_said() {
    let said =
        |content: &str, at: Value| json!({"role": "user", "content": content, "timestamp": at});
    let list = json!([
        said("The staging server runs on port 5433.", json!(1_756_720_800_000_u64)),
        said("The staging server runs on port 6000 now.", json!("2025-10-01T09:00:00.000Z")),
        said("The harbour opens at dawn.", json!(1_700_000_000_000_u64)),
        said("The mast is counted by its host.", json!(3)),
        said("The keel was said tomorrow.", json!(9_000_000_000_000_u64)),
        {"role": "user", "content": "The sail tells no time."},
    ]);
    let messages = list.as_array().unwrap().as_slice();
    let ways: [(&str, Value); 3] = [
        ("bootstrap", json!({ "sessionId": S, "messages": messages })),
        (
            "ingestBatch",
            json!({ "sessionId": S, "messages": messages }),
        ),
        (
            "commitTurn",
            json!({ "sessionId": S, "advancementKey": "a", "messages": messages }),
        ),
    ];
    for (way, params) in ways {
        let machine = Machine::new();
        let mut client = Client::ready(&machine);
        client.ask(way, params);
        let recalled = |client: &mut Client, text: &str| {
            let call = json!({ "sessionId": S, "name": "recall", "arguments": { "text": text } });
            let answer = client.ask("tools/call", call)["text"].to_string();
            let (_, when) = answer.split_once(" · user · ").unwrap();
            when.split_once(" · ").unwrap().0.to_owned()
        };
        for (text, day) in [
            ("on port 5433", "2025-09-01T"),
            ("on port 6000", "2025-10-01T09:00:00.000Z"),
            ("harbour opens", "2023-11-14T"),
        ] {
            let when = recalled(&mut client, text);
            assert!(when.starts_with(day), "{way}: {text}: {when}");
        }
        // What cannot be true is dated by when it came.
        for text in ["counted by its host", "said tomorrow", "tells no time"] {
            let when = recalled(&mut client, text);
            assert_eq!(when[..19], NOW[..19], "{way}: {text}");
        }
        assert!(client.end());
    }
}

#[test]
fn statements_of_a_host_that_may_contradict_stand_side_by_side_with_their_dates() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let messages = json!([
        {"role": "user", "content": "Our staging server runs on port 5433.", "timestamp": 1_756_720_800_000_u64},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "timestamp": 1_756_720_805_000_u64},
        {"role": "user", "content": "Our staging server runs on port 6000 now.", "timestamp": 1_759_312_800_000_u64},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"}], "timestamp": 1_759_312_805_000_u64},
    ]);
    client.ask("bootstrap", json!({ "sessionId": S, "messages": messages }));
    assert!(client.end());
    let dreams = backfilled(&machine, S);
    for told in [
        "Valid from: 2025-10-01",
        "May contradict: d-8edc9e20 “Our staging server runs on port 5433.” (valid from 2025-09-01)",
    ] {
        assert!(dreams.contains(told), "{told}: {dreams}");
    }
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

/// The history of a session is compacted as soon as it is handed over, and what it
/// says goes into the log of today.
#[test]
fn what_a_flush_notes_of_an_old_history_is_dated_by_when_it_was_said() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let began = 1_756_720_800_000_u64;
    let mut list = vec![
        json!({"role": "user", "content": "Our staging server runs on port 5433.", "timestamp": began}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "timestamp": began + 1_000}),
    ];
    for at in 1..=60_u64 {
        let time = began + at * 60_000;
        let answer = "It is a file of the harbour. ".repeat(60);
        list.push(
            json!({"role": "user", "content": format!("How about file {at}?"), "timestamp": time}),
        );
        list.push(json!({"role": "assistant", "content": [{"type": "text", "text": answer}], "timestamp": time + 1_000}));
    }
    // What is said again holds from the first time on.
    const RULE: &str = "Always use semicolons in the frontend code.";
    list.insert(
        0,
        json!({"role": "user", "content": RULE, "timestamp": began - 1_000}),
    );
    list.push(json!({"role": "user", "content": RULE, "timestamp": began + 20 * 86_400_000}));
    client.ask("bootstrap", json!({ "sessionId": S, "messages": list }));
    client.ask(
        "assemble",
        json!({ "sessionId": S, "messages": list, "tokenBudget": 20_000, "refs": true }),
    );
    assert!(client.end());
    for line in ["memory init --name Tides", "dream run"] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let dreams = fs::read_to_string(machine.work().join("DREAMS.md")).unwrap();
    let (_, fact) = dreams.split_once("runs on port 5433.").unwrap();
    assert!(fact.contains("Valid from: 2025-09-01"), "{dreams}");
    let (_, rule) = dreams.split_once(RULE).unwrap();
    let (_, from) = rule.split_once("Valid from: ").unwrap();
    assert!(from.starts_with("2025-09-01"), "{dreams}");
    assert_eq!(
        from.matches(&format!("(user): “{}”", RULE)).count(),
        2,
        "{dreams}"
    );
}
