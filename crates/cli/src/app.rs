//! What a command works with: the machine's folders, the clock, the settings.
//!
//! This is the only place that looks at the environment, the home folder and
//! the clock; everything below gets values.

use std::env;
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhaul_compaction::cost::Prices;
use longhaul_engine::catalog::Places;
use longhaul_engine::config::{self, Config, ConfigError, Resolved};
use longhaul_engine::measure::{Meter, Reading, WindowEvidence};
use longhaul_engine::session::{cache_prices, learnt_windows, resolve_window};
use longhaul_engine::survey::{Keep, Surveys};
use longhaul_memory::MemoryFolder;
use longhaul_model::ModelInfo;
use longhaul_redact::Redactor;
use longhaul_server::dashboard::views::{Dreaming, Subject};
use longhaul_tokens::{ResolvedWindow, Tokens, Window, WindowOrigin};
use longhaul_transcript::{Draft, EntryId, LastWrites, Millis, NewSession, Session, Stamp};
use serde_json::Value;

use crate::args::{Color, Global, Needs};
use crate::connection::Connection;
use crate::failure::{Failure, Result};
use crate::out;

/// Everything a command needs to know about where and how it runs.
pub(crate) struct App {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) home: Option<PathBuf>,
    pub(crate) workspace: PathBuf,
    /// The workspace, where the command line names one.
    pub(crate) workspace_flag: Option<PathBuf>,
    pub(crate) state_dir: PathBuf,
    /// The settings, and where each comes from.
    pub(crate) resolved: Resolved,
    pub(crate) config: Config,
    /// Why the configuration is not the user's, for commands that help to mend it.
    pub(crate) config_failure: Option<Failure>,
    pub(crate) config_flag: Option<PathBuf>,
    pub(crate) model: Option<String>,
    window: Option<u32>,
    pub(crate) now: Option<Millis>,
}

impl App {
    pub(crate) fn new(global: &Global, needs: Needs) -> Result<App> {
        App::with_settings(global, needs, Vec::new())
    }

    /// The same, with settings that count above all others.
    pub(crate) fn with_settings(
        global: &Global,
        needs: Needs,
        settings: Vec<config::Flag>,
    ) -> Result<App> {
        set_colors(global.color);
        out::be_quiet(global.quiet);
        let now = fixed_time()?;
        let home = env::home_dir().filter(|home| !home.as_os_str().is_empty());
        let current =
            env::current_dir().map_err(|error| fail!("cannot tell the current folder: {error}"))?;
        let workspace = match &global.workspace {
            Some(folder) => absolute(&current, folder),
            None => current.clone(),
        };
        let workspace_flag = global.workspace.is_some().then(|| workspace.clone());
        let state_dir = match (&global.state_dir, &home) {
            (Some(folder), _) => absolute(&current, folder),
            (None, Some(home)) => home.join(".longhaul"),
            (None, None) => {
                return Err(Failure::new("there is no home folder")
                    .help("name a folder with --state-dir or LONGHAUL_STATE_DIR"));
            }
        };
        let loaded = load_config(global, &home, &workspace, &state_dir, settings);
        let (resolved, config_failure) = match loaded {
            Ok(config) => (config, None),
            Err(error) => {
                let failure = config_failure(&error);
                match needs {
                    Needs::Config => return Err(failure),
                    Needs::Variables if error.has_unknown_variable() => return Err(failure),
                    Needs::Variables | Needs::Nothing => {}
                }
                let defaults = config::resolve(&config::Sources::default());
                let defaults = defaults.map_err(|error| config_failure(&error))?;
                (defaults, Some(failure))
            }
        };
        if let Ok(redactor) = Redactor::new(&resolved.config.redaction) {
            redactor.install();
        }
        Ok(App {
            json: global.json,
            quiet: global.quiet,
            home,
            workspace,
            workspace_flag,
            state_dir,
            config: resolved.config.clone(),
            resolved,
            config_failure,
            config_flag: global.config.clone(),
            model: global.model.clone(),
            window: global.window,
            now,
        })
    }

    /// The clock, unless `LONGHAUL_NOW` stops it.
    pub(crate) fn now(&self) -> Millis {
        self.now
            .or_else(|| Millis::of_file(SystemTime::now()))
            .unwrap_or_default()
    }

    /// How long ago a file was written to. The system stamped it, so this asks
    /// the system's clock even when ours is stopped.
    pub(crate) fn since_written(path: &Path) -> Option<Duration> {
        let written = std::fs::metadata(path)
            .and_then(|meta| meta.modified())
            .ok()?;
        SystemTime::now().duration_since(written).ok()
    }

    /// How many columns the output may have. What is not a terminal is told
    /// by `COLUMNS`, or gets enough for everything.
    pub(crate) fn columns(&self) -> usize {
        const PLENTY: usize = 160;
        const FEWEST: usize = 40;
        let terminal = console::Term::stdout().size_checked();
        let columns = terminal
            .map(|(_, columns)| usize::from(columns))
            .or_else(|| env::var("COLUMNS").ok().and_then(|text| text.parse().ok()));
        columns.unwrap_or(PLENTY).max(FEWEST)
    }

