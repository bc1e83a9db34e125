//! Whole-file passes, as bytes a second, beside what a plain reader makes.
//!
//! Before the table comes the most memory that each pass over the largest file
//! holds, measured in a process of its own.
#![allow(clippy::disallowed_methods)]

mod common;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use common::MB;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use longhaul_transcript::{Session, verify};

/// Names the pass that a child process is to measure.
const MEASURE: &str = "LONGHAUL_BENCH_MEASURE";

/// A named pass; gives the number of entries.
type Pass = (&'static str, fn(&Path) -> u64);

const PASSES: [Pass; 3] = [
    ("each", count),
    ("tree", nodes),
    ("verify", verified_entries),
];

fn main() {
    let Some(path) = common::session(LARGE_MB * MB) else {
        return divan::main();
    };
    if let Ok(name) = std::env::var(MEASURE) {
        for (_, pass) in PASSES.iter().filter(|(pass, _)| *pass == name) {
            println!("{} entries, {}", pass(&path), peak_memory());
        }
        return;
    }
    for (name, _) in PASSES {
        match std::env::current_exe().and_then(|own| Command::new(own).env(MEASURE, name).output())
        {
            Ok(output) => print!("1 GB, {name}: {}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => eprintln!("skipped the memory of a pass: {error}"),
        }
    }
    divan::main();
}

const LARGE_MB: u64 = 1000;
const SIZES_MB: [u64; 2] = [100, LARGE_MB];

fn count(path: &Path) -> u64 {
    let mut entries = 0;
    Session::open(path)
        .expect("the file is a session")
        .each(&mut |entry| {
            black_box(entry);
            entries += 1;
            ControlFlow::Continue(())
        })
        .expect("it reads to its end");
    entries
}

fn nodes(path: &Path) -> u64 {
    let session = Session::open(path).expect("the file is a session");
    session.tree().expect("it has a tree").nodes().len() as u64
}

fn verified_entries(path: &Path) -> u64 {
    let session = Session::open(path).expect("the file is a session");
    verify(&session).expect("it can be verified").entries
}

/// The most memory this process has held, as the system tells it.
fn peak_memory() -> String {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
            let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
            Some(format!(
                "{:.1} MB resident at most",
                kilobytes as f64 / 1000.0
            ))
        })
        .unwrap_or_else(|| String::from("memory unknown here"))
}

fn with_file(bencher: Bencher<'_, '_>, megabytes: u64, pass: impl Fn(&Path) -> u64 + Sync) {
    let Some(path) = common::session(megabytes * MB) else {
        return;
    };
    let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| pass(&path));
}

/// Every entry, as history and export see them.
#[divan::bench(args = SIZES_MB, sample_count = 5)]
fn each(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, count);
}

/// The tree alone.
#[divan::bench(args = SIZES_MB, sample_count = 5)]
fn tree(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, nodes);
}

/// Tree, pairs and context: all that `verify` looks at.
#[divan::bench(args = [100], sample_count = 3)]
fn verified(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, verified_entries);
}

/// A peer: the bytes read and nothing done with them.
#[divan::bench(args = SIZES_MB, sample_count = 5)]
fn peer_read(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, |path| {
        let mut file = File::open(path).expect("the file is there");
        let mut buffer = vec![0; 256 * 1024];
        let mut bytes = 0;
        while let Ok(read @ 1..) = file.read(&mut buffer) {
            bytes += black_box(&buffer[..read]).len() as u64;
        }
        bytes
    });
}

/// A peer: every line parsed into a tree of values.
#[divan::bench(args = [100], sample_count = 3)]
fn peer_serde_json_values(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, |path| {
        let mut reader =
            BufReader::with_capacity(256 * 1024, File::open(path).expect("it is there"));
        let mut line = String::new();
        let mut lines = 0;
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            black_box(serde_json::from_str::<serde_json::Value>(&line).expect("it is JSON"));
            line.clear();
            lines += 1;
        }
        lines
    });
}
