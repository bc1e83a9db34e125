//! What can go wrong, said so that a person knows what to do next.

use std::fmt;
use std::io;
use std::path::PathBuf;

use longhaul_transcript::SessionKey;

use crate::CheckpointId;

/// What is wrong with a document, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The line, from 1, where it is known.
    pub line: Option<u64>,
    /// What is wrong, in words.
    pub reason: String,
}

impl Flaw {
    pub(crate) fn new(reason: impl Into<String>) -> Flaw {
        Flaw {
            line: None,
            reason: reason.into(),
        }
    }

    pub(crate) fn at(line: u64, reason: impl Into<String>) -> Flaw {
        Flaw {
            line: Some(line),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for Flaw {}

/// A failure of an operation on checkpoints.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] longhaul_files::Error),

    /// A checkpoint or state file is not what was written.
    #[error("{} is damaged ({flaw})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        flaw: Flaw,
        /// The older checkpoint that is used in its place, where there is one.
        instead: Option<CheckpointId>,
    },

    /// The session has no such checkpoint.
    #[error("session {key} has no checkpoint {id}")]
    NoSuchCheckpoint {
        /// The session.
        key: SessionKey,
        /// The checkpoint that was asked for.
        id: CheckpointId,
    },

    /// Another process holds the session's checkpoints.
    #[error("the checkpoints of session {key} are locked by another process")]
    Locked {
        /// The session.
        key: SessionKey,
    },

    /// A draft of one session was to be stored under another.
    #[error("a checkpoint of session {of} cannot be stored for {key}")]
    OtherSession {
        /// The session it was made of.
        of: SessionKey,
        /// The session it was stored for.
        key: SessionKey,
    },
}

impl Error {
    /// What the user can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::File(error) => match error.kind() {
                io::ErrorKind::ReadOnlyFilesystem => {
                    "the folder is read-only; set `sandbox.readOnly` or another state folder".into()
                }
                _ => return error.remedy(),
            },
            Error::Damaged { path, instead, .. } => format!(
                "{}checkpoints are never edited in place: put the original back, or delete {}",
                match instead {
                    Some(_) => "the checkpoint before it is used; ",
                    None => "",
                },
                path.display()
            ),
            Error::NoSuchCheckpoint { .. } => {
                "`longhaul checkpoint list` shows those that are kept".into()
            }
            Error::Locked { .. } => {
                "wait for the other process to finish, or stop it, then try again".into()
            }
            Error::OtherSession { .. } => return None,
        })
    }
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
