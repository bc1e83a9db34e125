//! A host for tests, and the engine it talks to.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::executor::block_on;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use longhaul_engine::config::Config;
use longhaul_engine::hosted::{Ask, Asking, Assembly, Birth, Committed, Given, Hosted};
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::{Clock, Engine, Setup};
use longhaul_engine::tools::NoTools;
use longhaul_model::CancellationToken;
use serde_json::Value;
use tempfile::TempDir;

struct Counted(AtomicU64);

impl Clock for Counted {
    fn now(&self) -> Zoned {
        Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)
    }

    fn new_id(&self) -> String {
        format!("id-{:06}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A host with a mirror of its own.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) engine: Engine,
    pub(crate) hosted: Option<Hosted>,
    pub(crate) budget: f64,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        fs::create_dir(&workspace).unwrap();
        let mut config = Config::default();
        config.compaction.memory_flush.enabled = false;
        config.transcript.durability = longhaul_transcript::Durability::Os;
        let engine = Engine::new(Setup {
            config,
            state_dir: folder.path().join("state"),
            workspace,
            environment: Environment::default(),
            clock: Arc::new(Counted(AtomicU64::new(0))),
            model: None,
            summaries: None,
            tools: Arc::new(NoTools),
            departures: None,
            subagent: None,
            max_rounds: Setup::MAX_ROUNDS,
        });
        World {
            folder,
            engine,
            hosted: None,
            budget: 200_000.0,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state/sessions/test/main/s.jsonl")
    }

    pub(crate) fn hosted(&mut self) -> &mut Hosted {
        if self.hosted.is_none() {
            let birth = Birth {
                id: "s".into(),
                key: None,
                parent: None,
                speaker: Asking::User,
            };
            let opened = Hosted::open(&self.engine, &self.path(), &birth, &mut ());
            self.hosted = Some(opened.unwrap());
        }
        self.hosted.as_mut().unwrap()
    }

    /// The process ends, and another one goes on.
    pub(crate) fn restart(&mut self) {
        self.hosted = None;
    }

    pub(crate) fn assemble(&mut self, list: &[Value]) -> Assembly {
        let texts: Vec<String> = list.iter().map(Value::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let ask = Ask {
            budget: Some(self.budget),
            tools: None,
        };
        let given = Given::whole(&texts);
        let cancel = CancellationToken::new();
        block_on(self.hosted().assemble(&given, &ask, &cancel, &mut ())).unwrap()
    }

    /// The model is asked again within a turn: what was sent before is given, and
    /// the budget that the turn has left.
    pub(crate) fn again(&mut self, sent: &[&str], budget: f64) -> Assembly {
        let ask = Ask {
            budget: Some(budget),
            tools: None,
        };
        let given = Given::whole(sent);
        let cancel = CancellationToken::new();
        block_on(self.hosted().assemble_again(&given, &ask, &cancel, &mut ())).unwrap()
    }

    pub(crate) fn maintain(&mut self) {
        let cancel = CancellationToken::new();
        block_on(self.hosted().maintain(&cancel, &mut ())).unwrap();
    }

    pub(crate) fn commit(&mut self, key: &str, turn: &[Value]) -> Committed {
        let texts: Vec<String> = turn.iter().map(Value::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.hosted().commit_turn(key, &texts, &mut ()).unwrap()
    }

    pub(crate) fn compact(&mut self) -> bool {
        let cancel = CancellationToken::new();
        let done = block_on(self.hosted().compact(true, None, &cancel, &mut ()));
        done.unwrap().compacted
    }

    pub(crate) fn file(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// The texts of the messages in the context of the mirror, as any other
    /// program would read them.
    pub(crate) fn context(&self) -> Vec<String> {
        let session = longhaul_transcript::Session::open(&self.path()).unwrap();
        let context = session.context().unwrap();
        let messages = context.messages.iter();
        messages.map(|message| message.view().text()).collect()
    }
}

/// The host's own messages among what is shown, by their places.
pub(crate) fn refs(assembly: &Assembly) -> Vec<usize> {
    assembly
        .messages
        .iter()
        .filter_map(|shown| shown.at)
        .collect()
}
