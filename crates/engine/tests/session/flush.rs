//! The silent turn before a compaction.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use longhaul_compaction::Layer;
use longhaul_engine::event::Event;
use longhaul_engine::session::Error;
use longhaul_engine::state::SessionState;
use longhaul_model::{CancellationToken, Request, Role};
use longhaul_testkit::loopback::Fault;
use longhaul_transcript::Draft;

use crate::support::{Heard, Purpose, Rig, Said, plainly, prose, purpose, run, weigh, words};

const WINDOW: u32 = 12_000;
const NOTE: &str = "**User Preferences:** tabs are never used in this project";

/// Talks until something was compacted.
fn until_compacted(rig: &mut Rig) {
    rig.say("We decided to use SQLite because it needs no server. Never use tabs.")
        .unwrap();
    for at in 0..60 {
        rig.say(&prose(at, 300)).unwrap();
        if rig.compactions() > 0 {
            return;
        }
    }
    panic!("it was never compacted");
}

/// The notes a silent turn has taken: how often the model was asked in it.
fn rounds(request: &Request) -> usize {
    let question = request.messages.iter().rposition(|message| {
        message.role == Role::User && words_of(message).contains("INTERNAL FLUSH PROMPT")
    });
    let behind = &request.messages[question.unwrap()..];
    behind
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .count()
}

fn words_of(message: &longhaul_model::Message) -> String {
    words(&Request {
        messages: vec![message.clone()],
        ..Request::default()
    })
}

fn takes_a_note(request: &Request) -> Said {
    match (purpose(request), rounds_if_flush(request)) {
        (Purpose::Flush, 0) => Said::call(
            "memory_append",
            &serde_json::json!({ "text": NOTE }).to_string(),
        ),
        (Purpose::Flush, _) => Said::text("NO_REPLY"),
        _ => plainly(request),
    }
}

fn rounds_if_flush(request: &Request) -> usize {
    match purpose(request) {
        Purpose::Flush => rounds(request),
        _ => 0,
    }
}

fn flushed(heard: &Heard) -> Vec<(&'static str, usize, Option<String>)> {
    let events = heard.0.iter();
    events
        .filter_map(|event| match event {
            Event::Flushed {
                by,
                notes,
                fallback,
                ..
            } => Some((*by, *notes, fallback.clone())),
            _ => None,
        })
        .collect()
}

#[test]
fn what_the_agent_notes_is_in_todays_log_and_nowhere_in_the_history() {
    let mut rig = Rig::new(WINDOW, |_| {}, takes_a_note);
    until_compacted(&mut rig);
    rig.say("Go on.").unwrap();
    let today = rig.work("memory/2026-09-21.md");
    assert!(today.contains("tabs are never used"), "{today}");
    assert_eq!(flushed(&rig.heard), [("agent", 1, None)]);
    assert!(!rig.file().contains("tabs are never used"));
    assert!(!rig.file().contains("INTERNAL FLUSH"));
    // Its cost is in the file, and nothing that a context would show.
    assert!(rig.file().contains("memory-flush"));
    let last = rig.model.requests().pop().unwrap();
    assert!(!words(&last).contains("INTERNAL FLUSH"));
    assert!(
        !rig.heard.1.contains("NO_REPLY"),
        "the user saw the silent turn"
    );
}

#[test]
fn a_silent_turn_begins_like_the_request_before_it() {
    // Small steps, so that there is room for the question.
    let mut rig = Rig::new(24_000, |_| {}, plainly);
    for at in 0..200 {
        rig.say(&prose(at, 150)).unwrap();
        if rig.compactions() > 0 {
            break;
        }
    }
    let requests = rig.model.requests();
    let at = requests
        .iter()
        .position(|request| purpose(request) == Purpose::Flush);
    let (flush, before) = (&requests[at.unwrap()], &requests[at.unwrap() - 1]);
    assert_eq!(flush.system, before.system);
    assert_eq!(flush.tools, before.tools);
}

