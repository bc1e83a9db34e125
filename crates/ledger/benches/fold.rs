//! How long the fold takes.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::ops::ControlFlow;

use longhaul_ledger::Ledger;
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_transcript::{Entry, Session};

fn main() {
    divan::main();
}

fn entries(size: Size) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    generate(
        &Plan {
            size,
            ..Plan::default()
        },
        &mut file,
    )
    .unwrap();
    let mut entries = Vec::new();
    Session::open(&path)
        .unwrap()
        .each(&mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })
        .unwrap();
    entries
}

/// About 200,000 tokens.
#[divan::bench]
fn window_of_200k_tokens(bencher: divan::Bencher<'_, '_>) {
    let entries = entries(Size::AtLeastBytes(700_000));
    bencher.bench(|| {
        let mut ledger = Ledger::new(Some("/home/ada/work/project".into()));
        ledger.observe_all(&entries);
        ledger
    });
}

/// 20,000 messages and more.
#[divan::bench(sample_count = 5)]
fn twenty_thousand_messages(bencher: divan::Bencher<'_, '_>) {
    let mut entries = entries(Size::Turns(1_800));
    entries.truncate(20_000);
    eprintln!("{} entries", entries.len());
    bencher.bench(|| {
        let mut ledger = Ledger::new(Some("/home/ada/work/project".into()));
        ledger.observe_all(&entries);
        ledger
    });
}
