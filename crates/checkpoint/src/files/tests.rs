//! Stopping after every write: what is done is never lost or doubled, and
//! going through the steps again completes them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use longhaul_ledger::{
    FileChange, FileRecord, Item, ItemState, Ledger, Note, NoteKind, Provenance,
};
use longhaul_tokens::Tokens;
use longhaul_transcript::{EntryId, Millis, SessionKey};

use std::io;
use std::path::PathBuf;

use super::disk::{Disk, Durable};
use super::*;
use crate::{Moment, Trigger, Turn};

/// What an interrupted replacement leaves.
fn leftover(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{:032x}.longhaul-tmp", 7))
}

/// A disk that forces nothing: here it matters in which order things happen,
/// and there are thousands of them.
#[derive(Debug)]
struct Quick;

impl Disk for Quick {
    fn create_folder(&self, path: &Path) -> Result<()> {
        Durable.create_folder(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        std::fs::write(leftover(path), bytes).unwrap();
        std::fs::rename(leftover(path), path).unwrap();
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        Durable.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        Durable.remove(path)
    }

    fn sweep(&self, folder: &Path) -> Result<u32> {
        Durable.sweep(folder)
    }
}

/// A disk whose process dies after so many steps.
#[derive(Debug)]
struct Dying {
    left: AtomicI64,
}

impl Dying {
    fn step(&self) -> Result<()> {
        match self.left.fetch_sub(1, Ordering::SeqCst) {
            left if left > 0 => Ok(()),
            _ => Err(longhaul_files::Error::io("go on with", Path::new("-"))(
                io::ErrorKind::Interrupted.into(),
            )
            .into()),
        }
    }
}

impl Disk for Dying {
    fn create_folder(&self, path: &Path) -> Result<()> {
        self.step()?;
        Quick.create_folder(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        // Half a temporary file, a whole one, and then the new file.
        self.step()?;
        std::fs::write(leftover(path), &bytes[..bytes.len() / 2]).unwrap();
        self.step()?;
        std::fs::write(leftover(path), bytes).unwrap();
        self.step()?;
        Quick.replace(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.step()?;
        Quick.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.step()?;
        Quick.remove(path)
    }

    fn sweep(&self, folder: &Path) -> Result<u32> {
        self.step()?;
        Quick.sweep(folder)
    }
}

/// The store of a process that dies after so many steps.
fn dying(root: &Path, steps: i64) -> FileStore {
    FileStore::new(root, Policy::default()).on(Arc::new(Dying {
        left: AtomicI64::new(steps),
    }))
}

fn living(root: &Path) -> FileStore {
    FileStore::new(root, Policy::default()).on(Arc::new(Quick))
}

fn key() -> SessionKey {
    SessionKey::new("agent:main:main")
}

/// Something of each kind, told apart by a word.
fn draft(word: &str, file: &str, seconds: i64) -> Draft {
    let mut ledger = Ledger::new(None);
    let entry = EntryId::new(word);
    ledger.entries = 1;
    ledger.topic = Some(word.into());
    let note = |kind, text| Note {
        kind,
        text,
        entry: entry.clone(),
        time: None,
    };
    ledger.notes = vec![
        note(NoteKind::Learning, format!("learnt {word}")),
        note(NoteKind::Decision, format!("decided {word}")),
    ];
    ledger.items = vec![Item {
        text: format!("do {word}"),
        state: ItemState::Open,
        provenance: Provenance::new(entry.clone()),
    }];
    let path = format!("/{word}");
    ledger.files.insert(
        path.clone(),
        FileRecord {
            path,
            reads: 0,
            changes: 1,
            last: FileChange::Edited,
            created: false,
            moved_to: None,
            moved_from: None,
            provenance: Provenance::new(entry),
            last_read: None,
            rank: 1,
        },
    );
    let moment = Moment {
        session_key: key(),
        session_file: file.into(),
        at: Millis(1_790_000_000_000 + seconds * 1000),
        trigger: Trigger::Compaction,
        compactions: 1,
        input_tokens: Tokens(170_000),
        context_window: Tokens(200_000),
        channel: "cli".into(),
        agent_id: "main".into(),
        turn: Turn::Whole,
    };
    Draft::of(&ledger, moment)
}

/// Five checkpoints, and the state of a session that ended without one.
fn prepare(root: &Path) {
    let store = living(root);
    for n in 0..5 {
        store
            .write(&key(), draft(&format!("old{n}"), "s/old", n))
            .unwrap();
    }
    store
        .save_state(&key(), &draft("left", "s/left", 10).state())
        .unwrap();
}

/// What a process does: its state as it goes, then a checkpoint.
fn work(store: &FileStore) -> Result<CheckpointId> {
    store.save_state(&key(), &draft("first", "s/now", 20).state())?;
    store.save_state(&key(), &draft("second", "s/now", 21).state())?;
    let written = store.write(&key(), draft("second", "s/now", 30))?;
    Ok(written.outcome.id())
}

/// The files below a folder, those set aside left out.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("set-aside") => {}
            true => files.extend(tree(&path)),
            false => {
                let name = path.file_name().unwrap().to_str().unwrap();
                files.insert(name.to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// What must hold whenever anybody looks.
fn check_consistent(root: &Path, at: &str) {
    let store = living(root);
    let latest = store.latest(&key()).unwrap();
    assert!(latest.passed_over.is_empty(), "{at}");
    let checkpoint = latest.checkpoint.unwrap();
    let topic = checkpoint.working.topic.as_str();
    assert!(["old4", "second"].contains(&topic), "{at}: {topic}");
    for listed in store.list(&key()).unwrap() {
        assert!(listed.checkpoint.is_ok(), "{at}: {}", listed.id);
    }
}

/// What must hold in the end: one checkpoint more, with everything in it once.
fn check_complete(root: &Path, expected: &BTreeMap<String, Vec<u8>>, at: &str) {
    let store = living(root);
    let checkpoint = store.latest(&key()).unwrap().checkpoint.unwrap();
    assert_eq!(
        checkpoint.learnings,
        ["learnt left", "learnt second"],
        "{at}"
    );
    let decided: Vec<_> = checkpoint
        .decisions
        .iter()
        .map(|decision| (decision.id.as_str(), decision.what.as_str()))
        .collect();
    assert_eq!(
        decided,
        [("n1", "decided left"), ("n2", "decided second")],
        "{at}"
    );
    assert_eq!(checkpoint.open_items, ["do second", "do left"], "{at}");
    assert_eq!(
        checkpoint.resources.files_modified,
        ["/left", "/second"],
        "{at}"
    );
    assert_eq!(
        tree(root).keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "{at}"
    );
    assert!(tree(root) == *expected, "{at}");
}

#[test]
fn stopped_after_any_write_the_sequence_is_completed_when_run_again() {
    let reference = tempfile::tempdir().unwrap();
    prepare(reference.path());
    let id = work(&living(reference.path())).unwrap();
    assert_eq!(id.to_string(), "cp_006");
    let expected = tree(reference.path());
    check_complete(reference.path(), &expected, "reference");

    let mut steps = 0;
    loop {
        let root = tempfile::tempdir().unwrap();
        prepare(root.path());
        let died = work(&dying(root.path(), steps)).is_err();
        let at = format!("stopped after {steps} steps");
        check_consistent(root.path(), &at);
        assert_eq!(work(&living(root.path())).unwrap(), id, "{at}");
        check_complete(root.path(), &expected, &at);
        assert!(living(root.path()).recover(&key()).unwrap().is_clean());
        if !died {
            break;
        }
        steps += 1;
    }
    // Nine parts and a checkpoint and a pointer at three steps each, folders,
    // four files of state removed, one checkpoint retired.
    assert!(steps > 35, "only {steps} steps");
}

#[test]
fn stopped_again_while_recovering_nothing_is_lost_either() {
    let reference = tempfile::tempdir().unwrap();
    prepare(reference.path());
    let id = work(&living(reference.path())).unwrap();
    let expected = tree(reference.path());
    let mut steps = 0;
    let mut most = 0;
    loop {
        let mut again = 0;
        let died = loop {
            let root = tempfile::tempdir().unwrap();
            prepare(root.path());
            let died = work(&dying(root.path(), steps)).is_err();
            let recovered = dying(root.path(), again).recover(&key());
            let at = format!("stopped after {steps}, then after {again} steps");
            check_consistent(root.path(), &at);
            assert_eq!(work(&living(root.path())).unwrap(), id, "{at}");
            check_complete(root.path(), &expected, &at);
            if recovered.is_ok() {
                break died;
            }
            again += 1;
        };
        most = most.max(again);
        if !died {
            break;
        }
        steps += 1;
    }
    assert!(most >= 6, "recovery never had more than {most} steps");
}

#[test]
fn a_process_that_comes_back_later_finds_its_checkpoint_done() {
    let mut steps = 0;
    loop {
        let root = tempfile::tempdir().unwrap();
        prepare(root.path());
        let died = work(&dying(root.path(), steps)).is_err();
        // The ledger is folded anew from the transcript; time went on.
        let store = living(root.path());
        store.recover(&key()).unwrap();
        let later = draft("second", "s/now", 300);
        store.save_state(&key(), &later.state()).unwrap();
        store.write(&key(), later).unwrap();
        let checkpoints = store.list(&key()).unwrap();
        let ours = checkpoints
            .iter()
            .filter(|listed| {
                let checkpoint = listed.checkpoint.as_ref().unwrap();
                checkpoint.working.topic == "second"
            })
            .count();
        assert_eq!(ours, 1, "stopped after {steps} steps");
        let newest = checkpoints[0].checkpoint.as_ref().unwrap();
        assert_eq!(newest.learnings, ["learnt left", "learnt second"]);
        assert_eq!(newest.meta.checkpoint_id.to_string(), "cp_006");
        if !died {
            break;
        }
        steps += 1;
    }
}
