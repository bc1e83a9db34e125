//! What commands need to save the state of a session's work and put it back.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_assembly::{BootstrapLimits, FileCache, Workspace, WorkspaceSources};
use longhaul_checkpoint::{CheckpointId, CheckpointStore, FileStore};
use longhaul_engine::checkpoints::{Checkpoints, FileNotebook, Restoration, Whose};
use longhaul_engine::compactor::{Bench, Intent, Restoring};
use longhaul_engine::event::Event;
use longhaul_engine::live::Live;
use longhaul_transcript::Session;

use super::events;
use super::measured::Measured;
use crate::prelude::*;

/// A session's checkpoints on disk.
pub(crate) struct Saving {
    pub(crate) whose: Whose,
    pub(crate) store: FileStore,
}

impl Saving {
    pub(crate) fn of(app: &App, session: &Session) -> Saving {
        Saving {
            store: app.kept_checkpoints(),
            whose: Whose::of(session),
        }
    }

    pub(crate) fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints {
            store: &self.store,
            whose: &self.whose,
            redact: &out::redacted,
        }
    }

    /// What a compaction that was interrupted meant to do.
    pub(super) fn intent(&self, app: &App) -> Option<Intent> {
        let notebook = FileNotebook::new(&app.state_dir, &self.whose.key);
        Intent::of(&notebook, &self.whose)
    }

    /// Where a checkpoint lies.
    pub(super) fn path(&self, app: &App, id: CheckpointId) -> PathBuf {
        app.state_dir
            .join("context/checkpoints")
            .join(self.whose.key.folder_name())
            .join(format!("{id}.yaml"))
    }
}

/// The workspace of a session. One of another machine has none here.
pub(super) fn workspace(app: &App, session: &Session) -> Option<Workspace> {
    let sources = WorkspaceSources {
        flag: app.workspace_flag.as_deref(),
        session: session.header().cwd.as_deref(),
        config: app.config.workspace.as_deref().map(Path::new),
    };
    let (root, _) = sources.choose().ok()?;
    let (limits, now) = (BootstrapLimits::default(), SystemTime::now());
    let loaded = Workspace::load(&root, &limits, now, &mut FileCache::new());
    let told = loaded.inspect_err(|error| note!("note: {error}"));
    told.ok().map(|(workspace, _)| workspace)
}

/// Why nothing is compacted and no checkpoint written.
pub(super) fn read_only() -> Failure {
    Failure::blocked("nothing may be written here")
        .help("`sandbox.readOnly` is set; `longhaul config show --origin sandbox` says where")
}

/// Says what somebody should know; the rest is in the result.
pub(super) fn tell(event: &Event) {
    let counts = matches!(
        event,
        Event::CheckpointTrouble { .. }
            | Event::CheckpointsRecovered { .. }
            | Event::SequenceResumed { .. }
            | Event::SequenceSuperseded
            | Event::SummaryFallback { .. }
            | Event::Trouble { .. }
    );
    if let Some((_, line)) = events::event(event).filter(|_| counts) {
        out::note_once(&format!("note: {line}"));
    }
}

/// What is put back in this epoch; only looked at. What was put back at an
/// earlier entry is not known any more.
pub(super) fn restored(app: &App, measured: &Measured, at: Option<&str>) -> Result<Restoration> {
    let (session, config) = (&measured.session, &app.config);
    let saving = Saving::of(app, session);
    let is_first = || {
        let kept = saving.store.list(&saving.whose.key);
        measured.loaded.boundary.is_none() && kept.is_ok_and(|kept| kept.is_empty())
    };
    if at.is_some() || is_first() {
        return Ok(Restoration::default());
    }
    let live = Live::open_with(session, config.state_capture(), &app.keep(session))?;
    let (bench, _) = Bench::new(session, live, measured.window, config, &app.state_dir);
    let workspace = workspace(app, session);
    let restoring = Restoring {
        config,
        workspace: workspace.as_ref(),
        now: &app.zoned(),
        files: &mut FileCache::new(),
    };
    // Its problems are told by whoever shows the whole request.
    let mut sink = |event| match event {
        Event::Trouble { .. } => {}
        event => tell(&event),
    };
    Ok(bench.restore(Some(&bench.live), restoring, &mut sink))
}
