//! What a list means for what is kept.

use longhaul_engine::hosted::{Ask, Base, Given};
use longhaul_model::CancellationToken;
use longhaul_testkit::content::{assistant, text, texts, turn, user};
use serde_json::{Value, json};

use crate::host::{World, refs};

fn all(count: i64) -> Vec<Value> {
    (0..count).flat_map(turn).collect()
}

#[test]
fn a_message_that_comes_in_between_takes_its_place_on_the_path() {
    let mut world = World::new();
    let mut list = all(3);
    world.assemble(&list);
    list.insert(3, user("by the way", 15));
    assert_eq!(refs(&world.assemble(&list)), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(world.context(), texts(&list));
    world.restart();
    let before = world.file();
    assert_eq!(refs(&world.assemble(&list)), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(world.file(), before);
}

#[test]
fn what_a_host_puts_in_front_is_kept_beside_the_path_once() {
    let mut world = World::new();
    let list = all(2);
    world.assemble(&list);
    let mut with = vec![json!({ "role": "user", "content": "host's own note" })];
    with.extend(list.clone());
    world.assemble(&with);
    let size = world.file().len();
    assert!(world.file().contains("host's own note"));
    world.assemble(&with);
    world.restart();
    world.assemble(&with);
    assert_eq!(world.file().len(), size);
    assert_eq!(world.context(), texts(&list));
}

#[test]
fn a_message_taken_out_comes_back_as_it_was() {
    let mut world = World::new();
    let list = all(3);
    world.assemble(&list);
    let mut without = list.clone();
    without.drain(2..4);
    assert_eq!(refs(&world.assemble(&without)), [0, 1, 2, 3]);
    assert_eq!(world.context(), texts(&without));
    assert_eq!(refs(&world.assemble(&list)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(world.context(), texts(&list));
}

#[test]
fn an_edit_far_back_is_seen_by_whoever_reads_the_file() {
    let mut world = World::new();
    let mut list = all(6);
    world.assemble(&list);
    list[2] = user("something else", 10);
    list[11] = assistant("the last word, revised", 51);
    assert_eq!(refs(&world.assemble(&list)).len(), 12);
    assert_eq!(world.context(), texts(&list));
    world.restart();
    let size = world.file().len();
    world.assemble(&list);
    assert_eq!(world.file().len(), size);
}

#[test]
fn tool_calls_keep_their_results_whatever_is_left_of_a_list() {
    let mut world = World::new();
    let call = |id: &str| {
        json!({
            "role": "assistant", "stopReason": "toolUse",
            "content": [{ "type": "toolCall", "id": id, "name": "bash", "arguments": {} }],
        })
    };
    let result = |id: &str| {
        json!({
            "role": "toolResult", "toolCallId": id, "toolName": "bash",
            "content": [{ "type": "text", "text": format!("result {id}") }],
        })
    };
    let list = vec![
        user("do", 1),
        call("a"),
        result("a"),
        call("b"),
        result("b"),
        assistant("done", 9),
    ];
    world.assemble(&list);
    for from in 0..list.len() {
        for to in from..=list.len() {
            let shown = world.assemble(&list[from..to]);
            let mut open: Vec<String> = Vec::new();
            for shown in &shown.messages {
                let message: Value = serde_json::from_str(&shown.json).unwrap();
                let id = message["content"][0]["id"].as_str();
                match message["role"].as_str().unwrap() {
                    "assistant" => {
                        assert!(open.is_empty(), "{from}..{to}");
                        open.extend(id.map(str::to_owned));
                    }
                    "toolResult" => {
                        let id = message["toolCallId"].as_str().unwrap();
                        assert_eq!(open.pop().as_deref(), Some(id), "{from}..{to}");
                    }
                    _ => assert!(open.is_empty(), "{from}..{to}"),
                }
            }
            assert!(open.is_empty(), "{from}..{to}");
        }
    }
    let whole = world.assemble(&list);
    assert_eq!(refs(&whole), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn going_back_before_a_summary_shows_what_was_there_then() {
    let mut world = World::new();
    world.budget = 20_000.0;
    let words = "and so on and so forth ".repeat(60);
    let list: Vec<Value> = (0..30)
        .flat_map(|n| {
            let mut turn = turn(n);
            turn[1] = assistant(&format!("answer {n} {words}"), n * 10 + 1);
            turn
        })
        .collect();
    world.assemble(&list[..20]);
    world.assemble(&list);
    assert!(world.compact());
    let shown = world.assemble(&list);
    assert!(shown.messages[0].at.is_none());
    assert!(refs(&shown).len() < list.len());
    assert_eq!(refs(&shown).last(), Some(&59));
    let back = world.assemble(&list[..6]);
    assert_eq!(refs(&back), [0, 1, 2, 3, 4, 5]);
    assert!(
        back.messages
            .iter()
            .all(|shown| !shown.json.contains("answer 29"))
    );
    let again = world.assemble(&list);
    assert_eq!(refs(&again).last(), Some(&59));
    for message in &list {
        assert!(world.file().contains(&text(message)));
    }
}

#[test]
fn a_change_of_a_list_is_the_list() {
    let mut world = World::new();
    let list = all(4);
    let first = world.assemble(&list[..4]);
    let texts: Vec<String> = list[4..].iter().map(Value::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let given = Given {
        base: Some(Base {
            token: &first.token,
            keep: 4,
        }),
        tail: &texts,
    };
    let cancel = CancellationToken::new();
    let ask = Ask {
        budget: Some(50_000.0),
        tools: None,
    };
    let hosted = world.hosted();
    let shown = futures::executor::block_on(hosted.assemble(&given, &ask, &cancel, &mut ()));
    let shown = shown.unwrap();
    assert_eq!(refs(&shown), [0, 1, 2, 3, 4, 5, 6, 7]);
    let whole = world.assemble(&list);
    assert_eq!(whole.messages, shown.messages);
    assert_ne!(whole.token, shown.token);
}

#[test]
fn the_same_list_gives_the_same_bytes() {
    let mut world = World::new();
    let list = all(5);
    let one = world.assemble(&list);
    let two = world.assemble(&list);
    assert_eq!(
        (one.messages, one.addition, one.tokens),
        (two.messages, two.addition, two.tokens)
    );
}

/// What is to be sent of a list, as texts.
fn shown(assembly: &longhaul_engine::hosted::Assembly) -> Vec<String> {
    let messages = assembly.messages.iter();
    messages
        .map(|shown| {
            let value: Value = serde_json::from_str(&shown.json).unwrap();
            match value["summary"].as_str() {
                Some(summary) => summary.to_owned(),
                None => text(&value),
            }
        })
        .collect()
}

#[test]
fn a_summary_of_the_hosts_own_is_shown_in_place_of_what_it_covers() {
    let mut world = World::new();
    let list = all(3);
    world.assemble(&list);
    let summary = serde_json::json!({
        "role": "compactionSummary", "summary": "what was said before", "timestamp": 99,
    });
    let mut shorter = vec![summary];
    shorter.extend_from_slice(&list[4..]);
    shorter.push(user("and now?", 100));
    let given = world.assemble(&shorter);
    assert_eq!(
        shown(&given),
        ["what was said before", "question 2", "answer 2", "and now?"]
    );
    assert_eq!(refs(&given), [0, 1, 2, 3]);
    // And so it is for the next request, and after a restart.
    assert_eq!(refs(&world.assemble(&shorter)), [0, 1, 2, 3]);
    world.restart();
    assert_eq!(refs(&world.assemble(&shorter)), [0, 1, 2, 3]);
}

#[test]
fn what_stands_in_front_changes_and_takes_nothing_else_with_it() {
    let mut world = World::new();
    let list = all(4);
    let with = |front: &str, to: usize, now: i64| -> Vec<Value> {
        let mut whole = vec![user(front, 0)];
        whole.extend_from_slice(&list[..to]);
        whole.push(user("current", now));
        whole
    };
    let first = with("memory 0", 4, 500);
    assert_eq!(refs(&world.assemble(&first)), (0..6).collect::<Vec<_>>());
    let second = with("memory 1", 8, 500);
    assert_eq!(refs(&world.assemble(&second)), (0..10).collect::<Vec<_>>());
}

#[test]
fn what_was_said_before_a_prompt_that_is_said_again_is_shown() {
    let mut world = World::new();
    world.assemble(&[user("hi", 1)]);
    let list = [
        user("real question", 5),
        assistant("real answer", 6),
        user("hi", 7),
    ];
    let given = world.assemble(&list);
    assert_eq!(shown(&given), ["real question", "real answer", "hi"]);
}

#[test]
fn another_turn_that_ends_in_the_same_words_is_no_edit() {
    let mut world = World::new();
    let old = [
        user("intro", 1),
        assistant("welcome", 2),
        user("the old question", 3),
        assistant("Done.", 4),
    ];
    world.assemble(&old);
    world.assemble(&old[..2]);
    let new = [
        user("intro", 1),
        assistant("welcome", 2),
        user("the new question", 5),
        assistant("Done.", 6),
    ];
    let given = world.assemble(&new);
    assert_eq!(refs(&given), [0, 1, 2, 3]);
    assert!(!world.file().contains("longhaul:host-change"));
    let context = world.context();
    assert!(context.contains(&"the new question".to_owned()));
    assert!(!context.contains(&"the old question".to_owned()));
}

#[test]
fn a_trimmed_history_is_counted_by_what_is_sent_of_it() {
    let words = "and so on and so forth ".repeat(40);
    let long = |n: i64| assistant(&format!("answer {n} {words}"), n * 10 + 1);
    let list: Vec<Value> = (0..20)
        .flat_map(|n| [turn(n)[0].clone(), long(n)])
        .collect();
    let mut world = World::new();
    world.assemble(&list);
    let last = &list[list.len() - 8..];
    let mut fresh = World::new();
    let alone = fresh.assemble(last).tokens;
    world.budget = f64::from(alone.0) * 2.5;
    let given = world.assemble(last);
    assert_eq!(refs(&given), (0..8).collect::<Vec<_>>());
    assert!(
        given.tokens.0 < alone.0 * 5 / 4,
        "{} for {alone}",
        given.tokens
    );
}
