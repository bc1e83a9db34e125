//! A workspace, a stopped clock, a model that says what a test wants.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use longhaul_assembly::Tool;
use longhaul_engine::config::Config;
use longhaul_engine::event::Event;
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::{Clock, Engine, Listener, Result as Ended, Session, Setup, Turn};
use longhaul_engine::tools::{NoTools, Outcome, Toolbox};
use longhaul_model::{
    Answer, BoxFuture, CancellationToken, Content, Delta, Failure, Limits, Message, Model,
    ModelInfo, ModelSpec, Prices, Protocol, Provider, Request, Role, Stop, ToolCall, Usage,
    connect,
};
use longhaul_testkit::loopback::{Ending, Fault, Loopback, Recorded, Reply, Said as Spoken};
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
    /// Words, and the size of the request as the provider reports it.
    Reports(String, u64),
    Calls(Vec<(String, String)>),
    /// A call that the longest length of an answer cut off.
    CutCall(String, String),
    /// Any blocks, in order.
    Blocks(Vec<Content>),
    /// It refuses, in these words.
    Refuses(String),
    Fails(Fault),
    /// Too long, and no word about by how much.
    Overflows,
    /// Says so much and breaks off.
    Breaks(String),
    /// Says so much and then nothing, until somebody stops it.
    Hangs(String),
    /// No word at all.
    Silence,
    /// Something that no model says.
    Raw(Reply),
}

impl Said {
    pub(crate) fn text(text: impl Into<String>) -> Said {
        Said::Text(text.into())
    }

    pub(crate) fn call(tool: &str, arguments: &str) -> Said {
        Said::Calls(vec![(tool.into(), arguments.into())])
    }
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    Turn,
    Flush,
    Summary,
}

pub(crate) fn purpose(request: &Request) -> Purpose {
    let asks_to_flush = |message: &Message| {
        let mut content = message.content.iter();
        message.role == Role::User
            && content.any(|piece| {
                matches!(piece, Content::Text(text) if text.contains("INTERNAL FLUSH PROMPT"))
            })
    };
    // Nothing but a summary is asked for at a temperature of ours.
    if request.temperature.is_some() {
        Purpose::Summary
    } else if request.messages.iter().any(asks_to_flush) {
        Purpose::Flush
    } else {
        Purpose::Turn
    }
}

/// Everything that a request says, tool calls and results included.
pub(crate) fn words(request: &Request) -> String {
    let mut text = String::new();
    for block in &request.system {
        text.push_str(&block.text);
        text.push('\n');
    }
    for message in &request.messages {
        for piece in &message.content {
            match piece {
                Content::Text(said) => text.push_str(said),
                Content::ToolResult(result) => {
                    for piece in &result.content {
                        if let Content::Text(said) = piece {
                            text.push_str(said);
                        }
                    }
                }
                Content::ToolCall(call) => text.push_str(&call.arguments),
                _ => {}
            }
            text.push('\n');
        }
    }
    text
}

type Script = dyn Fn(&Request) -> Said + Send + Sync;

/// A model behind a server on loopback that follows a script; it remembers what
/// it was asked. Requests go the whole way: written in the provider's format,
/// over HTTP, and the answer back as a stream.
pub(crate) struct Scripted {
    model: Arc<dyn Model>,
    server: Loopback,
    seen: Arc<Mutex<Vec<Request>>>,
}

/// No second attempts: a test wants to see what the first came to.
pub(crate) fn once() -> Limits {
    Limits {
        attempts: 1,
        ..Limits::default()
    }
}

impl Scripted {
    pub(crate) fn new(
        window: u32,
        script: impl Fn(&Request) -> Said + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        Scripted::named("scripted", window, None, script)
    }

    pub(crate) fn named(
        name: &str,
        window: u32,
        prices: Option<Prices>,
        script: impl Fn(&Request) -> Said + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        let mut spec = ModelSpec::new(Provider::Compatible, name).speaking(Protocol::Messages);
        spec.known.window = Some(window);
        spec.known.prices = prices;
        Scripted::connected(spec, once(), script)
    }

