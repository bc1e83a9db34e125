//! What goes wrong, and what is left of the session afterwards.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use longhaul_assembly::Tool;
use longhaul_engine::event::Event;
use longhaul_engine::session::{Engine, Error, Listener, Session};
use longhaul_engine::tools::{Outcome, Toolbox};
use longhaul_model::{
    CancellationToken, Content, Delta, Limits, ModelSpec, Protocol, Provider, Role, ToolCall,
    connect,
};
use longhaul_testkit::loopback::{Ending, Fault, Reply};

use crate::support::{
    Echo, Heard, Place, Purpose, Rig, Said, Scripted, lines, once, paired, plainly, purpose, run,
    sound, words,
};

/// Stops the turn when it hears something.
struct Stopper<'a> {
    heard: &'a mut Heard,
    cancel: CancellationToken,
    at_delta: fn(&Delta) -> bool,
}

impl<'a> Stopper<'a> {
    fn new(heard: &'a mut Heard) -> Stopper<'a> {
        Stopper {
            heard,
            cancel: CancellationToken::new(),
            at_delta: |_| false,
        }
    }
}

impl Listener for Stopper<'_> {
    fn event(&mut self, event: &Event) {
        self.heard.event(event);
    }

    fn delta(&mut self, delta: &Delta) {
        self.heard.delta(delta);
        if (self.at_delta)(delta) {
            self.cancel.cancel();
        }
    }
}

fn last_message(session: &Session) -> serde_json::Value {
    let lines = lines(session.path());
    let mut messages = lines.into_iter().rev();
    messages.find(|line| line["type"] == "message").unwrap()["message"].clone()
}

#[test]
fn every_failure_of_a_model_is_recorded_explained_and_survived() {
    let page = || Said::Fails(Fault::Html);
    let failures = [
        ("a wrong key", Said::Fails(Fault::Unauthorized), "key"),
        (
            "an unknown model",
            Said::Fails(Fault::UnknownModel),
            "list of models",
        ),
        ("no credit", Said::Fails(Fault::Quota), "credit"),
        (
            "too fast",
            Said::Fails(Fault::RateLimited {
                retry_after: Some("7".into()),
            }),
            "7 s",
        ),
        ("overloaded", Said::Fails(Fault::Overloaded), "again"),
        ("an internal error", Said::Fails(Fault::Internal), "again"),
        ("a page", page(), "base URL"),
        (
            "half an object",
            Said::Raw(Reply::json(200, &serde_json::json!({"a": 1}))),
            "again",
        ),
        ("nothing in time", Said::Silence, "more time"),
        (
            "a cut before the first word",
            Said::Raw(Reply::events("").ending(Ending::Cut)),
            "again",
        ),
    ];
    for (name, failure, advice) in failures {
        let next = Arc::new(Mutex::new(Some(failure)));
        let mut rig = Rig::new(32_000, |_| {}, plainly);
        let mut spec = ModelSpec::new(Provider::Compatible, "failing").speaking(Protocol::Messages);
        spec.known.window = Some(32_000);
        spec.key_variable = Some("A_TEST_KEY".into());
        let patience = Limits {
            first_byte: Duration::from_secs(3),
            ..once()
        };
        let model = Scripted::connected(spec, patience, move |request| {
            match next.lock().unwrap().take() {
                Some(failure) => failure,
                None => plainly(request),
            }
        });
        let chosen = model.clone();
        rig.restart_with(move |setup| setup.model = Some(chosen.clone()));
        let error = rig.say("Hello?").unwrap_err();
        assert_eq!(error.kind(), "model", "{name}: {error}");
        let remedy = error.remedy().unwrap();
        assert!(remedy.contains(advice), "{name}: {remedy}");
        let kept = last_message(&rig.session);
        assert_eq!(kept["stopReason"], "error", "{name}");
        assert_eq!(kept["errorMessage"], error.to_string(), "{name}");
        let told = |event: &Event| {
            matches!(event, Event::BrokeOff { reason, remedy: told, .. }
                if *reason == error.to_string() && *told == remedy)
        };
        assert_eq!(rig.heard.count(told), 1, "{name}");
        sound(&rig.session);
        assert!(
            !rig.file().contains("a-key-of-a-test"),
            "{name}: the key is in the file"
        );
        // And now it works: both questions are asked, the failure is not shown.
        assert_eq!(
            rig.say("Hello again?").unwrap().text,
            "Understood.",
            "{name}"
        );
        let sent = model.requests().pop().unwrap();
        assert!(words(&sent).contains("Hello?") && words(&sent).contains("Hello again?"));
        assert!(
            sent.messages
                .iter()
                .all(|message| message.role == Role::User)
        );
    }
}

#[test]
fn a_missing_key_is_known_before_anything_is_sent_and_named() {
    let spec = ModelSpec::parse("anthropic/claude-sonnet-4-5").unwrap();
    let error = connect(&spec, &|_| None, Limits::default()).err().unwrap();
    assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(error.remedy().contains("ANTHROPIC_API_KEY"));
}

