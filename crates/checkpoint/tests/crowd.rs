//! Several processes at once, and processes that are killed.
//!
//! The other process is this same program, started again with a role.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{id, ledger, moment};
use longhaul_checkpoint::{CheckpointStore, Draft, FileStore, Policy};
use longhaul_transcript::SessionKey;

const ROLE: &str = "LONGHAUL_CHECKPOINT_ROLE";

/// This program as a writer, possibly inside another one.
fn command(wrapper: &[&str], root: &Path, name: &str, times: u32, keys: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut words = wrapper.iter().map(std::ffi::OsStr::new);
    let mut command = match words.next() {
        Some(first) => Command::new(first),
        None => Command::new(&program),
    };
    command.args(words);
    if !wrapper.is_empty() {
        command.arg(&program);
    }
    command
        .args(["--exact", "role", "--nocapture"])
        .env(
            ROLE,
            format!("{}|{name}|{times}|{}", root.display(), keys.join("|")),
        )
        .stdout(Stdio::null());
    command
}

fn writer(root: &Path, name: &str, times: u32, keys: &[&str]) -> Child {
    command(&[], root, name, times, keys).spawn().unwrap()
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

/// System calls that change a file or a folder. `strace` counts each kind by
/// itself, so each kind is gone through by itself.
const WRITES: [&str; 7] = [
    "write",
    "fsync",
    "rename,renameat,renameat2",
    "unlink,unlinkat",
    "mkdir,mkdirat",
    "flock",
    "fchmod",
];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}

/// Killed at its first system call that writes, at its second, and so on until
/// it gets through; each time another process goes on from there.
#[test]
fn killed_at_each_of_its_system_calls_a_process_is_made_good_by_the_next() {
    let probe = Command::new("strace")
        .args(["-qq", "-e", "trace=none", "true"])
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no strace here");
        return;
    }
    let key = common::key();
    let (prepared, store) = common::store();
    for n in 0..5 {
        let draft = Draft::of(&ledger(&format!("old {n}")), moment(&key, n - 100));
        store.write(&key, draft).unwrap();
    }
    let mut left = Draft::of(&ledger("left"), moment(&key, -50)).state();
    left.session_file = "sessions/ended.jsonl".into();
    store.save_state(&key, &left).unwrap();

    let mut killed = 0;
    let mut places = WRITES.iter().map(|kind| (kind, 1)).collect::<Vec<_>>();
    while let Some((kind, call)) = places.pop() {
        let at = format!("{kind} {call}");
        let (root, store) = common::store();
        copy(prepared.path(), root.path());
        let trace = format!("trace={kind}");
        let inject = format!("inject={kind}:signal=KILL:when={call}");
        let wrapper = ["strace", "-qq", "-f", "-e", &trace, "-e", &inject];
        let whole = command(&wrapper, root.path(), "new", 1, &[key.as_str()])
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success();
        let seen = store.latest(&key).unwrap();
        assert!(seen.passed_over.is_empty(), "{at}");
        let topic = seen.checkpoint.unwrap().working.topic;
        assert!(["old 4", "new 0"].contains(&topic.as_str()), "{at}");

        let status = command(&[], root.path(), "new", 1, &[key.as_str()]).status();
        assert!(status.unwrap().success(), "{at}");
        let found: Vec<_> = store
            .list(&key)
            .unwrap()
            .into_iter()
            .map(|listed| (listed.id, listed.checkpoint.unwrap()))
            .collect();
        let ids: Vec<_> = found.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [6, 5, 4, 3, 2].map(id), "{at}");
        let newest = &found[0].1;
        assert_eq!(newest.working.topic, "new 0", "{at}");
        assert_eq!(
            newest.learnings,
            ["learnt from left", "learnt from new 0"],
            "{at}"
        );
        assert!(store.recover(&key).unwrap().is_clean(), "{at}");
        if !whole {
            killed += 1;
            places.push((kind, call + 1));
        }
    }
    eprintln!("killed {killed} times");
    assert!(killed > 25, "{killed}");
}
