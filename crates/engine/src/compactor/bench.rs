//! A bench: what compactions work on, a session in memory with all that belongs
//! to it.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Zoned;
use longhaul_assembly::{FileCache, RestoreLimits, Workspace};
use longhaul_checkpoint::{CheckpointStore, FileStore};
use longhaul_redact::Redactor;
use longhaul_tokens::Window;
use longhaul_transcript::{EntryId, Millis, Result, Session};

use super::site::Course;
use crate::checkpoints::{
    Checkpoints, FileNotebook, Notebook, Putting, Restoration, Sink, Untouched, Whose,
};
use crate::config::Config;
use crate::event::Event;
use crate::live::Live;
use crate::measure::Meter;
use crate::state::SessionState;
use crate::survey::Keep;

/// A session with all that belongs to its compactions.
pub struct Bench {
    /// The session.
    pub live: Live,
    /// What counts its messages.
    pub meter: Meter,
    /// The window and its thresholds.
    pub window: Window,
    /// What is remembered beside the transcript.
    pub state: SessionState,
    /// What is remembered between two looks.
    pub course: Course,
    /// Whose checkpoints it has.
    pub whose: Whose,
    /// Where they are kept.
    pub store: Arc<dyn CheckpointStore + Send + Sync>,
    /// Where its notes are.
    pub notebook: Box<dyn Notebook>,
    /// What can be recalled, and when it was written; read when it is first
    /// needed, since that takes the whole file.
    pub stored: Option<HashMap<EntryId, Option<Millis>>>,
}

impl Bench {
    /// One for a session of which so much is in memory; and what of its state was
    /// found damaged.
    pub fn new(
        session: &Session,
        live: Live,
        window: Window,
        config: &Config,
        state_dir: &Path,
    ) -> (Bench, Option<Event>) {
        let whose = Whose::of(session);
        let (state, damage) = SessionState::load(state_dir, &whose.key.to_string());
        let bench = Bench {
            live,
            meter: Meter::new(config.tokens.estimator),
            window,
            state,
            course: Course::default(),
            store: Arc::new(FileStore::new(state_dir, config.checkpoint_policy())),
            notebook: Box::new(FileNotebook::new(state_dir, &whose.key)),
            whose,
            stored: None,
        };
        (bench, damage.map(Event::trouble))
    }

    /// Reads a session up to an entry, or to its own leaf.
    pub(crate) fn read(
        session: &Session,
        leaf: Option<&EntryId>,
        config: &Config,
        state_dir: &Path,
    ) -> Result<Live> {
        let keep = Keep::of(session, config, state_dir);
        Live::open_at(session, leaf, config.state_capture(), &keep)
    }

    /// Its checkpoints, written without secrets.
    pub fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints {
            store: &*self.store,
            whose: &self.whose,
            redact: &|text| Redactor::default().redact(text).text,
        }
    }

    /// Finds out what can be recalled, the archive included.
    pub(crate) fn look_up(&mut self, session: &Session) -> Result<()> {
        if self.stored.is_some() {
            return Ok(());
        }
        let tree = session.tree()?;
        let nodes = tree.nodes().iter();
        let mut stored: HashMap<_, _> = nodes.map(|node| (node.id.clone(), node.time)).collect();
        // Another agent's file has no archive of ours.
        if session.format().is_writable() {
            longhaul_transcript::each_archived(session.path(), &mut |entry| {
                stored.insert(entry.id, entry.time);
                ControlFlow::Continue(())
            })?;
        }
        self.stored = Some(stored);
        self.live.read_source(session)
    }

    /// The entries in the context's part of the path.
    pub(crate) fn ids(&self) -> Vec<EntryId> {
        let entries = self.live.entries().iter();
        entries.map(|entry| entry.id.clone()).collect()
    }

    /// Which of these are no longer there.
    pub(crate) fn left_of(&self, mut before: Vec<EntryId>) -> Vec<EntryId> {
        let entries = self.live.entries().iter();
        let here: HashSet<&EntryId> = entries.map(|entry| &entry.id).collect();
        before.retain(|id| !here.contains(id));
        before
    }

    /// Decides what this epoch's contexts carry beside the conversation, and
    /// notes it down; or with `ahead` only what they would, were that the session.
    pub fn restore(
        &self,
        ahead: Option<&Live>,
        with: Restoring<'_>,
        sink: &mut Sink<'_>,
    ) -> Restoration {
        let live = ahead.unwrap_or(&self.live);
        // Reading the whole file for this would make opening it slow; what is not
        // in the context was read long ago.
        let seen = |id: &EntryId| match self.stored.as_ref().and_then(|stored| stored.get(id)) {
            Some(time) => *time,
            None => live.entries().iter().rfind(|entry| entry.id == *id)?.time,
        };
        let mut putting = Putting {
            workspace: with.workspace,
            limits: &restore_limits(with.config, &self.window),
            warning: with.config.spiral_warning(),
            seen: &seen,
            counter: self.meter.estimator().counter(),
            now: SystemTime::from(with.now.timestamp()),
            today: with.now.date(),
            cache: with.files,
        };
        let untouched = Untouched(Some(&*self.notebook));
        let notebook: &dyn Notebook = match ahead {
            Some(_) => &untouched,
            None => &*self.notebook,
        };
        let checkpoints = self.checkpoints();
        let restored = checkpoints.restore(notebook, live, &mut putting, sink);
        let restoration = restored.unwrap_or_else(|error| {
            sink(error.event());
            Restoration::default()
        });
        for problem in &restoration.problems {
            sink(Event::trouble(problem.to_string()));
        }
        restoration
    }

    /// The same where the workspace, if it is here, has still to be read.
    pub fn restore_in(
        &self,
        root: Option<&Path>,
        ahead: Option<&Live>,
        with: Restoring<'_>,
        sink: &mut Sink<'_>,
    ) -> Restoration {
        let limits = with.config.bootstrap_limits(&self.window);
        let read_at = with.now.timestamp().into();
        let read = |root| Workspace::load(root, &limits, read_at, with.files).ok();
        let read = root.and_then(read);
        let with = Restoring {
            workspace: read.as_ref().map(|(workspace, _)| workspace),
            ..with
        };
        self.restore(ahead, with, sink)
    }
}

/// What putting the state of the work back needs besides.
pub struct Restoring<'a> {
    /// What is configured.
    pub config: &'a Config,
    /// The workspace; without one, only the checkpoint is put back.
    pub workspace: Option<&'a Workspace>,
    /// The time, where the user is.
    pub now: &'a Zoned,
    /// Files read before.
    pub files: &'a mut FileCache,
}

/// What is put back, fitted to the window: a small one has no room for files.
fn restore_limits(config: &Config, window: &Window) -> RestoreLimits {
    const ENOUGH: f64 = 64_000.0;
    let share = (f64::from(window.size().0) / ENOUGH).min(1.0);
    let limits = config.restore.clone();
    RestoreLimits {
        checkpoint_tokens: limits.checkpoint_tokens.scale(share.max(0.2)),
        carried_tokens: window.scaled(limits.carried_tokens),
        memory_tokens: limits.memory_tokens.scale(share),
        context_tokens: limits.context_tokens.scale(share),
        log_tokens: window.scaled(limits.log_tokens),
        key_files: (f64::from(limits.key_files) * share).floor() as u32,
        key_file_tokens: limits.key_file_tokens.scale(share.max(0.3)),
        agents_sections: limits.agents_sections,
    }
}
