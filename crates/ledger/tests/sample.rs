//! The ledger against the truth of generated sessions.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use longhaul_ledger::{FileChange, ItemState, Ledger};
use longhaul_transcript::sample::{Compactions, Plan, Size, Speaker, Truth};

const SEEDS: std::ops::Range<u64> = 9_000..9_040;

/// Every sample with its truth, made once.
fn samples() -> &'static [(Plan, Truth, usize, Ledger)] {
    static SAMPLES: OnceLock<Vec<(Plan, Truth, usize, Ledger)>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        SEEDS
            .map(|seed| {
                let plan = Plan {
                    seed,
                    size: Size::Turns(60),
                    // Every third was compacted on its way.
                    compactions: match seed % 3 {
                        0 => Compactions::Every(60_000),
                        _ => Compactions::None,
                    },
                    ..Plan::default()
                };
                let (truth, entries, ledger) = common::sample(&plan);
                (plan, truth, entries.len(), ledger)
            })
            .collect()
    })
}

#[test]
fn every_rule_is_kept_and_only_lifted_ones_are_revoked() {
    let (mut planted, mut extra) = (0, 0);
    for (plan, truth, _, ledger) in samples() {
        for constraint in &truth.constraints {
            planted += 1;
            let rule = ledger
                .rules
                .iter()
                .find(|rule| rule.text.contains(&constraint.text));
            let Some(rule) = rule else {
                panic!(
                    "seed {}: missed {:?}\n{:#?}",
                    plan.seed, constraint, ledger.rules
                );
            };
            assert_eq!(
                rule.revoked.is_some(),
                constraint.revoked_line.is_some(),
                "seed {}: {constraint:?}",
                plan.seed
            );
        }
        for rule in &ledger.rules {
            if !truth
                .constraints
                .iter()
                .any(|constraint| rule.text.contains(&constraint.text))
            {
                extra += 1;
                if std::env::var_os("SHOW").is_some() {
                    eprintln!("extra rule: {}", rule.text);
                }
            }
        }
    }
    eprintln!("rules planted {planted}, further ones {extra}");
}

#[test]
fn decisions_are_kept_with_their_reasons_and_changes_of_mind_marked() {
    let (mut planted, mut found, mut reasons, mut replaced, mut marked, mut wrong) =
        (0, 0, 0, 0, 0, 0);
    for (plan, truth, _, ledger) in samples() {
        for decision in &truth.decisions {
            planted += 1;
            let known = ledger
                .decisions
                .iter()
                .find(|known| known.what.contains(&decision.text));
            let Some(known) = known else {
                eprintln!("seed {}: missed {decision:?}", plan.seed);
                continue;
            };
            found += 1;
            reasons += usize::from(known.reason.as_deref() == Some(&decision.reason));
            if known.reason.as_deref() != Some(&decision.reason) {
                eprintln!("reason {:?} {:?}", known.reason, decision.reason);
            }
            match decision.superseded_by {
                Some(_) => {
                    replaced += 1;
                    marked += usize::from(known.superseded.is_some());
                    if known.superseded.is_none() {
                        eprintln!("seed {}: not marked {decision:?}", plan.seed);
                    }
                }
                None => wrong += usize::from(known.superseded.is_some()),
            }
        }
    }
    eprintln!(
        "decisions {found}/{planted}, reasons {reasons}, superseded {marked}/{replaced}, wrongly {wrong}"
    );
    assert!(found * 100 >= planted * 98, "{found}/{planted}");
    assert_eq!(reasons, found);
    assert_eq!(marked, replaced);
    assert_eq!(wrong, 0);
}

#[test]
fn facts_said_in_words_are_anchors_and_updated_ones_are_superseded() {
    let (mut planted, mut found, mut replaced, mut marked, mut wrong) = (0, 0, 0, 0, 0);
    for (plan, truth, _, ledger) in samples() {
        for fact in truth.facts.iter().filter(|fact| fact.by != Speaker::Tool) {
            planted += 1;
            let Some(anchor) = ledger.anchors.get(&fact.value) else {
                eprintln!("seed {}: missed {fact:?}", plan.seed);
                continue;
            };
            found += 1;
            match fact.superseded_by {
                Some(_) => {
                    replaced += 1;
                    marked += usize::from(anchor.superseded.is_some());
                    if anchor.superseded.is_none() {
                        eprintln!("seed {}: not marked {fact:?} {anchor:?}", plan.seed);
                    }
                }
                None => {
                    wrong += usize::from(anchor.superseded.is_some());
                    if anchor.superseded.is_some() {
                        eprintln!("seed {}: wrongly marked {fact:?} {anchor:?}", plan.seed);
                    }
                }
            }
        }
    }
    eprintln!("facts {found}/{planted}, superseded {marked}/{replaced}, wrongly {wrong}");
    assert_eq!(found, planted);
    // Which value a sentence replaces is told by its words alone; two values
    // described alike can be confused, but an unrelated one never.
    assert!(marked * 100 >= replaced * 97, "{marked}/{replaced}");
    assert_eq!(wrong, 0);
}

