//! Every path of the turn as a state machine: whatever happens in whatever
//! order, a few things hold.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use longhaul_compaction::ladder::Block;
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::config::Config;
use longhaul_engine::event::Event;
use longhaul_engine::session::{Engine, Error, Session};
use longhaul_model::{CancellationToken, Request, Role};
use longhaul_testkit::loopback::Fault;
use longhaul_tokens::{ContentKind, Tokens};
use longhaul_transcript::{Draft, Role as Spoken, Session as Stored, verify};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::{Echo, Heard, Place, Purpose, Said, Scripted, purpose, run, weigh, words};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bad {
    Empty,
    Refusal,
    Endless,
    Error,
}

/// What a life leans to, so that its rarer ends are reached often enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// Nothing in particular.
    Any,
    /// Whatever is said is pinned: compactions free nothing.
    Pinned,
    /// One compaction is all that is allowed.
    Worn,
    /// Summaries are useless from the start.
    BadWriter(Bad),
}

fn mood() -> impl Strategy<Value = Mood> {
    prop_oneof![
        2 => Just(Mood::Any),
        1 => Just(Mood::Pinned),
        3 => Just(Mood::Worn),
        1 => bad().prop_map(Mood::BadWriter),
    ]
}

fn bad() -> impl Strategy<Value = Bad> {
    prop_oneof![
        Just(Bad::Empty),
        Just(Bad::Refusal),
        Just(Bad::Endless),
        Just(Bad::Error)
    ]
}

/// The rarer ends, and in how many lives they were reached.
#[derive(Debug, Default)]
struct Reached {
    breaker: usize,
    guard: usize,
    emergency: usize,
    fallback: usize,
    too_large: usize,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => (200usize..1_500, 0usize..4).prop_map(|(words, tools)| Act::Say { words, tools }),
        1 => any::<bool>().prop_map(|numbers| Act::Overflows { numbers }),
        1 => Just(Act::Breaks),
        1 => bad().prop_map(Act::BadSummaries),
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
    failures: VecDeque<Said>,
    bad: Option<Bad>,
}

