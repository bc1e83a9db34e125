//! The index at its public seam.

#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod files;
mod ranking;
mod refusals;
mod sharing;
mod tables;
mod updating;
mod vectors;

use std::fs;
use std::path::Path;

use longhaul_index::{
    Budget, IndexSettings, MemoryIndex, Query, Record, RecordKind, Redaction, SqliteIndex, Work,
};
use longhaul_transcript::Millis;
use tempfile::TempDir;

/// What the thread is to put in.
fn putting(record: Record) -> Work {
    Box::new(move |index| {
        let mut records = [record].into_iter();
        index
            .update(&mut records, Budget::default(), &mut |_| {})
            .unwrap();
    })
}

fn said(session: &str, entry: &str, position: u64, text: &str) -> Record {
    Record {
        kind: RecordKind::Transcript,
        source: session.into(),
        entry: entry.into(),
        role: Some(String::from("user")),
        time: Some(Millis(position as i64 * 60_000)),
        position,
        text: text.into(),
    }
}

fn fill(index: &mut SqliteIndex, records: &[Record]) {
    index
        .update(&mut records.iter().cloned(), Budget::default(), &mut |_| {})
        .unwrap();
}

fn settings() -> IndexSettings {
    IndexSettings::new(Redaction::none())
}

fn memory() -> SqliteIndex {
    SqliteIndex::in_memory(settings()).unwrap()
}

fn keys(index: &mut SqliteIndex, query: &Query) -> Vec<String> {
    let hits = index.search(query).unwrap().hits;
    hits.iter().map(longhaul_index::Hit::key).collect()
}

fn on_disk(folder: &TempDir) -> SqliteIndex {
    SqliteIndex::open(&folder.path().join("main.sqlite"), settings()).unwrap()
}

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
