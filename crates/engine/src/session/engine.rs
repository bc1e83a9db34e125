//! Beginning sessions, and going on with them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_assembly::{FileCache, PartCounts};
use longhaul_checkpoint::FileStore;
use longhaul_tokens::{ResolvedWindow, Tokens, Window, WindowSources, known_window};
use longhaul_transcript::{Draft, Header, Millis, Session as Stored, SessionKey, Writer, durable};

use super::layout::{self, Layout};
use super::{Listener, Result, Session, Setup, Spent, tell, windows};
use crate::checkpoints::{FileNotebook, Whose};
use crate::event::Event;
use crate::live::Live;
use crate::measure::Meter;
use crate::state::SessionState;

/// What is the same for all sessions.
#[derive(Clone)]
pub struct Engine {
    setup: Arc<Setup>,
}

impl Engine {
    /// An engine; nothing is read or written yet.
    pub fn new(setup: Setup) -> Engine {
        Engine {
            setup: Arc::new(setup),
        }
    }

    /// What it was given.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The file of a new session, named as pi names its own.
    pub fn new_path(&self, name: &str) -> PathBuf {
        let now = Millis(self.setup.clock.now().timestamp().as_millisecond());
        let time = now.to_iso().replace([':', '.'], "-");
        let name = SessionKey::new(name).folder_name().to_string();
        let sessions = self.setup.state_dir.join("sessions");
        sessions.join(format!("{time}_{name}.jsonl"))
    }

    /// Begins a session. Those of one name belong together: a new one starts
    /// with the checkpoint of the one before.
    pub fn create(&self, name: Option<&str>, listener: &mut dyn Listener) -> Result<Session> {
        let id = match name {
            Some(name) => name.to_owned(),
            None => self.setup.clock.new_id(),
        };
        let mut path = self.new_path(&id);
        // Two sessions of one name within a millisecond, or under a stopped clock.
        let mut again = 1;
        while path.exists() {
            again += 1;
            path = self.new_path(&id).with_extension(format!("{again}.jsonl"));
        }
        if let Some(folder) = path.parent() {
            durable::create_folder(folder)?;
        }
        let header = Header {
            id,
            version: 3,
            time: Some(Millis(self.setup.clock.now().timestamp().as_millisecond())),
            cwd: Some(self.setup.workspace.clone()),
            parent_session: None,
        };
        let durability = self.setup.config.transcript.durability;
        drop(Writer::create(&path, &header, durability)?);
        let mut session = self.open(&path, listener)?;
        if let Some(model) = session.setup.model.clone() {
            let info = model.info();
            session.append(&[Draft::ModelChange {
                provider: info.provider.clone(),
                model: info.name.clone(),
            }])?;
        }
        Ok(session)
    }

    /// Goes on with a session of pi's format, ours among them. What a crash
    /// left half done is completed.
    pub fn open(&self, path: &Path, listener: &mut dyn Listener) -> Result<Session> {
        let setup = Arc::clone(&self.setup);
        let stored = Stored::open(path)?;
        let writer = Writer::open(path, setup.config.transcript.durability)?;
        let live = Live::open_with(&stored, setup.config.state_capture())?;
        let whose = Whose::of(&stored);
        let key = whose.key.to_string();
        let (state, damage) = SessionState::load(&setup.state_dir, &key);
        if let Some(reason) = damage {
            tell(listener, Event::trouble(reason));
        }
        let (window, resolved) = window(&setup)?;
        let mut files = FileCache::new();
        let mut counts = PartCounts::new();
        let Layout {
            workspace,
            prompt,
            day,
            problems,
        } = layout::lay(&setup, &window, &live, &mut files, &mut counts)?;
        for problem in problems {
            tell(listener, Event::trouble(problem.to_string()));
        }
        let mut session = Session {
            store: FileStore::new(&setup.state_dir, setup.config.checkpoint_policy()),
            notebook: FileNotebook::new(&setup.state_dir, &whose.key),
            meter: Meter::new(setup.config.tokens.estimator),
            known_size: 0,
            anchor: None,
            restored: Vec::new(),
            entries: None,
            checkpointed: None,
            last_request: None,
            looked_at: Tokens::ZERO,
            told: HashSet::new(),
            anchored_at: None,
            noted: Tokens::ZERO,
            flushed_up_to: None,
            turn_spent: Spent::default(),
            prompt_day: day,
            setup,
            writer,
            live,
            window,
            resolved,
            state,
            whose,
            workspace,
            prompt,
            files,
            counts,
        };
        session.known_size = session.size_on_disk();
        session.measure();
        session.recover(listener)?;
        session.restore(listener);
        Ok(session)
    }
}

impl Session {
    /// Takes in what another process wrote into the file.
    pub(super) fn refresh(&mut self, listener: &mut dyn Listener) -> Result<()> {
        if self.size_on_disk() == self.known_size {
            return Ok(());
        }
        let stored = Stored::open(self.writer.path())?;
        self.live = Live::open_with(&stored, self.setup.config.state_capture())?;
        self.entries = None;
        self.known_size = self.size_on_disk();
        self.measure();
        self.restore(listener);
        Ok(())
    }

    pub(super) fn size_on_disk(&self) -> u64 {
        std::fs::metadata(self.writer.path()).map_or(0, |meta| meta.len())
    }

    /// Every entry of the file, and when it was written.
    pub(super) fn known_entries(
        &mut self,
    ) -> Result<&HashMap<longhaul_transcript::EntryId, Option<Millis>>> {
        if self.entries.is_none() {
            let path = self.writer.path();
            let tree = Stored::open(path)?.tree()?;
            let nodes = tree.nodes().iter();
            let mut entries: HashMap<_, _> =
                nodes.map(|node| (node.id.clone(), node.time)).collect();
            longhaul_transcript::each_archived(path, &mut |entry| {
                entries.insert(entry.id.clone(), entry.time);
                std::ops::ControlFlow::Continue(())
            })?;
            self.entries = Some(entries);
        }
        Ok(self.entries.get_or_insert_default())
    }

    /// A window that a provider has named is smaller than ours: it counts.
    pub(super) fn learn_window(
        &mut self,
        limit: Tokens,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        if limit >= self.window.size() || limit.0 < 1024 {
            return Ok(());
        }
        let model = self.model_name();
        if let Err(error) = windows::learn(&self.setup.state_dir, &model, limit) {
            tell(listener, Event::trouble(error.to_string()));
        }
        let settings = self.setup.config.window_settings(limit);
        self.window = Window::new(&settings)?;
        self.resolved = WindowSources {
            provider_error: Some(limit),
            ..WindowSources::default()
        }
        .resolve();
        tell(
            listener,
            Event::WindowLearnt {
                model,
                window: limit,
            },
        );
        // What is shown of the workspace's files depends on the window.
        self.lay_out_anew(listener);
        Ok(())
    }
}

fn window(setup: &Setup) -> Result<(Window, ResolvedWindow)> {
    let info = setup.model.as_deref().map(|model| model.info());
    let name = info.map(|info| info.name.as_str()).unwrap_or_default();
    let resolved = WindowSources {
        config: setup.config.compaction.context_window,
        // Two tables may disagree, as the same name is served with several windows;
        // the smaller one fits everywhere.
        metadata: [
            info.and_then(|info| info.window).map(Tokens),
            known_window(name),
        ]
        .into_iter()
        .flatten()
        .min(),
        provider_error: windows::learnt(&setup.state_dir, name),
        observed: None,
    }
    .resolve();
    let settings = setup.config.window_settings(resolved.window);
    Ok((Window::new(&settings)?, resolved))
}
