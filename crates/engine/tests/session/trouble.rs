//! What goes wrong, and what is left of the session afterwards.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use longhaul_assembly::Tool;
use longhaul_engine::event::Event;
use longhaul_engine::session::{Engine, Error, Listener, Session};
use longhaul_engine::tools::{Call, Outcome, Toolbox};
use longhaul_model::{
    CancellationToken, Content, Delta, Error as ModelError, Phase, Request, Role,
};

use crate::support::{
    Echo, Heard, Place, Purpose, Rig, Said, lines, overloaded, plainly, purpose, run, sound, words,
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
    let provider = || "openai-compatible".to_owned();
    let message = || "as the provider says".to_owned();
    let failures = [
        ModelError::Unauthorized {
            provider: provider(),
            status: 401,
            message: message(),
            variable: Some("A_KEY".into()),
        },
        ModelError::UnknownModel {
            provider: provider(),
            model: "nope".into(),
            message: message(),
        },
        ModelError::Quota {
            provider: provider(),
            message: message(),
        },
        ModelError::RateLimited {
            provider: provider(),
            message: message(),
            retry_after: Some(Duration::from_secs(7)),
        },
        ModelError::Overloaded {
            provider: provider(),
            status: 529,
            message: message(),
            retry_after: None,
        },
        ModelError::Timeout {
            provider: provider(),
            phase: Phase::FirstByte,
            after: Duration::from_secs(300),
        },
        ModelError::NotAnApi {
            url: "http://127.0.0.1/".into(),
            status: 200,
            excerpt: "<html>".into(),
        },
        ModelError::BadAnswer {
            provider: provider(),
            reason: "no JSON".into(),
            excerpt: "{".into(),
        },
        ModelError::Network {
            url: "http://127.0.0.1/".into(),
            reason: "refused".into(),
        },
        ModelError::BadRequest {
            provider: provider(),
            status: 400,
            message: message(),
        },
        ModelError::Refused {
            provider: provider(),
            message: message(),
        },
    ];
    for failure in failures {
        let next = Arc::new(Mutex::new(Some(failure.clone())));
        let mut rig = Rig::new(
            32_000,
            |_| {},
            move |request| match next.lock().unwrap().take() {
                Some(failure) => Said::Fails(failure),
                None => plainly(request),
            },
        );
        let error = rig.say("Hello?").unwrap_err();
        assert_eq!(error.kind(), "model", "{failure:?}");
        assert!(!error.remedy().unwrap().is_empty());
        let kept = last_message(&rig.session);
        assert_eq!(kept["stopReason"], "error");
        assert_eq!(kept["errorMessage"], failure.to_string());
        let told = |event: &Event| {
            matches!(event, Event::BrokeOff { reason, remedy, .. }
                if *reason == failure.to_string() && *remedy == failure.remedy())
        };
        assert_eq!(rig.heard.count(told), 1);
        sound(&rig.session);
        // And now it works: both questions are asked, the failure is not shown.
        assert_eq!(rig.say("Hello again?").unwrap().text, "Understood.");
        let sent = rig.model.requests().pop().unwrap();
        assert!(words(&sent).contains("Hello?") && words(&sent).contains("Hello again?"));
        assert!(
            sent.messages
                .iter()
                .all(|message| message.role == Role::User)
        );
    }
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
    let model = crate::support::Scripted::new(32_000, plainly);
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
            false => Said::Breaks(
                "The first half of".into(),
                ModelError::Interrupted {
                    provider: "openai-compatible".into(),
                    reason: "cut".into(),
                },
            ),
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

    fn run<'a>(&'a self, _: &'a Call, cancel: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
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

/// Every call has its result right behind it.
fn paired(request: &Request) {
    let mut open: Vec<&str> = Vec::new();
    for message in &request.messages {
        assert!(!message.content.is_empty());
        for piece in &message.content {
            match piece {
                Content::ToolCall(call) => open.push(&call.id),
                Content::ToolResult(result) => open.retain(|id| *id != result.call),
                _ => assert!(open.is_empty(), "{open:?} have no result"),
            }
        }
    }
    assert!(open.is_empty(), "{open:?} have no result");
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

    fn run<'a>(&'a self, call: &'a Call, _: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
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
                (false, _) => Said::Fails(overloaded()),
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
