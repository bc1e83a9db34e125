//! What can go wrong, said so that a person knows what to do next.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_files::Fault;

use crate::entry::EntryId;

/// A failure of an operation on a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(longhaul_files::Error),

    /// The file holds nothing.
    #[error("{} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },

    /// No line of the file is a record of a format we know.
    #[error("{} is not a session of a known agent ({reason})", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },

    /// The named entry is not in the session.
    #[error("no entry {id} in {}", path.display())]
    NoSuchEntry {
        /// The session file.
        path: PathBuf,
        /// The id that was asked for.
        id: EntryId,
    },

    /// The named session is not in the store.
    #[error("no session {session} in {}", path.display())]
    NoSuchSession {
        /// The store.
        path: PathBuf,
        /// The id that was asked for.
        session: String,
    },

    /// Another process holds the lock on the session.
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The session file.
        path: PathBuf,
    },

    /// Another agent is running this session.
    #[error("{} is in use: {evidence}", path.display())]
    InUse {
        /// The session file.
        path: PathBuf,
        /// How we know.
        evidence: String,
    },

    /// The operation would not leave the session as it must be.
    #[error("cannot {action} {}: {reason}", path.display())]
    Refused {
        /// What was asked.
        action: &'static str,
        /// The session file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },

    /// Only native session files can be written.
    #[error("{} belongs to {agent} and is read-only for longhaul", path.display())]
    Foreign {
        /// The session file.
        path: PathBuf,
        /// The agent whose format it is.
        agent: &'static str,
    },

    /// An SQLite store could not be read.
    #[error("cannot read the database {}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },

    /// The file became shorter while it was read.
    #[error("{} changed while it was being read", path.display())]
    Changed {
        /// The session file.
        path: PathBuf,
    },
}

impl Error {
    /// Wraps an I/O error with what was tried on which path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let wrap = longhaul_files::Error::io(action, path);
        move |source| Error::File(wrap(source))
    }

    pub(crate) fn refused(action: &'static str, path: &Path, reason: impl Into<String>) -> Error {
        Error::Refused {
            action,
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    /// What the user can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::File(error) => match error.kind() {
                io::ErrorKind::NotFound => {
                    "check the path; `longhaul session list` shows the sessions found here".into()
                }
                io::ErrorKind::FileTooLarge => format!(
                    "longhaul makes no such file: move {} out of the way",
                    error.path.display()
                ),
                _ => return error.remedy(),
            },
            Error::Empty { .. } => "the agent writes it with the first message; try another \
                session (`longhaul session list`)"
                .into(),
            Error::UnknownFormat { .. } => "supported: pi and OpenClaw JSONL, OpenClaw SQLite, \
                Claude Code and Codex transcripts"
                .into(),
            Error::NoSuchEntry { .. } => {
                "`longhaul session show` lists the entries with their ids".into()
            }
            Error::NoSuchSession { .. } => "`longhaul session list` shows what is there".into(),
            Error::Locked { .. } => {
                "wait for the other process to finish, or stop it, then try again".into()
            }
            Error::InUse { .. } => "stop the agent first, or work on a copy (`longhaul session \
                fork`); --force writes anyway"
                .into(),
            Error::Foreign { .. } => {
                "make a native copy with `longhaul session import`, then work on that".into()
            }
            Error::Database { .. } => "if the gateway is running, try again in a moment; the \
                database is only ever opened read-only"
                .into(),
            Error::Changed { .. } => "try again".into(),
            Error::Refused { .. } => return None,
        })
    }
}

impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        match error {
            longhaul_files::Error {
                path,
                fault: Fault::Locked,
                ..
            } => Error::Locked { path },
            other => Error::File(other),
        }
    }
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
