//! The guard, the switch, the notice, the checkpoint: what happens by itself,
//! and what does not.

use longhaul_compaction::Layer;
use longhaul_compaction::Trigger;
use longhaul_compaction::ladder::Block;
use longhaul_engine::event::Event;
use longhaul_engine::session::Error;
use longhaul_tokens::Tokens;
use longhaul_transcript::Draft;

use crate::support::{Heard, Rig, Said, plainly, prose, sound};

const WINDOW: u32 = 12_000;

fn blocked(heard: &Heard, block: Block) -> usize {
    heard.count(|event| matches!(event, Event::Blocked { block: found, .. } if *found == block))
}

/// Another program compacts the session, and nobody knows what it lost.
fn compacted_elsewhere(rig: &mut Rig) {
    rig.say("Begin.").unwrap();
    let compaction = Draft::Compaction {
        summary: "We began.".into(),
        first_kept: None,
        tokens_before: 1_000,
        details: None,
    };
    rig.session.ingest(compaction).unwrap();
}

/// A session whose one compaction that may lose something has happened.
fn worn() -> Rig {
    let mut rig = Rig::new(
        WINDOW,
        |setup| setup.config.compaction.max_auto_compactions = 1,
        plainly,
    );
    compacted_elsewhere(&mut rig);
    let activation = rig.session.window().activation();
    for at in 0..40 {
        rig.say(&prose(at, 400)).unwrap();
        if blocked(&rig.heard, Block::Guard) > 0 {
            return rig;
        }
    }
    panic!(
        "the guard never spoke: {} of {activation}",
        rig.session.size().at_most
    );
}

#[test]
fn at_the_guard_the_user_is_told_once_and_given_a_way_out() {
    let mut rig = worn();
    for at in 0..3 {
        rig.say(&prose(at, 30)).unwrap();
    }
    let after = rig.heard.0.iter().rev();
    let since: Vec<&Event> = after
        .take_while(|event| !matches!(event, Event::Compacted(_)))
        .collect();
    let told = since.iter().filter(|event| {
        matches!(
            event,
            Event::Blocked {
                block: Block::Guard,
                ..
            }
        )
    });
    assert!(
        told.count() <= 1,
        "said more than once without a compaction between"
    );
    let advice = |event: &Event| matches!(event, Event::Worn { recommendation, .. } if recommendation.contains("session handoff"));
    assert!(rig.heard.count(advice) >= 1);
}

#[test]
fn compactions_that_lose_nothing_never_reach_the_guard() {
    let mut rig = Rig::new(
        WINDOW,
        |setup| setup.config.compaction.max_auto_compactions = 1,
        plainly,
    );
    for at in 0..80 {
        rig.say(&prose(at, 400)).unwrap();
    }
    assert!(rig.compactions() >= 3, "{}", rig.compactions());
    assert_eq!(blocked(&rig.heard, Block::Guard), 0);
    assert_eq!(rig.session.status().brakes.guard, None);
    assert_eq!(rig.session.status().degradation.lossy, 0);
}

#[test]
fn a_reached_guard_is_shown_and_survives_a_restart() {
    let mut rig = worn();
    for _ in 0..2 {
        let status = rig.session.status();
        let guard = status.brakes.guard.expect("it was reached");
        assert_eq!((guard.lossy, guard.most), (1, 1));
        let lines = status.brakes.lines();
        assert!(lines[0].contains("maxAutoCompactions"), "{lines:?}");
        rig.restart();
    }
}

#[test]
fn from_the_third_compaction_on_the_user_is_warned_with_each() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    let worn = |event: &Event| matches!(event, Event::Worn { .. });
    for at in 0..120 {
        rig.say(&prose(at, 400)).unwrap();
        let made = rig.compactions();
        assert_eq!(
            rig.heard.count(worn),
            made.saturating_sub(2),
            "after {made}"
        );
        if made == 4 {
            return;
        }
    }
    panic!("it was never worn");
}

