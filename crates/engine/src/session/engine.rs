//! Beginning sessions, and going on with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_assembly::{FileCache, PartCounts};
use longhaul_tokens::{ResolvedWindow, Tokens, Window, WindowOrigin, WindowSources};
use longhaul_transcript::{Draft, Header, Session as Stored, SessionKey, Stamp, Writer};

use super::{AtWork, Listener, Result, Session, Setup, Spent, carry, layout, windows};
use crate::compactor::{Bench, Compactor};
use crate::event::Event;
use crate::measure::WindowEvidence;
use crate::prewarm::Warm;

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
        let time = self.setup.now().to_iso().replace([':', '.'], "-");
        let name = SessionKey::new(name).folder_name().to_string();
        let sessions = self.setup.state_dir.join("sessions");
        sessions.join(format!("{time}_{name}.jsonl"))
    }

    /// Begins a session. Those of one name belong together: a new one starts
    /// with the checkpoint of the one before and what the user said in it.
    pub fn create(&self, name: Option<&str>, listener: &mut dyn Listener) -> Result<Session> {
        self.create_below(None, name, listener)
    }

    /// The same, of a session that does a part of another one's work.
    pub(crate) fn create_below(
        &self,
        parent: Option<&Path>,
        name: Option<&str>,
        listener: &mut dyn Listener,
    ) -> Result<Session> {
        let id = match name {
            Some(name) => name.to_owned(),
            None => self.setup.clock.new_id(),
        };
        let before = name.and_then(|name| carry::newest_of(&self.setup.state_dir, name));
        let before = before.filter(|_| self.setup.subagent.is_none());
        let carried = before.and_then(|before| carry::carried(&self.setup, &before, listener));
        let mut path = self.new_path(&id);
        // Two sessions of one name within a millisecond, or under a stopped clock.
        let mut again = 1;
        while path.exists() {
            again += 1;
            path = self.new_path(&id).with_extension(format!("{again}.jsonl"));
        }
        let parent = parent.map(|path| path.to_string_lossy().into_owned());
        let mut writer = self.begin(&path, id, parent)?;
        if let Some(carried) = carried {
            writer.append(&carried, self.stamp())?;
        }
        drop(writer);
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

    /// Begins the file of a session.
    pub(crate) fn begin(&self, path: &Path, id: String, parent: Option<String>) -> Result<Writer> {
        if let Some(folder) = path.parent() {
            longhaul_files::create_folder(folder)?;
        }
        let header = Header {
            id,
            version: 3,
            time: Some(self.setup.now()),
            cwd: Some(self.setup.workspace.clone()),
            parent_session: parent,
        };
        let durability = self.setup.config.transcript.durability;
        Ok(Writer::create(path, &header, durability)?)
    }

    /// A new name and the time.
    pub(crate) fn stamp(&self) -> Stamp {
        self.setup.stamp()
    }

    /// Goes on with a session of pi's format, ours among them. What a crash
    /// left half done is completed.
    pub fn open(&self, path: &Path, listener: &mut dyn Listener) -> Result<Session> {
        let setup = Arc::clone(&self.setup);
        // The writer first: it sets a torn tail aside.
        let writer = Writer::open(path, setup.config.transcript.durability)?;
        let stored = Stored::open(path)?;
        let (config, state_dir) = (&setup.config, &setup.state_dir);
        let live = Bench::read(&stored, None, config, state_dir)?;
        live.learn_secrets();
        let (window, resolved) = window(&setup)?;
        let (bench, damage) = Bench::new(&stored, live, window, config, state_dir);
        damage.iter().for_each(|event| listener.event(event));
        let mut files = FileCache::new();
        let mut counts = PartCounts::new();
        let now = setup.clock.now();
        let laid = layout::lay(&setup, &bench, &now, &mut files, &mut counts)?;
        for problem in &laid.problems {
            listener.event(&Event::trouble(problem.to_string()));
        }
        let mut session = Session {
            known_size: 0,
            anchor: None,
            restored: Vec::new(),
            warm: Warm::new(),
            last_request: None,
            gauged: false,
            told_unwritten: false,
            anchored_at: None,
            noted: Tokens::ZERO,
            flushed_up_to: None,
            turn_spent: Spent::default(),
            hosted: false,
            prompt_day: now.date(),
            setup,
            writer,
            bench,
            resolved,
            workspace: laid.workspace,
            prompt: laid.prompt,
            files,
            counts,
        };
        session.known_size = session.size_on_disk();
        if session.resolved.origin == WindowOrigin::ProviderError {
            // A window that nobody has set is not to be a riddle when little fits.
            let window = session.window().size();
            let reason = format!("the window is {window}: {}", session.window_source());
            listener.event(&Event::trouble(reason));
        }
        session.measure();
        let mut work = session.heard(listener);
        if !work.read_only() {
            Compactor::at(&mut work).recover();
        }
        work.restore();
        Ok(session)
    }
}

