//! What commands need to save the state of a session's work and put it back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use longhaul_assembly::{FileCache, WorkspaceSources};
use longhaul_checkpoint::{CheckpointId, CheckpointStore, FileStore};
use longhaul_engine::checkpoints::{Checkpoints, FileNotebook, Restoration, Whose};
use longhaul_engine::compactor::{Bench, Intent, Restoring};
use longhaul_engine::event::Event;
use longhaul_engine::live::Live;
use longhaul_engine::survey::Survey;
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

/// The workspace of a session, where it is here: one of another machine has none.
pub(super) fn workspace(app: &App, session: &Session) -> Option<PathBuf> {
    let sources = WorkspaceSources {
        flag: app.workspace_flag.as_deref(),
        session: session.header().cwd.as_deref(),
        config: app.config.config.workspace.as_deref().map(Path::new),
    };
    Some(sources.choose().ok()?.0)
}

/// The entries of a session, by their ids.
struct Entries {
    session: Session,
    survey: Survey,
    /// Where they have no places of their own, all of them.
    whole: Option<HashMap<EntryId, Option<Millis>>>,
}

impl Entries {
    fn of(app: &App, session: &Session) -> Result<Entries, Failure> {
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
        let (session, config) = (&measured.session, &app.config.config);
        let live = Live::open_with(session, config.state_capture(), &app.keep(session))?;
        let entries = Entries::of(app, session)?;
        let (bench, _) = Bench::new(session, live, measured.window, config, &app.state_dir);
        let with = Restoring {
            config,
            workspace: None,
            now: &app.zoned(),
            seen: Some(&|id| entries.time(id)),
            files: &mut FileCache::new(),
        };
        let root = workspace(app, session);
        // Files that cannot be put back are told with the result.
        let mut sink = |event| match event {
            Event::Trouble { .. } => {}
            event => tell(app, &event),
        };
        Ok(bench.restore_in(root.as_deref(), Some(&bench.live), with, &mut sink))
    };
    gather().unwrap_or_else(|failure| {
        app.note(&format!("note: {failure}"));
        Restoration::default()
    })
}