    /// Where the agents keep their sessions, by their own rules.
    pub(crate) fn places(&self) -> Places {
        let mut places = match &self.home {
            Some(home) => Places::below(home),
            None => Places::default(),
        };
        if let Some(folder) = folder_in("PI_CODING_AGENT_SESSION_DIR") {
            places.pi = vec![folder];
        } else if let Some(folder) = folder_in("PI_CODING_AGENT_DIR") {
            places.pi = vec![folder.join("sessions")];
        }
        if let Some(folder) = folder_in("CLAUDE_CONFIG_DIR") {
            places.claude = vec![folder];
        }
        if let Some(folder) = folder_in("CODEX_HOME") {
            places.codex = vec![folder];
        }
        if let Some(folder) = folder_in("OPENCLAW_STATE_DIR") {
            places.openclaw = vec![folder];
        }
        places.own = vec![self.state_dir.join("sessions")];
        places
    }

    /// Where the survey of a session is kept.
    pub(crate) fn keep(&self, session: &Session) -> Keep {
        self.surveys().keep(session)
    }

    /// A session as answers that others give too look at it.
    pub(crate) fn subject<'a>(&'a self, session: &'a Session) -> Subject<'a> {
        Subject {
            session,
            keep: self.keep(session),
            estimator: self.config.tokens.estimator,
            state_dir: &self.state_dir,
        }
    }

    /// The same for what waits for a decision.
    pub(crate) fn dreaming<'a>(&'a self, memory: &'a MemoryFolder) -> Dreaming<'a> {
        Dreaming {
            memory,
            config: &self.config,
            state_dir: &self.state_dir,
        }
    }

    /// Where those of all sessions are.
    pub(crate) fn surveys(&self) -> Surveys {
        Surveys::below(&self.state_dir, &self.config)
    }

    /// A meter with the configured estimator.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.config.tokens.estimator)
    }

    /// What is known of the model of a session, or of the one that the command
    /// line names.
    pub(crate) fn model_info(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
    ) -> Option<ModelInfo> {
        let config = &self.config;
        match &self.model {
            Some(name) => Some(config.model_info(None, name)),
            None => model.map(|model| config.model_info(provider, model)),
        }
    }

    /// What its tokens cost, as a session at work counts it.
    pub(crate) fn prices(&self, provider: Option<&str>, model: Option<&str>) -> Prices {
        let info = self.model_info(provider, model);
        let name = self.model.as_deref().or(model).unwrap_or_default();
        cache_prices(&self.config, info.as_ref(), name)
    }

    /// The window for a model, and who says so, as a session at work has it.
    pub(crate) fn window(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
        evidence: WindowEvidence,
    ) -> Result<(Window, ResolvedWindow)> {
        let info = self.model_info(provider, model);
        let config = &self.config;
        let resolved = resolve_window(config, &self.state_dir, info.as_ref(), evidence);
        let settings = config.window_settings(resolved.window);
        let window = Window::new(&settings).map_err(|error| {
            usage!("the window cannot be used: {error}")
                .help("give the model's real window with --window, such as --window 200k")
        })?;
        Ok((window, resolved))
    }

    /// The window for a reading.
    pub(crate) fn window_of(&self, reading: &Reading) -> Result<(Window, ResolvedWindow)> {
        let (provider, model) = (reading.provider.as_deref(), reading.model.as_deref());
        self.window(provider, model, reading.evidence)
    }

    /// The window for a reading of a session: the one that its chat ran with,
    /// unless the command line says otherwise.
    pub(crate) fn window_in(
        &self,
        session: &Session,
        reading: &Reading,
    ) -> Result<(Window, ResolvedWindow)> {
        let asked = self.window.is_some() || self.model.is_some();
        let kept = Connection::of(&self.state_dir, session).filter(|_| !asked);
        if let Some((window, origin)) = kept.and_then(|kept| kept.window())
            && self.still_holds(window, origin)
            && let Ok(kept) = Window::new(&self.config.window_settings(window))
        {
            return Ok((kept, ResolvedWindow { window, origin }));
        }
        self.window_of(reading)
    }

    /// Whether a window that a chat ran with has not been forgotten since.
    fn still_holds(&self, window: Tokens, origin: WindowOrigin) -> bool {
        let mut learnt = learnt_windows(&self.state_dir).into_iter();
        origin != WindowOrigin::ProviderError || learnt.any(|learnt| learnt.window == window)
    }

    /// An id and a time for a new entry.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            id: EntryId::new(uuid::Uuid::now_v7().to_string()),
            time: self.now(),
        }
    }

    /// An id and a time for a new session.
    pub(crate) fn new_session(&self) -> NewSession {
        NewSession {
            id: uuid::Uuid::now_v7().to_string(),
            time: self.now(),
        }
    }

    /// How we left the sessions that we wrote to.
    pub(crate) fn last_writes(&self) -> LastWrites {
        LastWrites::below(&self.state_dir)
    }

    /// A path for people.
    pub(crate) fn show_path(&self, path: &Path) -> String {
        crate::paint::path(path, self.home.as_deref())
    }

    /// Where a new session of ours goes, named as pi names its files.
    pub(crate) fn own_session_path(&self, new: &NewSession) -> PathBuf {
        let time = new.time.to_iso().replace([':', '.'], "-");
        self.state_dir
            .join("sessions")
            .join(format!("{time}_{}.jsonl", new.id))
    }

    /// Where a new session goes: where the command line says, else among our own.
    pub(crate) fn target(&self, output: Option<&PathBuf>, new: &NewSession) -> PathBuf {
        output.map_or_else(|| self.own_session_path(new), PathBuf::clone)
    }

    /// Prints a result that is said in one sentence, or that value for programs.
    pub(crate) fn answer(&self, value: &Value, sentence: impl Display) -> Result {
        match self.json {
            true => out::json(value),
            false => say!("{sentence}"),
        }
    }

    /// Asks before something is rewritten; `yes` answers for scripts.
    pub(crate) fn confirm(&self, question: &str, yes: bool) -> Result {
        if yes {
            return Ok(());
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            let why = "this changes what is stored, and there is nobody to ask";
            return Err(Failure::usage(why).help("add --yes to go ahead"));
        }
        out::beside(&format!("{question} [y/N] "));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::nothing("Nothing changed.")),
        }
    }

    /// A draft of the entry that marks a branch when nothing is to be said
    /// about it: the leaf of pi's files is their last entry, so a move of the
    /// leaf needs one.
    pub(crate) fn branch_mark(from: &EntryId) -> Draft {
        Draft::Custom {
            custom_type: "longhaul:branch".into(),
            data: serde_json::json!({ "fromId": from.as_str() }).to_string(),
        }
    }
}

