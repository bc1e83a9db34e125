//! Processes killed while they write.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use longhaul_transcript::{
    Durability, Error, FaultKind, Packing, Session, Writer, archive, restore, torn_path, verify,
};

use crate::roles::{self, Player};
use crate::{context, empty, ids, ids_anywhere, long, session, stamp, user};

/// Moments to kill at: spread over the first milliseconds of the work.
fn moments() -> impl Iterator<Item = (usize, Duration)> {
    let rounds = if long() { 1000 } else { 60 };
    (0..rounds).map(|round| (round, Duration::from_micros(round as u64 * 7919 % 12_000)))
}

#[test]
fn a_writer_killed_at_any_moment_loses_no_acknowledged_entry() {
    let mut torn = 0;
    let (mut folder, mut path) = empty();
    let mut known: Vec<String> = Vec::new();
    for (round, moment) in moments() {
        if round % 20 == 0 {
            // The file grows by megabytes.
            (folder, path) = empty();
            known.clear();
        }
        let mut player = Player::start("append", &path, &format!("k{round}"));
        let first = player.acknowledged();
        std::thread::sleep(moment);
        let mut acknowledged: Vec<String> = first.into_iter().collect();
        acknowledged.extend(player.kill());

        let session = Session::open(&path).unwrap();
        let faults = session.tree().unwrap().faults().to_vec();
        assert!(faults.len() <= 1, "round {round}: {faults:?}");
        for fault in &faults {
            assert!(matches!(fault.kind, FaultKind::TornTail { .. }), "{fault}");
            torn += 1;
        }
        let found = ids(&path);
        known.extend(acknowledged);
        assert_eq!(found[..known.len()], known[..], "round {round}");
        assert!(
            found.len() <= known.len() + 1,
            "round {round}: more than one was in flight"
        );
        known = found;
    }
    // The next writer heals, and all of it is one path.
    let before = fs::read(&path).unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.append(&user("after"), stamp("after")).unwrap();
    let report = verify(&Session::open(&path).unwrap()).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!(report.on_path, known.len() as u64 + 1);
    let whole = before.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert!(fs::read(&path).unwrap().starts_with(&before[..whole]));
    eprintln!(
        "torn lines met: {torn}; kept aside: {}",
        torn_path(&path).exists()
    );
    drop(folder);
}

