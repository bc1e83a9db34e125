//! The file store, through its public face.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{START, draft, id, key, ledger, moment, store};
use longhaul_checkpoint::{CheckpointStore, Draft, FileStore, Outcome, Policy, Trigger};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Millis, SessionKey};

fn folder(root: &Path, key: &SessionKey) -> PathBuf {
    root.join("context/checkpoints").join(key.folder_name())
}

/// Every file below a folder with its bytes.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

fn names(root: &Path) -> Vec<String> {
    tree(root)
        .keys()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name.ends_with(".yaml"))
        .collect()
}

#[test]
fn checkpoints_are_numbered_linked_and_pointed_at() {
    let (root, store) = store();
    for (at, topic) in ["one", "two", "three"].into_iter().enumerate() {
        let written = store.write(&key(), draft(topic, at as i64)).unwrap();
        assert!(written.recovery.is_clean());
        assert_eq!(written.outcome.id(), id(at as u32 + 1));
    }
    let latest = store.latest(&key()).unwrap();
    let latest = latest.checkpoint.unwrap();
    assert_eq!(latest.meta.previous_checkpoint, Some(id(2)));
    assert_eq!(latest.working.topic, "three");
    let pointer = fs::read_to_string(folder(root.path(), &key()).join("_latest.json")).unwrap();
    assert_eq!(
        pointer,
        r#"{"checkpoint_id":"cp_003","path":"cp_003.yaml"}"#
    );
    let listed: Vec<_> = store
        .list(&key())
        .unwrap()
        .into_iter()
        .map(|listed| (listed.id, listed.checkpoint.unwrap().working.topic))
        .collect();
    assert_eq!(
        listed,
        [
            (id(3), "three".into()),
            (id(2), "two".into()),
            (id(1), "one".into())
        ]
    );
    assert_eq!(store.get(&key(), id(2)).unwrap().working.topic, "two");
    assert!(store.recover(&key()).unwrap().is_clean());
}

#[test]
fn what_says_the_same_is_skipped_until_tokens_move() {
    let (_root, store) = store();
    let at = |tokens: u32, trigger, compactions| {
        let mut moment = moment(&key(), 0);
        moment.input_tokens = Tokens(tokens);
        moment.trigger = trigger;
        moment.compactions = compactions;
        store
            .write(&key(), Draft::of(&ledger("a"), moment))
            .unwrap()
            .outcome
    };
    assert!(matches!(
        at(160_000, Trigger::Threshold, 0),
        Outcome::Stored(_)
    ));
    assert_eq!(at(160_000, Trigger::Manual, 0), Outcome::Unchanged(id(1)));
    assert_eq!(
        at(167_999, Trigger::Compaction, 0),
        Outcome::Unchanged(id(1))
    );
    assert!(matches!(
        at(168_000, Trigger::Compaction, 0),
        Outcome::Stored(_)
    ));
    assert!(matches!(
        at(168_000, Trigger::Compaction, 1),
        Outcome::Stored(_)
    ));
    let changed = store.write(&key(), draft("b", 0)).unwrap();
    assert_eq!(changed.outcome.id(), id(4));
}

#[test]
fn the_newest_five_are_kept_and_never_rewritten() {
    let (root, store) = store();
    let mut seen: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for n in 0..12 {
        store
            .write(&key(), draft(&format!("topic {n}"), n))
            .unwrap();
        for (path, bytes) in tree(root.path()) {
            if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                let known = seen.entry(path).or_insert_with(|| bytes.clone());
                assert_eq!(*known, bytes);
            }
        }
    }
    assert_eq!(
        names(root.path()),
        [
            "cp_008.yaml",
            "cp_009.yaml",
            "cp_010.yaml",
            "cp_011.yaml",
            "cp_012.yaml"
        ]
    );
    let few = FileStore::new(
        root.path(),
        Policy {
            keep: 2,
            ..Policy::default()
        },
    );
    assert_eq!(few.recover(&key()).unwrap().retired, [id(10), id(9), id(8)]);
}

