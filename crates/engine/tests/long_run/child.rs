//! The process that runs the engine, with real tools in a real folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use jiff::Zoned;
use jiff::tz::TimeZone;
use longhaul_assembly::Tool;
use longhaul_engine::config::Config;
use longhaul_engine::event::Event;
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::{Clock, Engine, Error, Listener, Session, Setup};
use longhaul_engine::tools::{
    NobodyToAsk, Outcome, Permissions, Policy, Toolbox, WorkspaceSettings, WorkspaceTools,
};
use longhaul_model::{
    CancellationToken, Limits, Model, ModelSpec, Protocol, Provider, ToolCall, connect,
};
use longhaul_tokens::Tokens;

use crate::WINDOW;
use crate::story::Story;

pub(crate) const FOLDER: &str = "LONGHAUL_LONG_RUN_FOLDER";
pub(crate) const URL: &str = "LONGHAUL_LONG_RUN_URL";
pub(crate) const PROTOCOL: &str = "LONGHAUL_LONG_RUN_PROTOCOL";
pub(crate) const TURNS: &str = "LONGHAUL_LONG_RUN_TURNS";

/// The file of the one session, once there is one.
pub(crate) fn session_file(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder.join("state/sessions")).ok()?;
    let mut files: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    files.into_iter().next()
}

/// The real time, and ten minutes of rest after every fifty turns, so that
/// caches go cold now and then.
struct Time {
    turn: AtomicU64,
    ids: AtomicU64,
    begun: u128,
}

impl Clock for Time {
    fn now(&self) -> Zoned {
        let rest = self.turn.load(Ordering::Relaxed) / 50 * 600;
        let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(rest as i64);
        now.to_zoned(TimeZone::UTC)
    }

    fn new_id(&self) -> String {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let name = format!("{} {} {number}", self.begun, std::process::id());
        let hash = blake3::hash(name.as_bytes()).to_hex();
        format!(
            "{}-{}-7{}-8{}-{}",
            &hash[..8],
            &hash[8..12],
            &hash[12..15],
            &hash[15..18],
            &hash[18..30]
        )
    }
}

/// `read`, `write` and `edit` in the workspace, and a list of what is to do.
struct Tools(WorkspaceTools);

impl Toolbox for Tools {
    fn definitions(&self) -> Vec<Tool> {
        let mut tools = self.0.definitions();
        tools.push(Tool {
            name: "todo".into(),
            description: "Replaces the list of what is to do.".into(),
            parameters: r#"{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object"}}}}"#.into(),
        });
        tools
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Outcome> {
        match call.name.as_str() {
            "todo" => Box::pin(std::future::ready(Outcome::done("the list is kept"))),
            _ => self.0.run(call, cancel),
        }
    }
}

/// An engine in a folder of the run.
pub(crate) fn engine(
    folder: &Path,
    model: Option<Arc<dyn Model>>,
    clock: Arc<dyn Clock>,
) -> Engine {
    let mut config = Config::default();
    config.compaction.context_window = Some(Tokens(WINDOW));
    config.compaction.max_auto_compactions = 1_000_000;
    let mut permissions = Permissions::default();
    for tool in ["write", "edit"] {
        permissions.tools.insert(tool.into(), Policy::Allow);
    }
    let tools = WorkspaceTools::new(WorkspaceSettings {
        workspace: folder.join("work"),
        readable: Vec::new(),
        permissions,
        approver: Arc::new(NobodyToAsk),
        bash: None,
        notebook: None,
        recall: None,
    });
    Engine::new(Setup {
        config,
        state_dir: folder.join("state"),
        workspace: folder.join("work"),
        environment: Environment::default(),
        clock,
        summaries: model.clone(),
        model,
        tools: Arc::new(Tools(tools.unwrap())),
        departures: None,
        subagent: None,
        max_rounds: Setup::MAX_ROUNDS,
    })
}

/// A clock for whoever comes after the run.
pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(Time::new())
}

impl Time {
    fn new() -> Time {
        let now = std::time::SystemTime::now();
        Time {
            turn: AtomicU64::new(0),
            ids: AtomicU64::new(0),
            begun: now
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .as_nanos(),
        }
    }
}

