//! Sizes as the engine foretells them, beside a provider that counts as we do.

use std::sync::{Arc, Mutex};

use longhaul_compaction::Layer;
use longhaul_engine::event::Event;
use longhaul_engine::measure::Meter;
use longhaul_engine::survey::{Keep, Survey};
use longhaul_model::{
    Answer, BoxFuture, CancellationToken, Content, Delta, Failure, Model, ModelInfo, Request, Stop,
    Usage,
};
use longhaul_tokens::{ContentKind, Counter, Estimator, Tokens};
use longhaul_transcript::{Body, Context, Draft, Millis, Session as Stored};

use crate::support::{Heard, Place, Rig, plainly, prose, run};

/// Counts exactly what we count, and remembers it.
struct Exact {
    info: ModelInfo,
    counted: Mutex<Vec<u64>>,
}

/// All of a request's text.
fn count(request: &Request) -> u64 {
    let counter: &dyn Counter = Estimator::default().counter();
    let system = request.system.iter().map(|block| block.text.as_str());
    let said = request.messages.iter().flat_map(|message| &message.content);
    let said = said.filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let texts = system.chain(said);
    let tokens: Tokens = texts
        .map(|text| counter.count(text, ContentKind::Prose))
        .sum();
    u64::from(tokens.0)
}

impl Model for Exact {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut (dyn FnMut(Delta) + Send),
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        let input = count(request);
        self.counted.lock().unwrap().push(input);
        Box::pin(async move {
            Ok(Answer {
                content: vec![Content::text("Yes, it is so, and it stays so.")],
                stop: Stop::End,
                usage: Some(Usage {
                    input,
                    output: 10,
                    ..Usage::default()
                }),
                ..Answer::default()
            })
        })
    }
}

#[test]
fn a_request_is_no_larger_than_foretold_when_the_advisory_is_added_to_it() {
    let place = Place::new();
    let model = Arc::new(Exact {
        info: ModelInfo {
            name: "exact".into(),
            window: Some(4_096),
            ..ModelInfo::default()
        },
        counted: Mutex::default(),
    });
    let mut setup = place.setup(4_096, Some(model.clone()));
    setup.config.compaction.memory_flush.enabled = false;
    let mut session = place.session(setup);
    let mut heard = Heard::default();
    for turn in 0..60 {
        let message = format!(
            "This is remark {turn} of many; is it so? {}",
            "And so. ".repeat(15)
        );
        run(session.turn(&message, &CancellationToken::new(), &mut heard)).unwrap();
    }
    let foretold: Vec<u64> = heard
        .0
        .iter()
        .filter_map(|event| match event {
            Event::Asked { at_most, .. } => Some(u64::from(at_most.0)),
            _ => None,
        })
        .collect();
    let counted = model.counted.lock().unwrap().clone();
    assert_eq!(foretold.len(), counted.len());
    // What is learnt of a model moves a count by a token or two; the advisory has
    // eighty.
    let near = 16;
    for (at, (foretold, counted)) in foretold.iter().zip(&counted).enumerate() {
        assert!(
            *counted <= foretold + near,
            "request {at}: {counted}, foretold {foretold}"
        );
    }
    assert!(heard.count(|event| matches!(event, Event::Compacted(_))) > 0);
}

/// Every number that is told of the latest compaction: by its event, its entry,
/// the session at work, one that is opened again, and one that is only looked at.
#[test]
fn entry_event_history_and_status_agree_on_a_compaction() {
    let mut rig = Rig::new(24_000, |_| {}, plainly);
    for at in 0..24 {
        rig.say(&prose(at, 400)).unwrap();
    }
    let cancel = CancellationToken::new();
    let before = rig.session.size().tokens;
    run(rig
        .session
        .compact(Layer::Full, None, &cancel, &mut rig.heard))
    .unwrap();
    let events = rig.heard.0.iter().rev();
    let event = events
        .filter_map(|event| match event {
            Event::Compacted(made) => Some(made.clone()),
            _ => None,
        })
        .next()
        .unwrap();
    assert_eq!(event.tokens_before, before);
    let after = event.tokens_after;
    assert_eq!(rig.session.status().size.tokens, after, "at work");

    let stored = Stored::open(rig.session.path()).unwrap();
    let survey = Survey::of(&stored, &Keep::nowhere()).unwrap();
    let latest = survey.compactions(&stored).unwrap();
    let Body::Compaction(entry) = &latest.last().unwrap().body else {
        unreachable!("it is one");
    };
    assert_eq!(entry.tokens_before, Some(u64::from(before.0)), "history");
    assert_eq!(entry.tokens_after, Some(u64::from(after.0)), "history");
    let loaded = stored.load().unwrap();
    let context = Context::build(&loaded);
    let mut meter = Meter::new(Estimator::default());
    let reading = meter.context(&loaded, &context);
    assert_eq!(reading.measurement.tokens, after, "looked at");
    rig.restart();
    assert_eq!(rig.session.status().size.tokens, after, "opened again");

    // And what is said after it comes on top, everywhere alike.
    rig.session
        .ingest(Draft::user("And now?", Millis(0)))
        .unwrap();
    assert!(rig.session.status().size.tokens > after);
}
