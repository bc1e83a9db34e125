//! What a session survives: kills, full disks, crowds, and bytes of all kinds.
//!
//! Some tests need another process, to be killed or to compete with. It is
//! this same program, started again with a [`roles`] name in its environment.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod crowded;
mod damaged;
mod killed;
mod limited;
mod pairs;
mod roles;

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_transcript::{
    Draft, Durability, EntryId, Header, Millis, Session, Stamp, Writer, each_archived,
};

const START: i64 = 1_790_000_000_000;

/// Whether the long run was asked for.
fn long() -> bool {
    std::env::var_os("LONGHAUL_LONG").is_some()
}

fn stamp(id: impl Into<Box<str>>) -> Stamp {
    Stamp {
        id: EntryId::new(id),
        time: Millis(START),
    }
}

fn user(text: &str) -> Draft {
    Draft::user(text, Millis(1))
}

fn compaction(first_kept: Option<EntryId>) -> Draft {
    Draft::Compaction {
        summary: "what was said".into(),
        first_kept,
        tokens_before: 1000,
        details: None,
    }
}

fn header() -> Header {
    Header {
        id: "s-1".into(),
        version: 3,
        time: Some(Millis(START)),
        cwd: Some("/home/dev/shop".into()),
        parent_session: None,
    }
}

/// A folder with an empty session in it.
fn empty() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    Writer::create(&path, &header(), Durability::Os).unwrap();
    (folder, path)
}

/// A folder with a session of so many entries, compacted at two thirds.
fn session(entries: usize, text: &str) -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = empty();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    let mut drafts = Vec::new();
    for n in 0..entries {
        drafts.push((user(&format!("{n} {text}")), stamp(format!("e{n}"))));
        if n == entries * 2 / 3 {
            let kept = EntryId::new(format!("e{}", n - 1));
            drafts.push((compaction(Some(kept)), stamp("compaction")));
        }
    }
    writer.append_all(&drafts).unwrap();
    (folder, path)
}

/// The ids in a file, in stored order.
fn ids(path: &Path) -> Vec<String> {
    let mut ids = Vec::new();
    Session::open(path)
        .unwrap()
        .each(&mut |entry| {
            ids.push(entry.id.to_string());
            ControlFlow::Continue(())
        })
        .unwrap();
    ids
}

/// The ids in a file or in the archive beside it.
fn ids_anywhere(path: &Path) -> HashSet<String> {
    let mut ids: HashSet<String> = ids(path).into_iter().collect();
    each_archived(path, &mut |entry| {
        ids.insert(entry.id.to_string());
        ControlFlow::Continue(())
    })
    .unwrap();
    ids
}

fn context(path: &Path) -> String {
    Session::open(path).unwrap().context().unwrap().to_json()
}

/// Names of the files in a session's folder.
fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
