//! A session in a workspace, and a process that may die at any write.

use std::cell::RefCell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use futures::executor::block_on;
use jiff::{Timestamp, tz::TimeZone};
use longhaul_assembly::{BootstrapLimits, FileCache, Workspace};
use longhaul_checkpoint::{
    Checkpoint, CheckpointId, CheckpointStore, Draft as CheckpointDraft, FileStore, Latest, Listed,
    Policy, Recovery, State, Trigger as Why, Turn, Written,
};
use longhaul_compaction::Layer;
use longhaul_engine::checkpoints::{FileNotebook, Notebook, Occasion, Restoration, Result, Whose};
use longhaul_engine::compactor::{AtRest, Bench, Compactor, Made, Outcome, Resting, Restoring};
use longhaul_engine::config::Config;
use longhaul_engine::event::Event;
use longhaul_engine::live::Live;
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{Tokens, Window, WindowSettings};
use longhaul_transcript::{Body, Durability, EntryId, Millis, Session, SessionKey, Stamp};

pub(crate) const NOON: i64 = 1_790_000_000_000;

/// Kills the process, as far as a test can tell, after so many writes.
#[derive(Default)]
pub(crate) struct Countdown {
    pub(crate) left: Option<AtomicI64>,
}

pub(crate) struct Killed;

impl Countdown {
    pub(crate) fn after(writes: i64) -> Countdown {
        Countdown {
            left: Some(AtomicI64::new(writes)),
        }
    }

    /// A place where the process may die.
    pub(crate) fn tick(&self) {
        if let Some(left) = &self.left
            && left.fetch_sub(1, Ordering::SeqCst) <= 0
        {
            resume_unwind(Box::new(Killed));
        }
    }

    /// One write, before and after which it may die.
    pub(crate) fn around<T>(&self, write: impl FnOnce() -> T) -> T {
        self.tick();
        let done = write();
        self.tick();
        done
    }
}

pub(crate) struct Store(pub(crate) FileStore, pub(crate) Arc<Countdown>);

