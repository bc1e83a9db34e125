//! The provider says that a request is too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use longhaul_assembly::Tool;
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::event::Event;
use longhaul_engine::session::Engine;
use longhaul_engine::tools::{Outcome, Toolbox};
use longhaul_model::{CancellationToken, Role, ToolCall};
use longhaul_testkit::loopback::Fault;
use longhaul_tokens::{Tokens, WindowOrigin};

use crate::support::{Purpose, Rig, Said, plainly, prose, purpose, sound, weigh, words};

const WINDOW: u32 = 32_000;

fn overflow(numbers: Option<(u64, u64)>) -> Said {
    match numbers {
        Some((limit, requested)) => Said::Fails(Fault::Overflow { limit, requested }),
        None => Said::Overflows,
    }
}

/// A provider that takes no more than so many tokens, whatever is said of it.
fn smaller(limit: u64, numbers: bool) -> impl Fn(&longhaul_model::Request) -> Said {
    move |request| match weigh(request) > limit {
        true => overflow(numbers.then(|| (limit, weigh(request)))),
        false => plainly(request),
    }
}

fn layers(rig: &Rig) -> Vec<Layer> {
    let events = rig.heard.0.iter();
    events
        .filter_map(|event| match event {
            Event::Compacted(made) if made.trigger == Trigger::Overflow => Some(made.layer),
            _ => None,
        })
        .collect()
}

#[test]
fn a_smaller_window_is_learnt_from_the_error_and_the_turn_is_answered() {
    let mut rig = Rig::new(WINDOW, |_| {}, smaller(12_000, true));
    for at in 0..30 {
        assert_eq!(rig.say(&prose(at, 500)).unwrap().text, "Understood.");
    }
    let learnt = |event: &Event| {
        matches!(
            event,
            Event::WindowLearnt {
                window: Tokens(12_000),
                ..
            }
        )
    };
    assert_eq!(rig.heard.count(learnt), 1);
    assert_eq!(rig.session.window().size(), Tokens(12_000));
    // Once is enough: afterwards it is made to fit before it is sent.
    let refused = |event: &Event| matches!(event, Event::Overflowed { .. });
    assert_eq!(rig.heard.count(refused), 1);
}

#[test]
fn a_learnt_window_is_remembered_for_other_sessions_and_after_a_restart() {
    let mut rig = Rig::new(WINDOW, |_| {}, smaller(12_000, true));
    for at in 0..30 {
        rig.say(&prose(at, 500)).unwrap();
    }
    rig.restart();
    assert_eq!(rig.session.window().size(), Tokens(12_000));
    assert_eq!(
        rig.session.status().window_origin,
        WindowOrigin::ProviderError
    );
    let other = rig.engine.create(Some("another"), &mut rig.heard).unwrap();
    assert_eq!(other.window().size(), Tokens(12_000));
    // Another model has its own.
    let model = crate::support::Scripted::named("other", WINDOW, None, plainly);
    let engine = Engine::new(rig.place.setup(WINDOW, Some(model)));
    let other = engine.create(Some("third"), &mut rig.heard).unwrap();
    assert_eq!(other.window().size(), Tokens(WINDOW));
}

#[test]
fn without_numbers_the_context_is_compacted_and_sent_again() {
    let mut rig = Rig::new(WINDOW, |_| {}, smaller(12_000, false));
    for at in 0..30 {
        assert_eq!(rig.say(&prose(at, 500)).unwrap().text, "Understood.");
    }
    assert!(
        layers(&rig).contains(&Layer::Summarize),
        "{:?}",
        layers(&rig)
    );
    assert_eq!(rig.session.window().size(), Tokens(WINDOW));
}

#[test]
fn a_refusal_right_after_a_compaction_leads_to_the_next_layer_and_at_last_to_the_oldest_turns() {
    let refusals = Arc::new(AtomicU32::new(0));
    let left = Arc::clone(&refusals);
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        move |request| match purpose(request) {
            Purpose::Turn if left.load(Ordering::Relaxed) > 0 => {
                left.fetch_sub(1, Ordering::Relaxed);
                overflow(None)
            }
            _ => plainly(request),
        },
    );
    for at in 0..20 {
        rig.say(&prose(at, 600)).unwrap();
    }
    refusals.store(3, Ordering::Relaxed);
    let turn = rig.say("What was the last note about?").unwrap();
    assert_eq!(turn.text, "Understood.");
    assert_eq!(
        layers(&rig),
        [Layer::Summarize, Layer::Full, Layer::Emergency]
    );
    // Nobody said anything between them: one silent turn was enough.
    assert_eq!(rig.model.asked(Purpose::Flush).len(), 1);
    let context = rig.work("memories/context.md");
    assert!(context.contains("Understood."), "{context}");
}

#[test]
fn a_provider_that_always_refuses_ends_the_turn_with_the_numbers_and_a_remedy() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    for at in 0..12 {
        rig.say(&prose(at, 600)).unwrap();
    }
    let mut rig = refusing(rig);
    let before = rig.model.requests().len();
    let error = rig.say("Is anybody there?").unwrap_err();
    assert_eq!(error.kind(), "context_overflow");
    let said = error.to_string();
    assert!(
        said.contains("32,000") || said.contains("32000") || said.contains("32k"),
        "{said}"
    );
    assert!(said.contains("only the present turn is left"), "{said}");
    assert!(!said.contains("  "), "{said}");
    assert!(error.remedy().unwrap().contains("session handoff"));
    assert!(
        rig.model.requests().len() - before < 40,
        "it went on for too long"
    );
    assert!(rig.file().contains("Is anybody there?"));
    // The next turn is as good as any other, once the provider is.
    let mut rig = willing(rig);
    assert_eq!(rig.say("And now?").unwrap().text, "Understood.");
}

