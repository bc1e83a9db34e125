//! Committing: whole or not at all, and once.

use std::fs;
use std::io::Write;

use longhaul_engine::hosted::Committed;
use serde_json::Value;

use crate::host::{World, assistant, refs, texts, turn, user};

#[test]
fn a_key_counts_once_across_restarts_and_branches() {
    let mut world = World::new();
    assert_eq!(world.commit("a", &turn(0)), Committed::Now);
    assert_eq!(world.commit("b", &turn(1)), Committed::Now);
    world.restart();
    assert_eq!(world.commit("a", &turn(0)), Committed::Before);
    // Back to the first turn, and on from there.
    world.assemble(&turn(0));
    assert_eq!(world.commit("c", &turn(2)), Committed::Now);
    world.restart();
    for key in ["a", "b", "c"] {
        assert_eq!(world.commit(key, &turn(9)), Committed::Before, "{key}");
    }
    let list: Vec<Value> = turn(0).into_iter().chain(turn(2)).collect();
    assert_eq!(world.context(), texts(&list));
}

#[test]
fn the_same_words_under_another_key_are_another_turn() {
    let mut world = World::new();
    let said = [user("go on", 0), assistant("ok", 0)].map(|mut message| {
        message.as_object_mut().unwrap().remove("timestamp");
        message
    });
    world.commit("a", &said);
    world.commit("b", &said);
    let list: Vec<Value> = said.iter().chain(&said).cloned().collect();
    assert_eq!(world.context(), texts(&list));
    assert_eq!(refs(&world.assemble(&list)), [0, 1, 2, 3]);
    // The list was first this time, and the commit comes after it.
    let longer: Vec<Value> = list.iter().chain(&said).cloned().collect();
    world.assemble(&longer);
    world.commit("c", &said);
    world.restart();
    assert_eq!(world.commit("c", &said), Committed::Before);
    assert_eq!(world.context(), texts(&longer));
}

#[test]
fn an_empty_turn_is_committed_too() {
    let mut world = World::new();
    assert_eq!(world.commit("a", &[]), Committed::Now);
    assert_eq!(world.commit("a", &[]), Committed::Before);
    world.commit("b", &turn(0));
    world.restart();
    assert_eq!(world.commit("a", &[]), Committed::Before);
    assert_eq!(world.context(), texts(&turn(0)));
}

/// The file as it may be after a crash at any byte of the last turn.
#[test]
fn a_turn_cut_at_any_byte_is_there_whole_or_not_at_all() {
    let mut world = World::new();
    world.commit("a", &turn(0));
    let before = world.file().len();
    world.commit("b", &turn(1));
    let whole = world.file();
    let path = world.path();
    for length in before..=whole.len() {
        world.restart();
        fs::File::create(&path)
            .unwrap()
            .write_all(&whole.as_bytes()[..length])
            .unwrap();
        let complete = length >= whole.len() - 1;
        let expected = match complete {
            true => Committed::Before,
            false => Committed::Now,
        };
        world.hosted();
        if !complete {
            assert_eq!(world.context(), texts(&turn(0)), "at {length}");
        }
        assert_eq!(world.commit("b", &turn(1)), expected, "at {length}");
        let list: Vec<Value> = turn(0).into_iter().chain(turn(1)).collect();
        assert_eq!(world.context(), texts(&list), "at {length}");
        world.restart();
        assert_eq!(
            world.commit("b", &turn(1)),
            Committed::Before,
            "at {length}"
        );
        assert_eq!(refs(&world.assemble(&list)), [0, 1, 2, 3]);
    }
}

/// A disk may keep a later block and lose an earlier one.
#[test]
fn a_turn_with_a_hole_in_it_is_not_there() {
    let mut world = World::new();
    world.commit("a", &turn(0));
    let before = world.file().len();
    world.commit("b", &turn(1));
    let whole = world.file().into_bytes();
    let path = world.path();
    for at in (before..whole.len() - 8).step_by(17) {
        world.restart();
        let mut torn = whole.clone();
        torn[at..at + 8].fill(0);
        fs::write(&path, &torn).unwrap();
        let committed = world.commit("b", &turn(1));
        let list: Vec<Value> = turn(0).into_iter().chain(turn(1)).collect();
        let shown = world.assemble(&list);
        assert_eq!(refs(&shown), [0, 1, 2, 3], "at {at}: {committed:?}");
        let kept = world.context();
        assert_eq!(kept, texts(&list), "at {at}: {committed:?}");
    }
}
