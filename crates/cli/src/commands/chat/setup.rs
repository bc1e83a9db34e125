//! What a chat is made of: the model, the tools, the clock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul_engine::compactor::{SummaryChoice, summary_model};
use longhaul_engine::library::{Library, Recollection, Scope};
use longhaul_engine::recall::{Hit, Query};
use longhaul_engine::session::{Departures, Engine, Setup};
use longhaul_engine::subagent::WithTasks;
use longhaul_engine::tools::{
    Approver, BashSettings, Findings, NoTools, Permissions, Policy, Recall, Toolbox,
    WorkspaceSettings, WorkspaceTools,
};
use longhaul_memory::MemoryFolder;
use longhaul_memory::dream::{Dreams, Recalled};
use longhaul_model::{Limits, Model, ModelSpec};
use longhaul_transcript::{EntryId, Session as Stored, SessionRef};

use super::super::{memory, models};
use crate::app::App;
use crate::args::ChatArgs;
use crate::failure::Failure;
use crate::kept::Kept;

/// The session at work, which `/new` changes, and where its past is found.
#[derive(Clone)]
pub(super) struct Place {
    path: Arc<Mutex<PathBuf>>,
    library: Library,
    /// Where what was recalled is counted, and for which memory.
    counted: Option<(PathBuf, MemoryFolder)>,
    /// How far is looked.
    scope: Scope,
    /// Whether an index is wanted.
    is_searched: bool,
    /// The sessions of the workspace.
    others: Arc<dyn Fn() -> Vec<SessionRef> + Send + Sync>,
}

/// How long a program that ends waits for the index.
const PATIENCE: Duration = Duration::from_secs(5);

impl Place {
    pub(super) fn new(app: &App) -> Place {
        let counted = match app.config.config.sandbox.read_only {
            true => None,
            false => MemoryFolder::open(&app.workspace, None).ok(),
        };
        Place {
            path: Arc::default(),
            library: memory::library(app),
            counted: counted.map(|memory| (app.state_dir.clone(), memory)),
            scope: Scope::Family,
            is_searched: memory::is_searched(app),
            others: Arc::new(memory::sessions_of(app)),
        }
    }

    fn path(&self) -> PathBuf {
        let path = self.path.lock();
        path.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, path: &Path) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path.to_owned();
    }

    /// Lets the index come to its end; what went wrong with it.
    pub(super) fn settle(&self) -> Vec<String> {
        self.library.settle(PATIENCE);
        self.library.troubles()
    }

    /// Counts entries that came back, for dreaming. A count that is lost costs
    /// nothing that anybody asked for.
    fn count(&self, hits: &[Hit]) {
        if let Some((state_dir, memory)) = &self.counted {
            let entries = hits.iter().map(|hit| hit.entry.id.to_string());
            let entries = entries.map(Recalled::Entry);
            let _ = Dreams::new(state_dir, memory).note_recalled(entries);
        }
    }

    fn past(&self) -> Recollection {
        let others = Arc::clone(&self.others);
        let others = move || others();
        memory::past(
            &self.library,
            &self.path(),
            self.scope,
            self.is_searched,
            others,
        )
    }
}

impl Recall for Place {
    fn recall(&self, query: &Query, limit: usize) -> Result<Vec<Hit>, String> {
        let hits = self.past().recall(query, limit)?;
        self.count(&hits);
        Ok(hits)
    }

    fn find(&self, words: &str, limit: usize) -> Result<Findings, String> {
        let found = self.past().find(words, limit)?;
        self.count(&found.hits);
        Ok(found)
    }

    fn within(&self, scope: Scope) -> Option<Arc<dyn Recall>> {
        Some(Arc::new(Place {
            scope,
            ..self.clone()
        }))
    }
}

impl Departures for Place {
    fn left(&self, session: &Path, entries: &[EntryId]) {
        self.library.left(session, entries);
    }
}

/// The model that a chat asks.
pub(super) struct Chosen {
    pub(super) spec: ModelSpec,
    pub(super) model: Arc<dyn Model>,
}

/// Connects to a model by its name.
pub(super) fn connect(app: &App, args: &ChatArgs, name: &str) -> Result<Chosen, Failure> {
    connect_as(app, args, models::spec(name, None)?)
}

/// Connects to a model, elsewhere if the command line says so.
pub(super) fn connect_as(
    app: &App,
    args: &ChatArgs,
    mut spec: ModelSpec,
) -> Result<Chosen, Failure> {
    if let Some(url) = &args.base_url {
        spec = spec.at(url);
    }
    let model = models::connect(app, &spec, limits(app, args))?;
    Ok(Chosen { spec, model })
}

/// How long is waited for a model.
fn limits(app: &App, args: &ChatArgs) -> Limits {
    let mut limits = app.config.config.request_limits();
    if let Some(seconds) = args.timeout {
        let most = Duration::from_secs(seconds);
        limits.connect = limits.connect.min(most);
        limits.first_byte = most;
        limits.idle = most;
    }
    limits
}

