//! What a checkpoint costs beyond the fsyncs it cannot do without.
//!
//! `bare_fsyncs` writes the same bytes to the same number of files by the same
//! durable replacement, and nothing else; the difference to `checkpoint` is
//! ours. The disk of the temporary folder may be busy with others, so both are
//! also run in turns, and the difference of each pair is taken; and once more
//! where an fsync costs nothing, in a folder of the system's memory.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use longhaul_checkpoint::{
    Checkpoint, CheckpointId, CheckpointStore, Draft, FileStore, Moment, Outcome, Policy,
    Restoring, Seal, Trigger, Turn,
};
use longhaul_ledger::Ledger;
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{Bpe, Tokens};
use longhaul_transcript::{Millis, Session, SessionKey};

fn main() {
    // Not when cargo only tests that the benchmarks run.
    if std::env::args().any(|argument| argument == "--bench") {
        in_turns("on disk", &std::env::temp_dir());
        in_turns("in memory", Path::new("/dev/shm"));
    }
    divan::main();
}

/// A checkpoint and its bare fsyncs in turns; prints the medians.
fn in_turns(place: &str, folder: &Path) {
    const PAIRS: u32 = 200;
    let Ok(folder) = tempfile::tempdir_in(folder) else {
        return;
    };
    let ledger = ledger();
    let store = FileStore::new(folder.path(), Policy::default());
    let yaml = yaml(&ledger);
    let timed = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1000.0
    };
    let (mut ours, mut bare, mut beyond) = (Vec::new(), Vec::new(), Vec::new());
    for n in 1..=PAIRS {
        let fsyncs = timed(&|| replace_twice(folder.path(), n, &yaml));
        let whole = timed(&|| {
            store.write(&key(), Draft::of(&ledger, moment(n))).unwrap();
        });
        ours.push(whole);
        bare.push(fsyncs);
        beyond.push(whole - fsyncs);
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    eprintln!(
        "{place}, {PAIRS} in turns, medians: checkpoint {:.2} ms, bare fsyncs {:.2} ms, beyond them {:.2} ms",
        median(ours),
        median(bare),
        median(beyond),
    );
}

fn yaml(ledger: &Ledger) -> String {
    Draft::of(ledger, moment(1))
        .numbered(CheckpointId::FIRST, None)
        .to_yaml()
}

/// The writes of a checkpoint: the file and the pointer, and the removal of the
/// sixth oldest.
fn replace_twice(folder: &Path, n: u32, yaml: &str) {
    let path = |n: u32| folder.join(format!("cp_{n:03}.yaml"));
    longhaul_files::replace(&path(n), yaml.as_bytes()).unwrap();
    let pointer = folder.join("_latest.json");
    longhaul_files::replace(&pointer, b"{}").unwrap();
    if n > 5 {
        std::fs::remove_file(path(n - 5)).unwrap();
    }
}

/// The ledger of a session of about 200,000 tokens.
fn ledger() -> Ledger {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let plan = Plan {
        size: Size::AtLeastBytes(700_000),
        ..Plan::default()
    };
    generate(&plan, &mut std::fs::File::create(&path).unwrap()).unwrap();
    let mut ledger = Ledger::new(Some("/home/ada/work/project".into()));
    Session::open(&path)
        .unwrap()
        .each(&mut |entry| {
            ledger.observe(&entry);
            ControlFlow::Continue(())
        })
        .unwrap();
    ledger
}

fn key() -> SessionKey {
    SessionKey::new("agent:main:main")
}

/// Another moment each time, with other token use, so that none is skipped.
fn moment(n: u32) -> Moment {
    Moment {
        session_key: key(),
        session_file: "sessions/s.jsonl".into(),
        at: Millis(1_790_000_000_000 + i64::from(n) * 1000),
        trigger: Trigger::Compaction,
        compactions: n,
        input_tokens: Tokens(160_000),
        context_window: Tokens(200_000),
        channel: "cli".into(),
        agent_id: "main".into(),
        turn: Turn::Whole,
    }
}

/// Everything: draft, lock, recovery, YAML, file, pointer, reset, retention.
#[divan::bench(sample_count = 300)]
fn checkpoint(bencher: divan::Bencher<'_, '_>) {
    let ledger = ledger();
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path(), Policy::default());
    let mut n = 0;
    bencher.bench_local(|| {
        n += 1;
        let written = store.write(&key(), Draft::of(&ledger, moment(n))).unwrap();
        assert!(matches!(written.outcome, Outcome::Stored(_)));
    });
}

/// The same bytes in two durable replacements: a checkpoint and a pointer.
#[divan::bench(sample_count = 300)]
fn bare_fsyncs(bencher: divan::Bencher<'_, '_>) {
    let yaml = yaml(&ledger());
    let folder = tempfile::tempdir().unwrap();
    let mut n = 0_u32;
    bencher.bench_local(|| {
        n += 1;
        replace_twice(folder.path(), n, &yaml);
    });
}

/// One that is skipped because nothing changed.
#[divan::bench]
fn unchanged(bencher: divan::Bencher<'_, '_>) {
    let ledger = ledger();
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path(), Policy::default());
    store.write(&key(), Draft::of(&ledger, moment(1))).unwrap();
    bencher.bench_local(|| store.write(&key(), Draft::of(&ledger, moment(1))).unwrap());
}

/// From a ledger to the bytes of the file.
#[divan::bench]
fn to_yaml(bencher: divan::Bencher<'_, '_>) {
    let ledger = ledger();
    bencher.bench_local(|| yaml(&ledger));
}

#[divan::bench]
fn from_yaml(bencher: divan::Bencher<'_, '_>) {
    let yaml = yaml(&ledger());
    eprintln!("{} bytes", yaml.len());
    bencher.bench_local(|| Checkpoint::from_yaml(&yaml, Seal::Required).unwrap());
}

/// The restore text, counted exactly.
#[divan::bench]
fn restore_text(bencher: divan::Bencher<'_, '_>) {
    let checkpoint = Draft::of(&ledger(), moment(1)).numbered(CheckpointId::FIRST, None);
    let counter = Bpe::o200k();
    bencher.bench_local(|| checkpoint.restore(&Restoring::default(), &counter).unwrap());
}