#[test]
fn what_fails_before_its_first_word_is_sent_again_and_the_user_is_told() {
    let refusals = AtomicUsize::new(2);
    let mut spec = ModelSpec::new(Provider::Compatible, "retried").speaking(Protocol::Messages);
    spec.known.window = Some(32_000);
    let limits = Limits {
        attempts: 4,
        backoff: Duration::from_millis(1),
        ..Limits::default()
    };
    let model = Scripted::connected(spec, limits, move |request| {
        match refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        }) {
            Ok(_) => Said::Fails(Fault::Overloaded),
            Err(_) => plainly(request),
        }
    });
    let mut rig = Rig::new(32_000, |_| {}, plainly);
    rig.restart_with(move |setup| setup.model = Some(model.clone()));
    assert_eq!(rig.say("Hello?").unwrap().text, "Understood.");
    let again = |event: &Event| matches!(event, Event::Retrying { .. });
    assert_eq!(rig.heard.count(again), 2);
    assert_eq!(
        lines(rig.session.path())
            .iter()
            .filter(|line| line["message"]["role"] == "assistant")
            .count(),
        1
    );
}

#[test]
fn without_a_model_the_message_is_kept_and_the_user_told_what_to_do() {
    let place = Place::new();
    let mut session = place.session(place.setup(32_000, None));
    let error = run(session.turn("Hello?", &CancellationToken::new(), &mut ())).unwrap_err();
    assert!(matches!(error, Error::NoModel));
    assert!(error.remedy().unwrap().contains("--model"));
    assert_eq!(last_message(&session)["role"], "user");
    // A model later answers it with the next one.
    let model = Scripted::new(32_000, plainly);
    let engine = Engine::new(place.setup(32_000, Some(model.clone())));
    let mut session = engine.open(session.path(), &mut ()).unwrap();
    run(session.turn("Anyone?", &CancellationToken::new(), &mut ())).unwrap();
    assert!(words(&model.requests()[0]).contains("Hello?"));
}

#[test]
fn an_answer_that_breaks_off_is_kept_as_far_as_it_came() {
    let mut rig = Rig::new(
        32_000,
        |_| {},
        |request| match words(request).contains("Go on") {
            true => plainly(request),
            false => Said::Breaks("The first half of".into()),
        },
    );
    let error = rig.say("Tell me.").unwrap_err();
    assert_eq!(error.kind(), "model");
    let kept = last_message(&rig.session);
    assert_eq!(kept["stopReason"], "error");
    assert_eq!(kept["content"][0]["text"], "The first half of");
    rig.say("Go on.").unwrap();
    sound(&rig.session);
}

#[test]
fn stopped_during_an_answer_what_had_arrived_is_kept_as_aborted() {
    let mut rig = Rig::new(
        32_000,
        |_| {},
        |request| match words(request).contains("Go on") {
            true => plainly(request),
            false => Said::Hangs("The first half of".into()),
        },
    );
    let mut stopper = Stopper::new(&mut rig.heard);
    stopper.at_delta = |delta| matches!(delta, Delta::Text(_));
    let cancel = stopper.cancel.clone();
    let ended = run(rig.session.turn("Tell me.", &cancel, &mut stopper));
    assert!(matches!(ended, Err(Error::Cancelled)));
    let kept = last_message(&rig.session);
    assert_eq!(kept["stopReason"], "aborted");
    assert!("The first half of".starts_with(kept["content"][0]["text"].as_str().unwrap()));
    sound(&rig.session);
    assert_eq!(rig.say("Go on.").unwrap().text, "Understood.");
}

/// A tool that answers at once, and from the second call on is stopped while it
/// works.
#[derive(Default)]
struct Waits(CancellationToken, AtomicUsize);

impl Toolbox for Waits {
    fn definitions(&self) -> Vec<Tool> {
        Echo.definitions()
    }

    fn run<'a>(&'a self, _: &'a ToolCall, cancel: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
                return Outcome::done("read");
            }
            self.0.cancel();
            cancel.cancelled().await;
            Outcome::failed("stopped while reading")
        })
    }
}

