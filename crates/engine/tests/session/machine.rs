//! Every path of the turn as a state machine: whatever happens in whatever
//! order, a few things hold.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::event::Event;
use longhaul_engine::session::{Engine, Error, Session};
use longhaul_model::{CancellationToken, Error as ModelError, Request, Role};
use longhaul_transcript::{Draft, Role as Spoken, Session as Stored, verify};
use proptest::prelude::*;

use crate::support::{Echo, Heard, Place, Said, Scripted, run};

const WINDOW: u32 = 9_000;

/// Something that happens.
#[derive(Debug, Clone)]
enum Act {
    /// The user says so many words; the model calls so many tools, then answers.
    Say { words: usize, tools: usize },
    /// The next request is refused as too long.
    Overflows { numbers: bool },
    /// The next request fails.
    Breaks,
    /// The next summaries are useless.
    BadSummaries(Bad),
    /// The process ends and begins again.
    Restart { read_only: bool },
    /// Compaction by itself is switched.
    Autocompact(bool),
    /// A person compacts.
    Compact,
    /// A person takes it back.
    Undo,
    /// The last thing said is pinned.
    Pin,
    /// Nothing happens for so many seconds.
    Idle(i64),
}

#[derive(Debug, Clone, Copy)]
enum Bad {
    Empty,
    Refusal,
    Endless,
    Error,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (1usize..1_500, 0usize..4).prop_map(|(words, tools)| Act::Say { words, tools }),
        1 => any::<bool>().prop_map(|numbers| Act::Overflows { numbers }),
        1 => Just(Act::Breaks),
        1 => prop_oneof![
            Just(Bad::Empty), Just(Bad::Refusal), Just(Bad::Endless), Just(Bad::Error)
        ].prop_map(Act::BadSummaries),
        1 => prop::bool::weighted(0.2).prop_map(|read_only| Act::Restart { read_only }),
        1 => any::<bool>().prop_map(Act::Autocompact),
        1 => Just(Act::Compact),
        1 => Just(Act::Undo),
        2 => Just(Act::Pin),
        1 => (1i64..2_000).prop_map(Act::Idle),
    ]
}

/// What the model will do next.
#[derive(Debug, Default)]
struct Will {
    tools: usize,
    failures: VecDeque<ModelError>,
    bad: Option<Bad>,
}