impl Session {
    pub(super) fn size_on_disk(&self) -> u64 {
        std::fs::metadata(self.path()).map_or(0, |meta| meta.len())
    }

    /// Forgets the window that was learnt from an error of the model at its
    /// server, here and in `windows.json`; whether there was one. The next
    /// error may teach it again.
    pub fn forget_window(&mut self, listener: &mut dyn Listener) -> Result<bool> {
        let Some(info) = self.model() else {
            return Ok(false);
        };
        let forgotten = windows::forget(&self.setup.state_dir, info)?;
        if forgotten || self.resolved.origin == WindowOrigin::ProviderError {
            (self.bench.window, self.resolved) = window(&self.setup)?;
            self.heard(listener).lay_out_anew();
        }
        Ok(forgotten)
    }

    /// Takes in that the model has answered a request of this size, by its own
    /// count: a smaller window that was learnt from an error is no longer true,
    /// and is forgotten. For hosts that send what
    /// [`assemble`](Session::assemble) gives them.
    pub fn answered(&mut self, prompt: Tokens, listener: &mut dyn Listener) -> Result<()> {
        let info = self.model();
        let learnt = info.and_then(|info| windows::learnt(&self.setup.state_dir, info));
        let Some(learnt) = learnt.filter(|learnt| prompt > *learnt) else {
            return Ok(());
        };
        self.forget_window(listener)?;
        let reason = format!(
            "{} took a request of {prompt} tokens: its window is not {learnt}, as it once said; \
             forgotten",
            self.model_name(),
        );
        listener.event(&Event::trouble(reason));
        Ok(())
    }
}

impl AtWork<'_> {
    /// Takes in what another process wrote into the file.
    pub(super) fn refresh(&mut self) -> Result<()> {
        if self.size_on_disk() == self.known_size {
            return Ok(());
        }
        let stored = Stored::open(self.path())?;
        let setup = Arc::clone(&self.setup);
        self.bench.live = Bench::read(&stored, None, &setup.config, &setup.state_dir)?;
        self.bench.stored = None;
        self.known_size = self.size_on_disk();
        self.measure();
        self.restore();
        Ok(())
    }

    /// A window that a provider has named is smaller than ours: it counts.
    pub(super) fn learn_window(&mut self, limit: Tokens) -> Result<()> {
        if limit >= self.window().size() || limit.0 < 1024 {
            return Ok(());
        }
        if let Some(info) = self.model() {
            let learnt = windows::learn(&self.setup.state_dir, info, limit);
            self.trouble(learnt);
        }
        self.bench.window = Window::new(&self.setup.config.window_settings(limit))?;
        let sources = WindowSources {
            provider_error: Some(limit),
            ..WindowSources::default()
        };
        self.resolved = sources.resolve();
        let model = self.model_name();
        self.tell(Event::WindowLearnt {
            model,
            window: limit,
        });
        // What is shown of the workspace's files depends on the window.
        self.lay_out_anew();
        Ok(())
    }
}