fn said(will: &Mutex<Will>, request: &Request) -> Said {
    let mut will = will.lock().unwrap();
    if purpose(request) == Purpose::Summary {
        return match will.bad {
            None => Said::Text("## Work done\n- the files were read".into()),
            Some(Bad::Empty) => Said::Text(String::new()),
            Some(Bad::Refusal) => Said::Text("I'm sorry, I cannot help with that.".into()),
            Some(Bad::Endless) => Said::Text("and so on ".repeat(20_000)),
            Some(Bad::Error) => Said::Fails(Fault::Overloaded),
        };
    }
    if purpose(request) == Purpose::Flush {
        // Silent turns fail as well, and are at times quite talkative.
        return match request.messages.len() % 4 {
            0 => Said::Fails(Fault::Internal),
            1 => Said::call("memory_append", r#"{"text":"a note"}"#),
            2 => Said::call("read", r#"{"path":"src/lib.rs"}"#),
            _ => Said::text("NO_REPLY"),
        };
    }
    if let Some(failure) = will.failures.pop_front() {
        return failure;
    }
    if will.tools > 0 {
        will.tools -= 1;
        return Said::Calls(vec![("read".into(), r#"{"path":"src/lib.rs"}"#.into())]);
    }
    Said::Text("Done as you said.".into())
}

struct Machine {
    mood: Mood,
    models: Vec<Arc<Scripted>>,
    /// The events of compactions that a person asked for: they may always try.
    by_hand: Vec<Range<usize>>,
    place: Place,
    will: Arc<Mutex<Will>>,
    session: Option<Session>,
    read_only: bool,
    heard: Heard,
    said: Vec<String>,
}

impl Machine {
    fn new(mood: Mood) -> Machine {
        let mut machine = Machine {
            mood,
            models: Vec::new(),
            by_hand: Vec::new(),
            place: Place::new(),
            will: Arc::default(),
            session: None,
            read_only: false,
            heard: Heard::default(),
            said: Vec::new(),
        };
        if let Mood::BadWriter(bad) = mood {
            machine.will.lock().unwrap().bad = Some(bad);
        }
        let mut session = machine.engine().create(Some("machine"), &mut ()).unwrap();
        if mood == Mood::Worn {
            // Another program's compactions: nobody knows what they lost.
            let draft = Draft::Compaction {
                summary: "We began.".into(),
                first_kept: None,
                tokens_before: 1_000,
                details: None,
            };
            session.ingest(draft).unwrap();
        }
        machine.session = Some(session);
        machine
    }

    fn engine(&mut self) -> Engine {
        let will = Arc::clone(&self.will);
        let model = Scripted::new(WINDOW, move |request| said(&will, request));
        let mut setup = self.place.setup(WINDOW, Some(model.clone()));
        setup.summaries = Some(model.clone());
        self.models.push(model);
        setup.tools = Arc::new(Echo);
        setup.config.sandbox.read_only = self.read_only;
        setup.config.compaction.max_auto_compactions = match self.mood {
            Mood::Worn => 1,
            _ => 4,
        };
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
                if self.mood == Mood::Pinned {
                    self.pin();
                }
            }
            Act::Overflows { numbers } => {
                let refusal = match numbers {
                    true => Said::Fails(Fault::Overflow {
                        limit: u64::from(WINDOW),
                        requested: u64::from(WINDOW) + 500,
                    }),
                    false => Said::Overflows,
                };
                self.will.lock().unwrap().failures.push_back(refusal);
            }
            Act::Breaks => self
                .will
                .lock()
                .unwrap()
                .failures
                .push_back(Said::Fails(Fault::Overloaded)),
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
                let from = self.heard.0.len();
                let session = self.session.as_mut().unwrap();
                let _ = run(session.compact(Layer::Summarize, None, &cancel, &mut self.heard));
                self.by_hand.push(from..self.heard.0.len());
            }
            Act::Undo => {
                let _ = self.session.as_mut().unwrap().undo(&mut self.heard);
            }
            Act::Pin => self.pin(),
            Act::Idle(seconds) => self.place.watch.forward(*seconds),
        }
    }

    /// Pins what was said last.
    fn pin(&mut self) {
        let session = self.session.as_mut().unwrap();
        let entries = session.live().entries().iter().rev();
        let mut said = entries.filter(|entry| entry.role() == Some(&Spoken::User));
        if let Some(last) = said.next().map(|entry| entry.id.clone()) {
            session.ingest(Draft::pin(last, None)).unwrap();
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
        for (at, event) in self.heard.0.iter().enumerate() {
            let manual = self.by_hand.iter().any(|range| range.contains(&at));
            match event {
                Event::FlushBegan { epoch } => *flushes.entry(*epoch).or_default() += 1,
                // An undo leads back into an epoch that was flushed.
                Event::Failed { .. } => {
                    failures += 1;
                    assert!(
                        manual || failures <= 3,
                        "a fourth failing compaction in a row"
                    );
                }
                Event::Compacted(compacted) if compacted.layer != Layer::Emergency => {
                    let (before, after) = (compacted.tokens_before, compacted.tokens_after);
                    let freed = f64::from((before - after).0) / f64::from(before.0.max(1));
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
        assert!(most <= 1 || self.undone(), "{flushes:?}");
        self.check_requests(flushes.values().sum());
        let text = std::fs::read_to_string(self.session.as_ref().unwrap().path()).unwrap();
        for said in &self.said {
            assert!(
                text.contains(said.trim_end()),
                "{said:.40} is not in the file"
            );
        }
    }

    /// What the model saw: no silent turn more than was begun, and nothing that a
    /// window does not hold, silent turns and summaries included.
    fn check_requests(&self, begun: u32) {
        let hard = self.session.as_ref().unwrap().window().hard();
        let counter = Config::default().tokens.estimator.counter();
        let requests = self.models.iter().flat_map(|model| model.requests());
        let mut flushes = 0;
        for request in requests {
            // The provider counts in its own way, and where it has reported that is what
            // counts; before, it is our own count.
            let theirs = Tokens(u32::try_from(weigh(&request)).unwrap());
            let size = counter
                .count(&words(&request), ContentKind::Prose)
                .min(theirs);
            let most = hard + Tokens(hard.0 / 20);
            assert!(size <= most, "{:?} of {size}", purpose(&request));
            let asks = request.messages.last().unwrap().role == Role::User;
            flushes += u32::from(asks && purpose(&request) == Purpose::Flush);
        }
        assert!(flushes <= begun, "{flushes} silent turns, {begun} begun");
    }

    fn note(&self, reached: &mut Reached) {
        let any = |wanted: &dyn Fn(&Event) -> bool| usize::from(self.heard.0.iter().any(wanted));
        reached.breaker += any(&|event| matches!(event, Event::BreakerOpened { .. }));
        reached.guard += any(&|event| {
            matches!(
                event,
                Event::Blocked {
                    block: Block::Guard,
                    ..
                }
            )
        });
        reached.emergency +=
            any(&|event| matches!(event, Event::Compacted(made) if made.layer == Layer::Emergency));
        reached.fallback += any(&|event| matches!(event, Event::SummaryFallback { .. }));
        reached.too_large += any(
            &|event| matches!(event, Event::TurnEnded { outcome, .. } if outcome == "context_overflow"),
        );
    }

    fn undone(&self) -> bool {
        let text = std::fs::read_to_string(self.session.as_ref().unwrap().path()).unwrap();
        text.contains("longhaul:undo")
    }
}

const LIVES: u32 = 40;

#[test]
fn whatever_happens_the_loop_ends_flushes_once_and_sends_nothing_too_large() {
    let reached = RefCell::new(Reached::default());
    let mut runner = TestRunner::new(ProptestConfig {
        cases: LIVES,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let lives = (mood(), prop::collection::vec(act(), 8..20));
    let ended = runner.run(&lives, |(mood, acts)| {
        let mut machine = Machine::new(mood);
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
        machine.note(&mut reached.borrow_mut());
        Ok(())
    });
    if let Err(error) = ended {
        panic!("{error}");
    }
    // A test that never gets there says nothing.
    let reached = reached.into_inner();
    let Reached {
        breaker,
        guard,
        emergency,
        fallback,
        too_large,
    } = reached;
    for times in [breaker, guard, emergency, fallback, too_large] {
        assert!(times >= 2, "{reached:?} of {LIVES}");
    }
}
