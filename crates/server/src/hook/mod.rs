//! Hooks: for agents that have no place for an engine, but call programs around
//! their own compactions, as Claude Code does.
//!
//! The agent's transcript is only read: it may be large, and it may be being
//! written at that moment. Nothing here ends in a panic or in a block; what went
//! wrong is told, and the agent goes on.

mod event;
mod packet;
mod settings;

use std::path::{Path, PathBuf};

use longhaul_checkpoint::FileStore;
use longhaul_engine::checkpoints::{Checkpoints, Whose};
use longhaul_engine::config::Config;
use longhaul_engine::measure::Reading;
use longhaul_engine::survey::Keep;
use longhaul_redact::Redactor;
use longhaul_tokens::{ResolvedWindow, Window};
use longhaul_transcript::{Millis, Session};

pub use event::{Happened, answer};
pub use settings::{Settings, Wanted};

/// Says which window a session has, and who says so.
pub type WindowIn<'a> = dyn Fn(&Session, &Reading) -> Result<(Window, ResolvedWindow), String> + 'a;

/// What a hook works with, filled in by the program that runs it.
pub struct Machine<'a> {
    /// The settings.
    pub config: &'a Config,
    /// Where checkpoints are kept.
    pub state_dir: &'a Path,
    /// The user's folder.
    pub home: Option<&'a Path>,
    /// The folder that the command line names.
    pub workspace: Option<&'a Path>,
    /// Where the index of a folder lies; with none of its own, of this one.
    pub index: &'a dyn Fn(Option<&Path>) -> PathBuf,
    /// The window of a session.
    pub window: &'a WindowIn<'a>,
    /// The time now.
    pub now: Millis,
    /// Hears what somebody should know.
    pub tell: &'a dyn Fn(&str),
}

/// Why a hook did nothing.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
    remedy: Option<String>,
}

impl Error {
    /// What went wrong, and what to do.
    pub fn new(message: impl Into<String>, remedy: Option<String>) -> Error {
        let message = message.into();
        Error { message, remedy }
    }

    /// What to do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        self.remedy.clone()
    }
}

impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        longhaul_transcript::Error::from(error).into()
    }
}

impl From<longhaul_transcript::Error> for Error {
    fn from(error: longhaul_transcript::Error) -> Error {
        Error::new(error.to_string(), error.remedy())
    }
}

impl From<longhaul_checkpoint::Error> for Error {
    fn from(error: longhaul_checkpoint::Error) -> Error {
        Error::new(error.to_string(), error.remedy())
    }
}

impl From<longhaul_engine::checkpoints::Error> for Error {
    fn from(error: longhaul_engine::checkpoints::Error) -> Error {
        Error::new(error.to_string(), error.remedy())
    }
}

impl Machine<'_> {
    fn keep(&self, session: &Session) -> Keep {
        Keep::of(session, self.config, self.state_dir)
    }

    fn store(&self) -> FileStore {
        FileStore::new(self.state_dir, self.config.checkpoint_policy())
    }
}

/// The checkpoints of a session.
fn checkpoints<'a>(store: &'a FileStore, whose: &'a Whose) -> Checkpoints<'a> {
    Checkpoints {
        store,
        whose,
        redact: &|text| Redactor::default().redact(text).text,
    }
}