#[test]
fn behind_the_guard_turns_are_still_answered_by_dropping_the_oldest() {
    let mut rig = worn();
    for at in 0..12 {
        let turn = rig.say(&prose(at, 400)).unwrap();
        assert_eq!(turn.text, "Understood.");
    }
    let automatic =
        |event: &Event| matches!(event, Event::Compacted(made) if made.trigger == Trigger::Auto);
    let emergency =
        |event: &Event| matches!(event, Event::Compacted(made) if made.layer == Layer::Emergency);
    assert_eq!(rig.heard.count(automatic), 0);
    assert!(rig.heard.count(emergency) >= 1);
    assert!(!rig.work("memories/context.md").is_empty());
}

#[test]
fn an_emergency_ends_as_soon_as_the_context_fits() {
    let mut rig = worn();
    for at in 0..20 {
        rig.say(&prose(at, 400)).unwrap();
    }
    let hard = rig.session.window().hard();
    let mut emergencies = 0;
    let mut latest: Option<Tokens> = None;
    for event in &rig.heard.0 {
        match event {
            Event::Asked { .. } => {
                let fits = latest.take().is_none_or(|after| after < hard);
                assert!(fits, "a request left that does not fit");
            }
            Event::Compacted(made) if made.layer == Layer::Emergency => {
                emergencies += 1;
                // Counts may be short of the truth by a little.
                let fitted = latest.is_some_and(|after| after < hard.scale(0.8));
                assert!(!fitted, "{latest:?} of {hard} fitted already");
                latest = Some(made.tokens_after);
            }
            _ => {}
        }
    }
    assert!(emergencies >= 2, "{emergencies}");
}

#[test]
fn behind_the_guard_tool_output_is_still_hidden() {
    let mut rig = Rig::new(
        24_000,
        |setup| setup.config.compaction.max_auto_compactions = 1,
        |request| match crate::support::purpose(request) {
            crate::support::Purpose::Turn
                if request.messages.last().unwrap().role == longhaul_model::Role::User =>
            {
                Said::call("read", r#"{"path":"src/lib.rs"}"#)
            }
            _ => plainly(request),
        },
    );
    compacted_elsewhere(&mut rig);
    let pruned = |event: &Event| matches!(event, Event::Pruned { .. });
    for at in 0..200 {
        rig.say(&format!("Read it again, for the {at}th time."))
            .unwrap();
        if blocked(&rig.heard, Block::Guard) > 0 {
            let before = rig.heard.count(pruned);
            for more in 0..60 {
                rig.say(&format!("And again, {more}.")).unwrap();
                if rig.heard.count(pruned) > before {
                    return;
                }
            }
            panic!("nothing was hidden behind the guard");
        }
    }
    panic!("the guard never spoke");
}

#[test]
fn with_autocompact_off_nothing_happens_by_itself_until_the_window_ends() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    rig.session.set_autocompact(false, &mut rig.heard);
    let (activation, hard) = (
        rig.session.window().activation(),
        rig.session.window().hard(),
    );
    // Between the two thresholds there is little room: small steps.
    for at in 0..400 {
        if rig.session.size().at_most >= activation {
            break;
        }
        let room = (activation - rig.session.size().at_most).0 as usize;
        rig.say(&prose(at, room.clamp(12, 400) / 2)).unwrap();
        assert_eq!(rig.compactions(), 0, "at {}", rig.session.size().at_most);
    }
    assert!(rig.session.size().at_most < hard);
    rig.say("Is it off?").unwrap();
    assert_eq!(blocked(&rig.heard, Block::Off), 1);
    assert_eq!(rig.compactions(), 0);
}

