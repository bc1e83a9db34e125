//! `memory`: the index of what was remembered and of what left the context.

mod index;
mod model;
mod search;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_engine::catalog;
use longhaul_engine::library::{ChosenEncoder, Library, Recollection, Scope, choose_encoder};
use longhaul_engine::tools::Notebook;
use longhaul_files::Fault;
use longhaul_index::{Condition, Encoder, IndexError, Models, Patience, SqliteIndex};
use longhaul_memory::MemoryFolder;
use longhaul_transcript::{Millis, SessionRef};

use crate::args::MemoryIndexCommand;
use crate::failure::Outcome;
use crate::prelude::*;

pub(crate) use self::index::without_vectors;
pub(crate) use self::search::SYNCED;

pub(crate) fn run(app: &App, command: &MemoryIndexCommand) -> Result {
    match command {
        MemoryIndexCommand::Index(args) => index::run(app, args),
        MemoryIndexCommand::Search(args) => search::run(app, args),
        MemoryIndexCommand::Get { key, lines } => search::get(app, key, *lines),
        MemoryIndexCommand::Model(command) => model::run(app, command),
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Failure {
        let failure = Failure {
            outcome: match &error {
                IndexError::Busy { .. } => Outcome::Blocked,
                _ => Outcome::Failed,
            },
            ..Failure::new(error.to_string())
        };
        match &error {
            IndexError::File(error) if matches!(error.fault, Fault::NotAFile(_)) => {
                failure.help("move it out of the way; the index is made anew")
            }
            IndexError::ReadOnly { .. } | IndexError::File(_) => failure.help(
                "the state folder must be readable and writable; `--state-dir` names another",
            ),
            _ => failure,
        }
    }
}

/// The index of the workspace.
pub(crate) fn path(app: &App) -> PathBuf {
    index_of(app, &app.workspace)
}

/// The index of a folder.
pub(crate) fn index_of(app: &App, folder: &Path) -> PathBuf {
    /// The agent that is meant, as long as there is one of each workspace.
    const AGENT: &str = "main";
    longhaul_engine::library::index_path(&app.state_dir, AGENT, folder)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn models(app: &App) -> Models {
    Models::new(app.state_dir.join("models"), threads())
}

/// The model that makes vectors, and why it is that one, for whoever waits.
pub(crate) fn chosen(app: &App) -> Result<ChosenEncoder> {
    chosen_with(app, Patience::Short)
}

fn chosen_with(app: &App, patience: Patience) -> Result<ChosenEncoder> {
    let settings = &app.config.memory.embedding;
    let variable = |name: &str| app.variable(name);
    Ok(choose_encoder(
        settings,
        &models(app),
        threads(),
        patience,
        &variable,
    )?)
}

/// The same; what is there and cannot be used is told.
pub(crate) fn chosen_and_told(app: &App) -> Result<ChosenEncoder> {
    Ok(told(chosen(app)?))
}

fn told(chosen: ChosenEncoder) -> ChosenEncoder {
    for fault in chosen.faults() {
        note!("note: {fault}");
    }
    chosen
}

/// Everything that can be searched. What is there and cannot be used is told.
pub(crate) fn library(app: &App) -> Library {
    let chosen = match chosen_and_told(app) {
        Ok(chosen) => Some(chosen),
        Err(failure) => {
            note!("memory is searched by words alone: {failure}");
            None
        }
    };
    library_with(app, chosen)
}

/// The same with a model; an endpoint that is away is asked again later.
pub(crate) fn library_with(app: &App, chosen: Option<ChosenEncoder>) -> Library {
    let (encoder, away) = chosen.map_or((None, None), |chosen| (chosen.encoder, chosen.away));
    let library = Library::new(path(app), app.config.index_settings(), encoder);
    library.use_surveys(app.surveys());
    if let Some(away) = away {
        library.await_endpoint(away);
    }
    library
}

/// The same where nobody waits for an answer.
fn patient_encoder(app: &App) -> Result<Option<Arc<dyn Encoder>>> {
    Ok(told(chosen_with(app, Patience::Long)?).encoder)
}

/// Whether an index is wanted for searching. Where it is not, none is made.
pub(crate) fn is_searched(app: &App) -> bool {
    let memory = &app.config.memory;
    memory.search.enabled && memory.index.enabled
}

/// Whether what leaves a context goes into the index.
pub(crate) fn takes_sessions(app: &App) -> bool {
    let index = &app.config.memory.index;
    index.enabled && index.transcripts
}

/// What left the contexts of a session, without the index where none is wanted.
pub(crate) fn past(
    library: &Library,
    session: &Path,
    scope: Scope,
    is_searched: bool,
    others: impl Fn() -> Vec<SessionRef> + Send + Sync + 'static,
) -> Recollection {
    let past = match is_searched {
        true => library.recollection(session, scope),
        false => Recollection::plain(session, scope),
    };
    past.with_others(others)
}

/// The sessions of the workspace, as they are when they are asked for.
pub(crate) fn sessions_of(app: &App) -> impl Fn() -> Vec<SessionRef> + Send + Sync + 'static {
    let (places, workspace) = (app.places(), app.workspace.clone());
    move || {
        let found = catalog::find(&places);
        let own = found.ran_in(&workspace).into_iter();
        own.map(|listed| listed.reference.clone()).collect()
    }
}

/// The memory files, for an agent that works with them.
pub(crate) fn notebook(app: &App, library: &Library) -> Option<Arc<dyn Notebook>> {
    let config = &app.config;
    if !is_searched(app) {
        return None;
    }
    let folder = match MemoryFolder::open(&app.workspace, None) {
        Ok(folder) => folder,
        Err(error) => {
            out::note_once(&format!("the memory files cannot be used: {error}"));
            return None;
        }
    };
    let clock = app.clock();
    let now = move || Millis(clock.now().timestamp().as_millisecond());
    let notebook = library.notebook(folder, config, now);
    Some(Arc::new(match config.sandbox.read_only {
        true => notebook,
        false => notebook.counted_in(&app.state_dir),
    }))
}

/// Keeps the memory files findable as they change, so that a search has little
/// left to read.
pub(crate) fn watch(app: &App, library: &Library) {
    let config = &app.config;
    if !is_searched(app) || !config.memory.index.watch || config.sandbox.read_only {
        return;
    }
    let Ok(folder) = MemoryFolder::open(&app.workspace, None) else {
        return;
    };
    if let Err(error) = library.watch(&config.workspace_files(folder.root())) {
        note!("memory files are not watched: {error}");
    }
}

/// Which model is active, and why the better ones are not.
pub(crate) fn embedding(chosen: &ChosenEncoder) -> Value {
    json!({
        "active": chosen.kind(),
        "model": chosen.encoder.as_ref().map(|encoder| encoder.id()),
        "why": chosen.why,
        "reasons": chosen.reasons.iter().map(|reason| &reason.text).collect::<Vec<_>>(),
    })
}

/// Where the configuration wants no index, none is made; nor of a workspace that
/// is not there.
fn refuse_without_index(app: &App) -> Result {
    if !app.workspace.is_dir() {
        return Err(fail!("{} is not a folder", app.show_path(&app.workspace))
            .help("name the folder the agent works in with --workspace"));
    }
    match app.config.memory.index.enabled {
        true => Ok(()),
        false => Err(Failure::blocked("no index is kept")
            .detail("`memory.index.enabled` is false")
            .help("unset it, or look with `longhaul recall`, which reads the session itself")),
    }
}

/// How the index of the workspace stands. Nothing is made or mended by asking.
pub(crate) fn condition(
    app: &App,
    encoder: Option<Arc<dyn Encoder>>,
) -> Result<Option<Condition>, IndexError> {
    let config = &app.config;
    let files = config.workspace_files(&app.workspace);
    SqliteIndex::condition(&path(app), config.index_settings(), &files, encoder)
}

/// Opens the index. A damaged one is set aside, and told.
fn open(app: &App) -> Result<SqliteIndex> {
    let index = SqliteIndex::open(&path(app), app.config.index_settings())?;
    tell_set_aside(app, &index);
    Ok(index)
}

/// Tells where a damaged index was put, if one was.
fn tell_set_aside(app: &App, index: &SqliteIndex) {
    if let Some(aside) = index.set_aside() {
        note!(
            "note: the index was damaged; it lies at {} and a new one is made",
            app.show_path(aside)
        );
    }
}