    pub(crate) fn connected(
        spec: ModelSpec,
        limits: Limits,
        script: impl Fn(&Request) -> Said + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let asked = Arc::clone(&seen);
        let script: Box<Script> = Box::new(script);
        let server = Loopback::start(move |wire| {
            let (number, request) = {
                let seen = asked.lock().unwrap();
                (seen.len(), seen.last().unwrap().clone())
            };
            reply(script(&request), number, &request, wire)
        })
        .unwrap();
        let key = |name: &str| name.ends_with("_KEY").then(|| "a-key-of-a-test".to_owned());
        let model = connect(&spec.at(server.url()), &key, limits).unwrap();
        Arc::new(Scripted {
            model,
            server,
            seen,
        })
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// Those of one purpose.
    pub(crate) fn asked(&self, wanted: Purpose) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| purpose(request) == wanted);
        requests
    }

    /// The requests as they arrived.
    pub(crate) fn wire(&self) -> Vec<serde_json::Value> {
        let requests = self.server.requests();
        requests.iter().map(Recorded::json).collect()
    }
}

/// A rough count of a request, as a provider would report it.
pub(crate) fn weigh(request: &Request) -> u64 {
    let text = serde_json::to_string(request).unwrap();
    (text.len() as u64) / 4
}

fn reply(said: Said, number: usize, request: &Request, wire: &Recorded) -> Reply {
    let usage = Usage {
        input: weigh(request),
        output: 20,
        ..Usage::default()
    };
    let say = |content: Vec<Content>| Spoken::new(content).usage(Some(usage));
    let text = |text: String| say(vec![Content::Text(text)]);
    let call = |(at, (name, arguments)): (usize, (String, String))| {
        Content::ToolCall(ToolCall {
            id: format!("call_{number}_{at}"),
            name,
            arguments,
        })
    };
    let up_to_its_end = |words: String, ending| {
        let whole = text(words).reply(wire);
        whole.only_to("event: content_block_stop", ending)
    };
    match said {
        // A model that says nothing sends no piece of it.
        Said::Text(words) if words.is_empty() => say(Vec::new()).reply(wire),
        Said::Text(words) => text(words).reply(wire),
        Said::Reports(words, input) => Spoken::new(vec![Content::Text(words)])
            .usage(Some(Usage { input, ..usage }))
            .reply(wire),
        Said::Calls(calls) => say(calls.into_iter().enumerate().map(call).collect()).reply(wire),
        Said::CutCall(name, arguments) => say(vec![call((0, (name, arguments)))])
            .stop(Stop::Length)
            .reply(wire),
        Said::Blocks(blocks) => say(blocks).reply(wire),
        Said::Refuses(words) => text(words).stop(Stop::Refusal).reply(wire),
        Said::Fails(fault) => fault.reply(wire),
        Said::Overflows => Reply::json(
            400,
            &serde_json::json!({
                "type": "error",
                "error": { "type": "invalid_request_error", "message": "prompt is too long" },
            }),
        ),
        Said::Breaks(words) => up_to_its_end(words, Ending::Cut),
        Said::Hangs(words) => up_to_its_end(words, Ending::Hang),
        Said::Silence => Reply::silence(),
        Said::Raw(reply) => reply,
    }
}

/// Every call has its result right behind it, and nothing is empty.
pub(crate) fn paired(request: &Request) {
    let mut open: Vec<&str> = Vec::new();
    for message in &request.messages {
        assert!(!message.content.is_empty(), "an empty message");
        if message.role != Role::Tool {
            assert!(open.is_empty(), "calls without results: {open:?}");
        }
        for piece in &message.content {
            match piece {
                Content::ToolCall(call) => open.push(&call.id),
                Content::ToolResult(result) => {
                    let at = open.iter().position(|id| *id == result.call);
                    open.remove(at.expect("every result was asked for"));
                }
                _ => {}
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        paired(request);
        self.seen.lock().unwrap().push(request.clone());
        self.model.ask(request, deltas, cancel)
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

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            Outcome::done(format!(
                "content of {}\n{}",
                call.arguments,
                "x = 1;\n".repeat(60)
            ))
        })
    }
}

/// A tool whose results have so many lines, and that counts its calls.
#[derive(Default)]
pub(crate) struct Reads {
    pub(crate) lines: usize,
    pub(crate) calls: AtomicU64,
}