fn model(url: &str, protocol: &str) -> Arc<dyn Model> {
    let protocol = match protocol {
        "0" => Protocol::Messages,
        "1" => Protocol::Chat,
        _ => Protocol::Responses,
    };
    let mut spec = ModelSpec::new(Provider::Compatible, "long-run")
        .speaking(protocol)
        .at(url);
    spec.known.window = Some(WINDOW);
    let limits = Limits {
        attempts: 3,
        backoff: std::time::Duration::from_millis(1),
        ..Limits::default()
    };
    connect(&spec, &|_| None, limits).unwrap()
}

/// Counts what happens.
#[derive(Default)]
struct Ear {
    compactions: usize,
    emergencies: usize,
    troubles: Vec<String>,
}

impl Listener for Ear {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Compacted(made) => {
                self.compactions += 1;
                let emergency = made.layer == longhaul_compaction::Layer::Emergency;
                self.emergencies += usize::from(emergency);
            }
            Event::Trouble { reason } => self.troubles.push(reason.clone()),
            Event::CheckpointTrouble { reason, .. } => self.troubles.push(reason.clone()),
            Event::BreakerOpened { reasons } => {
                self.troubles
                    .push(format!("the breaker opened: {}", reasons.join("; ")));
            }
            _ => {}
        }
    }
}

/// Plays the part of the child, if this process was given it.
pub(crate) fn play() {
    let (Some(folder), Ok(url)) = (std::env::var_os(FOLDER), std::env::var(URL)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let protocol = std::env::var(PROTOCOL).unwrap_or_default();
    let turns: usize = std::env::var(TURNS).unwrap().parse().unwrap();
    let story = Story::new(turns);
    let clock = Arc::new(Time::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let engine = engine(&folder, Some(model(&url, &protocol)), clock.clone());
    let begun = std::fs::read_to_string(folder.join("turn")).unwrap_or_default();
    let last = begun
        .split(' ')
        .next()
        .and_then(|turn| turn.parse::<usize>().ok());
    let mut ear = Ear::default();
    clock
        .turn
        .store(last.unwrap_or(0) as u64, Ordering::Relaxed);
    let mut session = match session_file(&folder) {
        Some(path) => engine.open(&path, &mut ear).unwrap(),
        None => engine.create(Some("long"), &mut ear).unwrap(),
    };
    let mut stats = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("stats"))
        .unwrap();
    for turn in last.map_or(0, |last| last + 1)..turns {
        clock.turn.store(turn as u64, Ordering::Relaxed);
        // Whole or not at all: a kill here must not lead back to the beginning.
        std::fs::write(
            folder.join("turn.new"),
            format!("{turn} {}", std::process::id()),
        )
        .unwrap();
        std::fs::rename(folder.join("turn.new"), folder.join("turn")).unwrap();
        let before = (Instant::now(), io());
        let ended = runtime.block_on(session.turn(
            &story.message(turn),
            &CancellationToken::new(),
            &mut ear,
        ));
        let outcome = match ended {
            Ok(_) => "answered",
            Err(Error::Model(_)) => "failed",
            Err(error) => panic!("turn {turn}: {error}"),
        };
        let (read, written) = io();
        writeln!(
            stats,
            "{} {turn} {outcome} {} {} {} {} {} {}",
            std::process::id(),
            resident(),
            read - before.1.0,
            written - before.1.1,
            before.0.elapsed().as_micros(),
            std::mem::take(&mut ear.compactions),
            std::mem::take(&mut ear.emergencies),
        )
        .unwrap();
        for trouble in ear.troubles.drain(..) {
            let mut file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(folder.join("troubles"))
                .unwrap();
            writeln!(file, "turn {turn}: {trouble}").unwrap();
        }
    }
    closed(&mut session);
}

fn closed(session: &mut Session) {
    assert!(
        session.status().brakes.breaker.is_none(),
        "the breaker is open at the end"
    );
}

/// Kilobytes of this process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Bytes that this process has read and written, by whatever way.
fn io() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().parse().ok()).unwrap_or(0)
    };
    (of("rchar:"), of("wchar:"))
}
