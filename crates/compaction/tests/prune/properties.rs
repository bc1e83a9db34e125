//! What holds for every conversation.

use std::collections::HashSet;

use longhaul_compaction::prune::{ArrivalTrim, Edit, PruneSettings, apply, prune};
use longhaul_tokens::Tokens;
use longhaul_transcript::EntryId;
use proptest::prelude::*;

use crate::build::{Script, count, counted, lines, pairing_faults, result_cost, skeleton, total};

#[derive(Debug, Clone)]
enum Step {
    User,
    Answer,
    Read(u8, usize),
    Edit(u8),
    Bash(u8, usize),
    Fail(u8, usize),
    Image,
    ShellRun(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![0..200_usize, 1_000..12_000_usize];
    prop_oneof![
        1 => Just(Step::User),
        1 => Just(Step::Answer),
        4 => (0..4_u8, size.clone()).prop_map(|(file, size)| Step::Read(file, size)),
        1 => (0..4_u8).prop_map(Step::Edit),
        3 => (0..3_u8, size.clone()).prop_map(|(command, size)| Step::Bash(command, size)),
        1 => (0..3_u8, size.clone()).prop_map(|(command, size)| Step::Fail(command, size)),
        1 => Just(Step::Image),
        1 => size.prop_map(Step::ShellRun),
    ]
}

fn script(steps: &[Step]) -> Script {
    let mut script = Script::default();
    for step in steps {
        match step {
            Step::User => script.user("go on"),
            Step::Answer => script.answer("I see."),
            Step::Read(file, size) => script.read(&format!("src/{file}.rs"), &lines(*size)),
            Step::Edit(file) => {
                script.call("edit", &format!(r#"{{"path":"src/{file}.rs"}}"#), "edited")
            }
            Step::Bash(command, size) => script.bash(&format!("run {command}"), &lines(*size)),
            Step::Fail(command, size) => script.failing(
                "bash",
                &format!(r#"{{"command":"run {command}"}}"#),
                &lines(*size),
            ),
            Step::Image => script.round(
                "screenshot",
                "{}",
                r#"[{"type":"text","text":"seen"},{"type":"image","data":"AAAA","mimeType":"image/png"}]"#,
                "false",
            ),
            Step::ShellRun(size) => script.shell_run("make", &lines(*size)),
        };
    }
    script
}

fn settings() -> impl Strategy<Value = PruneSettings> {
    (0..20_000_u32, 0..12_u32, 0..10_u32, any::<bool>()).prop_map(
        |(tail, after_rounds, whole_records, enabled)| PruneSettings {
            protect_tail: Tokens(tail),
            after_rounds,
            minimum: Tokens(1),
            arrival: ArrivalTrim {
                enabled,
                whole_records,
                ..ArrivalTrim::default()
            },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn pruning_hides_and_breaks_nothing(
        steps in prop::collection::vec(step(), 0..60),
        settings in settings(),
        pinned in prop::collection::hash_set(0..120_usize, 0..6),
    ) {
        let messages = script(&steps).messages;
        let pins: HashSet<EntryId> = pinned
            .iter()
            .filter_map(|at| messages.get(*at).map(|message| message.entry.clone()))
            .collect();
        let conversation = counted(&messages);
        let pruning = prune(&conversation, &pins, &settings, &result_cost);
        let view = apply(&messages, &pruning.edits);

        // The same input gives the same plan.
        prop_assert_eq!(&prune(&conversation, &pins, &settings, &result_cost), &pruning);
        // Every call keeps its result.
        prop_assert_eq!(skeleton(&view), skeleton(&messages));
        prop_assert_eq!(pairing_faults(&view), pairing_faults(&messages));
        // What is freed is what the view is smaller by, and no message grows.
        prop_assert_eq!(total(&messages) - total(&view), pruning.freed);
        prop_assert_eq!(pruning.edits.iter().map(Edit::freed).sum::<Tokens>(), pruning.freed);
        let edited: HashSet<usize> = pruning.edits.iter().map(|edit| edit.at).collect();
        for (at, (before, after)) in messages.iter().zip(&view).enumerate() {
            prop_assert_eq!(before.json() != after.json(), edited.contains(&at));
            prop_assert_eq!(after.edited, edited.contains(&at));
            prop_assert!(count(after) <= count(before));
        }
        // The tail and the pins are as they were.
        let mut tail = Tokens::ZERO;
        for (at, counted) in conversation.iter().enumerate().rev() {
            if tail >= settings.protect_tail {
                break;
            }
            prop_assert!(!edited.contains(&at));
            tail += counted.tokens;
        }
        prop_assert!(edited.iter().all(|at| !pins.contains(&messages[*at].entry)));
        // What follows the first edit is what a cache would write anew.
        let first = pruning.edits.iter().map(|edit| edit.at).min().unwrap_or(view.len());
        prop_assert_eq!(total(&view[first..]), pruning.suffix);
        // Nothing more to do the second time.
        let again = prune(&counted(&view), &pins, &settings, &result_cost);
        prop_assert_eq!(again.edits, []);
    }

    /// Pruning as the conversation grows never touches what it pruned before.
    #[test]
    fn pruned_bytes_stay_as_the_conversation_goes_on(
        steps in prop::collection::vec(step(), 0..40),
        settings in settings(),
    ) {
        let messages = script(&steps).messages;
        let mut kept: Vec<Edit> = Vec::new();
        for end in (0..=messages.len()).step_by(5) {
            let view = apply(&messages[..end], &kept);
            let pruning = prune(&counted(&view), &HashSet::new(), &settings, &result_cost);
            for edit in &pruning.edits {
                prop_assert!(kept.iter().all(|known| known.entry != edit.entry));
            }
            kept.extend(pruning.edits);
        }
    }
}