#[test]
fn a_damaged_newest_is_reported_and_the_one_before_is_used() {
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    let damages: [&dyn Fn(&str) -> String; 6] = [
        &cut,
        &|_| String::new(),
        &|text| text.replace("topic:", "tpoic:"),
        &|text| text.replace("finish two", "finish everything"),
        &|_| "}{ nonsense: [\u{1}".into(),
        &|text| text.replace("cp_002", "cp_001"),
    ];
    for damage in damages {
        let (root, store) = store();
        store.write(&key(), draft("one", 0)).unwrap();
        store.write(&key(), draft("two", 1)).unwrap();
        let path = folder(root.path(), &key()).join("cp_002.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, damage(&text)).unwrap();

        let latest = store.latest(&key()).unwrap();
        assert_eq!(latest.checkpoint.unwrap().working.topic, "one");
        let [fault] = &latest.passed_over[..] else {
            panic!("{:?}", latest.passed_over);
        };
        let said = fault.to_string();
        println!("{said}\n  help: {}", fault.remedy().unwrap());
        assert!(said.contains("cp_002.yaml is damaged"), "{said}");

        let recovery = store.recover(&key()).unwrap();
        assert_eq!(recovery.pointer_moved, Some(id(1)));
        assert_eq!(recovery.passed_over.len(), 1);
        // The damaged one stays for whoever wants to mend it; its number is taken.
        let written = store.write(&key(), draft("three", 2)).unwrap();
        let Outcome::Stored(checkpoint) = written.outcome else {
            panic!("not stored");
        };
        assert_eq!(checkpoint.meta.checkpoint_id, id(3));
        assert_eq!(checkpoint.meta.previous_checkpoint, Some(id(1)));
    }
}

#[test]
fn damaged_ones_never_push_out_the_last_good_one() {
    let (root, store) = store();
    for n in 0..6 {
        let written = store.write(&key(), draft(&format!("topic {n}"), n));
        written.unwrap();
    }
    let place = folder(root.path(), &key());
    for n in 3..=12 {
        fs::write(place.join(format!("cp_{n:03}.yaml")), "half a ch").unwrap();
    }
    // Only cp_002 can be read, and ten damaged ones are newer.
    let recovery = store.recover(&key()).unwrap();
    assert!(recovery.retired.is_empty(), "{:?}", recovery.retired);
    let latest = store.latest(&key()).unwrap();
    assert_eq!(latest.checkpoint.unwrap().meta.checkpoint_id, id(2));
    assert_eq!(latest.passed_over.len(), 10);

    // New ones come, and the damaged fall behind the oldest good one.
    for n in 0..4 {
        let written = store.write(&key(), draft(&format!("again {n}"), 20 + n));
        assert!(written.unwrap().recovery.retired.is_empty());
    }
    let written = store.write(&key(), draft("again 4", 24)).unwrap();
    assert_eq!(
        written.recovery.retired,
        [id(7), id(6), id(5), id(4), id(3), id(2)]
    );
    assert_eq!(written.outcome.id(), id(17));
    assert_eq!(names(root.path()).len(), 10);
}

#[test]
fn where_all_are_damaged_nothing_is_said_of_one_before() {
    let (root, store) = store();
    store.write(&key(), draft("one", 0)).unwrap();
    store.write(&key(), draft("two", 1)).unwrap();
    let place = folder(root.path(), &key());
    let remedies = || -> Vec<String> {
        let latest = store.latest(&key()).unwrap();
        let faults = latest.passed_over.iter();
        faults.map(|fault| fault.remedy().unwrap()).collect()
    };
    fs::write(place.join("cp_002.yaml"), "half a ch").unwrap();
    assert!(remedies()[0].starts_with("the checkpoint before it is used; "));
    fs::write(place.join("cp_001.yaml"), "half a ch").unwrap();
    let remedies = remedies();
    assert_eq!(remedies.len(), 2);
    for remedy in remedies {
        assert!(!remedy.contains("is used"), "{remedy}");
        assert!(remedy.contains("put the original back"), "{remedy}");
    }
}

#[test]
fn what_cannot_be_read_at_all_does_not_take_the_rest_with_it() {
    let (root, store) = store();
    store.write(&key(), draft("one", 0)).unwrap();
    fs::create_dir(folder(root.path(), &key()).join("cp_002.yaml")).unwrap();
    let state = root.path().join("context/state").join(key().folder_name());
    fs::create_dir_all(state.join("thread.json")).unwrap();
    let latest = store.latest(&key()).unwrap();
    assert_eq!(latest.checkpoint.unwrap().working.topic, "one");
    assert_eq!(latest.passed_over.len(), 1);
    let written = store.write(&key(), draft("three", 1)).unwrap();
    assert_eq!(written.outcome.id(), id(3));
    assert_eq!(written.recovery.set_aside[0].part, "thread.json");
}

#[test]
fn damaged_pointers_are_put_right() {
    for text in [
        "",
        "{",
        r#"{"checkpoint_id":"cp_007","path":"x"}"#,
        "\u{0}\u{1}",
    ] {
        let (root, store) = store();
        store.write(&key(), draft("one", 0)).unwrap();
        let path = folder(root.path(), &key()).join("_latest.json");
        fs::write(&path, text).unwrap();
        assert_eq!(
            store
                .latest(&key())
                .unwrap()
                .checkpoint
                .unwrap()
                .working
                .topic,
            "one"
        );
        assert_eq!(store.recover(&key()).unwrap().pointer_moved, Some(id(1)));
        assert!(store.recover(&key()).unwrap().is_clean());
    }
}

#[test]
fn state_is_kept_until_a_checkpoint_holds_it() {
    let (root, store) = store();
    let state = draft("one", 1).state();
    store.save_state(&key(), &state).unwrap();
    assert_eq!(store.state(&key()).unwrap(), Some(state.clone()));
    let before = tree(root.path());
    store.save_state(&key(), &draft("one", 5).state()).unwrap();
    assert_eq!(
        tree(root.path()),
        before,
        "what did not change is not written"
    );
    store.write(&key(), draft("one", 9)).unwrap();
    assert_eq!(store.state(&key()).unwrap(), None);
    assert!(store.recover(&key()).unwrap().is_clean());
}

#[test]
fn what_a_session_left_without_a_checkpoint_is_in_the_first_one_of_the_next() {
    let (_root, store) = store();
    store.save_state(&key(), &draft("one", 1).state()).unwrap();
    // Two further sessions of the same key, neither with a checkpoint.
    for (file, topic, at) in [
        ("sessions/b.jsonl", "two", 2),
        ("sessions/c.jsonl", "three", 3),
    ] {
        let mut state = draft(topic, at).state();
        state.session_file = file.into();
        store.save_state(&key(), &state).unwrap();
        assert_eq!(store.state(&key()).unwrap(), Some(state));
    }
    let mut moment = moment(&key(), 9);
    moment.session_file = "sessions/d.jsonl".into();
    let written = store
        .write(&key(), Draft::of(&ledger("four"), moment))
        .unwrap();
    let Outcome::Stored(checkpoint) = written.outcome else {
        panic!("not stored");
    };
    assert_eq!(checkpoint.working.topic, "four");
    assert_eq!(
        checkpoint.learnings,
        [
            "learnt from one",
            "learnt from two",
            "learnt from three",
            "learnt from four"
        ]
    );
    assert_eq!(store.state(&key()).unwrap(), None);
}

#[test]
fn stale_and_damaged_state_is_set_aside_and_never_merged() {
    let (root, store) = store();
    let mut old = draft("old", 1).state();
    old.session_file = "sessions/old.jsonl".into();
    store.save_state(&key(), &old).unwrap();
    let state = root.path().join("context/state").join(key().folder_name());
    let saved = tree(&state);
    for path in saved.keys() {
        fs::remove_file(path).unwrap();
    }
    store.write(&key(), draft("new", 5)).unwrap();
    // As if it had come back from a copy of the folder.
    for (path, bytes) in &saved {
        fs::write(path, bytes).unwrap();
    }
    fs::write(state.join("decisions.json"), "{ nonsense").unwrap();
    assert_eq!(store.state(&key()).unwrap(), None);
    let recovery = store.recover(&key()).unwrap();
    let aside: Vec<&str> = recovery.set_aside.iter().map(|aside| aside.part).collect();
    assert_eq!(aside, ["decisions.json", "thread.json"]);
    assert!(state.join("set-aside/thread.json").is_file());
    let latest = store.write(&key(), draft("newest", 7)).unwrap();
    let Outcome::Stored(checkpoint) = latest.outcome else {
        panic!("not stored");
    };
    assert_eq!(checkpoint.learnings, ["learnt from newest"]);
    assert_eq!(checkpoint.meta.created_at, Millis(START + 7000).to_iso());
}

#[test]
fn keys_that_sanitise_alike_have_checkpoints_of_their_own() {
    let (root, store) = store();
    let keys = [
        "a:b",
        "a_b",
        "A_b",
        "a/b",
        "a b",
        "con",
        "..",
        ".",
        "",
        "a_b-0123456789",
    ];
    for key in keys {
        let key = SessionKey::new(key);
        let draft = Draft::of(&ledger(key.as_str()), moment(&key, 0));
        assert_eq!(store.write(&key, draft).unwrap().outcome.id(), id(1));
    }
    for key in keys {
        let key = SessionKey::new(key);
        let found = store.latest(&key).unwrap().checkpoint.unwrap();
        assert_eq!(found.meta.session_key, key);
        assert_eq!(found.working.topic, key.as_str().trim());
    }
    let folders = fs::read_dir(root.path().join("context/checkpoints")).unwrap();
    assert_eq!(folders.count(), keys.len());
    let wrong = store.write(&SessionKey::new("a:b"), draft("x", 0));
    assert!(
        wrong
            .unwrap_err()
            .to_string()
            .contains("cannot be stored for a:b")
    );
}

#[test]
fn a_checkpoint_of_another_session_is_not_believed() {
    let (root, store) = store();
    let other = SessionKey::new("other");
    store.write(&key(), draft("mine", 0)).unwrap();
    let foreign = folder(root.path(), &other);
    fs::create_dir_all(&foreign).unwrap();
    fs::copy(
        folder(root.path(), &key()).join("cp_001.yaml"),
        foreign.join("cp_001.yaml"),
    )
    .unwrap();
    let latest = store.latest(&other).unwrap();
    assert!(latest.checkpoint.is_none());
    assert!(
        latest.passed_over[0]
            .to_string()
            .contains("belongs to session telegram:user123")
    );
}

#[test]
fn reading_leaves_no_trace() {
    let (root, store) = store();
    assert!(store.latest(&key()).unwrap().checkpoint.is_none());
    assert!(store.list(&key()).unwrap().is_empty());
    assert!(store.state(&key()).unwrap().is_none());
    assert!(store.recover(&key()).unwrap().is_clean());
    let error = store.get(&key(), id(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "session telegram:user123 has no checkpoint cp_001"
    );
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let (root, store) = store();
    store.save_state(&key(), &draft("one", 0).state()).unwrap();
    store.write(&key(), draft("one", 1)).unwrap();
    store.save_state(&key(), &draft("two", 2).state()).unwrap();
    for path in tree(root.path()).keys() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(path), 0o600, "{}", path.display());
        assert_eq!(mode(path.parent().unwrap()), 0o700, "{}", path.display());
    }
}

#[test]
fn secrets_can_be_kept_out_of_every_text() {
    let mut ledger = ledger("the key hunter2");
    ledger.notes[0].text = "hunter2 works".into();
    ledger.in_flight.command = Some("curl -u x:hunter2".into());
    let mut draft = Draft::of(&ledger, moment(&key(), 0));
    for text in draft.texts_mut() {
        *text = text.replace("hunter2", "[redacted]");
    }
    let yaml = draft.numbered(id(1), None).to_yaml();
    assert!(!yaml.contains("hunter2"), "{yaml}");
    assert!(!format!("{:?}", draft.state()).contains("hunter2"));
}
