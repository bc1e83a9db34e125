//! What is read again, and what is known without being read.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::MetadataExt;

use tempfile::TempDir;

use super::*;
use crate::Redaction;
use crate::index::{Budget, MemoryIndex, WorkspaceFiles};

/// A time at which a file has rested for so long.
fn after(path: &Path, millis: i64) -> Millis {
    let meta = fs::metadata(path).unwrap();
    Millis((meta.mtime().max(meta.ctime()) + 1) * 1_000 + millis)
}

/// Writes until the file system's clock has gone on.
fn rewrite(path: &Path, text: &str) {
    let changed = |path: &Path| {
        let meta = fs::metadata(path).unwrap();
        (meta.ctime(), meta.ctime_nsec())
    };
    let before = changed(path);
    while changed(path) == before {
        fs::write(path, text).unwrap();
    }
}

/// How many files an update wrote.
fn written(index: &mut SqliteIndex, files: &WorkspaceFiles, at: Millis) -> u64 {
    let synced = files.sync_changed(index, Budget::default(), at).unwrap();
    synced.progress.written
}

/// Whether a file is read can be seen where the index does not know it any
/// more, but has its stamp.
fn forget(index: &mut SqliteIndex) {
    let sql = "UPDATE record SET hash = 0";
    index.connection.execute(sql, []).unwrap();
}

#[test]
fn a_file_that_rests_is_read_once_and_again_when_it_changed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("MEMORY.md");
    let files = WorkspaceFiles::new(folder.path());
    let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
    fs::write(&path, "the cat sleeps").unwrap();
    let at = after(&path, REST + 1);
    assert_eq!(written(&mut index, &files, at), 1);
    forget(&mut index);
    assert_eq!(written(&mut index, &files, at), 0);

    // Of the same length, and with the time it had.
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    rewrite(&path, "the dog sleeps");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    let at = after(&path, REST + 1);
    assert_eq!(written(&mut index, &files, at), 1);
    let text = index.get("MEMORY.md", None).unwrap().unwrap().text;
    assert_eq!(text, "the dog sleeps");

    // Another file in its place.
    let other = folder.path().join("other");
    fs::write(&other, "the cow sleeps").unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(written(&mut index, &files, at), 1);
    fs::remove_file(&path).unwrap();
    let synced = files
        .sync_changed(&mut index, Budget::default(), at)
        .unwrap();
    assert_eq!(synced.progress.removed, 1);
}

#[test]
fn a_file_that_was_just_written_is_read_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("MEMORY.md");
    fs::write(&path, "the cat sleeps").unwrap();
    let files = WorkspaceFiles::new(folder.path());
    let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
    for at in [Millis(0), after(&path, 0), after(&path, REST)] {
        assert_eq!(written(&mut index, &files, at), 1);
        forget(&mut index);
    }
}

#[test]
fn what_another_wrote_since_is_not_taken_for_what_was_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("MEMORY.md");
    fs::write(&path, "the cat sleeps").unwrap();
    let files = WorkspaceFiles::new(folder.path());
    let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
    let at = after(&path, REST + 1);
    assert_eq!(written(&mut index, &files, at), 1);
    let old = crate::index::Record::file(
        crate::index::RecordKind::Memory,
        "MEMORY.md",
        "the cat is awake",
    );
    let mut records = std::iter::once(old);
    index
        .update(&mut records, Budget::default(), &mut |_| {})
        .unwrap();
    index
        .note_stamps(&[(String::from("MEMORY.md"), 1, 0)])
        .unwrap();
    assert!(index.stamps().unwrap().is_empty());
    assert_eq!(written(&mut index, &files, at), 1);
    assert_eq!(index.stamps().unwrap().len(), 1);
}

#[test]
fn what_is_told_of_a_file_is_told_each_time() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("MEMORY.md");
    fs::write(&path, b"not \xff UTF-8").unwrap();
    let files = WorkspaceFiles::new(folder.path());
    let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
    let at = after(&path, REST + 1);
    for _ in 0..2 {
        let synced = files
            .sync_changed(&mut index, Budget::default(), at)
            .unwrap();
        assert_eq!(synced.notes.len(), 1, "{:?}", synced.notes);
    }
}
