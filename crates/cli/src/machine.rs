//! What is around a session on this machine: programs, variables, folders.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use longhaul_assembly::{Host, Runtime};
use longhaul_checkpoint::FileStore;
use longhaul_engine::assembled::Surroundings;
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::Clock;
use longhaul_transcript::Millis;

use crate::app::App;

impl App {
    /// Everything that a request has beside its session.
    pub(crate) fn surroundings(&self, model: &str, provider: Option<&str>) -> Surroundings {
        Surroundings {
            workspace: self.workspace_flag.clone(),
            fallback: Some(self.workspace.clone()),
            environment: Environment {
                managed_skills: Some(self.state_dir.join("skills")),
                home_skills: self.home.as_ref().map(|home| home.join(".agents/skills")),
                host: host(),
                runtime: Runtime {
                    host: env::var("HOSTNAME").unwrap_or_else(|_| "localhost".into()),
                    os: env::consts::OS.into(),
                    arch: env::consts::ARCH.into(),
                    model: model.into(),
                    provider: provider.map(str::to_owned),
                    ..Runtime::default()
                },
            },
            now: self.zoned(),
        }
    }

    /// The time where the user is; a stopped clock stands in UTC.
    pub(crate) fn zoned(&self) -> Zoned {
        let zone = match self.now {
            Some(_) => TimeZone::UTC,
            None => TimeZone::system(),
        };
        let time = Timestamp::from_millisecond(self.now().0).unwrap_or(Timestamp::UNIX_EPOCH);
        time.to_zoned(zone)
    }

    /// Time and new names for an engine.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(MachineClock { stopped: self.now })
    }

    /// Where this program lies.
    pub(crate) fn own_program(&self) -> Option<PathBuf> {
        env::current_exe().ok()?.canonicalize().ok()
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok()
    }

    /// All of them, for the commands of an agent.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        env::vars_os().collect()
    }

    /// The checkpoints of all sessions.
    pub(crate) fn kept_checkpoints(&self) -> FileStore {
        FileStore::new(&self.state_dir, self.config.checkpoint_policy())
    }
}

/// The clock of the machine, unless it was stopped.
struct MachineClock {
    stopped: Option<Millis>,
}

impl Clock for MachineClock {
    fn now(&self) -> Zoned {
        match self.stopped {
            None => Zoned::now(),
            Some(time) => Timestamp::from_millisecond(time.0)
                .unwrap_or(Timestamp::UNIX_EPOCH)
                .to_zoned(TimeZone::UTC),
        }
    }

    fn new_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// What skills may need: programs on the search path, names of variables.
fn host() -> Host {
    let path = env::var_os("PATH").unwrap_or_default();
    let binaries: BTreeSet<String> = env::split_paths(&path)
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| match name.strip_suffix(".exe") {
            Some(stem) => stem.to_owned(),
            None => name,
        })
        .collect();
    Host {
        os: env::consts::OS.into(),
        binaries,
        variables: env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect(),
        settings: BTreeSet::new(),
    }
}
