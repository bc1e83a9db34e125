//! Requests within a turn, and the room between turns.

use longhaul_engine::hosted::Assembly;
use longhaul_testkit::content::{assistant, user};
use serde_json::{Value, json};

use crate::host::{World, refs};

/// A turn with a tool result of so many words.
fn tool_turn(number: i64, words: usize) -> Vec<Value> {
    let call = format!("call-{number}");
    vec![
        user(&format!("question {number}"), number * 10),
        json!({
            "role": "assistant", "timestamp": number * 10 + 1, "stopReason": "toolUse",
            "content": [{
                "type": "toolCall", "id": call, "name": "read",
                "arguments": { "path": format!("file{number}.txt") },
            }],
            "usage": { "input": 9_000, "output": 50, "cacheRead": 0, "cacheWrite": 0 },
        }),
        json!({
            "role": "toolResult", "toolCallId": call, "toolName": "read", "isError": false,
            "content": [{ "type": "text", "text": format!("line of file {number} ").repeat(words / 4) }],
            "timestamp": number * 10 + 2,
        }),
        assistant(&format!("answer {number}"), number * 10 + 3),
    ]
}

fn sent(assembly: &Assembly) -> Vec<&str> {
    let messages = assembly.messages.iter();
    messages.map(|shown| shown.json.as_ref()).collect()
}

#[test]
fn what_was_assembled_for_a_turn_is_not_taken_for_the_history() {
    let mut world = World::new();
    world.budget = 12_000.0;
    let list: Vec<Value> = (0..40).flat_map(|n| tool_turn(n, 600)).collect();
    let first = world.assemble(&list);
    assert!(first.messages[0].at.is_none(), "nothing was compacted");
    let before = world.file();
    let again = world.again(&sent(&first), 11_000.0);
    assert_eq!(sent(&again), sent(&first));
    // All of it is the host's own now: it has it from us.
    let all: Vec<usize> = (0..first.messages.len()).collect();
    assert_eq!(refs(&again), all);
    assert_eq!(world.file(), before);
    // And the list itself goes on where it was.
    let next = world.assemble(&list);
    assert_eq!(sent(&next), sent(&first));
    assert_eq!(world.file(), before);
}

#[test]
fn a_turn_that_leaves_little_room_makes_some_and_the_next_has_all_of_it_again() {
    let mut world = World::new();
    world.budget = 12_000.0;
    let list: Vec<Value> = (0..10).flat_map(|n| tool_turn(n, 600)).collect();
    let first = world.assemble(&list);
    let again = world.again(&sent(&first), 4_000.0);
    assert!(again.tokens < first.tokens);
    assert!(again.tokens.0 <= 4_000, "{}", again.tokens);
    assert_eq!(world.hosted().session().window().size().0, 12_000);
}

#[test]
fn a_process_that_comes_in_the_middle_of_a_turn_leaves_it_as_it_is() {
    let mut world = World::new();
    world.budget = 12_000.0;
    let list: Vec<Value> = (0..40).flat_map(|n| tool_turn(n, 600)).collect();
    let first = world.assemble(&list);
    let before = world.file();
    world.restart();
    let again = world.again(&sent(&first), 10_000.0);
    assert_eq!(sent(&again), sent(&first));
    assert_eq!(refs(&again).len(), first.messages.len());
    assert_eq!(world.file(), before);
}

/// A host's budget is for its messages: what its provider reports has its prompt
/// in it, and what the turn took is in the history afterwards. Counted twice,
/// either would have every turn compacted.
#[test]
fn a_compaction_makes_room_for_several_turns() {
    let mut world = World::new();
    world.budget = 12_000.0;
    let mut list = Vec::new();
    let mut compactions = Vec::new();
    for number in 0..60 {
        let first = world.assemble(&list);
        let pending = 1_500.0;
        world.again(&sent(&first), world.budget - pending);
        let turn = tool_turn(number, 600);
        world.commit(&format!("turn-{number}"), &turn);
        list.extend(turn);
        world.maintain();
        compactions.push(world.hosted().session().live().epoch());
    }
    let made = *compactions.last().unwrap();
    assert!(
        (2..=20).contains(&made),
        "{made} in 60 turns: {compactions:?}"
    );
}
