use longhaul_engine::event::Event;
use longhaul_engine::session::Engine;
use longhaul_model::CancellationToken;
use std::sync::Arc;

use crate::support::{Echo, Heard, Place, Said, Scripted, lines, run};

#[test]
fn a_message_is_answered_and_both_are_in_the_file() {
    let place = Place::new();
    let model = Scripted::new(32_000, |_| Said::Text("It is Tuesday.".into()));
    let mut session = place.session(place.setup(32_000, Some(model.clone())));
    let mut heard = Heard::default();
    let turn = run(session.turn("What day is it?", &CancellationToken::new(), &mut heard)).unwrap();
    assert_eq!(turn.text, "It is Tuesday.");
    assert_eq!(heard.1, "It is Tuesday.");
    let roles: Vec<String> = lines(session.path())
        .iter()
        .filter_map(|line| Some(line["message"]["role"].as_str()?.to_owned()))
        .collect();
    assert_eq!(roles, ["user", "assistant"]);
    assert_eq!(turn.spent.requests, 1);
}

#[test]
fn tools_are_called_until_the_model_is_done() {
    let place = Place::new();
    let model = Scripted::new(32_000, |request| {
        match request
            .messages
            .iter()
            .any(|m| m.role == longhaul_model::Role::Tool)
        {
            true => Said::Text("done".into()),
            false => Said::Calls(vec![("read".into(), r#"{"path":"a.rs"}"#.into())]),
        }
    });
    let mut setup = place.setup(32_000, Some(model.clone()));
    setup.tools = Arc::new(Echo);
    let mut session = place.session(setup);
    let mut heard = Heard::default();
    let turn = run(session.turn("Read a.rs", &CancellationToken::new(), &mut heard)).unwrap();
    assert_eq!((turn.text.as_str(), turn.rounds), ("done", 2));
    assert_eq!(
        heard.count(|event| matches!(event, Event::ToolAnswered { .. })),
        1
    );
}

#[test]
fn a_long_session_is_compacted_and_goes_on_after_a_restart() {
    let place = Place::new();
    let model = Scripted::new(16_000, |request| {
        let text = serde_json::to_string(request).unwrap();
        if text.contains("INTERNAL FLUSH") {
            return Said::Text("NOTHING_TO_FLUSH".into());
        }
        match request.messages.last().unwrap().role == longhaul_model::Role::Tool {
            true => Said::Text("I have read it and changed nothing. ".repeat(5)),
            false => Said::Calls(vec![("read".into(), r#"{"path":"src/a.rs"}"#.into())]),
        }
    });
    let mut setup = place.setup(16_000, Some(model.clone()));
    setup.tools = Arc::new(Echo);
    setup.config.compaction.max_auto_compactions = 100;
    let engine = Engine::new(setup);
    let mut session = engine.create(Some("long"), &mut ()).unwrap();
    let mut heard = Heard::default();
    for turn in 0..60 {
        if turn % 20 == 19 {
            let path = session.path().to_owned();
            drop(session);
            session = engine.open(&path, &mut heard).unwrap();
        }
        let message = format!("Step {turn}: never use tabs in file {turn}, please read it again.");
        let answered = run(session.turn(&message, &CancellationToken::new(), &mut heard));
        answered.unwrap();
    }
    let compactions = heard.count(|event| matches!(event, Event::Compacted(_)));
    assert!(compactions >= 2, "{compactions}");
}
