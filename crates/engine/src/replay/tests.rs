#![allow(clippy::unwrap_used)]

use longhaul_tokens::WindowSettings;
use longhaul_transcript::sample::{Plan, Size, generate};

use super::*;

struct Played {
    report: ReplayReport,
    written: Vec<Entry>,
    header: longhaul_transcript::Header,
}

fn play(size: u32, ttl_seconds: u32) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let plan = Plan {
        size: Size::Turns(25),
        ..Plan::default()
    };
    generate(&plan, &mut std::fs::File::create(&path).unwrap()).unwrap();
    let session = Session::open(&path).unwrap();
    let window = window(size);
    let prune = PruneSettings::default();
    let options = Options {
        window: &window,
        estimator: Estimator::default(),
        prune: PruneSettings {
            protect_tail: window.scaled(prune.protect_tail),
            minimum: window.scaled(prune.minimum),
            ..prune
        },
        protect: &|_| window.scaled(Tokens(25_000)),
        max_auto: u32::MAX,
        prices: Prices::RATIO.with_ttl(ttl_seconds),
        expected_turns: 20,
        checkpoints: longhaul_checkpoint::Policy::default(),
        clock: &|| 0.0,
    };
    let mut n = 0;
    let mut stamp = |time: Option<Millis>| {
        n += 1;
        Stamp {
            id: EntryId::new(format!("n{n}")),
            time: time.unwrap_or(Millis(0)),
        }
    };
    let (report, written) = replay(&session, &options, &mut stamp, &mut |_, _| {}).unwrap();
    Played {
        report,
        written,
        header: session.header().clone(),
    }
}

fn window(size: u32) -> Window {
    Window::new(&WindowSettings::of(Tokens(size))).unwrap()
}

#[test]
fn no_request_passes_the_hard_threshold_even_if_counts_are_short() {
    for size in [24_000, 40_000] {
        let played = play(size, 300);
        let hard = window(size).hard();
        let overhead = played.report.totals.overhead;
        let mut meter = Meter::new(Estimator::default());
        let mut live = Live::new(played.header.clone());
        for entry in &played.written {
            if entry.role() == Some(&Role::Assistant) {
                let messages = live.messages().iter();
                let counted: Tokens = messages.map(|message| meter.message(message)).sum();
                let most = overhead + counted + Estimator::default().uncertainty(counted);
                assert!(most <= hard, "{most} before {} at {size}", entry.id);
            }
            live.push(entry.clone());
        }
        assert!(!played.report.compactions.is_empty());
    }
}

#[test]
fn an_expected_compaction_comes_while_the_cache_is_cold() {
    let activation = window(60_000).activation();
    let early = |played: &Played| {
        let rows = played.report.compactions.iter();
        rows.filter(|row| row.event.tokens_before < activation - Tokens(5_000))
            .count()
    };
    // Every request finds the cache as it was, or none does.
    let warm = play(60_000, u32::MAX);
    let cold = play(60_000, 0);
    assert_eq!(early(&warm), 0);
    assert!(early(&cold) > 0);
    assert!(cold.report.troubles.is_empty());
    assert!(cold.report.totals.cost_longhaul < cold.report.totals.cost_masking);
}

#[test]
fn the_same_session_is_replayed_to_the_same_bytes() {
    let (a, b) = (play(24_000, 300), play(24_000, 300));
    assert_eq!(a.written.len(), b.written.len());
    assert!(
        a.written
            .iter()
            .zip(&b.written)
            .all(|(a, b)| a.raw() == b.raw())
    );
}
