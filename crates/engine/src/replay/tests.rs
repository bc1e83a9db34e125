#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use longhaul_compaction::{BreakerRules, Layer};
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{Estimator, WindowSettings};

use longhaul_transcript::EntryId;

use super::*;
use crate::config::LayerRule;
use crate::marks::PRUNE_MARK;

struct Played {
    report: ReplayReport,
    written: Vec<Entry>,
    header: longhaul_transcript::Header,
}

fn play(size: u32, ttl_seconds: u32) -> Played {
    play_by(size, ttl_seconds, |_| {})
}

fn play_by(size: u32, ttl_seconds: u32, change: impl FnOnce(&mut Config)) -> Played {
    play_of(Plan::default().seed, size, ttl_seconds, change)
}

fn play_of(seed: u64, size: u32, ttl_seconds: u32, change: impl FnOnce(&mut Config)) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let plan = Plan {
        seed,
        size: Size::Turns(25),
        ..Plan::default()
    };
    generate(&plan, &mut std::fs::File::create(&path).unwrap()).unwrap();
    let session = Session::open(&path).unwrap();
    let window = window(size);
    let mut config = Config::default();
    config.compaction.full.protect_recent_tokens = config.compaction.preserve_recent_tokens;
    change(&mut config);
    let options = Options {
        window: &window,
        config: &config,
        prices: Prices::RATIO.with_ttl(ttl_seconds),
        summaries: None,
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
fn nothing_is_hidden_where_a_summary_like_the_last_would_make_more_room() {
    let mut hidden = 0;
    for seed in 1..=6 {
        let played = play_of(seed, 60_000, u32::MAX, |_| {});
        let mut last = None;
        for entry in &played.written {
            match &entry.body {
                Body::Compaction(compaction) => last = compaction.tokens_after,
                Body::Custom { custom_type, .. } if custom_type == PRUNE_MARK => {
                    let mark: serde_json::Value = serde_json::from_str(entry.raw()).unwrap();
                    let after = mark["data"]["tokensAfter"].as_u64().unwrap();
                    assert!(last.is_none_or(|last| after <= last), "{after}, {last:?}");
                    hidden += 1;
                }
                _ => {}
            }
        }
    }
    // Before the first summary nobody knows.
    assert!(hidden > 0);
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

/// The layers that were carried out.
fn layers(played: &Played) -> Vec<Layer> {
    let rows = played.report.compactions.iter();
    rows.map(|row| row.event.layer).collect()
}

#[test]
fn a_layer_left_out_is_not_carried_out() {
    let of_layers =
        |rules: Vec<LayerRule>| play_by(40_000, 300, |config| config.compaction.layers = rules);
    let usual = layers(&play(40_000, 300));
    assert!(usual.contains(&Layer::Summarize));

    let without = [Layer::Prune, Layer::Full].map(LayerRule::plain);
    let played = of_layers(without.to_vec());
    assert!(!layers(&played).is_empty());
    assert!(layers(&played).iter().all(|layer| *layer == Layer::Full));

    let played = of_layers(Vec::new());
    assert_eq!(layers(&played), []);
    let edits = |played: &Played| {
        let mut entries = played.written.iter();
        entries.any(|entry| matches!(entry.body, Body::ContextEdit(_)))
    };
    assert!(edits(&play(40_000, 300)) && !edits(&played));
    let told = serde_json::to_string(&played.report).unwrap();
    assert!(told.contains(r#""block":"layers""#));
}

#[test]
fn the_breaker_opens_by_the_rules_it_is_given() {
    let never_enough = BreakerRules {
        failures: 1,
        minimum_freed_percent: 100.0,
    };
    let played = play_by(40_000, 300, |config| {
        config.compaction.breaker = never_enough
    });
    assert_eq!(layers(&played).len(), 1);
    assert!(layers(&play(40_000, 300)).len() > 1);
}

#[test]
fn smaller_sizes_make_smaller_summaries() {
    let longest = |played: &Played| {
        let entries = played.written.iter();
        entries
            .filter_map(|entry| match &entry.body {
                Body::Compaction(compaction) => Some(compaction.summary.len()),
                _ => None,
            })
            .max()
            .unwrap()
    };
    let small = play_by(40_000, 300, |config| {
        config.compaction.summary.user_words_tokens = Tokens(600);
        config.compaction.summary.mechanical_tokens = Tokens(600);
    });
    assert!(longest(&small) * 2 < longest(&play(40_000, 300)));
}
