//! Several processes at once, and processes that are killed.
//!
//! The other process is this same program, started again with a role.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{id, ledger, moment};
use longhaul_checkpoint::{CheckpointStore, Draft, FileStore, Policy};
use longhaul_transcript::SessionKey;

const ROLE: &str = "LONGHAUL_CHECKPOINT_ROLE";

/// Starts this program as a writer.
fn writer(root: &Path, name: &str, times: u32, keys: &[&str]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "role", "--nocapture"])
        .env(
            ROLE,
            format!("{}|{name}|{times}|{}", root.display(), keys.join("|")),
        )
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test by itself: what the other processes do.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let mut words = role.split('|');
    let mut word = || words.next().unwrap().to_owned();
    let (root, name, times) = (word(), word(), word());
    let keys: Vec<SessionKey> = words.map(SessionKey::new).collect();
    let store = FileStore::new(Path::new(&root), Policy::default());
    for n in 0..times.parse().unwrap() {
        for key in &keys {
            let draft = Draft::of(&ledger(&format!("{name} {n}")), moment(key, n));
            store.save_state(key, &draft.state()).unwrap();
            store.write(key, draft).unwrap();
        }
    }
}

#[test]
fn processes_that_write_at_once_lose_and_double_nothing() {
    const WRITERS: u32 = 4;
    const TIMES: u32 = 15;
    let keys = ["agent:main:main", "agent_main_main", "Agent:main:main"];
    let (root, store) = common::store();
    let children: Vec<Child> = (0..WRITERS)
        .map(|n| writer(root.path(), &format!("writer {n}"), TIMES, &keys))
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    for key in keys {
        let key = SessionKey::new(key);
        let list = store.list(&key).unwrap();
        let found: Vec<_> = list
            .iter()
            .map(|listed| {
                let meta = &listed.checkpoint.as_ref().unwrap().meta;
                assert_eq!(meta.session_key, key);
                (listed.id, meta.previous_checkpoint)
            })
            .collect();
        let last = WRITERS * TIMES;
        let expected: Vec<_> = (0..5)
            .map(|n| (id(last - n), Some(id(last - n - 1))))
            .collect();
        assert_eq!(found, expected);
        assert!(store.recover(&key).unwrap().is_clean());
    }
}

#[test]
fn threads_that_write_at_once_do_not_clash() {
    let (_root, store) = common::store();
    let key = common::key();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (store, key) = (&store, &key);
            scope.spawn(move || {
                for n in 0..10 {
                    let draft = Draft::of(&ledger(&format!("{thread} {n}")), moment(key, n));
                    store.write(key, draft).unwrap();
                    assert!(store.latest(key).unwrap().passed_over.is_empty());
                }
            });
        }
    });
    assert_eq!(
        store
            .latest(&key)
            .unwrap()
            .checkpoint
            .unwrap()
            .meta
            .checkpoint_id,
        id(40)
    );
}

#[test]
fn a_killed_process_leaves_a_store_that_goes_on() {
    let (root, store) = common::store();
    let key = common::key();
    let mut newest = 0;
    for round in 0..15_u64 {
        let mut child = writer(
            root.path(),
            &format!("round {round}"),
            10_000,
            &[key.as_str()],
        );
        std::thread::sleep(Duration::from_millis(20 + round * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        let latest = store.latest(&key).unwrap();
        assert!(latest.passed_over.is_empty(), "{:?}", latest.passed_over);
        let recovery = store.recover(&key).unwrap();
        assert!(recovery.passed_over.is_empty());
        assert!(store.recover(&key).unwrap().is_clean());
        if let Some(checkpoint) = latest.checkpoint {
            let number: u32 = checkpoint.meta.checkpoint_id.to_string()[3..]
                .parse()
                .unwrap();
            assert!(number >= newest, "{number} after {newest}");
            newest = number;
            let list = store.list(&key).unwrap();
            for pair in list.windows(2) {
                let meta = &pair[0].checkpoint.as_ref().unwrap().meta;
                assert_eq!(meta.previous_checkpoint, Some(pair[1].id));
            }
        }
    }
    assert!(newest > 0, "no round wrote anything");
}
