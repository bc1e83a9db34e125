//! A durable append beside a bare write and fdatasync of the same bytes.
//!
//! The two take turns before the table is printed, so that a busy disk slows
//! both alike; the line above the table is the ratio of their medians.
#![allow(clippy::disallowed_methods)]

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use divan::{Bencher, black_box};
use longhaul_transcript::{Draft, Durability, EntryId, Header, Millis, Stamp, Writer};

const ROUNDS: usize = 400;

fn main() {
    let mut session = writer("ratio", Durability::Always);
    let mut file = bare("ratio");
    let line = bare_line();
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS as u64 {
        let (draft, stamp) = (draft(), stamp(round));
        ours.push(timed(|| {
            session.append(&draft, stamp).expect("it is appended");
        }));
        bares.push(timed(|| bare_append(&mut file, &line)));
    }
    let (ours, bare) = (median(ours), median(bares));
    println!(
        "append {ours:.1?}, bare write and fdatasync {bare:.1?}: {:.2} times",
        ours.as_secs_f64() / bare.as_secs_f64()
    );
    divan::main();
    for name in ["ratio", "always", "turn", "os"] {
        let _ = fs::remove_file(path(name, "jsonl"));
        let _ = fs::remove_file(path(name, "bare"));
    }
}

/// An append whose bytes are on the disk when it returns.
#[divan::bench]
fn always(bencher: Bencher<'_, '_>) {
    append(bencher, "always", Durability::Always);
}

/// An append that waits for the end of the turn.
#[divan::bench]
fn turn(bencher: Bencher<'_, '_>) {
    append(bencher, "turn", Durability::Turn);
}

/// The peer.
#[divan::bench]
fn peer_write_and_fdatasync(bencher: Bencher<'_, '_>) {
    let mut file = bare("always");
    let line = bare_line();
    bencher.bench_local(|| bare_append(&mut file, black_box(&line)));
}

fn append(bencher: Bencher<'_, '_>, name: &str, durability: Durability) {
    let mut writer = writer(name, durability);
    let mut number = 0;
    bencher
        .with_inputs(|| {
            number += 1;
            (draft(), stamp(number))
        })
        .bench_local_values(|(draft, stamp)| writer.append(&draft, stamp).expect("it is appended"));
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn path(name: &str, extension: &str) -> PathBuf {
    common::folder()
        .expect("the build folder is writable")
        .join(format!("append-{name}.{extension}"))
}

fn writer(name: &str, durability: Durability) -> Writer {
    let path = path(name, "jsonl");
    let _ = fs::remove_file(&path);
    let header = Header {
        id: "bench".into(),
        ..Header::default()
    };
    Writer::create(&path, &header, durability).expect("the build folder is writable")
}

fn bare(name: &str) -> File {
    let path = path(name, "bare");
    let _ = fs::remove_file(&path);
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("the build folder is writable")
}

fn bare_append(file: &mut File, line: &[u8]) {
    file.write_all(line)
        .and_then(|()| file.sync_data())
        .expect("it is written");
}

/// What an agent says in one turn, more or less.
fn draft() -> Draft {
    Draft::user(&"Look at the failing test again. ".repeat(30), Millis(1))
}

fn stamp(number: u64) -> Stamp {
    Stamp {
        id: EntryId::new(format!("{number:08x}")),
        time: Millis(1_772_442_000_000),
    }
}

/// As many bytes as an entry has.
fn bare_line() -> Vec<u8> {
    let mut line = vec![b'x'; 1100];
    line.push(b'\n');
    line
}