impl CheckpointStore for Store {
    fn recover(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Recovery> {
        self.1.around(|| self.0.recover(key))
    }
    fn state(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Option<State>> {
        self.0.state(key)
    }
    fn save_state(&self, key: &SessionKey, state: &State) -> longhaul_checkpoint::Result<()> {
        self.1.around(|| self.0.save_state(key, state))
    }
    fn write(
        &self,
        key: &SessionKey,
        draft: CheckpointDraft,
    ) -> longhaul_checkpoint::Result<Written> {
        self.1.around(|| self.0.write(key, draft))
    }
    fn latest(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Latest> {
        self.0.latest(key)
    }
    fn list(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Vec<Listed>> {
        self.0.list(key)
    }
    fn get(&self, key: &SessionKey, id: CheckpointId) -> longhaul_checkpoint::Result<Checkpoint> {
        self.0.get(key, id)
    }
}

pub(crate) struct Notes(pub(crate) FileNotebook, pub(crate) Arc<Countdown>);

impl Notebook for Notes {
    fn read(&self, name: &str) -> Result<Option<String>> {
        self.0.read(name)
    }
    fn write(&self, name: &str, text: &str) -> Result<()> {
        self.1.around(|| self.0.write(name, text))
    }
    fn remove(&self, name: &str) -> Result<()> {
        self.1.around(|| self.0.remove(name))
    }
    fn set_aside(&self, name: &str) -> Result<String> {
        self.0.set_aside(name)
    }
}

/// A session in a workspace, and the state folder.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) key: String,
}

/// What a process saw.
pub(crate) struct Saw {
    pub(crate) events: Vec<Event>,
    pub(crate) carried: Option<Box<Made>>,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place::of("agent:main:main")
    }

    pub(crate) fn of(key: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            folder,
            key: key.into(),
        };
        let plan = Plan {
            size: Size::Turns(3),
            ..Plan::default()
        };
        let mut file = fs::File::create(place.session()).unwrap();
        generate(&plan, &mut file).unwrap();
        fs::create_dir_all(place.workspace().join("memories")).unwrap();
        fs::write(place.workspace().join("MEMORY.md"), "- remember this\n").unwrap();
        let rules = "# Rules\n## Red Lines\n- never push\n## Other\n- x\n";
        fs::write(place.workspace().join("AGENTS.md"), rules).unwrap();
        place
    }

    pub(crate) fn session(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn key(&self) -> SessionKey {
        SessionKey::new(self.key.as_str())
    }

    pub(crate) fn store(&self) -> FileStore {
        FileStore::new(&self.state(), Policy::default())
    }

    pub(crate) fn notebook(&self) -> FileNotebook {
        FileNotebook::new(&self.state(), &self.key())
    }

    pub(crate) fn whose(&self, file: &Path) -> Whose {
        Whose {
            key: self.key(),
            session_file: file.to_string_lossy().into_owned(),
            channel: "cli".into(),
            agent: "main".into(),
        }
    }

    /// The workspace with what lies in it.
    fn found(&self) -> Workspace {
        let now = SystemTime::now() + Duration::from_secs(60);
        let (limits, mut cache) = (BootstrapLimits::default(), FileCache::new());
        let loaded = Workspace::load(&self.workspace(), &limits, now, &mut cache);
        loaded.unwrap().0
    }

    /// A process: completes what was interrupted, then compacts a session that
    /// never was compacted.
    pub(crate) fn process(
        &self,
        hour: i64,
        countdown: &Arc<Countdown>,
        events: &RefCell<Vec<Event>>,
    ) -> Option<Box<Made>> {
        let store = Arc::new(Store(self.store(), Arc::clone(countdown)));
        let session = Session::open(&self.session()).unwrap();
        let whose = self.whose(&self.session());
        let live = Live::open(&session).unwrap();
        let (config, state) = (Config::default(), self.state());
        let (mut bench, _) = Bench::new(&session, live, window(), &config, &state);
        let live = &bench.live;
        let reading = bench.meter.context(live.loaded(), &live.context());
        bench.whose = whose.clone();
        bench.store = Arc::clone(&store) as _;
        bench.notebook = Box::new(Notes(self.notebook(), Arc::clone(countdown)));
        let at = Millis(NOON + hour * 3_600_000);
        let mut site = AtRest::new(Resting {
            stored: &session,
            bench,
            reading: &reading,
            config: &config,
            state_dir: &state,
            durability: Durability::Os,
            summaries: None,
            stamp: Box::new(|| Stamp {
                id: EntryId::new(format!("compaction-{hour}")),
                time: at,
            }),
            workspace: Some(self.workspace()),
            now: Box::new(|| {
                let now = Timestamp::from_millisecond(at.0).unwrap();
                now.to_zoned(TimeZone::UTC)
            }),
            found: Some(self.found()),
            sink: Box::new(|event| events.borrow_mut().push(event)),
        });
        let mut compactor = Compactor::at(&mut site);
        let pending = compactor.recover();
        if Live::open(&session).unwrap().epoch() > 0 {
            assert_eq!(pending, None);
            return None;
        }
        match block_on(compactor.by_hand(Layer::Summarize, None)).unwrap() {
            Outcome::Made(made) => Some(made),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn runs(&self, hour: i64) -> Saw {
        let events = RefCell::default();
        let carried = self.process(hour, &Arc::default(), &events);
        Saw {
            events: events.into_inner(),
            carried,
        }
    }

    /// Runs until it is killed; whether it was, and what it said before.
    pub(crate) fn killed_after(&self, hour: i64, writes: i64) -> (bool, Vec<Event>) {
        let (countdown, events) = (Arc::new(Countdown::after(writes)), RefCell::default());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.process(hour, &countdown, &events);
        }));
        let killed = match ended {
            Ok(()) => false,
            Err(payload) if payload.is::<Killed>() => true,
            Err(payload) => resume_unwind(payload),
        };
        (killed, events.into_inner())
    }

    pub(crate) fn restore(
        &self,
        file: &Path,
        seen: &dyn Fn(&EntryId) -> Option<Millis>,
    ) -> (Restoration, Vec<Event>) {
        let (config, state) = (Config::default(), self.state());
        let session = Session::open(file).unwrap();
        let live = Live::open(&session).unwrap();
        let (mut bench, _) = Bench::new(&session, live, window(), &config, &state);
        bench.whose = self.whose(file);
        bench.store = Arc::new(self.store());
        bench.notebook = Box::new(self.notebook());
        let tree = session.tree().unwrap();
        let times = tree
            .nodes()
            .iter()
            .map(|node| (node.id.clone(), seen(&node.id)));
        bench.stored = Some(times.collect());
        let found = self.found();
        let with = Restoring {
            config: &config,
            workspace: Some(&found),
            now: &jiff::civil::date(2026, 3, 10)
                .at(12, 0, 0, 0)
                .to_zoned(TimeZone::UTC)
                .unwrap(),
            files: &mut FileCache::new(),
        };
        let mut events = Vec::new();
        let restored = bench.restore(None, with, &mut |event| events.push(event));
        (restored, events)
    }

    /// Compaction entries in the session's file, and the checkpoints they name.
    pub(crate) fn compactions(&self) -> Vec<(EntryId, Option<String>)> {
        let mut found = Vec::new();
        let session = Session::open(&self.session()).unwrap();
        session
            .each(&mut |entry| {
                if matches!(entry.body, Body::Compaction(_)) {
                    let value: serde_json::Value = serde_json::from_str(entry.raw()).unwrap();
                    let id = value["details"]["checkpointId"].as_str().map(str::to_owned);
                    found.push((entry.id.clone(), id));
                }
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        found
    }

    pub(crate) fn checkpoint_ids(&self) -> Vec<String> {
        let list = self.store().list(&self.key()).unwrap();
        list.iter().map(|listed| listed.id.to_string()).collect()
    }

    /// The notes that are there, by the start of their names.
    pub(crate) fn notes(&self) -> Vec<String> {
        let folder = self
            .state()
            .join("context/state")
            .join(self.key().folder_name());
        let mut names: Vec<String> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with('.') && name != "set-aside")
            .map(|name| name.split('-').next().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn window() -> Window {
    Window::new(&WindowSettings::of(Tokens(16_000))).unwrap()
}

pub(crate) fn never(_: &EntryId) -> Option<Millis> {
    None
}

/// Somebody asks for a checkpoint of a small context.
pub(crate) fn manual() -> Occasion {
    Occasion {
        at: Millis(NOON),
        trigger: Why::Manual,
        tokens: Tokens(9_000),
        window: Tokens(30_000),
        turn: Turn::Whole,
    }
}
