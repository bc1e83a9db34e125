//! What is around a session on this machine: programs, variables, folders.

use std::collections::BTreeSet;
use std::env;
use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use longhaul_assembly::{Host, Runtime};
use longhaul_checkpoint::FileStore;
use longhaul_engine::assembled::Surroundings;

use crate::app::App;

impl App {
    /// Everything that a request has beside its session.
    pub(crate) fn surroundings(&self, model: &str, provider: Option<&str>) -> Surroundings {
        Surroundings {
            workspace: self.workspace_flag.clone(),
            fallback: Some(self.workspace.clone()),
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
            now: self.zoned(),
            read_at: SystemTime::now(),
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

    /// The checkpoints of all sessions.
    pub(crate) fn kept_checkpoints(&self) -> FileStore {
        FileStore::new(&self.state_dir, self.config.config.checkpoint_policy())
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
