//! The desk: the sessions of this machine, and what is asked about them.

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::StatusCode;
use jiff::Zoned;
use longhaul_checkpoint::{CheckpointId, CheckpointStore, FileStore, Handoff, Trigger, Turn};
use longhaul_engine::catalog::{self, Catalog, Meant, Places, id_of};
use longhaul_engine::checkpoints::{Checkpoints, Occasion, Whose};
use longhaul_engine::config::Config;
use longhaul_engine::event::{CheckpointEvent, Event};
use longhaul_engine::export::{At, Secrets, Source};
use longhaul_engine::handoff::{self, Given};
use longhaul_engine::library::{Library, Recollection, Scope};
use longhaul_engine::live::Live;
use longhaul_engine::measure::{Meter, Reading};
use longhaul_engine::standing::{Measured, Standing};
use longhaul_engine::survey::{Keep, Surveys};
use longhaul_engine::tools::{
    NobodyToAsk, Notebook, Noted, Permissions, WorkspaceSettings, WorkspaceTools,
};
use longhaul_memory::MemoryFolder;
use longhaul_memory::files::Origin;
use longhaul_memory::flush::noted;
use longhaul_redact::Redactor;
use longhaul_tokens::{ResolvedWindow, Tokens, Window};
use longhaul_transcript::{EntryId, Loaded, Millis, Session};
use serde_json::Value;

use crate::http::Refusal;

/// Says which window a session has, and who says so.
pub type WindowOf =
    dyn Fn(&Session, &Reading) -> Result<(Window, ResolvedWindow), String> + Send + Sync;

/// The memory of the workspace to write to.
pub type Logging = dyn Fn() -> Result<MemoryFolder, String> + Send + Sync;

/// What is served. The program that opens the door looks at the home folder,
/// the environment and the clock, and fills it in.
pub struct Desk {
    /// Where the agents keep their sessions. Nothing else is read.
    pub places: Places,
    /// The folder whose newest session is meant where none is named.
    pub workspace: PathBuf,
    /// Where checkpoints are kept.
    pub state_dir: PathBuf,
    /// The settings.
    pub config: Config,
    /// The index of the workspace; without one words must stand as given.
    pub library: Option<Library>,
    /// The memory files of the workspace, if they may be searched.
    pub notebook: Option<Arc<dyn Notebook>>,
    /// Where notes and what is decided about dreams go.
    pub log: Box<Logging>,
    /// The window of a session.
    pub window: Box<WindowOf>,
    /// The time now, where the user is.
    pub clock: Box<dyn Fn() -> Zoned + Send + Sync>,
    /// The version of the program.
    pub version: String,
}

/// A checkpoint that was asked for.
pub(crate) struct Saved {
    pub(crate) id: CheckpointId,
    /// What it holds; none where the last one says the same.
    pub(crate) written: Option<CheckpointEvent>,
    /// What somebody should know.
    pub(crate) notes: Vec<String>,
}

/// What is asked for of a hand-off.
pub(crate) struct Wish {
    pub(crate) to: String,
    pub(crate) task: String,
    pub(crate) rules: Vec<String>,
    pub(crate) budget: Option<u32>,
}

/// A failure with its remedy, as a model reads it.
pub(crate) fn advised(message: impl std::fmt::Display, remedy: Option<String>) -> String {
    match remedy {
        Some(remedy) => format!("{message}. Remedy: {remedy}."),
        None => format!("{message}."),
    }
}

fn failed(error: longhaul_transcript::Error) -> String {
    advised(&error, error.remedy())
}

impl Desk {
    pub(crate) fn now(&self) -> Millis {
        Millis((self.clock)().timestamp().as_millisecond())
    }

    pub(crate) fn catalog(&self) -> Catalog {
        catalog::find(&self.places)
    }