impl Toolbox for Reads {
    fn definitions(&self) -> Vec<Tool> {
        Echo.definitions()
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let lines: Vec<String> = (0..self.lines)
                .map(|line| format!("let value_{number}_{line} = {line};"))
                .collect();
            Outcome::done(format!(
                "content of {}\n{}",
                call.arguments,
                lines.join("\n")
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
            environment: Environment::default(),
            clock: self.watch.clone(),
            model,
            summaries: None,
            tools: Arc::new(NoTools),
            departures: None,
            subagent: None,
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

/// A session at work: where it is, whom it asks, what was heard of it.
pub(crate) struct Rig {
    pub(crate) place: Place,
    pub(crate) model: Arc<Scripted>,
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    pub(crate) heard: Heard,
    change: Box<dyn Fn(&mut Setup)>,
    window: u32,
}

impl Rig {
    /// A fresh session with a model that follows a script and a tool that reads.
    pub(crate) fn new(
        window: u32,
        change: impl Fn(&mut Setup) + 'static,
        script: impl Fn(&Request) -> Said + Send + Sync + 'static,
    ) -> Rig {
        Rig::at(Place::new(), window, change, script)
    }

    pub(crate) fn at(
        place: Place,
        window: u32,
        change: impl Fn(&mut Setup) + 'static,
        script: impl Fn(&Request) -> Said + Send + Sync + 'static,
    ) -> Rig {
        let model = Scripted::new(window, script);
        let change: Box<dyn Fn(&mut Setup)> = Box::new(change);
        let engine = engine(&place, window, &model, &change);
        let mut heard = Heard::default();
        let session = engine.create(Some("test"), &mut heard).unwrap();
        Rig {
            place,
            model,
            engine,
            session,
            heard,
            change,
            window,
        }
    }

    pub(crate) fn say(&mut self, message: &str) -> Ended<Turn> {
        let cancel = CancellationToken::new();
        run(self.session.turn(message, &cancel, &mut self.heard))
    }

    /// The process ends and another one begins, with the same settings.
    pub(crate) fn restart(&mut self) {
        self.engine = engine(&self.place, self.window, &self.model, &self.change);
        self.reopen();
    }

    /// The same, with other settings.
    pub(crate) fn restart_with(&mut self, change: impl Fn(&mut Setup) + 'static) {
        self.change = Box::new(change);
        self.restart();
    }

    fn reopen(&mut self) {
        let path = self.session.path().to_owned();
        self.session = self.engine.open(&path, &mut self.heard).unwrap();
    }

    /// Says things until the context is at least so large; the model answers
    /// each in a few words.
    pub(crate) fn fill_to(&mut self, tokens: Tokens) {
        for at in 0.. {
            let size = self.session.size().at_most;
            if size >= tokens {
                return;
            }
            let words = ((tokens.0 - size.0) as usize).clamp(20, 600);
            self.say(&prose(at, words)).unwrap();
        }
    }

    pub(crate) fn compactions(&self) -> usize {
        self.heard
            .count(|event| matches!(event, Event::Compacted(_)))
    }

    /// The conversation as the context shows it.
    pub(crate) fn conversation(&self) -> Vec<String> {
        let messages = self.session.live().messages().iter();
        messages
            .map(|message| format!("{} {}", message.entry, message.json()))
            .collect()
    }

    pub(crate) fn file(&self) -> String {
        std::fs::read_to_string(self.session.path()).unwrap()
    }

    /// A file of the workspace; empty if it is not there.
    pub(crate) fn work(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.workspace().join(name)).unwrap_or_default()
    }

    /// All daily logs.
    pub(crate) fn logs(&self) -> String {
        let Ok(folder) = std::fs::read_dir(self.place.workspace().join("memory")) else {
            return String::new();
        };
        folder
            .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect()
    }
}

fn engine(
    place: &Place,
    window: u32,
    model: &Arc<Scripted>,
    change: &dyn Fn(&mut Setup),
) -> Engine {
    let mut setup = place.setup(window, Some(model.clone()));
    setup.tools = Arc::new(Echo);
    setup.config.compaction.max_auto_compactions = 100;
    change(&mut setup);
    Engine::new(setup)
}

/// Some words that are not the same words every time.
pub(crate) fn prose(seed: usize, words: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "parser", "keeps", "every", "line", "of", "a", "session", "in", "order", "while",
        "its", "reader", "waits", "for", "more",
    ];
    let mut text = format!("Note {seed}:");
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    for at in 0..words {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push(' ');
        text.push_str(WORDS[(state >> 40) % WORDS.len()]);
        if at % 11 == 10 {
            text.push('.');
        }
    }
    text
}

/// Answers whatever it is asked, briefly and well.
pub(crate) fn plainly(request: &Request) -> Said {
    match purpose(request) {
        Purpose::Turn => Said::text("Understood."),
        Purpose::Flush => Said::text("NOTHING_TO_FLUSH"),
        Purpose::Summary => Said::text("## Work done\n- the notes were read"),
    }
}

/// The session's file is whole, and every request of it could be sent.
pub(crate) fn sound(session: &Session) {
    let stored = longhaul_transcript::Session::open(session.path()).unwrap();
    let report = longhaul_transcript::verify(&stored).unwrap();
    assert!(report.is_sound(), "{report:?}");
}