/// `NO_COLOR` counts when it is set to anything (<https://no-color.org>); the
/// flag is above it.
fn set_colors(color: Color) {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    let wanted = |is_terminal: bool| match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && !dumb && !set("NO_COLOR"),
    };
    console::set_colors_enabled(wanted(std::io::stdout().is_terminal()));
    console::set_colors_enabled_stderr(wanted(std::io::stderr().is_terminal()));
}

/// The time that `LONGHAUL_NOW` sets, for output that is the same every time.
fn fixed_time() -> Result<Option<Millis>> {
    const NAME: &str = "LONGHAUL_NOW";
    let Some(text) = env::var_os(NAME).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match text.to_str().and_then(Millis::parse_iso) {
        Some(time) => Ok(Some(time)),
        None => Err(usage!("{NAME} is not a time: {text:?}")
            .help("write it as 2026-11-15T01:17:46Z, or unset it")),
    }
}

pub(crate) fn absolute(current: &Path, path: &Path) -> PathBuf {
    if path.is_absolute() {
        path.to_owned()
    } else {
        current.join(path)
    }
}

fn load_config(
    global: &Global,
    home: &Option<PathBuf>,
    workspace: &Path,
    state_dir: &Path,
    settings: Vec<config::Flag>,
) -> Result<Resolved, ConfigError> {
    let variable = folder_in("LONGHAUL_CONFIG");
    let file = config::find(
        &config::Places {
            flag: global.config.as_deref(),
            variable: variable.as_deref(),
            workspace: Some(workspace),
            state_dir: Some(state_dir),
        },
        &config::read,
    )?;
    let usual = || home.as_ref().map(|home| home.join(".openclaw"));
    let openclaw_home = folder_in("OPENCLAW_STATE_DIR").or_else(usual);
    let openclaw = openclaw_home.and_then(|folder| {
        let path = folder.join("openclaw.json");
        let text = longhaul_files::read_named(&path, config::MOST_CONFIG_BYTES).ok()?;
        let text = String::from_utf8(text).ok()?;
        Some(config::OpenClawFile { path, text })
    });
    let mut sources = config::Sources {
        openclaw,
        file,
        ..config::Sources::default()
    }
    .with_environment(variables());
    if let Some(window) = global.window {
        sources.flags.push(config::Flag {
            name: "--window".into(),
            key: "compaction.contextWindow".into(),
            value: window.to_string(),
        });
    }
    sources.flags.extend(settings);
    config::resolve(&sources)
}

/// The path in a variable of the environment, where one is set.
pub(crate) fn folder_in(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The same error as in all other commands, for those that read no file.
pub(crate) fn require_known_variables() -> Result {
    match config::resolve(&config::Sources::default().with_environment(variables())) {
        Err(error) if error.has_unknown_variable() => Err(config_failure(&error)),
        _ => Ok(()),
    }
}

fn variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

pub(crate) fn config_failure(error: &ConfigError) -> Failure {
    let mut failure = Failure::usage("the configuration cannot be used");
    for problem in error.problems() {
        failure = failure.detail(problem.to_string());
    }
    failure.help(
        "`longhaul config schema` lists every key; `longhaul config path` says which file counts",
    )
}