/// The same session with a provider that refuses every turn.
fn refusing(rig: Rig) -> Rig {
    swap(rig, |request| match purpose(request) {
        Purpose::Turn => overflow(None),
        _ => plainly(request),
    })
}

fn willing(rig: Rig) -> Rig {
    swap(rig, plainly)
}

fn swap(
    rig: Rig,
    script: impl Fn(&longhaul_model::Request) -> Said + Send + Sync + 'static,
) -> Rig {
    let path = rig.session.path().to_owned();
    let mut new = Rig::at(rig.place, WINDOW, |_| {}, script);
    new.session = new.engine.open(&path, &mut new.heard).unwrap();
    new
}

#[test]
fn the_message_that_overflowed_is_answered_and_not_lost() {
    let mut rig = Rig::new(WINDOW, |_| {}, smaller(9_000, false));
    for at in 0..12 {
        rig.say(&prose(at, 500)).unwrap();
    }
    let question = "Which port does the staging server listen on, 8443 or 9443?";
    rig.say(question).unwrap();
    let answered = rig.model.asked(Purpose::Turn).pop().unwrap();
    assert!(words(&answered).contains(question));
}

#[test]
fn a_message_that_fits_no_window_is_refused_before_anything_is_spent_on_it() {
    let mut rig = Rig::new(12_000, |_| {}, plainly);
    rig.say("Hello.").unwrap();
    let before = rig.model.requests().len();
    let error = rig.say(&prose(1, 20_000)).unwrap_err();
    assert_eq!(error.kind(), "context_overflow");
    assert!(error.to_string().contains("the message alone"), "{error}");
    assert_eq!(rig.model.requests().len(), before);
    assert!(rig.file().contains("Note 1:"));
    // The next one is answered, and the large one has left the context.
    rig.say("And now?").unwrap();
    let last = rig.model.asked(Purpose::Turn).pop().unwrap();
    assert!(weigh(&last) <= u64::from(rig.session.window().hard().0));
    sound(&rig.session);
}

#[test]
fn a_result_that_would_fill_the_window_is_shown_in_part_and_kept_whole() {
    struct Page;
    impl Toolbox for Page {
        fn definitions(&self) -> Vec<Tool> {
            vec![Tool {
                name: "fetch".into(),
                description: "Fetches a page.".into(),
                parameters: r#"{"type":"object"}"#.into(),
            }]
        }
        fn run<'a>(
            &'a self,
            _: &'a ToolCall,
            _: &'a CancellationToken,
        ) -> longhaul_model::BoxFuture<'a, Outcome> {
            Box::pin(async { Outcome::done(format!("BEGIN {} END", "lorem ipsum ".repeat(9_000))) })
        }
    }
    let mut rig = Rig::new(
        12_000,
        |setup| setup.tools = Arc::new(Page),
        |request| match (purpose(request), request.messages.last().unwrap().role) {
            (Purpose::Turn, Role::User) => Said::call("fetch", "{}"),
            _ => plainly(request),
        },
    );
    rig.say("Fetch it.").unwrap();
    let last = words(&rig.model.asked(Purpose::Turn).pop().unwrap());
    assert!(last.contains("BEGIN lorem") && last.contains("ipsum  END"));
    assert!(last.contains("characters are left out here") && last.contains("recall"));
    assert!(last.len() < 30_000, "{}", last.len());
    assert!(rig.file().len() > 100_000);
    assert_eq!(rig.compactions(), 0);
    sound(&rig.session);
}

/// Figures, of which we count more tokens than a provider that goes by letters.
fn figures(seed: usize) -> String {
    let figure = |at: usize| ((seed * 7_919 + at * 104_729) % 100_000).to_string();
    let figures: Vec<String> = (0..250).map(figure).collect();
    figures.join(" ")
}

#[test]
fn what_the_gauge_takes_for_small_enough_is_sent_and_what_it_does_not_is_compacted() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    for at in 0..80 {
        assert_eq!(rig.say(&figures(at)).unwrap().text, "Understood.");
    }
    assert!(rig.compactions() > 0);
    let most = rig.model.asked(Purpose::Turn).iter().map(weigh).max();
    assert!(most.unwrap() <= u64::from(rig.session.window().hard().0));
    let fallback = |event: &Event| match event {
        Event::Flushed { fallback, .. } => fallback.is_some(),
        _ => false,
    };
    assert_eq!(rig.heard.count(fallback), 0);
    sound(&rig.session);
}

#[test]
fn a_provider_that_reports_next_to_nothing_is_not_believed() {
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        |request| match purpose(request) {
            Purpose::Turn => Said::Reports("Understood.".into(), 300),
            _ => plainly(request),
        },
    );
    for at in 0..150 {
        assert_eq!(rig.say(&prose(at, 500)).unwrap().text, "Understood.");
    }
    assert!(rig.compactions() > 0);
    let most = rig.model.asked(Purpose::Turn).iter().map(weigh).max();
    assert!(most.unwrap() <= u64::from(WINDOW) * 2);
}

#[test]
fn a_context_that_grows_when_it_is_laid_out_is_compacted_and_sent() {
    // Every would-be mark of ours is made harmless, which takes more tokens than
    // were counted of it.
    let marks = "<longhaul:x>".repeat(120);
    let mut rig = Rig::new(
        WINDOW,
        |_| {},
        |request| match purpose(request) {
            Purpose::Turn => Said::Reports("Understood.".into(), weigh(request) / 3),
            _ => plainly(request),
        },
    );
    for at in 0..60 {
        let said = rig.say(&format!("Note {at}: {marks}"));
        assert_eq!(said.unwrap().text, "Understood.");
    }
    assert!(layers(&rig).contains(&Layer::Summarize));
    sound(&rig.session);
}
