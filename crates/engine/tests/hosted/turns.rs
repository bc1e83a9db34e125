//! Committing: whole or not at all, and once.

use std::fs;
use std::io::Write;
use std::path::Path;

use futures::executor::block_on;
use longhaul_engine::hosted::{Ask, Asking, Birth, Committed, Given, Hosted};
use longhaul_model::CancellationToken;
use longhaul_testkit::content::{assistant, texts, turn, user};
use serde_json::Value;

use crate::host::{World, refs};

#[test]
fn a_new_session_of_a_key_has_what_the_user_said_in_the_one_before() {
    let world = World::new();
    let folder = world.path().parent().unwrap().to_owned();
    let open = |folder: &Path, id: &str, key: Option<&str>, speaker: Asking| {
        let birth = Birth {
            id: id.into(),
            key: key.map(str::to_owned),
            parent: None,
            speaker,
        };
        let path = folder.join(format!("{id}.jsonl"));
        Hosted::open(&world.engine, &path, &birth, &mut ()).unwrap()
    };
    let shown = |hosted: &mut Hosted| {
        let ask = Ask {
            budget: Some(200_000.0),
            tools: None,
        };
        let message = user("Go on.", 100).to_string();
        let (messages, cancel) = ([message.as_str()], CancellationToken::new());
        let given = Given::whole(&messages);
        let assembly = block_on(hosted.assemble(&given, &ask, &cancel, &mut ())).unwrap();
        format!("{assembly:?}")
    };
    let key = Some("agent:main:main");
    let mut first = open(&folder, "one", key, Asking::User);
    let said = [
        user("Never touch deploy.lock.", 10),
        assistant("Noted.", 11),
    ];
    let said = said.map(|message| message.to_string());
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    first.commit_turn("turn", &said, &mut ()).unwrap();
    // Another key, an agent's orders and another host have nothing of it.
    let elsewhere = folder.with_file_name("other");
    for mut other in [
        open(&folder, "other", Some("agent:main:else"), Asking::User),
        open(&folder, "none", None, Asking::User),
        open(&folder, "child", key, Asking::Agent),
        open(&elsewhere, "one", key, Asking::User),
    ] {
        assert!(!shown(&mut other).contains("deploy.lock"));
    }
    let mut second = open(&folder, "two", key, Asking::User);
    assert!(shown(&mut second).contains("Never touch deploy.lock."));
    drop(second);
    let mut again = open(&folder, "two", key, Asking::User);
    assert!(shown(&mut again).contains("Never touch deploy.lock."));
    let file = std::fs::read_to_string(again.path()).unwrap();
    assert_eq!(file.matches("longhaul:carried").count(), 1, "{file}");
    // What was carried in is carried on.
    let mut third = open(&folder, "three", key, Asking::User);
    assert!(shown(&mut third).contains("Never touch deploy.lock."));
}

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
