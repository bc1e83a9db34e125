#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::ops::ControlFlow;

use longhaul_compaction::prune::PruneSettings;
use longhaul_compaction::{CompactionRules, Layer, Trigger};
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{Estimator, Tokens, Window, WindowSettings};
use longhaul_transcript::{Draft, Millis, Stamp};

use super::*;
use crate::measure::Meter;

fn session(turns: u32) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let plan = Plan {
        size: Size::Turns(turns),
        ..Plan::default()
    };
    generate(&plan, &mut std::fs::File::create(&path).unwrap()).unwrap();
    let session = Session::open(&path).unwrap();
    (folder, session)
}

fn compact(live: &Live) -> Compacted {
    let window = Window::new(&WindowSettings::of(Tokens(60_000))).unwrap();
    let request = CompactionRequest {
        layer: Layer::Summarize,
        trigger: Trigger::Auto,
        focus: None,
        window: &window,
        protect: Tokens(5_000),
        overhead: Tokens::ZERO,
        tokens_before: Tokens(50_000),
        rules: CompactionRules::default(),
        tail: Default::default(),
        is_stored: &|_| true,
    };
    let mut meter = Meter::new(Estimator::default());
    live.compact(&mut meter, &request).unwrap()
}

fn entry(draft: &Draft, n: u32) -> Entry {
    let stamp = Stamp {
        id: EntryId::new(format!("new-{n}")),
        time: Millis(1_800_000_000_000),
    };
    draft.to_entry(&stamp, None)
}

#[test]
fn a_context_that_grew_with_its_session_is_the_one_that_is_built() {
    let (_folder, session) = session(12);
    let settings = PruneSettings {
        protect_tail: Tokens(2_000),
        minimum: Tokens(1),
        ..PruneSettings::default()
    };
    let mut meter = Meter::new(Estimator::default());
    let mut live = Live::new(session.header().clone());
    let mut n = 0;
    let mut edits = 0;
    session
        .each(&mut |arriving| {
            n += 1;
            live.push(arriving);
            if n % 40 == 0 {
                let pruned = live.prune(&mut meter, &settings, Tokens::ZERO);
                for draft in pruned.iter().flat_map(|pruned| &pruned.drafts) {
                    edits += 1;
                    live.push(entry(draft, n * 1_000 + edits));
                }
            }
            if n % 70 == 0 {
                let compacted = compact(&live);
                let made = entry(&compacted.draft, n);
                live.push_compaction(made, compacted.base);
            }
            let built = Context::build(live.loaded());
            assert_eq!(live.context().to_json(), built.to_json(), "after {n}");
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(edits > 2 && live.epoch() > 1);
}

#[test]
fn a_compaction_pushed_with_its_ledger_leaves_the_same_session() {
    let (_folder, session) = session(20);
    let folded = Live::open(&session).unwrap();
    let compacted = compact(&folded);
    let made = entry(&compacted.draft, 1);
    let mut given = folded.clone();
    let mut folded = folded;
    folded.push(made.clone());
    given.push_compaction(made, compacted.base);
    assert_eq!(given.base, folded.base);
    assert_eq!(given.ledger(), folded.ledger());
    assert_eq!(given.context().to_json(), folded.context().to_json());
}