/// The tools: none, or those of the workspace.
pub(super) fn tools(
    app: &App,
    args: &ChatArgs,
    place: &Place,
    approver: Arc<dyn Approver>,
) -> Result<Arc<dyn Toolbox>, Failure> {
    if args.no_tools {
        return Ok(Arc::new(NoTools));
    }
    let outputs = app.state_dir.join("outputs");
    sweep(&outputs);
    memory::watch(app, &place.library);
    let tools = WorkspaceTools::new(WorkspaceSettings {
        workspace: app.workspace.clone(),
        readable: Vec::new(),
        permissions: permissions(args, app.config.config.sandbox.read_only)?,
        approver,
        bash: Some(BashSettings {
            guard: guard(),
            ..BashSettings::new(app.environment(), outputs)
        }),
        notebook: memory::notebook(app, &place.library),
        recall: Some(Arc::new(place.clone())),
    })
    .map_err(|error| Failure::new(error.to_string()))?;
    Ok(Arc::new(tools))
}

/// This program, as the guard of a command: it ends it should the chat be killed.
fn guard() -> Vec<OsString> {
    match std::env::current_exe() {
        Ok(program) => vec![program.into_os_string(), "__guard".into()],
        Err(_) => Vec::new(),
    }
}

/// What may be done without asking, from the command line. Where nothing may be
/// written, no flag gives leave to: what changes something is not even offered.
fn permissions(args: &ChatArgs, read_only: bool) -> Result<Permissions, Failure> {
    const ASKING: [&str; 3] = ["write", "edit", "bash"];
    let mut permissions = Permissions::default();
    if args.yes {
        for tool in ASKING {
            permissions.tools.insert(tool.to_owned(), Policy::Allow);
        }
    }
    for allowed in &args.allow {
        match allowed.split_once(':') {
            Some(("bash", words)) if !words.trim().is_empty() => {
                permissions.commands.push(words.trim().to_owned());
            }
            None if ASKING.contains(&allowed.as_str()) => {
                permissions.tools.insert(allowed.clone(), Policy::Allow);
            }
            _ => {
                return Err(
                    Failure::usage(format!("--allow does not know {allowed:?}")).help(
                        "write, edit, bash, or commands by their first words, such as \
                         'bash:cargo test'; other tools need no leave",
                    ),
                );
            }
        }
    }
    if read_only {
        for tool in ASKING {
            permissions.tools.insert(tool.to_owned(), Policy::Deny);
        }
    }
    Ok(permissions)
}

/// Removes outputs of commands that nobody will look at any more.
fn sweep(outputs: &Path) {
    const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
    let Ok(files) = std::fs::read_dir(outputs) else {
        return;
    };
    for file in files.flatten() {
        let path = file.path();
        let old = App::since_written(&path).is_some_and(|age| age > KEPT);
        if old && path.extension().is_some_and(|ending| ending == "txt") {
            // One that stays is swept the next time.
            let _ = longhaul_files::remove(&path);
        }
    }
}

/// The engine for a model.
pub(super) fn engine(
    app: &App,
    args: &ChatArgs,
    chosen: &Chosen,
    tools: &Arc<dyn Toolbox>,
    place: &Place,
) -> Engine {
    let info = chosen.model.info();
    let config = app.config.config.clone();
    let around = app.surroundings(&info.name, Some(&info.provider));
    let has_openrouter = app
        .variable("OPENROUTER_API_KEY")
        .is_some_and(|key| !key.is_empty());
    let choice = summary_model(&config, has_openrouter, Some((&info.provider, &info.name)));
    let summaries = match choice {
        SummaryChoice::Session => Some(Arc::clone(&chosen.model)),
        SummaryChoice::Extractive => None,
        SummaryChoice::Other { provider, model } => {
            models::summarizer(app, &provider, &model, limits(app, args))
        }
    };
    let departures =
        memory::takes_sessions(app).then(|| Arc::new(place.clone()) as Arc<dyn Departures>);
    let setup = Setup {
        config,
        state_dir: app.state_dir.clone(),
        workspace: app.workspace.clone(),
        environment: around.environment,
        clock: app.clock(),
        model: Some(Arc::clone(&chosen.model)),
        summaries,
        tools: Arc::clone(tools),
        departures,
        subagent: None,
        max_rounds: Setup::MAX_ROUNDS,
    };
    if args.no_tools || setup.config.sandbox.read_only {
        return Engine::new(setup);
    }
    let (alone, place) = (Engine::new(setup.clone()), place.clone());
    let tools = WithTasks::new(alone, Arc::new(move || place.path()));
    Engine::new(Setup {
        tools: Arc::new(tools),
        ..setup
    })
}

/// How the model of a session was asked by the chat before.
pub(super) fn asked_before(app: &App, path: &Path) -> Option<ModelSpec> {
    let named = model_of(path)?;
    let stored = Stored::open(path).ok()?;
    Kept::of(app, &stored)?.spec(&named)
}

/// The model a session was last run with, as it is named on a command line.
pub(super) fn model_of(path: &Path) -> Option<String> {
    let loaded = Stored::open(path).ok()?.load().ok()?;
    let model = loaded.settings.model?;
    Some(format!("{}/{}", model.provider, model.model_id))
}