#[test]
fn an_archive_killed_at_any_moment_leaves_every_entry_in_one_of_its_files() {
    let (_folder, path) = session(300, &"text ".repeat(1000));
    let bytes = fs::read(&path).unwrap();
    let all = ids_anywhere(&path);
    let built = context(&path);
    for (round, moment) in moments() {
        let mut player = Player::start("archive and restore", &path, "");
        player.acknowledged();
        std::thread::sleep(moment * 3);
        player.kill();
        assert_eq!(context(&path), built, "round {round}");
        assert_eq!(ids_anywhere(&path), all, "round {round}");
    }
    // Whatever the last one left, both can be done again.
    archive(&path, Packing::Plain).unwrap();
    assert_eq!(context(&path), built);
    restore(&path).unwrap().unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// What a second archive may find of a first one that was stopped between its
/// two files, when the session went on in the meantime.
#[test]
fn entries_of_an_interrupted_archive_are_not_doubled_by_the_next() {
    for packing in [Packing::Plain, Packing::Zstd] {
        let (folder, path) = session(30, "text");
        // One finished archive, so that the interrupted one is the second.
        archive(&path, packing).unwrap().unwrap();
        append_and_compact(&path, "second");
        let copy = folder.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        archive(&path, packing).unwrap().unwrap();
        // As if it had been stopped before the live file was replaced.
        fs::rename(&copy, &path).unwrap();
        let mut all: Vec<String> = ids_anywhere(&path).into_iter().collect();
        let interrupted = fs::read(&path).unwrap();

        // Restored at once, or after more work and another archive.
        restore(&path).unwrap().unwrap();
        assert_each_once(&path, &all);
        assert!(
            fs::read(&path)
                .unwrap()
                .ends_with(&interrupted[interrupted.len() / 2..])
        );

        archive(&path, packing).unwrap().unwrap();
        let bak = fs::read(longhaul_transcript::archive_path(&path, packing)).unwrap();
        // As if a restore had been stopped before the archive was removed.
        restore(&path).unwrap().unwrap();
        fs::write(longhaul_transcript::archive_path(&path, packing), bak).unwrap();
        all.extend(append_and_compact(&path, "third"));
        archive(&path, packing).unwrap().unwrap();
        restore(&path).unwrap().unwrap();
        assert_each_once(&path, &all);
        assert!(verify(&Session::open(&path).unwrap()).unwrap().is_sound());
    }
}

fn append_and_compact(path: &Path, name: &str) -> Vec<String> {
    let mut writer = Writer::open(path, Durability::Os).unwrap();
    let mut ids = Vec::new();
    for n in 0..12 {
        let id = format!("{name}-{n}");
        let draft = match n {
            10 => crate::compaction(writer.parent().cloned()),
            _ => user("more"),
        };
        writer.append(&draft, stamp(id.as_str())).unwrap();
        ids.push(id);
    }
    ids
}

fn assert_each_once(path: &Path, expected: &[String]) {
    let mut found = ids(path);
    let mut expected = expected.to_vec();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_lock_of_a_killed_process_is_free_at_once() {
    let (_folder, path) = session(30, "text");
    let mut player = Player::start("hold the lock", &path, "");
    assert_eq!(player.acknowledged().as_deref(), Some("locked"));
    assert!(matches!(
        archive(&path, Packing::Plain),
        Err(Error::Locked { .. })
    ));
    player.kill();
    Writer::open(&path, Durability::Os)
        .unwrap()
        .append(&user("next"), stamp("next"))
        .unwrap();
    assert!(archive(&path, Packing::Plain).unwrap().is_some());
}

/// System calls that change a file or a folder.
const WRITES: &str = "write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,\
    unlinkat,flock,fchmod";

/// Runs a role again and again, killed at its first such call, its second, and
/// so on until it gets through. `None` where there is no `strace`.
fn killed_at_every_call(
    role: &str,
    path: &Path,
    mut prepare: impl FnMut(),
    mut check: impl FnMut(usize),
) -> Option<usize> {
    let probe = Command::new("strace")
        .args(["-qq", "-e", "trace=none", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no strace here");
        return None;
    }
    for call in 1..500 {
        prepare();
        let inject = format!("inject={WRITES}:signal=KILL:when={call}");
        let wrapper = [
            "strace",
            "-qq",
            "-f",
            "-e",
            &format!("trace={WRITES}"),
            "-e",
            &inject,
        ];
        let output = roles::command(&wrapper, role, path, "traced")
            .output()
            .unwrap();
        check(call);
        if output.status.success() {
            return Some(call);
        }
    }
    panic!("{role} never ends");
}

#[test]
fn an_append_killed_at_each_of_its_system_calls_leaves_the_old_or_the_new() {
    let (_folder, path) = session(30, "text");
    // With half a line at its end, so that healing is killed too.
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"torn\",\"par");
    let mut before = Vec::new();
    killed_at_every_call(
        "heal once",
        &path,
        || {
            fs::write(&path, &bytes).unwrap();
            let _ = fs::remove_file(torn_path(&path));
            before = ids(&path);
        },
        |call| {
            let session = Session::open(&path).unwrap();
            let found = ids(&path);
            assert_eq!(found[..31], ids_of(&bytes)[..], "call {call}");
            assert!(found.len() <= 32, "call {call}");
            assert!(verify(&session).unwrap().faults.len() <= 1, "call {call}");
        },
    );
    assert_eq!(before.len(), 31);
}

fn ids_of(bytes: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, bytes).unwrap();
    ids(&path)
}

#[test]
fn archive_and_restore_killed_at_each_of_their_system_calls_can_be_repeated() {
    let (_folder, path) = session(30, "text");
    let bytes = fs::read(&path).unwrap();
    let all = ids_anywhere(&path);
    let built = context(&path);
    let bak = longhaul_transcript::archive_path(&path, Packing::Plain);
    let check = |call: usize| {
        assert_eq!(context(&path), built, "call {call}");
        assert_eq!(ids_anywhere(&path), all, "call {call}");
        archive(&path, Packing::Plain).unwrap();
        restore(&path).unwrap().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes, "call {call}");
    };
    let whole = || {
        fs::write(&path, &bytes).unwrap();
        let _ = fs::remove_file(&bak);
    };
    let archived = || {
        whole();
        archive(&path, Packing::Plain).unwrap().unwrap();
    };
    let calls = [
        killed_at_every_call("archive once", &path, whole, check),
        killed_at_every_call("restore once", &path, archived, check),
    ];
    eprintln!("killed at the first so many calls: {calls:?}");
}
