//! Measuring a full context, and the glances that a list of sessions is made of.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use longhaul_engine::catalog::{self, Places};
use longhaul_engine::measure::Meter;
use longhaul_testkit::sample::{Compactions, Plan, Size, generate};
use longhaul_tokens::{ContentKind, Counter, Estimator};
use longhaul_transcript::{Context, Loaded, Session};

fn main() {
    // Loading a vocabulary is paid once a process, not per count.
    for estimator in ESTIMATORS {
        estimator.count("warm", ContentKind::Prose);
    }
    if let Some((loaded, context)) = full_context() {
        let reading = Meter::new(Estimator::Heuristic).context(&loaded, &context);
        let counted: u64 = reading
            .per_message
            .iter()
            .map(|tokens| u64::from(tokens.0))
            .sum();
        println!(
            "a context of {counted} tokens in {} messages",
            context.messages.len()
        );
    }
    divan::main();
}

const ESTIMATORS: [Estimator; 2] = [Estimator::Heuristic, Estimator::O200k];

/// Bytes of a session whose context has about 200,000 tokens.
const FULL_BYTES: u64 = 750_000;
const LISTED: u64 = 50;

/// A meter that has not seen the session before.
#[divan::bench(args = ESTIMATORS)]
fn cold(bencher: Bencher<'_, '_>, estimator: Estimator) {
    let Some((loaded, context)) = full_context() else {
        return;
    };
    bencher
        .with_inputs(|| Meter::new(estimator))
        .bench_local_values(|mut meter| black_box(meter.context(&loaded, &context)));
}

/// A meter that has: every turn after the first.
#[divan::bench(args = ESTIMATORS)]
fn warm(bencher: Bencher<'_, '_>, estimator: Estimator) {
    let Some((loaded, context)) = full_context() else {
        return;
    };
    let mut meter = Meter::new(estimator);
    meter.context(&loaded, &context);
    bencher.bench_local(|| black_box(meter.context(&loaded, &context)));
}

/// Load, build and measure with a warm meter: what a turn waits for.
#[divan::bench]
fn turn(bencher: Bencher<'_, '_>) {
    let Some(path) = sample("full.jsonl", 1, FULL_BYTES, Compactions::None) else {
        return;
    };
    let mut meter = Meter::new(Estimator::Heuristic);
    bencher.bench_local(|| {
        let session = Session::open(&path).expect("it is a session");
        let loaded = session.load().expect("it loads");
        black_box(meter.context(&loaded, &Context::build(&loaded)))
    });
}

/// Finding and glancing at fifty sessions of two megabytes.
#[divan::bench]
fn list(bencher: Bencher<'_, '_>) {
    let made: Option<Vec<PathBuf>> = (0..LISTED)
        .map(|n| {
            sample(
                &format!("list/{n}.jsonl"),
                n,
                2_000_000,
                Compactions::Every(160_000),
            )
        })
        .collect();
    let Some(folder) = made.and_then(|paths| paths.first()?.parent().map(Path::to_owned)) else {
        return;
    };
    let places = Places {
        own: vec![folder],
        ..Places::default()
    };
    bencher.counter(ItemsCount::new(LISTED)).bench_local(|| {
        let mut meter = Meter::new(Estimator::Heuristic);
        for found in catalog::find(&places).sessions {
            black_box(catalog::glance(&found.reference, &mut meter).expect("it has an end"));
        }
    });
}

fn full_context() -> Option<(Loaded, Context)> {
    let path = sample("full.jsonl", 1, FULL_BYTES, Compactions::None)?;
    let loaded = Session::open(&path)
        .and_then(|session| session.load())
        .ok()?;
    let context = Context::build(&loaded);
    Some((loaded, context))
}

/// A sample session, made once and kept below the build folder.
fn sample(name: &str, seed: u64, bytes: u64, compactions: Compactions) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("bench-measure")
        .join(format!("{bytes}-bytes"))
        .join(name);
    let make = || -> std::io::Result<()> {
        if path.exists() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let plan = Plan {
            seed,
            size: Size::AtLeastBytes(bytes),
            compactions,
            ..Plan::default()
        };
        let mut text = Vec::new();
        generate(&plan, &mut text)?;
        let partial = path.with_extension("partial");
        fs::write(&partial, text)?;
        fs::rename(&partial, &path)
    };
    match make() {
        Ok(()) => Some(path),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}
