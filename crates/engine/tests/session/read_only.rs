//! A sandbox in which nothing may be written beside what was said.

use std::sync::Arc;

use longhaul_compaction::Layer;
use longhaul_compaction::ladder::Block;
use longhaul_engine::event::Event;
use longhaul_engine::session::Error;
use longhaul_model::{CancellationToken, Role};
use longhaul_tokens::Tokens;

use crate::support::{Purpose, Reads, Rig, Said, lines, plainly, prose, purpose, run, words};

const WINDOW: u32 = 16_000;

fn read_only(script: fn(&longhaul_model::Request) -> Said) -> Rig {
    Rig::new(
        WINDOW,
        |setup| setup.config.sandbox.read_only = true,
        script,
    )
}

fn reads_first(request: &longhaul_model::Request) -> Said {
    match request.messages.last().unwrap().role {
        Role::User => Said::call("read", r#"{"path":"src/lib.rs"}"#),
        _ => Said::text("Understood."),
    }
}

/// Talks until the context does not fit; says how it ended.
fn until_the_end(rig: &mut Rig) -> Error {
    for at in 0..400 {
        if let Err(error) = rig.say(&prose(at, 150)) {
            return error;
        }
    }
    panic!("it never ended");
}

#[test]
fn nothing_is_flushed_saved_or_compacted_and_the_file_holds_only_what_was_said() {
    let mut rig = read_only(reads_first);
    until_the_end(&mut rig);
    for line in lines(rig.session.path()) {
        let kind = line["type"].as_str().unwrap();
        assert!(
            matches!(kind, "session" | "message" | "model_change"),
            "{line}"
        );
    }
    let written = rig.heard.count(|event| {
        matches!(
            event,
            Event::FlushBegan { .. } | Event::CheckpointWritten(_) | Event::Compacted(_)
        )
    });
    assert_eq!(written, 0);
    assert!(rig.model.asked(Purpose::Flush).is_empty());
    assert!(rig.logs().is_empty() && rig.work("memories/errors.md").is_empty());
    let workspace = std::fs::read_dir(rig.place.workspace()).unwrap().count();
    assert_eq!(workspace, 0, "the workspace was touched");
}

#[test]
fn tool_output_is_hidden_in_memory_after_three_rounds() {
    let mut rig = Rig::new(
        WINDOW,
        |setup| {
            setup.config.sandbox.read_only = true;
            // Age alone is to count here.
            setup.config.compaction.prune.protect_recent_tokens = Tokens(1);
            setup.config.compaction.prune.on_arrival.enabled = false;
            setup.tools = Arc::new(Reads {
                lines: 100,
                ..Reads::default()
            });
        },
        |request| match request.messages.last().unwrap().role {
            Role::User => {
                let path = format!(r#"{{"path":"src/{}.rs"}}"#, request.messages.len());
                Said::call("read", &path)
            }
            _ => Said::text("Understood."),
        },
    );
    let pruned = |event: &Event| matches!(event, Event::Pruned { .. });
    let mut rounds = 0;
    while rig.heard.count(pruned) == 0 {
        rounds += 1;
        assert!(rounds < 200, "nothing was ever hidden");
        if rig.say(&prose(rounds, 20)).is_err() {
            panic!("it ended before anything was hidden");
        }
    }
    let request = rig.model.requests().pop().unwrap();
    let shown = words(&request).matches("content of {\"path\"").count();
    // A turn takes two rounds here; the one that is being answered is whole.
    assert!((1..=4).contains(&shown), "{shown} results are shown whole");
    assert!(!rig.file().contains("context_edit"));
}

#[test]
fn the_user_is_warned_once_and_told_the_truth_at_the_end() {
    let mut rig = read_only(plainly);
    let error = until_the_end(&mut rig);
    let Error::ContextOverflow { tokens, hard, .. } = &error else {
        panic!("{error}");
    };
    assert!(tokens > hard);
    assert_eq!(error.kind(), "context_overflow");
    assert!(
        error.to_string().contains("nothing may be written"),
        "{error}"
    );
    assert!(error.remedy().unwrap().contains("larger window"));
    let warned = |event: &Event| matches!(event, Event::ReadOnlyPressure { .. });
    assert_eq!(rig.heard.count(warned), 1);
    let blocked = |event: &Event| {
        matches!(
            event,
            Event::Blocked {
                block: Block::ReadOnly,
                ..
            }
        )
    };
    assert_eq!(rig.heard.count(blocked), 1);
    // What was said last is in the file although nobody could answer it.
    assert_eq!(
        lines(rig.session.path()).pop().unwrap()["message"]["role"],
        "user"
    );
}

#[test]
fn the_warning_comes_above_its_threshold_for_this_window() {
    let mut rig = read_only(plainly);
    until_the_end(&mut rig);
    let warned = rig.heard.0.iter().find_map(|event| match event {
        Event::ReadOnlyPressure { tokens, threshold } => Some((*tokens, *threshold)),
        _ => None,
    });
    let (tokens, threshold) = warned.unwrap();
    assert!(tokens >= threshold);
    // 150,000 of 200,000, and so for smaller windows.
    assert_eq!(threshold.0, 150_000 / 200 * WINDOW / 1_000);
}

#[test]
fn a_refusal_of_the_provider_is_not_answered_by_a_compaction() {
    let mut rig = read_only(|request| match purpose(request) {
        Purpose::Turn => Said::Overflows,
        _ => plainly(request),
    });
    let error = rig.say("Is there room?").unwrap_err();
    assert_eq!(error.kind(), "context_overflow");
    assert!(error.to_string().contains("prompt is too long"), "{error}");
    assert_eq!(rig.model.requests().len(), 1);
}

#[test]
fn people_cannot_compact_or_take_back_either() {
    let mut rig = read_only(plainly);
    rig.say("Hello.").unwrap();
    let cancel = CancellationToken::new();
    let made = run(rig
        .session
        .compact(Layer::Full, None, &cancel, &mut rig.heard));
    assert!(matches!(made, Err(Error::ReadOnly)));
    assert!(matches!(
        rig.session.undo(&mut rig.heard),
        Err(Error::ReadOnly)
    ));
}
