//! How long a compaction takes, and how it grows with the session.
#![allow(clippy::disallowed_methods)]

use longhaul_compaction::CompactionRules;
use longhaul_compaction::compact::CompactionRequest;
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::live::Live;
use longhaul_engine::measure::Meter;
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{Estimator, Tokens, Window, WindowSettings};
use longhaul_transcript::{Context, Session};

mod sweep;

fn main() {
    divan::main();
    let mut arguments = std::env::args().skip(1);
    if arguments.all(|argument| argument == "--bench" || "sweep".contains(&argument)) {
        sweep::print();
    }
}

fn window() -> Window {
    Window::new(&WindowSettings::of(Tokens(200_000))).expect("a usual window")
}

fn session(name: &str, plan: &Plan) -> Session {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("compact-{name}.jsonl"));
    let mut file = std::fs::File::create(&path).expect("the target folder can be written");
    generate(plan, &mut file).expect("the target folder can be written");
    Session::open(&path).expect("a generated session opens")
}

/// A session whose context has about 200,000 tokens.
fn full_window() -> Live {
    let plan = Plan {
        size: Size::AtLeastBytes(900_000),
        ..Plan::default()
    };
    Live::open(&session("full", &plan)).expect("a generated session opens")
}

#[divan::bench]
fn compact_200k_tokens(bencher: divan::Bencher) {
    let live = full_window();
    let window = window();
    let mut meter = Meter::new(Estimator::default());
    let tokens_before = meter.messages(live.messages());
    bencher.bench_local(|| {
        live.compact(
            &mut meter,
            &CompactionRequest {
                layer: Layer::Summarize,
                trigger: Trigger::Auto,
                focus: None,
                window: &window,
                protect: Tokens(25_000),
                overhead: Tokens::ZERO,
                tokens_before,
                rules: CompactionRules::default(),
                tail: Default::default(),
                is_stored: &|_| true,
            },
        )
    });
}

#[divan::bench]
fn warm_context_build(bencher: divan::Bencher) {
    let live = full_window();
    let mut meter = Meter::new(Estimator::default());
    meter.messages(live.messages());
    bencher.bench_local(|| {
        let context = Context::build(live.loaded());
        context
            .messages
            .iter()
            .map(|message| meter.message(message))
            .sum::<Tokens>()
    });
}