    /// The session that is meant: the one of this name, else the newest of the
    /// workspace. A name is never taken for a path.
    pub(crate) fn session(&self, name: Option<&str>) -> Result<Session, String> {
        const SHOWN: usize = 5;
        let catalog = self.catalog();
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
            let newest = catalog.newest_in(&self.workspace).ok_or_else(|| {
                let near: Vec<String> = catalog
                    .sessions
                    .iter()
                    .take(SHOWN)
                    .map(|found| id_of(&found.reference))
                    .collect();
                let remedy = match near.is_empty() {
                    true => "no agent has a session on this machine yet; begin one first".into(),
                    false => format!(
                        "name one in the argument session; the newest are {}",
                        near.join(", ")
                    ),
                };
                let workspace = self.workspace.display();
                advised(format!("No session of {workspace} was found"), Some(remedy))
            })?;
            return Session::open_ref(&newest.reference).map_err(failed);
        };
        match catalog.meant(name) {
            Meant::One(found, _) => Session::open_ref(&found.reference).map_err(failed),
            Meant::Nobody => Err(advised(
                format!("No session is called {name:?}"),
                Some(
                    "leave the argument session out for the newest of the workspace, or take an \
                     id from the resources"
                        .into(),
                ),
            )),
            Meant::Several(several) => {
                let ids: Vec<String> = several
                    .iter()
                    .take(SHOWN)
                    .map(|found| id_of(&found.reference))
                    .collect();
                Err(advised(
                    format!("{name:?} could be any of {} sessions", several.len()),
                    Some(format!("use more of the id: {}", ids.join(", "))),
                ))
            }
        }
    }

    /// The tools of an agent that look back, for a session: those that write or
    /// run something are not among them.
    pub(crate) fn looking_back(&self, session: &Session) -> Result<WorkspaceTools, String> {
        let catalog = self.catalog();
        let others = catalog.ran_in(&self.workspace).into_iter();
        let others: Vec<_> = others.map(|listed| listed.reference.clone()).collect();
        let mut past = Recollection::of(session.reference(), Scope::Session)
            .with_others(move || others.clone());
        if let Some(library) = &self.library {
            past = past.with_library(library.clone());
        }
        self.toolbox(Some(past))
    }

    /// The same without a session: the memory files alone.
    pub(crate) fn remembering(&self) -> Result<WorkspaceTools, String> {
        self.toolbox(None)
    }

    fn toolbox(&self, past: Option<Recollection>) -> Result<WorkspaceTools, String> {
        WorkspaceTools::new(WorkspaceSettings {
            workspace: self.workspace.clone(),
            readable: Vec::new(),
            permissions: Permissions::default(),
            approver: Arc::new(NobodyToAsk),
            bash: None,
            notebook: self.notebook.clone(),
            recall: match past {
                Some(past) => Some(Arc::new(past)),
                None => None,
            },
        })
        .map_err(|error| error.to_string())
    }

    fn measure(&self, session: Session) -> Result<Measured, String> {
        let loaded = session.load().map_err(failed)?;
        self.measure_loaded(session, loaded)
    }

    fn measure_loaded(&self, session: Session, loaded: Loaded) -> Result<Measured, String> {
        let meter = Meter::new(self.config.tokens.estimator);
        Measured::of(session, loaded, meter, &self.window)
    }

    /// How a session stands, as `context status --json` says it.
    pub(crate) fn status(&self, name: Option<&str>) -> Result<Value, String> {
        let measured = self.measure(self.session(name)?)?;
        self.status_of(&measured).map_err(failed)
    }

    /// The same of a session that is measured already.
    pub(crate) fn status_of(&self, measured: &Measured) -> longhaul_transcript::Result<Value> {
        let standing = Standing::of(measured, &self.config, &self.state_dir)?;
        let model = measured.reading.model.as_deref();
        let model = model.filter(|model| !model.is_empty());
        Ok(standing.to_json(measured, model, &self.state_dir))
    }

    pub(crate) fn store(&self) -> FileStore {
        FileStore::new(&self.state_dir, self.config.checkpoint_policy())
    }

    /// The session that a page is about.
    pub(crate) fn shown(&self, name: &str) -> Result<Session, Refusal> {
        self.session(Some(name)).map_err(Refusal::unknown)
    }

    /// A session with its context as it is now.
    pub(crate) fn measured(&self, session: Session) -> Result<Measured, Refusal> {
        let measured = self.measure(session);
        measured.map_err(|error| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error))
    }

    /// The same up to one of its entries.
    pub(crate) fn measured_at(&self, session: Session, at: &EntryId) -> Result<Measured, Refusal> {
        let loaded = session
            .load_at(at)
            .map_err(|error| Refusal::unknown(error.to_string()))?;
        let measured = self.measure_loaded(session, loaded);
        measured.map_err(|error| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error))
    }

    /// Where the surveys of all sessions are kept.
    pub(crate) fn surveys(&self) -> Surveys {
        Surveys::below(&self.state_dir, &self.config)
    }

    /// Where the survey of a session is kept.
    pub(crate) fn keep(&self, session: &Session) -> Keep {
        Keep::of(session, &self.config, &self.state_dir)
    }

    pub(crate) fn may_write(&self) -> Result<(), String> {
        match self.config.sandbox.read_only {
            false => Ok(()),
            true => Err(advised(
                "Nothing may be written here",
                Some("`sandbox.readOnly` is set in the configuration; ask the user".into()),
            )),
        }
    }

    /// Puts a note of the agent's into the log of the day; says into which file.
    /// Without a session of the workspace it is nobody's in particular.
    pub(crate) fn note(&self, name: Option<&str>, note: &Noted) -> Result<String, String> {
        self.may_write()?;
        let session = match self.session(name) {
            Err(reason) if name.is_some() => return Err(reason),
            session => session.ok(),
        };
        let key = session.map(|session| Whose::of(&session).key.to_string());
        let origin = Origin {
            session: key.as_deref(),
            epoch: None,
        };
        let memory = (self.log)()?;
        let at = (self.clock)().datetime();
        let appended = noted(&memory, at, origin, note.kind, &note.text);
        let appended = appended.map_err(|error| advised(&error, error.remedy()))?;
        Ok(appended.file)
    }

    /// Saves the state of a session's work in our own store. The session itself
    /// is only read.
    pub(crate) fn save(&self, name: Option<&str>) -> Result<(Session, Saved), String> {
        self.may_write()?;
        let measured = self.measure(self.session(name)?)?;
        let session = &measured.session;
        let live = Live::open_with(session, self.config.state_capture(), &self.keep(session))
            .map_err(failed)?;
        let occasion = Occasion {
            at: self.now(),
            trigger: Trigger::Manual,
            tokens: measured.tokens(),
            window: measured.window.size(),
            turn: Turn::Whole,
        };
        let (store, whose) = (self.store(), Whose::of(session));
        let checkpoints = Checkpoints {
            store: &store,
            whose: &whose,
            redact: &|text| Redactor::default().redact(text).text,
        };
        let (mut written, mut notes) = (None, Vec::new());
        let id = checkpoints
            .write(&live, &occasion, &mut |event| match event {
                Event::CheckpointWritten(event) => written = Some(*event),
                Event::CheckpointTrouble { reason, .. } => notes.push(reason),
                _ => {}
            })
            .map_err(|error| advised(&error, error.remedy()))?;
        let saved = Saved { id, written, notes };
        Ok((measured.session, saved))
    }

    /// The hand-off of a session's work.
    pub(crate) fn hand_over(&self, name: Option<&str>, wish: Wish) -> Result<Handoff, String> {
        let measured = self.measure(self.session(name)?)?;
        let session = &measured.session;
        let at = At {
            time: self.now(),
            window: &measured.window,
            tokens: measured.reading.measurement.tokens,
            model: measured.reading.model.clone(),
            config: &self.config,
            state_dir: &self.state_dir,
        };
        let meter = Meter::new(self.config.tokens.estimator);
        let source = Source::gather(session, &self.store(), &meter, at)
            .map_err(|error| advised(&error, error.remedy()))?;
        let given = Given {
            to: wish.to,
            task: wish.task,
            constraints: wish.rules,
            budget: wish.budget.map_or(measured.window.size(), Tokens),
        };
        let redactor = Redactor::default();
        let (handoff, _) = handoff::give(&source, &given, Secrets::Redact(&redactor))
            .map_err(|error| advised(&error, error.remedy()))?;
        Ok(handoff)
    }

    /// The names of a session's checkpoints, newest first.
    pub(crate) fn checkpoints_of(&self, session: &Session) -> Vec<CheckpointId> {
        let listed = self.store().list(&Whose::of(session).key);
        let listed = listed.unwrap_or_default().into_iter();
        listed.map(|one| one.id).collect()
    }
}
