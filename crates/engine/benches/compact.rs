//! How long a compaction takes, and how it grows with the session.

use longhaul_compaction::cost::Prices;
use longhaul_compaction::prune::PruneSettings;
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::live::{CompactionRequest, Live};
use longhaul_engine::measure::Meter;
use longhaul_engine::replay::{Options, replay};
use longhaul_tokens::{Estimator, Tokens, Window, WindowSettings};
use longhaul_transcript::sample::{Plan, Size, generate};
use longhaul_transcript::{Context, EntryId, Millis, Session, Stamp};

fn main() {
    divan::main();
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
    let tokens_before = live.explain(&mut meter).total;
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
                is_stored: &|_| true,
            },
        )
    });
}

#[divan::bench]
fn warm_context_build(bencher: divan::Bencher) {
    let live = full_window();
    let mut meter = Meter::new(Estimator::default());
    live.explain(&mut meter);
    bencher.bench_local(|| {
        let context = Context::build(live.loaded());
        context
            .messages
            .iter()
            .map(|message| meter.message(message))
            .sum::<Tokens>()
    });
}

/// A whole replay: linear means that ten times the messages take ten times as
/// long.
#[divan::bench(args = [1_000, 5_000, 20_000], sample_count = 5, sample_size = 1)]
fn sweep_of_messages(bencher: divan::Bencher, messages: u32) {
    let plan = Plan {
        // About fifteen messages a turn.
        size: Size::Turns(messages / 15),
        ..Plan::default()
    };
    let session = session(&messages.to_string(), &plan);
    let window = window();
    let protect = |_: Layer| Tokens(25_000);
    bencher.bench_local(|| {
        let mut n = 0u64;
        let options = Options {
            window: &window,
            estimator: Estimator::default(),
            prune: PruneSettings::default(),
            protect: &protect,
            max_auto: u32::MAX,
            prices: Prices::RATIO,
            expected_turns: 20,
            clock: &|| 0.0,
        };
        replay(
            &session,
            &options,
            &mut |time| {
                n += 1;
                Stamp {
                    id: EntryId::new(format!("b{n:07}")),
                    time: time.unwrap_or(Millis(0)),
                }
            },
            &mut |_, _| {},
        )
        .map(|(report, _)| report.totals.entries)
    });
}