#[test]
fn with_autocompact_off_an_overflow_compacts_all_the_same_and_the_user_is_told() {
    let mut rig = Rig::new(
        WINDOW,
        |setup| {
            setup.config.compaction.auto_enabled = false;
            setup.config.compaction.notify_before_auto = false;
        },
        plainly,
    );
    for at in 0..40 {
        rig.say(&prose(at, 400)).unwrap();
        if rig.compactions() > 0 {
            let due = rig
                .heard
                .0
                .iter()
                .position(|event| matches!(event, Event::CompactionDue { .. }));
            let made = rig
                .heard
                .0
                .iter()
                .position(|event| matches!(event, Event::Compacted(_)));
            assert!(due.is_some() && due < made, "{due:?} {made:?}");
            let Some(Event::Compacted(event)) = made.map(|at| &rig.heard.0[at]) else {
                unreachable!("it was found above");
            };
            assert_eq!(event.trigger, Trigger::Overflow);
            return;
        }
    }
    panic!("it never overflowed");
}

#[test]
fn the_switch_survives_a_restart() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    rig.session.set_autocompact(false, &mut rig.heard);
    rig.restart();
    assert!(!rig.session.status().brakes.autocompact);
    rig.session.set_autocompact(true, &mut rig.heard);
    rig.restart();
    assert!(rig.session.status().brakes.autocompact);
}

fn until_compacted(rig: &mut Rig) {
    for at in 0..60 {
        rig.say(&prose(at, 300)).unwrap();
        if rig.compactions() > 0 {
            return;
        }
    }
    panic!("it was never compacted");
}

#[test]
fn a_notice_comes_before_a_compaction_where_it_is_asked_for_and_not_elsewhere() {
    for notify in [true, false] {
        let mut rig = Rig::new(
            WINDOW,
            move |setup| setup.config.compaction.notify_before_auto = notify,
            plainly,
        );
        until_compacted(&mut rig);
        let made = rig.heard.0.iter().find_map(|event| match event {
            Event::Compacted(made) => Some(made.layer),
            _ => None,
        });
        assert_eq!(made, Some(Layer::Summarize));
        let due = rig.heard.count(|event| {
            matches!(
                event,
                Event::CompactionDue {
                    layer: Layer::Summarize,
                    ..
                }
            )
        });
        assert_eq!(due, usize::from(notify));
    }
}

#[test]
fn the_steps_come_in_order_flush_checkpoint_compaction_and_then_the_answer() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    until_compacted(&mut rig);
    let at = |wanted: &dyn Fn(&Event) -> bool| rig.heard.0.iter().position(wanted).unwrap();
    let flushed = at(&|event| matches!(event, Event::Flushed { .. }));
    let compacted = at(&|event| matches!(event, Event::Compacted(_)));
    // One that was written just before at the threshold may still say it all.
    let saved = rig.heard.0[..compacted]
        .iter()
        .rposition(|event| {
            matches!(
                event,
                Event::CheckpointWritten(_) | Event::CheckpointUnchanged { .. }
            )
        })
        .unwrap();
    assert!(
        flushed < saved && saved < compacted,
        "{flushed} {saved} {compacted}"
    );
}

#[test]
fn a_checkpoint_is_written_from_four_fifths_on_and_not_before() {
    let mut rig = Rig::new(24_000, |_| {}, plainly);
    let checkpoint = rig.session.window().checkpoint();
    let written = |event: &Event| matches!(event, Event::CheckpointWritten(_));
    let below = checkpoint - Tokens(700);
    rig.fill_to(Tokens(below.0 - 600));
    assert!(rig.session.size().at_most < checkpoint);
    assert_eq!(rig.heard.count(written), 0);
    rig.fill_to(checkpoint);
    rig.say("And now?").unwrap();
    assert!(rig.heard.count(written) >= 1);
    assert_eq!(rig.compactions(), 0);
}

#[test]
fn a_model_that_never_stops_calling_is_stopped_and_the_session_goes_on() {
    let mut rig = Rig::new(
        64_000,
        |setup| setup.max_rounds = 5,
        |_| Said::call("read", r#"{"path":"a"}"#),
    );
    let error = rig.say("Go on for ever.").unwrap_err();
    assert!(matches!(error, Error::TooManyRounds(5)), "{error}");
    assert!(error.remedy().unwrap().contains("session show"));
    assert_eq!(rig.model.requests().len(), 5);
    assert!(rig.say("Stop.").is_err());
    sound(&rig.session);
}