#[test]
fn stopped_during_tools_every_call_has_a_result_and_the_next_request_is_valid() {
    let three = ["a", "b", "c"].map(|path| ("read".to_owned(), format!(r#"{{"path":"{path}"}}"#)));
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let mut rig = Rig::new(
        32_000,
        move |setup| setup.tools = Arc::new(Waits(stop.clone(), AtomicUsize::new(0))),
        move |request| match words(request).contains("Go on") {
            true => plainly(request),
            false => Said::Calls(three.to_vec()),
        },
    );
    let ended = run(rig.session.turn("Read all three.", &cancel, &mut rig.heard));
    assert!(matches!(ended, Err(Error::Cancelled)));
    let results: Vec<String> = lines(rig.session.path())
        .iter()
        .filter(|line| line["message"]["role"] == "toolResult")
        .map(|line| {
            line["message"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(results.len(), 3);
    assert_eq!(results[0], "read");
    assert_eq!(results[1], "stopped while reading");
    assert!(results[2].contains("the user stopped the turn"));
    assert_eq!(rig.model.requests().len(), 1);
    rig.say("Go on.").unwrap();
    paired(&rig.model.requests().pop().unwrap());
    sound(&rig.session);
}

#[test]
fn stopped_before_it_begins_nothing_is_sent_and_the_message_is_kept() {
    let mut rig = Rig::new(32_000, |_| {}, plainly);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = run(rig.session.turn("Hello?", &cancel, &mut rig.heard));
    assert!(matches!(ended, Err(Error::Cancelled)));
    assert!(rig.model.requests().is_empty());
    assert!(rig.file().contains("Hello?"));
}

#[test]
fn a_call_with_broken_json_is_kept_and_answered_with_an_error() {
    let mut rig = Rig::new(
        32_000,
        |setup| setup.tools = Arc::new(Strict),
        |request| match request.messages.last().unwrap().role {
            Role::User => Said::call("read", r#"{"path": "src/lib.rs"#),
            _ => Said::text("I will write it properly."),
        },
    );
    let turn = rig.say("Read it.").unwrap();
    assert_eq!(turn.rounds, 2);
    let file = rig.file();
    assert!(
        file.contains("invalidJson") && file.contains(r#"{\"path\": \"src/lib.rs"#),
        "{file}"
    );
    let answered = |event: &Event| matches!(event, Event::ToolAnswered { is_error: true, .. });
    assert_eq!(rig.heard.count(answered), 1);
    let request = rig.model.requests().pop().unwrap();
    paired(&request);
    let sent = request.messages.iter().flat_map(|message| &message.content);
    for piece in sent {
        if let Content::ToolCall(call) = piece {
            assert!(
                call.parse().is_ok(),
                "a provider would refuse {}",
                call.arguments
            );
        }
    }
    sound(&rig.session);
}

/// A tool that insists on its arguments.
struct Strict;

impl Toolbox for Strict {
    fn definitions(&self) -> Vec<Tool> {
        Echo.definitions()
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        let parsed = serde_json::from_str::<serde_json::Value>(&call.arguments);
        Box::pin(async move {
            match parsed {
                Ok(_) => Outcome::done("read"),
                Err(error) => Outcome::failed(format!("the arguments are not JSON: {error}")),
            }
        })
    }
}

#[test]
fn a_tool_that_nobody_knows_is_answered_and_the_turn_goes_on() {
    let mut rig = Rig::new(
        32_000,
        |setup| setup.tools = Arc::new(longhaul_engine::tools::NoTools),
        |request| match request.messages.last().unwrap().role {
            Role::User => Said::call("launch", "{}"),
            _ => Said::text("Then not."),
        },
    );
    assert_eq!(rig.say("Launch it.").unwrap().text, "Then not.");
    assert!(rig.file().contains("There is no tool named"));
}

#[test]
fn an_empty_answer_ends_the_turn_and_leaves_a_session_that_can_go_on() {
    let mut rig = Rig::new(
        32_000,
        |_| {},
        |request| match words(request).contains("Go on") {
            true => plainly(request),
            false => Said::Blocks(Vec::new()),
        },
    );
    let turn = rig.say("Say nothing.").unwrap();
    assert_eq!(turn.text, "");
    sound(&rig.session);
    assert_eq!(rig.say("Go on.").unwrap().text, "Understood.");
    let sent = rig.model.requests().pop().unwrap();
    assert!(
        sent.messages
            .iter()
            .all(|message| !message.content.is_empty())
    );
}

#[test]
fn a_failure_in_the_middle_of_tool_rounds_leaves_a_valid_next_request() {
    let mut rig = Rig::new(
        32_000,
        |_| {},
        |request| {
            let results = request
                .messages
                .iter()
                .filter(|message| message.role == Role::Tool)
                .count();
            match (words(request).contains("Go on"), results) {
                (true, _) => plainly(request),
                (false, 0) => Said::call("read", r#"{"path":"a"}"#),
                (false, _) => Said::Fails(Fault::Overloaded),
            }
        },
    );
    rig.say("Read and answer.").unwrap_err();
    rig.say("Go on.").unwrap();
    let sent = rig.model.requests().pop().unwrap();
    paired(&sent);
    assert!(words(&sent).contains("content of {\"path\":\"a\"}"));
    assert_eq!(purpose(&sent), Purpose::Turn);
    sound(&rig.session);
}

#[test]
fn a_call_cut_off_by_the_answers_length_is_not_run() {
    let calls = Arc::new(crate::support::Reads::default());
    let counted = Arc::clone(&calls);
    let mut rig = Rig::new(
        32_000,
        move |setup| setup.tools = counted.clone(),
        |request| match request.messages.last().unwrap().role {
            Role::User => Said::CutCall("read".into(), r#"{"path":"src/li"#.into()),
            _ => Said::text("Shorter, then."),
        },
    );
    assert_eq!(rig.say("Read it.").unwrap().text, "Shorter, then.");
    assert_eq!(calls.calls.load(Ordering::Relaxed), 0);
    assert!(rig.file().contains("reached its longest length"));
}
