//! What commands need to save the state of a session's work and put it back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::civil::Date;
use longhaul_assembly::{BootstrapLimits, FileCache, RestoreLimits, Workspace, WorkspaceSources};
use longhaul_checkpoint::{CheckpointId, CheckpointStore, FileStore};
use longhaul_compaction::SpiralWarning;
use longhaul_engine::checkpoints::{
    Checkpoints, FileNotebook, Putting, Restoration, Untouched, Whose,
};
use longhaul_engine::compactor::Intent;
use longhaul_engine::event::Event;
use longhaul_engine::live::Live;
use longhaul_engine::survey::Survey;
use longhaul_tokens::Estimator;
use longhaul_transcript::{EntryId, Millis, Session};

use super::chat::lines;
use super::measured::Measured;
use crate::app::App;
use crate::failure::Failure;

/// A session's checkpoints and notes on disk.
pub(crate) struct Saving {
    pub(crate) whose: Whose,
    pub(crate) store: FileStore,
    pub(crate) notebook: FileNotebook,
}

impl Saving {
    pub(crate) fn of(app: &App, session: &Session) -> Saving {
        let whose = Whose::of(session);
        Saving {
            store: app.kept_checkpoints(),
            notebook: FileNotebook::new(&app.state_dir, &whose.key),
            whose,
        }
    }

    pub(crate) fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints {
            store: &self.store,
            whose: &self.whose,
            redact: &App::redact,
        }
    }

    /// What a compaction that was interrupted meant to do.
    pub(super) fn intent(&self) -> Option<Intent> {
        Intent::of(&self.notebook, &self.whose)
    }

    /// Where a checkpoint lies.
    pub(super) fn path(&self, app: &App, id: CheckpointId) -> PathBuf {
        app.state_dir
            .join("context/checkpoints")
            .join(self.whose.key.folder_name())
            .join(format!("{id}.yaml"))
    }
}

/// The workspace of a session, and what else putting its state back needs.
pub(super) struct Materials {
    workspace: Option<Workspace>,
    limits: RestoreLimits,
    warning: SpiralWarning,
    entries: Entries,
    cache: FileCache,
    now: SystemTime,
    today: Date,
}

impl Materials {
    pub(super) fn of(app: &App, session: &Session) -> Result<Materials, Failure> {
        let (mut cache, now) = (FileCache::new(), SystemTime::now());
        let config = &app.config.config;
        let sources = WorkspaceSources {
            flag: app.workspace_flag.as_deref(),
            session: session.header().cwd.as_deref(),
            config: config.workspace.as_deref().map(Path::new),
        };
        // A session of another machine has no workspace here.
        let workspace = sources.choose().ok().and_then(|(root, _)| {
            let limits = BootstrapLimits::default();
            match Workspace::load(&root, &limits, now, &mut cache) {
                Ok((workspace, _)) => Some(workspace),
                Err(error) => {
                    app.note(&format!("note: {error}"));
                    None
                }
            }
        });
        Ok(Materials {
            workspace,
            limits: config.restore.clone(),
            warning: config.spiral_warning(),
            entries: Entries::of(app, session)?,
            cache,
            now,
            today: app.zoned().date(),
        })
    }

    /// The workspace's folder, where it is here.
    pub(super) fn root(&self) -> Option<PathBuf> {
        let workspace = self.workspace.as_ref()?;
        Some(workspace.root().to_owned())
    }

    /// Works with them.
    pub(super) fn with<T>(&mut self, work: impl FnOnce(&mut Putting<'_>) -> T) -> T {
        let entries = &self.entries;
        work(&mut Putting {
            workspace: self.workspace.as_ref(),
            limits: &self.limits,
            warning: self.warning.clone(),
            seen: &|id| entries.time(id),
            counter: Estimator::O200k.counter(),
            now: self.now,
            today: self.today,
            cache: &mut self.cache,
        })
    }
}

/// The entries of a session, by their ids.
pub(super) struct Entries {
    session: Session,
    survey: Survey,
    /// Where they have no places of their own, all of them.
    whole: Option<HashMap<EntryId, Option<Millis>>>,
}

impl Entries {
    pub(super) fn of(app: &App, session: &Session) -> Result<Entries, Failure> {
        let survey = Survey::of(session, &app.keep(session))?;
        let whole = match survey.is_placed() {
            true => None,
            false => {
                let tree = session.tree()?;
                let times = tree.nodes().iter().map(|node| (node.id.clone(), node.time));
                Some(times.collect())
            }
        };
        Ok(Entries {
            session: Session::open_ref(session.reference())?,
            survey,
            whole,
        })
    }

    /// When an entry was written.
    fn time(&self, id: &EntryId) -> Option<Millis> {
        match &self.whole {
            Some(whole) => whole.get(id).copied().flatten(),
            None => self.survey.entry(&self.session, id).ok()??.time,
        }
    }
}

/// Why nothing is compacted and no checkpoint written.
pub(super) fn read_only() -> Failure {
    Failure::blocked("nothing may be written here")
        .help("`sandbox.readOnly` is set; `longhaul config show --origin sandbox` says where")
}

/// Says what somebody should know; the rest is in the result.
pub(super) fn tell(app: &App, event: &Event) {
    let counts = matches!(
        event,
        Event::CheckpointTrouble { .. }
            | Event::CheckpointsRecovered { .. }
            | Event::SequenceResumed { .. }
            | Event::SequenceSuperseded
            | Event::SummaryFallback { .. }
            | Event::Trouble { .. }
    );
    if let Some((_, line)) = lines::event(event).filter(|_| counts) {
        app.note_once(&format!("note: {line}"));
    }
}

/// What is put back in this epoch; only looked at. What was put back at an
/// earlier entry is not known any more.
pub(super) fn restored(app: &App, measured: &Measured, at: Option<&str>) -> Restoration {
    if at.is_some() {
        return Restoration::default();
    }
    let saving = Saving::of(app, &measured.session);
    let nothing_before = measured.loaded.boundary.is_none()
        && saving
            .store
            .list(&saving.whose.key)
            .is_ok_and(|list| list.is_empty());
    if nothing_before {
        return Restoration::default();
    }
    let gather = || -> Result<Restoration, Failure> {
        let keep = app.keep(&measured.session);
        let live = Live::open_with(&measured.session, app.config.config.state_capture(), &keep)?;
        let mut materials = Materials::of(app, &measured.session)?;
        let notebook = Untouched(Some(&saving.notebook));
        let restored = materials.with(|putting| {
            let mut sink = |event| tell(app, &event);
            saving
                .checkpoints()
                .restore(&notebook, &live, putting, &mut sink)
        })?;
        Ok(restored)
    };
    gather().unwrap_or_else(|failure| {
        app.note(&format!("note: {failure}"));
        Restoration::default()
    })
}