#[test]
fn every_other_tool_is_refused_in_a_silent_turn() {
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        |request| match purpose(request) {
            Purpose::Flush if rounds(request) == 0 => {
                Said::call("read", r#"{"path":"/etc/passwd"}"#)
            }
            Purpose::Flush => Said::text("NOTHING_TO_FLUSH"),
            _ => plainly(request),
        },
    );
    until_compacted(&mut rig);
    let asked = rig.model.asked(Purpose::Flush);
    assert_eq!(asked.len(), 2);
    let told = words(&asked[1]);
    assert!(told.contains("only memory_append can be called now"));
    assert!(!told.contains("content of {\"path\":\"/etc/passwd\"}"));
    assert_eq!(
        rig.heard
            .count(|event| matches!(event, Event::ToolCalled { .. })),
        0
    );
}

#[test]
fn a_silent_turn_that_calls_without_end_is_ended() {
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        |request| match purpose(request) {
            Purpose::Flush => Said::call("memory_append", r#"{"text":"again"}"#),
            _ => plainly(request),
        },
    );
    until_compacted(&mut rig);
    assert!(rig.model.asked(Purpose::Flush).len() <= 4);
}

#[test]
fn an_agent_with_nothing_to_save_adds_nothing_to_the_users_own_words() {
    for answer in ["NO_REPLY", "NOTHING_TO_FLUSH", ""] {
        let mut rig = Rig::new(
            WINDOW,
            |_| {},
            move |request| match purpose(request) {
                Purpose::Flush => Said::text(answer),
                _ => plainly(request),
            },
        );
        until_compacted(&mut rig);
        assert_eq!(flushed(&rig.heard), [("agent", 0, None)]);
        let logs = rig.logs();
        let notes = logs.lines().filter(|line| line.starts_with("- "));
        let notes = notes.filter(|line| !line.contains("older ones are in the transcript"));
        let notes: Vec<&str> = notes.collect();
        let is_users = |note: &&str| note.contains("<!-- user ");
        assert!(notes.iter().all(is_users), "{logs}");
        // And it is told how many of those were written.
        let told = rig.heard.0.iter().find_map(|event| match event {
            Event::Flushed { texts, .. } => Some(*texts),
            _ => None,
        });
        assert!(!notes.is_empty());
        assert_eq!(told, Some(notes.len()));
    }
}

#[test]
fn where_the_model_fails_the_ledger_writes_in_its_place_and_says_so() {
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        |request| match purpose(request) {
            Purpose::Flush => Said::Fails(Fault::Overloaded),
            _ => plainly(request),
        },
    );
    until_compacted(&mut rig);
    let done = flushed(&rig.heard);
    let (by, notes, fallback) = &done[0];
    assert_eq!((*by, done.len()), ("ledger", 1));
    assert!(*notes > 0);
    assert!(
        fallback.as_ref().unwrap().contains("overloaded"),
        "{fallback:?}"
    );
    assert!(rig.logs().contains("\n- Note 1"), "{}", rig.logs());
}

