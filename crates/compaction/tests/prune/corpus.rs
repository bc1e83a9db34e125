//! Real sessions, when the corpus is beside the project.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_compaction::Counted;
use longhaul_compaction::cost::{Bill, CacheTerms, EXPECTED_TURNS, Part, Prices, Since};
use longhaul_compaction::prune::{PruneSettings, Pruning, Reason, apply, prune};
use longhaul_testkit::recorded;
use longhaul_tokens::{Tokens, Window, WindowSettings};
use longhaul_transcript::{Body, Context, ContextMessage, EntryId, Role, Session};

use crate::build::{counted, pairing_faults, pruned, result_cost, skeleton, total};

/// Every session of the corpus that we can open, unpacked into a folder.
fn sessions(scratch: &Path) -> Vec<(String, Session)> {
    let mut found = Vec::new();
    for path in recorded::files(&["transcripts", "pi"]) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let path = recorded::unpacked(&path, scratch);
        if path.extension().is_some_and(|kind| kind == "jsonl")
            && let Ok(session) = Session::open(&path)
        {
            found.push((name, session));
        }
    }
    found
}

/// The contexts of a session just before each of its compactions, and at its end.
fn contexts(session: &Session) -> Vec<Vec<ContextMessage>> {
    let mut leaves: Vec<EntryId> = Vec::new();
    session
        .each(&mut |entry| {
            if matches!(entry.body, Body::Compaction(_)) {
                leaves.extend(entry.parent.clone());
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    let before = leaves.iter().filter_map(|leaf| session.load_at(leaf).ok());
    before
        .chain(session.load())
        .map(|loaded| Context::build(&loaded).messages)
        .collect()
}

#[test]
fn real_contexts_are_pruned_without_a_fault() {
    let scratch = tempfile::tempdir().unwrap();
    let mut freed = HashMap::<Reason, (usize, u64)>::new();
    let (mut contexts_seen, mut pruned_contexts, mut before_all, mut freed_all) =
        (0, 0, 0_u64, 0_u64);
    for (name, session) in sessions(scratch.path()) {
        for messages in contexts(&session) {
            for window in [200_000, 60_000, 24_000] {
                let window_of = Window::new(&WindowSettings::of(Tokens(window))).unwrap();
                let usual = PruneSettings::default();
                let settings = PruneSettings {
                    protect_tail: window_of.scaled(usual.protect_tail),
                    minimum: window_of.scaled(usual.minimum),
                    ..usual
                };
                let pruning = pruned(&messages, &settings);
                let view = apply(&messages, &pruning.edits);
                assert_eq!(skeleton(&view), skeleton(&messages), "{name}");
                assert_eq!(pairing_faults(&view), pairing_faults(&messages), "{name}");
                assert_eq!(total(&messages) - total(&view), pruning.freed, "{name}");
                assert_eq!(pruned(&view, &settings).edits, [], "{name}");
                if window != 200_000 {
                    continue;
                }
                contexts_seen += 1;
                let size = total(&messages);
                before_all += u64::from(size.0);
                freed_all += u64::from(pruning.freed.0);
                for (reason, edits, tokens) in pruning.by_reason() {
                    let sum = freed.entry(reason).or_default();
                    sum.0 += edits;
                    sum.1 += u64::from(tokens.0);
                }
                if !pruning.is_empty() {
                    pruned_contexts += 1;
                    println!(
                        "{name:.40}: {size} tokens, {} freed by {} edits in front of {}",
                        pruning.freed,
                        pruning.edits.len(),
                        pruning.suffix
                    );
                }
            }
        }
    }
    println!(
        "{contexts_seen} contexts, {pruned_contexts} pruned: {freed_all} of {before_all} tokens"
    );
    for reason in Reason::ALL {
        let (edits, tokens) = freed.get(&reason).copied().unwrap_or_default();
        println!("{reason:>12}: {edits:>5} edits, {tokens:>9} tokens");
    }
}

/// How a context is managed between the session's own compactions.
#[derive(Debug, Clone, Copy)]
enum Policy {
    /// Not at all.
    AsItWas,
    /// Everything that can be pruned is, before every request.
    Always,
    /// Only what pays.
    WherePays,
}

fn bill(contexts: &[Vec<ContextMessage>], policy: Policy) -> Bill {
    let prices = Prices::RATIO;
    let mut bill = Bill::new(prices);
    let mut answered: HashSet<EntryId> = HashSet::new();
    let mut last_time: Option<f64> = None;
    for messages in contexts {
        let mut view: Vec<Counted> = counted(messages);
        let mut parts: Vec<Part> = view.iter().map(part).collect();
        for at in 0..messages.len() {
            if messages[at].role != Role::Assistant {
                continue;
            }
            if !answered.insert(messages[at].entry.clone()) {
                continue;
            }
            let time = messages[at]
                .view()
                .object()
                .f64("timestamp")
                .map(|ms| ms / 1e3);
            let since = match (last_time, time) {
                (Some(last), Some(time)) => Since::Seconds(time - last),
                _ => Since::Never,
            };
            last_time = time.or(last_time);
            let terms = CacheTerms {
                prices,
                since,
                expected_turns: EXPECTED_TURNS,
            };
            let plan = || {
                let settings = PruneSettings::default();
                prune(&view[..at], &HashSet::new(), &settings, &result_cost)
            };
            let chosen = match policy {
                Policy::AsItWas => Pruning::default(),
                Policy::Always => plan(),
                Policy::WherePays => match plan().cheapest(&terms) {
                    (chosen, verdict) if verdict.now => chosen,
                    _ => Pruning::default(),
                },
            };
            for edit in &chosen.edits {
                let message = apply(&messages[edit.at..=edit.at], std::slice::from_ref(edit));
                view[edit.at] = counted(&message).remove(0);
                parts[edit.at] = part(&view[edit.at]);
            }
            bill.request(&parts[..at], since);
        }
    }
    bill
}

fn part(counted: &Counted) -> Part {
    Part::of(counted.message.json(), counted.tokens)
}

#[test]
fn pruning_where_it_pays_costs_less_than_none_and_than_always() {
    let scratch = tempfile::tempdir().unwrap();
    let policies = [Policy::AsItWas, Policy::Always, Policy::WherePays];
    let mut sums = [0.0; 3];
    // Every session takes a minute without optimisation.
    let mut left = if cfg!(debug_assertions) {
        2
    } else {
        usize::MAX
    };
    for (name, session) in sessions(scratch.path()) {
        let contexts = contexts(&session);
        // The same session in two formats is one session.
        let is_small = contexts
            .iter()
            .all(|messages| total(messages) < Tokens(60_000));
        if is_small || name.contains("migrated") || left == 0 {
            continue;
        }
        left -= 1;
        let bills = policies.map(|policy| bill(&contexts, policy));
        print!("{name:.30}: {} requests", bills[0].requests);
        for ((bill, policy), sum) in bills.iter().zip(policies).zip(&mut sums) {
            *sum += bill.input_units();
            let (units, reads) = (bill.input_units() / 1e3, bill.read_share() * 100.0);
            print!("  {policy:?} {units:.0}k, {reads:.0} % read");
        }
        println!();
    }
    println!("{policies:?}: {sums:.0?}");
    let [as_it_was, always, where_pays] = sums;
    assert!(where_pays <= as_it_was && where_pays <= always);
}