#[test]
fn items_files_errors_and_what_is_in_flight_are_exact() {
    for (plan, truth, entries, ledger) in samples() {
        let seed = plan.seed;
        let open: BTreeSet<&str> = ledger.open_items().map(|item| item.text.as_str()).collect();
        let expected: BTreeSet<&str> = truth.open_items_end.iter().map(String::as_str).collect();
        assert_eq!(open, expected, "seed {seed}: open items");
        for done in &truth.done_items {
            let item = ledger.items.iter().find(|item| item.text == *done).unwrap();
            assert_eq!(item.state, ItemState::Done, "seed {seed}: {done}");
        }
        let modified: BTreeSet<&str> = ledger
            .modified_files()
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        let expected: BTreeSet<&str> = truth.modified.keys().map(String::as_str).collect();
        assert_eq!(modified, expected, "seed {seed}: modified files");
        for (path, count) in &truth.modified {
            assert_eq!(ledger.files[path].changes, *count, "seed {seed}: {path}");
        }
        for path in &truth.removed {
            let last = ledger.files[path].last;
            assert!(
                matches!(last, FileChange::Deleted | FileChange::Moved),
                "seed {seed}: {path} {last:?}"
            );
        }
        let read: BTreeSet<&str> = ledger
            .read_files()
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        for path in &truth.read_only {
            assert!(read.contains(path.as_str()), "seed {seed}: {path} was read");
        }
        let last = truth.last_error.as_ref().unwrap();
        let trouble = ledger.unresolved().next().unwrap();
        assert_eq!(
            (trouble.line.as_str(), trouble.cause.as_str()),
            (last.first_line.as_str(), last.command.as_str()),
            "seed {seed}"
        );
        let resolved = truth
            .errors
            .iter()
            .filter(|error| error.resolved_line.is_some())
            .count();
        assert!(
            ledger
                .troubles
                .iter()
                .filter(|trouble| trouble.resolved.is_some())
                .count()
                <= resolved
        );
        for error in truth
            .errors
            .iter()
            .filter(|error| error.resolved_line.is_none())
        {
            let command = error.command.as_deref().unwrap_or("");
            assert!(
                ledger.unresolved().any(|trouble| trouble.cause == command),
                "seed {seed}: {error:?}"
            );
        }
        for trouble in ledger.unresolved() {
            let open = truth.errors.iter().any(|error| {
                error.resolved_line.is_none() && error.command.as_deref() == Some(&trouble.cause)
            });
            assert!(open, "seed {seed}: {trouble:?} is resolved");
        }
        let flight = truth.in_flight.as_ref().unwrap();
        assert_eq!(
            ledger.in_flight.file.as_deref(),
            Some(flight.file.as_str()),
            "seed {seed}"
        );
        assert_eq!(
            ledger.in_flight.command.as_deref(),
            Some(flight.command.as_str()),
            "seed {seed}"
        );
        assert!(
            ledger
                .in_flight
                .failing
                .as_deref()
                .unwrap()
                .contains(&flight.test),
            "seed {seed}"
        );
        assert_eq!(ledger.in_flight.question, flight.question, "seed {seed}");
        for question in &truth.questions {
            assert!(
                ledger
                    .questions
                    .iter()
                    .any(|known| known.text == question.text),
                "seed {seed}: {question:?}"
            );
        }
        let prompts: Vec<&str> = truth
            .user_prompts
            .iter()
            .map(|prompt| prompt.text.as_str())
            .collect();
        let requests: Vec<&str> = ledger
            .requests
            .iter()
            .map(|request| request.text.as_deref().unwrap())
            .collect();
        assert_eq!(requests, prompts, "seed {seed}: requests");
        assert_eq!(ledger.entries, *entries as u64);
    }
}
