//! A workspace, a stopped clock, a model that says what a test wants.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use longhaul_assembly::{Host, Runtime, Tool};
use longhaul_engine::config::Config;
use longhaul_engine::event::Event;
use longhaul_engine::session::{Clock, Engine, Listener, Session, Setup};
use longhaul_engine::tools::{Call, NoTools, Outcome, Toolbox};
use longhaul_model::{
    Answer, BoxFuture, CancellationToken, Content, Delta, Error, Failure, Model, ModelInfo,
    Request, Stop, ToolCall, Usage,
};
use longhaul_tokens::Tokens;

/// A clock that moves when it is told to.
pub(crate) struct Watch {
    millis: AtomicI64,
    ids: AtomicU64,
}

impl Watch {
    pub(crate) fn new() -> Arc<Watch> {
        Arc::new(Watch {
            millis: AtomicI64::new(1_790_000_000_000),
            ids: AtomicU64::new(0),
        })
    }

    pub(crate) fn forward(&self, seconds: i64) {
        self.millis.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

impl Clock for Watch {
    fn now(&self) -> Zoned {
        let millis = self.millis.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millisecond(millis)
            .unwrap()
            .to_zoned(TimeZone::UTC)
    }

    fn new_id(&self) -> String {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        format!("{id:08x}-0000-7000-8000-000000000000")
    }
}

/// What a model is to do with a request.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Text(String),
    Calls(Vec<(String, String)>),
    Fails(Error),
}

type Script = dyn Fn(&Request) -> Said + Send + Sync;

/// A model that follows a script, and remembers what it was asked.
pub(crate) struct Scripted {
    info: ModelInfo,
    script: Box<Script>,
    pub(crate) seen: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(
        window: u32,
        script: impl Fn(&Request) -> Said + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        Arc::new(Scripted {
            info: ModelInfo {
                provider: "openai-compatible".into(),
                name: "scripted".into(),
                window: Some(window),
                ..ModelInfo::default()
            },
            script: Box::new(script),
            seen: Mutex::default(),
        })
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

/// A rough count of a request, as a provider would report it.
pub(crate) fn weigh(request: &Request) -> u64 {
    let text = serde_json::to_string(request).unwrap();
    (text.len() as u64) / 4
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        Box::pin(async move {
            self.seen.lock().unwrap().push(request.clone());
            let said = (self.script)(request);
            let usage = Usage {
                input: weigh(request),
                output: 20,
                ..Usage::default()
            };
            let (content, stop) = match said {
                Said::Text(text) => {
                    deltas(Delta::Text(text.clone()));
                    (vec![Content::Text(text)], Stop::End)
                }
                Said::Calls(calls) => {
                    let calls = calls
                        .into_iter()
                        .enumerate()
                        .map(|(at, (name, arguments))| {
                            Content::ToolCall(ToolCall {
                                id: format!("call_{}_{at}", usage.input),
                                name,
                                arguments,
                            })
                        });
                    (calls.collect(), Stop::ToolUse)
                }
                Said::Fails(error) => {
                    return Err(Failure {
                        error,
                        partial: None,
                        attempts: 1,
                    });
                }
            };
            Ok(Answer {
                content,
                stop,
                usage: Some(usage),
                model: "scripted".into(),
                ..Answer::default()
            })
        })
    }
}

/// One tool that says what it is told to.
pub(crate) struct Echo;

impl Toolbox for Echo {
    fn definitions(&self) -> Vec<Tool> {
        vec![Tool {
            name: "read".into(),
            description: "Reads a file.".into(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.into(),
        }]
    }

    fn run<'a>(&'a self, call: &'a Call, _: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            Outcome::done(format!(
                "content of {}\n{}",
                call.arguments,
                "x = 1;\n".repeat(60)
            ))
        })
    }
}

/// Hears everything.
#[derive(Default)]
pub(crate) struct Heard(pub(crate) Vec<Event>, pub(crate) String);

impl Listener for Heard {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }

    fn delta(&mut self, delta: &Delta) {
        if let Delta::Text(text) = delta {
            self.1.push_str(text);
        }
    }
}

impl Heard {
    pub(crate) fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.0.iter().filter(|event| wanted(event)).count()
    }
}

/// Where a test works.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) watch: Arc<Watch>,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Place {
            folder,
            watch: Watch::new(),
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn setup(&self, window: u32, model: Option<Arc<dyn Model>>) -> Setup {
        let mut config = Config::default();
        config.compaction.context_window = Some(Tokens(window));
        Setup {
            config,
            state_dir: self.folder.path().join("state"),
            workspace: self.workspace(),
            managed_skills: None,
            home_skills: None,
            host: Host::default(),
            runtime: Runtime::default(),
            extra_prompt: None,
            clock: self.watch.clone(),
            model,
            summaries: None,
            tools: Arc::new(NoTools),
            departures: None,
            subagent: false,
            max_rounds: Setup::MAX_ROUNDS,
        }
    }

    pub(crate) fn session(&self, setup: Setup) -> Session {
        Engine::new(setup).create(Some("test"), &mut ()).unwrap()
    }
}

/// Runs something to its end.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// The lines of a session's file.
pub(crate) fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