pub(super) fn window(setup: &Setup) -> Result<(Window, ResolvedWindow)> {
    let info = setup.model.as_deref().map(|model| model.info());
    let resolved = windows::resolve_window(
        &setup.config,
        &setup.state_dir,
        info,
        WindowEvidence::default(),
    );
    let settings = setup.config.window_settings(resolved.window);
    Ok((Window::new(&settings)?, resolved))
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, Zoned, tz::TimeZone};
    use longhaul_model::{Limits, ModelSpec, connect};

    use super::super::Clock;
    use super::*;
    use crate::config::Config;
    use crate::prompt::Environment;
    use crate::tools::NoTools;

    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Zoned {
            Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)
        }

        fn new_id(&self) -> String {
            "00000000-0000-7000-8000-000000000000".into()
        }
    }

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Listener for Heard {
        fn event(&mut self, event: &Event) {
            if let Event::Trouble { reason } = event {
                self.0.push(reason.clone());
            }
        }
    }

    /// An engine for a model that is never asked.
    fn engine(folder: &Path, spec: &str) -> Engine {
        let spec = ModelSpec::parse(spec).unwrap();
        let mut config = Config::default();
        config.compaction.context_window = Some(Tokens(64_000));
        let workspace = folder.join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        Engine::new(Setup {
            config,
            state_dir: folder.join("state"),
            workspace,
            environment: Environment::default(),
            clock: Arc::new(Stopped),
            model: Some(connect(&spec, &|_| None, Limits::default()).unwrap()),
            summaries: None,
            tools: Arc::new(NoTools),
            departures: None,
            subagent: None,
            max_rounds: Setup::MAX_ROUNDS,
        })
    }

    #[test]
    fn a_learnt_window_is_explained_and_is_forgotten_once_more_was_taken() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), "vllm/qwen@http://127.0.0.1:1/v1");
        let info = engine.setup().model.as_deref().unwrap().info();
        let state_dir = &engine.setup().state_dir;
        windows::learn(state_dir, info, Tokens(3_000)).unwrap();

        let mut heard = Heard::default();
        let mut session = engine.create(Some("one"), &mut heard).unwrap();
        assert_eq!(session.window().size(), Tokens(3_000));
        let source = session.status().window_source;
        for named in [
            "vllm/qwen",
            "http://127.0.0.1:1;",
            "context windows --forget",
        ] {
            assert!(source.contains(named), "{named}: {source}");
        }
        assert_eq!(heard.0, [format!("the window is 3,000: {source}")]);

        session.answered(Tokens(3_000), &mut heard).unwrap();
        assert_eq!(session.window().size(), Tokens(3_000));
        session.answered(Tokens(3_001), &mut heard).unwrap();
        assert_eq!(session.window().size(), Tokens(64_000));
        assert_eq!(session.status().window_origin, WindowOrigin::Config);
        assert_eq!(windows::learnt(state_dir, info), None);
        assert_eq!(heard.0.len(), 2);
        assert!(heard.0[1].ends_with("forgotten"), "{}", heard.0[1]);
        assert!(!session.forget_window(&mut heard).unwrap());
    }

    #[test]
    fn a_window_learnt_at_one_server_says_nothing_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let small = engine(folder.path(), "vllm/qwen@http://127.0.0.1:1");
        let info = small.setup().model.as_deref().unwrap().info();
        windows::learn(&small.setup().state_dir, info, Tokens(3_000)).unwrap();
        for other in [
            "vllm/qwen@http://127.0.0.1:2",
            "ollama/qwen@http://127.0.0.1:1",
        ] {
            let mut heard = Heard::default();
            let other = engine(folder.path(), other);
            let session = other.create(None, &mut heard).unwrap();
            assert_eq!(session.window().size(), Tokens(64_000));
            assert!(heard.0.is_empty(), "{:?}", heard.0);
        }
    }
}
