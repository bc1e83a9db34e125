//! Three compactions that free nothing, and no fourth.

use longhaul_compaction::Layer;
use longhaul_compaction::ladder::Block;
use longhaul_engine::event::Event;
use longhaul_engine::session::Error;
use longhaul_model::CancellationToken;
use longhaul_transcript::{Draft, Role};

use crate::support::{Heard, Rig, plainly, prose, run};

const WINDOW: u32 = 12_000;

/// A session whose context is nearly all pinned, so that nothing can leave.
fn pinned_full() -> Rig {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    for at in 0.. {
        if rig.session.size().at_most >= rig.session.window().activation() {
            break;
        }
        // The last one may be too much already.
        let _ = rig.say(&prose(at, 700));
        pin_last(&mut rig);
        assert!(at < 40, "the pins never fill the window");
    }
    rig
}

fn pin_last(rig: &mut Rig) {
    let entries = rig.session.live().entries().iter().rev();
    let mut said = entries.filter(|entry| entry.role() == Some(&Role::User));
    let last = said.next().unwrap().id.clone();
    rig.session.ingest(Draft::pin(last, None)).unwrap();
}

fn attempts(heard: &Heard) -> usize {
    heard.count(|event| {
        matches!(event, Event::Failed { .. })
            || matches!(event, Event::Compacted(made) if made.layer != Layer::Emergency)
    })
}

/// A session whose breaker has opened.
fn opened() -> Rig {
    let mut rig = pinned_full();
    for at in 0..6 {
        let _ = rig.say(&format!("And now question {at}?"));
        if rig.session.status().brakes.breaker.is_some() {
            return rig;
        }
    }
    panic!("the breaker never opened");
}

#[test]
fn pins_that_are_too_large_open_the_breaker_after_three_attempts_and_the_user_is_told() {
    let rig = opened();
    let told =
        |event: &Event| matches!(event, Event::BreakerOpened { reasons } if reasons.len() == 3);
    assert_eq!(rig.heard.count(told), 1);
    let errors = rig.work("memories/errors.md");
    assert!(errors.contains("compacting session"), "{errors}");
}

#[test]
fn an_open_breaker_survives_a_restart_and_nothing_more_is_tried() {
    let mut rig = opened();
    rig.restart();
    let before = attempts(&rig.heard);
    for at in 0..4 {
        let _ = rig.say(&prose(at, 60));
    }
    assert_eq!(attempts(&rig.heard), before);
    let blocked = |event: &Event| {
        matches!(
            event,
            Event::Blocked {
                block: Block::Breaker,
                ..
            }
        )
    };
    assert!(rig.heard.count(blocked) >= 1);
    assert!(rig.session.status().brakes.breaker.is_some());
}

#[test]
fn a_turn_behind_an_open_breaker_is_answered_after_an_emergency_or_ends_with_the_truth() {
    let mut rig = opened();
    for at in 0..3 {
        match rig.say(&prose(at, 60)) {
            Ok(turn) => assert_eq!(turn.text, "Understood."),
            Err(error @ Error::ContextOverflow { .. }) => {
                assert!(error.remedy().unwrap().contains("unpin"));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn resetting_the_breaker_allows_three_more_attempts() {
    let mut rig = opened();
    rig.session.reset_breaker(&mut rig.heard);
    assert!(rig.session.status().brakes.breaker.is_none());
    let before = attempts(&rig.heard);
    for at in 0..6 {
        let _ = rig.say(&prose(at, 60));
    }
    let more = attempts(&rig.heard) - before;
    assert!((1..=3).contains(&more), "{more}");
}

#[test]
fn a_manual_compaction_that_succeeds_closes_the_breaker() {
    let mut rig = opened();
    let pins: Vec<_> = rig.session.live().entries().iter().rev().cloned().collect();
    for entry in pins {
        if entry.role() == Some(&Role::User) {
            let unpinned = Draft::Label {
                target: entry.id.clone(),
                label: None,
            };
            rig.session.ingest(unpinned).unwrap();
        }
    }
    let cancel = CancellationToken::new();
    run(rig
        .session
        .compact(Layer::Full, None, &cancel, &mut rig.heard))
    .unwrap();
    assert!(rig.session.status().brakes.breaker.is_none());
    rig.say("Does it go on?").unwrap();
}