#[test]
fn broken_arguments_are_answered_with_what_is_wrong_and_a_note_can_still_be_taken() {
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        |request| match (purpose(request), rounds_if_flush(request)) {
            (Purpose::Flush, 0) => Said::call("memory_append", r#"{"text": "cut of"#),
            (Purpose::Flush, 1) => Said::call("memory_append", r#"{"text":"whole"}"#),
            (Purpose::Flush, _) => Said::text("NO_REPLY"),
            _ => plainly(request),
        },
    );
    until_compacted(&mut rig);
    assert_eq!(flushed(&rig.heard), [("agent", 1, None)]);
    assert!(rig.logs().contains("whole") && !rig.logs().contains("cut of"));
}

#[test]
fn an_epoch_is_flushed_once_however_often_its_compaction_fails() {
    let mut rig = Rig::new(WINDOW, |_| {}, takes_a_note);
    for at in 0..14 {
        let _ = rig.say(&prose(at, 700));
        let entries = rig.session.live().entries().iter().rev();
        let mut said =
            entries.filter(|entry| entry.role() == Some(&longhaul_transcript::Role::User));
        let last = said.next().unwrap().id.clone();
        rig.session.ingest(Draft::pin(last, None)).unwrap();
    }
    let mut begun: HashMap<u32, usize> = HashMap::new();
    for event in &rig.heard.0 {
        if let Event::FlushBegan { epoch } = event {
            *begun.entry(*epoch).or_default() += 1;
        }
    }
    assert!(!begun.is_empty());
    assert!(begun.values().all(|count| *count == 1), "{begun:?}");
    // By what the model saw: a note and its end for each, unless what is pinned
    // leaves no room for a question.
    let asked = rig.model.asked(Purpose::Flush).len();
    assert!(asked >= 2 && asked <= 2 * begun.len(), "{asked}");
}

#[test]
fn the_agent_is_asked_about_what_is_about_to_leave() {
    let mut rig = Rig::new(WINDOW, |_| {}, takes_a_note);
    until_compacted(&mut rig);
    let question = rig.model.asked(Purpose::Flush).remove(0);
    // The first thing said leaves first; the window is too full for all of it.
    assert!(words(&question).contains("We decided to use SQLite"));
    assert!(weigh(&question) <= u64::from(rig.session.window().hard().0));
}

#[test]
fn a_compaction_of_nothing_does_not_spend_the_one_flush() {
    let mut rig = Rig::new(WINDOW, |_| {}, takes_a_note);
    rig.say("Hello.").unwrap();
    let cancel = CancellationToken::new();
    let nothing = run(rig
        .session
        .compact(Layer::Summarize, None, &cancel, &mut rig.heard));
    assert!(matches!(nothing, Err(Error::Compaction(_))), "{nothing:?}");
    assert!(rig.model.asked(Purpose::Flush).is_empty());
    until_compacted(&mut rig);
    assert_eq!(flushed(&rig.heard), [("agent", 1, None)]);
}

#[test]
fn on_the_overflow_path_memory_is_saved_too() {
    let refuse = Arc::new(AtomicUsize::new(0));
    let left = Arc::clone(&refuse);
    let mut rig = Rig::new(
        32_000,
        |setup| setup.config.compaction.auto_enabled = false,
        move |request| match purpose(request) {
            Purpose::Turn if left.load(Ordering::Relaxed) > 0 => {
                left.fetch_sub(1, Ordering::Relaxed);
                Said::Overflows
            }
            _ => takes_a_note(request),
        },
    );
    for at in 0..24 {
        rig.say(&prose(at, 600)).unwrap();
    }
    refuse.store(1, Ordering::Relaxed);
    rig.say("One more.").unwrap();
    assert_eq!(flushed(&rig.heard), [("agent", 1, None)]);
    assert!(rig.logs().contains("tabs are never used"));
    // The context was refused as too long: the question goes with less of it.
    let requests = rig.model.requests();
    let at = requests
        .iter()
        .position(|request| purpose(request) == Purpose::Flush)
        .unwrap();
    assert!(words(&requests[at]).len() < words(&requests[at - 1]).len());
}

#[test]
fn a_flush_that_a_crash_cut_short_is_not_paid_for_twice() {
    let mut rig = Rig::new(WINDOW, |_| {}, takes_a_note);
    rig.say("We decided to use SQLite because it needs no server.")
        .unwrap();
    let state_dir = rig.place.folder.path().join("state");
    let (mut state, _) = SessionState::load(&state_dir, rig.session.key());
    state.flush_begun = Some(0);
    state.save(&state_dir).unwrap();
    rig.restart();
    until_compacted(&mut rig);
    assert!(rig.model.asked(Purpose::Flush).is_empty());
    let done = flushed(&rig.heard);
    assert_eq!(done[0].0, "ledger");
    assert!(done[0].2.as_ref().unwrap().contains("cut short"));
    assert!(rig.logs().contains("\n- Note 1"), "{}", rig.logs());
}

#[test]
fn a_flush_that_the_user_stopped_is_not_paid_for_twice() {
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        move |request| match purpose(request) {
            Purpose::Flush => {
                stop.cancel();
                Said::Silence
            }
            _ => plainly(request),
        },
    );
    let mut stopped = false;
    for at in 0..60 {
        match run(rig.session.turn(&prose(at, 300), &cancel, &mut rig.heard)) {
            Ok(_) => {}
            Err(Error::Cancelled) => {
                stopped = true;
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(stopped, "it was never flushed");
    assert_eq!(rig.compactions(), 0);
    rig.say("Go on all the same.").unwrap();
    assert_eq!(rig.compactions(), 1);
    assert_eq!(rig.model.asked(Purpose::Flush).len(), 1);
}

#[test]
fn a_subagent_has_no_memory_to_flush() {
    let mut rig = Rig::new(
        WINDOW,
        |setup| setup.subagent = Some(longhaul_assembly::Subagent::default()),
        takes_a_note,
    );
    until_compacted(&mut rig);
    assert!(flushed(&rig.heard).is_empty());
    assert!(rig.model.asked(Purpose::Flush).is_empty());
    let offered = rig.model.requests()[0]
        .tools
        .iter()
        .any(|tool| tool.name == "memory_append");
    assert!(!offered);
    assert_eq!(rig.logs(), "");
    assert!(!rig.place.workspace().join("memories/context.md").exists());
}

#[test]
fn where_it_is_switched_off_nothing_is_asked() {
    let mut rig = Rig::new(
        WINDOW,
        |setup| setup.config.compaction.memory_flush.enabled = false,
        takes_a_note,
    );
    until_compacted(&mut rig);
    assert!(flushed(&rig.heard).is_empty());
    assert!(rig.model.asked(Purpose::Flush).is_empty());
}

#[test]
fn no_secret_reaches_the_log() {
    let secret = "sk-ant-api03-Zx8Qm2LrT5vWn9Kp4Hs7Jd1Fg6Bc3Xe0Ya-Uo5Ri8Tn2Mq7Wl4";
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        move |request| match (purpose(request), rounds_if_flush(request)) {
            (Purpose::Flush, 0) => Said::call(
                "memory_append",
                &serde_json::json!({ "text": format!("the key is {secret}") }).to_string(),
            ),
            (Purpose::Flush, _) => Said::text("NO_REPLY"),
            _ => plainly(request),
        },
    );
    until_compacted(&mut rig);
    assert!(rig.logs().contains("the key is"));
    assert!(!rig.logs().contains(secret), "{}", rig.logs());
}

#[test]
fn no_half_of_a_secret_that_the_user_said_reaches_the_log() {
    let (one, two) = ("ghp_u8mxQ1TLEij4d8xI6D", "8CcV2iy3qnegaALNya");
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        move |request| match (purpose(request), rounds_if_flush(request)) {
            (Purpose::Flush, 0) => Said::call(
                "memory_append",
                &serde_json::json!({ "text": format!("it goes on with {two}") }).to_string(),
            ),
            (Purpose::Flush, _) => Said::text("NO_REPLY"),
            _ => plainly(request),
        },
    );
    rig.say(&format!(
        "Always use GITHUB_TOKEN={one}\n{two} for the release."
    ))
    .unwrap();
    until_compacted(&mut rig);
    let logs = rig.logs();
    assert!(logs.contains("it goes on with [redacted:"), "{logs}");
    assert!(!logs.contains(one) && !logs.contains(two), "{logs}");
}

#[test]
fn the_task_at_hand_is_written_down_at_every_compaction() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    let mut seen = Vec::new();
    for at in 0..80 {
        let said = format!("{} (request {at})", prose(at, 400));
        let before = rig.compactions();
        rig.say(&said).unwrap();
        if rig.compactions() > before {
            seen.push((at, rig.work("memories/context.md")));
        }
        if seen.len() == 2 {
            break;
        }
    }
    let [(first, before), (second, after)] = &seen[..] else {
        panic!("two compactions: {}", seen.len());
    };
    assert!(before.contains("**Latest request:**"), "{before}");
    assert!(
        before.contains("**The agent's last words:**\nUnderstood."),
        "{before}"
    );
    assert_ne!(before, after, "{first} and {second}");
}
