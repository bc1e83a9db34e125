//! What requests look like: their common beginning, breakpoints, pictures,
//! thinking.

use longhaul_engine::event::Event;
use longhaul_model::{Content, Message, Request, Role};
use longhaul_transcript::{Draft, Millis};

use crate::support::{Purpose, Rig, Said, plainly, prose, purpose};

fn reads_first(request: &Request) -> Said {
    match (purpose(request), request.messages.last().unwrap().role) {
        (Purpose::Turn, Role::User) => Said::call("read", r#"{"path":"src/lib.rs"}"#),
        _ => plainly(request),
    }
}

/// A message without its breakpoint, which moves.
fn bare(message: &Message) -> Message {
    Message {
        cache: false,
        ..message.clone()
    }
}

#[test]
fn between_compactions_requests_share_everything_but_their_tail() {
    let mut rig = Rig::new(16_000, |_| {}, reads_first);
    let mut rewritten = 0;
    let mut compared = 0;
    for at in 0..40 {
        let (from, events) = (rig.model.requests().len(), rig.heard.0.len());
        rig.say(&prose(at, 60)).unwrap();
        let all = rig.model.requests();
        let rewrites = rig.heard.0[events..]
            .iter()
            .any(|event| matches!(event, Event::Compacted(_) | Event::Pruned { .. }));
        if rewrites {
            rewritten += 1;
            continue;
        }
        for pair in all[from.saturating_sub(1)..].windows(2) {
            let (old, new) = (&pair[0], &pair[1]);
            assert_eq!(old.tools, new.tools);
            assert_eq!(old.system[0], new.system[0]);
            let old: Vec<Message> = old.messages.iter().map(bare).collect();
            let new: Vec<Message> = new.messages.iter().map(bare).collect();
            let shared = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            // What is last tells the time and the gauge, and differs.
            assert!(shared + 2 >= old.len(), "{shared} of {}", old.len());
            compared += 1;
        }
    }
    assert!(compared > 30 && rewritten > 0, "{compared} {rewritten}");
}

#[test]
fn breakpoints_stand_behind_the_static_half_and_at_the_end_of_the_stable_messages() {
    let mut rig = Rig::new(64_000, |_| {}, reads_first);
    for at in 0..6 {
        rig.say(&prose(at, 100)).unwrap();
    }
    let request = rig.model.requests().pop().unwrap();
    assert!(request.system[0].cache);
    let marked: Vec<usize> = (0..request.messages.len())
        .filter(|at| request.messages[*at].cache)
        .collect();
    // Anthropic takes four in all.
    assert!((1..=3).contains(&marked.len()), "{marked:?}");
    let last = *marked.last().unwrap();
    assert!(
        last + 3 >= request.messages.len(),
        "{last} of {}",
        request.messages.len()
    );
}

#[test]
fn the_static_half_is_the_same_after_a_restart() {
    let mut rig = Rig::new(24_000, |_| {}, plainly);
    rig.say("Hello.").unwrap();
    rig.restart();
    rig.say("Hello again.").unwrap();
    let requests = rig.model.requests();
    assert_eq!(requests[0].system[0], requests[1].system[0]);
    assert_eq!(requests[0].tools, requests[1].tools);
}

#[test]
fn a_new_day_is_told_and_nothing_else_of_the_prompt_changes() {
    let mut rig = Rig::new(24_000, |_| {}, plainly);
    rig.say("Hello.").unwrap();
    rig.place.watch.forward(24 * 3_600);
    rig.say("Good morning.").unwrap();
    let requests = rig.model.requests();
    let (old, new) = (&requests[0].system[0].text, &requests[1].system[0].text);
    assert_ne!(old, new);
    let changed = old.lines().zip(new.lines()).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 1);
}

#[test]
fn a_picture_is_sent_as_it_was_given() {
    let mut rig = Rig::new(64_000, |_| {}, plainly);
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let message = serde_json::json!({
        "role": "user",
        "content": [
            { "type": "text", "text": "What is this?" },
            { "type": "image", "data": data, "mimeType": "image/png" },
        ],
        "timestamp": Millis(1).0,
    });
    rig.session
        .ingest(Draft::Message(message.to_string()))
        .unwrap();
    rig.say("Tell me.").unwrap();
    rig.restart();
    rig.say("Once more.").unwrap();
    for request in rig.model.requests() {
        let mut pieces = request.messages.iter().flat_map(|message| &message.content);
        assert!(pieces.any(|piece| {
            matches!(piece, Content::Image { mime, data: sent } if mime == "image/png" && sent == data)
        }));
    }
}

#[test]
fn thinking_goes_back_with_its_signature_and_encrypted_thinking_as_it_came() {
    let thought = Content::Thinking {
        text: "I should look at the file.".into(),
        signature: Some("c2lnbmF0dXJl".into()),
    };
    let hidden = Content::RedactedThinking("ZW5jcnlwdGVk".into());
    let said = vec![
        thought.clone(),
        hidden.clone(),
        Content::text("It is a parser."),
    ];
    let mut rig = Rig::new(64_000, |_| {}, move |_| Said::Blocks(said.clone()));
    rig.say("What is it?").unwrap();
    rig.restart();
    rig.say("And why?").unwrap();
    let request = rig.model.requests().pop().unwrap();
    let answer = request
        .messages
        .iter()
        .find(|message| message.role == Role::Assistant)
        .unwrap();
    assert_eq!(answer.content[..2], [thought, hidden]);
}

#[test]
fn the_gauge_stands_last_and_only_from_its_threshold_on() {
    let mut rig = Rig::new(24_000, |_| {}, plainly);
    rig.say("Hello.").unwrap();
    for at in 0..40 {
        rig.say(&prose(at, 300)).unwrap();
        if rig
            .heard
            .count(|event| matches!(event, Event::Gauge { .. }))
            > 0
        {
            break;
        }
    }
    let requests = rig.model.requests();
    let shows = |request: &Request| crate::support::words(request).contains("[Context: ");
    assert!(!shows(&requests[0]));
    let last = requests.last().unwrap();
    assert!(shows(last));
    let tail = last.messages.last().unwrap();
    let tail = Request {
        messages: vec![tail.clone()],
        ..Request::default()
    };
    assert!(shows(&tail), "it is not in the last message");
}