fn said(will: &Mutex<Will>, request: &Request) -> Said {
    let mut will = will.lock().unwrap();
    paired(request);
    if request.tools.is_empty() {
        // A summary.
        return match will.bad {
            None => Said::Text("## Work done\n- the files were read".into()),
            Some(Bad::Empty) => Said::Text(String::new()),
            Some(Bad::Refusal) => Said::Text("I'm sorry, I cannot help with that.".into()),
            Some(Bad::Endless) => Said::Text("and so on ".repeat(20_000)),
            Some(Bad::Error) => Said::Fails(overloaded()),
        };
    }
    if let Some(failure) = will.failures.pop_front() {
        return Said::Fails(failure);
    }
    if will.tools > 0 {
        will.tools -= 1;
        return Said::Calls(vec![("read".into(), r#"{"path":"src/lib.rs"}"#.into())]);
    }
    Said::Text("Done as you said.".into())
}

fn overloaded() -> ModelError {
    ModelError::Overloaded {
        provider: "test".into(),
        status: 529,
        message: "try later".into(),
        retry_after: None,
    }
}

/// Every call has its result right behind it, and nothing is empty.
fn paired(request: &Request) {
    use longhaul_model::Content::{ToolCall, ToolResult};
    let mut open: Vec<&str> = Vec::new();
    for message in &request.messages {
        assert!(!message.content.is_empty());
        if message.role != Role::Tool {
            assert!(open.is_empty(), "calls without results: {open:?}");
        }
        for content in &message.content {
            match content {
                ToolCall(call) => open.push(&call.id),
                ToolResult(result) => {
                    let at = open.iter().position(|id| *id == result.call);
                    open.remove(at.expect("every result was asked for"));
                }
                _ => {}
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

struct Machine {
    place: Place,
    will: Arc<Mutex<Will>>,
    session: Option<Session>,
    read_only: bool,
    heard: Heard,
    said: Vec<String>,
}

impl Machine {
    fn new() -> Machine {
        let mut machine = Machine {
            place: Place::new(),
            will: Arc::default(),
            session: None,
            read_only: false,
            heard: Heard::default(),
            said: Vec::new(),
        };
        machine.session = Some(machine.engine().create(Some("machine"), &mut ()).unwrap());
        machine
    }

    fn engine(&self) -> Engine {
        let will = Arc::clone(&self.will);
        let model = Scripted::new(WINDOW, move |request| said(&will, request));
        let mut setup = self.place.setup(WINDOW, Some(model.clone()));
        setup.summaries = Some(model);
        setup.tools = Arc::new(Echo);
        setup.config.sandbox.read_only = self.read_only;
        setup.config.compaction.max_auto_compactions = 4;
        Engine::new(setup)
    }

    fn act(&mut self, act: &Act) {
        let cancel = CancellationToken::new();
        match act {
            Act::Say { words, tools } => {
                self.will.lock().unwrap().tools = *tools;
                let message = format!("{}: {}", self.said.len(), "word ".repeat(*words));
                self.said.push(message.clone());
                let session = self.session.as_mut().unwrap();
                let turn = run(session.turn(&message, &cancel, &mut self.heard));
                match turn {
                    Ok(_) | Err(Error::Model(_) | Error::ContextOverflow { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Act::Overflows { numbers } => {
                let (limit, requested) = match numbers {
                    true => (Some(u64::from(WINDOW)), Some(u64::from(WINDOW) + 500)),
                    false => (None, None),
                };
                self.will
                    .lock()
                    .unwrap()
                    .failures
                    .push_back(ModelError::Overflow {
                        message: "prompt is too long".into(),
                        limit,
                        requested,
                    });
            }
            Act::Breaks => self.will.lock().unwrap().failures.push_back(overloaded()),
            Act::BadSummaries(bad) => self.will.lock().unwrap().bad = Some(*bad),
            Act::Restart { read_only } => {
                let path = self.session.take().unwrap().path().to_owned();
                self.read_only = *read_only;
                let session = self.engine().open(&path, &mut self.heard).unwrap();
                self.session = Some(session);
            }
            Act::Autocompact(on) => {
                let session = self.session.as_mut().unwrap();
                session.set_autocompact(*on, &mut self.heard);
            }
            Act::Compact => {
                let session = self.session.as_mut().unwrap();
                let _ = run(session.compact(Layer::Summarize, None, &cancel, &mut self.heard));
            }
            Act::Undo => {
                let _ = self.session.as_mut().unwrap().undo(&mut self.heard);
            }
            Act::Pin => {
                let session = self.session.as_mut().unwrap();
                let entries = session.live().entries().iter().rev();
                let mut said = entries.filter(|entry| entry.role() == Some(&Spoken::User));
                if let Some(last) = said.next().map(|entry| entry.id.clone()) {
                    session.ingest(Draft::pin(last, None)).unwrap();
                }
            }
            Act::Idle(seconds) => self.place.watch.forward(*seconds),
        }
    }

    fn check(&mut self, from: usize, autocompact: bool) {
        let session = self.session.as_ref().unwrap();
        let hard = session.window().hard();
        for event in &self.heard.0[from..] {
            match event {
                Event::Asked { at_most, .. } => assert!(*at_most <= hard, "{at_most} > {hard}"),
                Event::Compacted(compacted) if compacted.trigger == Trigger::Auto => {
                    assert!(autocompact && !self.read_only, "{compacted:?}");
                }
                Event::Compacted(_) | Event::FlushBegan { .. } | Event::CheckpointWritten(_) => {
                    assert!(!self.read_only, "{event:?}");
                }
                _ => {}
            }
        }
        let stored = Stored::open(session.path()).unwrap();
        let report = verify(&stored).unwrap();
        assert!(report.is_sound(), "{report:?}");
    }

    /// What holds over the whole life of the session.
    fn check_all(&self) {
        // One flush in an epoch, whatever fails and however often it starts anew.
        let mut flushes: HashMap<u32, u32> = HashMap::new();
        let mut failures = 0;
        for event in &self.heard.0 {
            match event {
                Event::FlushBegan { epoch } => *flushes.entry(*epoch).or_default() += 1,
                // An undo leads back into an epoch that was flushed.
                Event::Failed { .. } => {
                    failures += 1;
                    assert!(failures <= 3, "a fourth failing compaction in a row");
                }
                Event::Compacted(compacted) if compacted.layer != Layer::Emergency => {
                    let (before, after) = (compacted.tokens_before, compacted.tokens_after);
                    let freed = f64::from((before - after).0) / f64::from(before.0.max(1));
                    let manual = compacted.trigger == Trigger::Manual;
                    failures = match freed >= 0.10 {
                        true => 0,
                        false => failures + 1,
                    };
                    assert!(
                        manual || failures <= 3,
                        "a fourth failing compaction in a row"
                    );
                }
                _ => {}
            }
        }
        let most = flushes.values().copied().max().unwrap_or(0);
        assert!(
            most <= 1 || self.heard.0.len() > 1 && self.undone(),
            "{flushes:?}"
        );
        let text = std::fs::read_to_string(self.session.as_ref().unwrap().path()).unwrap();
        for said in &self.said {
            assert!(
                text.contains(said.trim_end()),
                "{said:.40} is not in the file"
            );
        }
    }

    fn undone(&self) -> bool {
        let text = std::fs::read_to_string(self.session.as_ref().unwrap().path()).unwrap();
        text.contains("longhaul:undo")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_loop_ends_flushes_once_and_sends_nothing_too_large(
        acts in prop::collection::vec(act(), 1..24)
    ) {
        let mut machine = Machine::new();
        let mut autocompact = true;
        for act in &acts {
            let from = machine.heard.0.len();
            machine.act(act);
            if let Act::Autocompact(on) = act {
                autocompact = *on;
            }
            machine.check(from, autocompact);
        }
        machine.check_all();
    }
}
