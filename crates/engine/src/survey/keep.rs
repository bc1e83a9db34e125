//! Where surveys are kept.

use std::path::{Path, PathBuf};

use longhaul_transcript::{Session, SessionKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::store::Store;
use crate::config::Config;

/// A file smaller than this is read in no time.
const SMALL: u64 = 256 << 10;
/// The form of what others keep here.
const FORM: &str = "found";

/// Where a survey is kept.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    file: Option<PathBuf>,
    least: u64,
}

impl Keep {
    /// Nowhere: it is made in one pass and forgotten.
    pub fn nowhere() -> Keep {
        Keep::default()
    }

    /// Beside the state of a session, where the configuration has anything
    /// written there.
    pub fn of(session: &Session, config: &Config, state_dir: &Path) -> Keep {
        Surveys::below(state_dir, config).keep(session)
    }

    /// In this file, which [`place_of`] names.
    pub fn at(file: PathBuf) -> Keep {
        let file = Some(file);
        Keep { file, least: SMALL }
    }

    /// The same for sessions of any size.
    #[must_use]
    pub fn whatever_size(self) -> Keep {
        Keep { least: 0, ..self }
    }

    /// The file for a session whose file has this size.
    pub(super) fn for_size(&self, session: &Session, size: u64) -> Option<&PathBuf> {
        let wanted = session.is_lines() && size >= self.least;
        self.file.as_ref().filter(|_| wanted)
    }

    /// What is kept of a session, if anything is.
    pub(super) fn store(&self, session: &Session) -> Option<Store> {
        let size = std::fs::metadata(session.path()).ok()?.len();
        Store::in_file(self.for_size(session, size)?).ok()
    }

    /// Something that was found in the session's file, and up to where it was read.
    pub(crate) fn kept<T: DeserializeOwned>(
        &self,
        session: &Session,
        name: &str,
    ) -> Option<(u64, T)> {
        self.store(session)?.kept(session, name, FORM).ok()?
    }

    /// Keeps what was found in the file up to there. Without it all is found again,
    /// no more.
    pub(crate) fn put<T: Serialize>(&self, session: &Session, name: &str, upto: u64, found: &T) {
        if let Some(store) = self.store(session) {
            let _ = store.keep(session, name, FORM, upto, found);
        }
    }
}

/// Where the surveys of all sessions are kept.
#[derive(Debug, Clone, Default)]
pub struct Surveys {
    state_dir: Option<PathBuf>,
}

impl Surveys {
    /// Below a state folder, where the configuration has anything written there;
    /// else nowhere.
    pub fn below(state_dir: &Path, config: &Config) -> Surveys {
        let state_dir = config.writes_checkpoints().then(|| state_dir.to_owned());
        Surveys { state_dir }
    }

    /// Where that of a session is.
    pub fn keep(&self, session: &Session) -> Keep {
        self.state_dir.as_ref().map_or_else(Keep::nowhere, |dir| {
            let key = SessionKey::new(session.key());
            Keep::at(place_of(dir, &key, &session.reference().name()))
        })
    }
}

/// Where the survey of a session's file lies below a state folder.
pub fn place_of(state_dir: &Path, key: &SessionKey, file: &str) -> PathBuf {
    let hash = blake3::hash(file.as_bytes()).to_hex();
    let folder = state_dir.join("context/state").join(key.folder_name());
    folder.join(format!("survey-{}.sqlite", &hash[..10]))
}
