//! What can go wrong, said so that a person knows what to do next.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_files::Fault;

/// A failure of an operation on memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(longhaul_files::Error),

    /// The workspace is not a folder.
    #[error("{} is not a folder ({reason})", path.display())]
    NoWorkspace {
        /// What was named as the workspace.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },

    /// The workspace may not be written to.
    #[error("{} cannot be written: it is read-only", path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
    },

    /// A memory file is a link that leads out of the workspace.
    #[error("{} leads out of the workspace", path.display())]
    Outside {
        /// The file as it is named in the workspace.
        path: PathBuf,
    },

    /// A file in a memory folder is a link to something that is no memory.
    #[error("{} is a link to something that is no memory file", path.display())]
    NoMemory {
        /// The file as it is named in the workspace.
        path: PathBuf,
    },

    /// A memory file is too large to be one.
    #[error(
        "{} has {}, more than the {} a memory file may have",
        path.display(),
        longhaul_index::megabytes(*bytes),
        longhaul_index::megabytes(*most)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The largest size that is read.
        most: u64,
    },

    /// Another process is dreaming in the workspace.
    #[error("another process is dreaming in {}", workspace.display())]
    Dreaming {
        /// The workspace.
        workspace: PathBuf,
    },

    /// A time at which to dream cannot be understood.
    #[error("\"{text}\" is no schedule ({reason})")]
    Schedule {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: String,
    },

    /// There is no such candidate.
    #[error("there is no candidate {id}")]
    NoCandidate {
        /// The id that was asked for.
        id: String,
    },

    /// The candidate does not wait for review.
    #[error("{id} does not wait for review: it is {status}")]
    NotStaged {
        /// The candidate.
        id: String,
        /// What it is.
        status: String,
    },

    /// `MEMORY.md` has no room, and nothing in it may make room.
    #[error("MEMORY.md has no room for {id}: {tokens} tokens, {most} are allowed")]
    NoRoom {
        /// The candidate.
        id: String,
        /// Tokens it would have.
        tokens: u32,
        /// Tokens it may have.
        most: u32,
    },

    /// A change of the memory failed half way and could not be taken back.
    #[error("the change for {candidate} failed half way: {reason}")]
    Unfinished {
        /// The candidate.
        candidate: String,
        /// Why it failed.
        reason: String,
    },

    /// There is no such change.
    #[error("there is no promotion with the number {number}")]
    NoChange {
        /// The number that was asked for.
        number: u32,
    },

    /// A promotion was taken back before.
    #[error("change {number} was taken back before, by change {by}")]
    TakenBack {
        /// Its number.
        number: u32,
        /// The change that took it back.
        by: u32,
    },

    /// Later promotions changed the same candidates.
    #[error(
        "change {number} cannot be taken back alone: {} changed the same since",
        changes(first)
    )]
    BuiltUpon {
        /// Its number.
        number: u32,
        /// Those that have to go first, in that order.
        first: Vec<u32>,
    },

    /// No promotion is left that could be taken back.
    #[error("there is no promotion to take back")]
    NothingToUndo,

    /// A file of longhaul's own beside the memory is not what was written.
    #[error("{} is damaged ({reason})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with the line where it is known.
        reason: String,
    },
}

impl Error {
    /// Wraps an I/O error with what was tried on which path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let wrap = longhaul_files::Error::io(action, path);
        move |source| wrap(source).into()
    }

    /// What the user can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::File(error) => return error.remedy(),
            Error::NoWorkspace { .. } => {
                "name the folder the agent works in with --workspace".into()
            }
            Error::ReadOnly { .. } => {
                "set `sandbox.readOnly` to work without memory, or make it writable".into()
            }
            Error::Outside { path } => format!(
                "memory stays in its workspace: replace {} by a file or a folder of its own",
                path.display()
            ),
            Error::NoMemory { path } => format!(
                "replace {} by a file of its own, or move it out of the way",
                path.display()
            ),
            Error::TooLarge { path, .. } => {
                format!("split {} or move it out of the way", path.display())
            }
            Error::Dreaming { .. } => "wait until it is done, then try again".into(),
            Error::Schedule { .. } => {
                "write five fields, such as \"0 3 * * *\" for three in the morning".into()
            }
            Error::NoCandidate { .. } => "`longhaul dream review --json` lists them".into(),
            Error::NotStaged { .. } => {
                "`longhaul dream review --json` lists those that wait".into()
            }
            Error::NoRoom { .. } => {
                "take lines out of MEMORY.md that are no longer needed, then try again".into()
            }
            Error::Unfinished { .. } => {
                "it could not be taken back either; the next `longhaul dream` command that writes \
                 completes it and says so"
                    .into()
            }
            Error::NothingToUndo => return None,
            Error::NoChange { .. } | Error::TakenBack { .. } => {
                "`longhaul dream undo --list` shows which there are".into()
            }
            Error::BuiltUpon { first, .. } => match first.first() {
                Some(first) => format!("`longhaul dream undo {first}` first"),
                None => return None,
            },
            Error::Damaged { path, .. } => format!(
                "put the original back, or move {} out of the way; it is made anew",
                path.display()
            ),
        })
    }
}

/// A refusal because of rights is told apart, so that a caller can go on without
/// memory.
impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        let refuses = matches!(
            error.kind(),
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
        );
        match error.fault {
            Fault::TooLarge { bytes, most } => Error::TooLarge {
                path: error.path,
                bytes,
                most,
            },
            _ if refuses && !matches!(error.action, "read" | "list") => {
                Error::ReadOnly { path: error.path }
            }
            _ => Error::File(error),
        }
    }
}

/// "change 7", "changes 7, 5".
fn changes(numbers: &[u32]) -> String {
    let all: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match &all[..] {
        [one] => format!("change {one}"),
        all => format!("changes {}", all.join(", ")),
    }
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_write_is_told_apart_from_other_failures() {
        let refused = |kind: io::ErrorKind| Error::io("write", Path::new("a"))(kind.into());
        for kind in [
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::PermissionDenied,
        ] {
            let error = refused(kind);
            assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
            assert!(error.remedy().is_some());
        }
        let full = refused(io::ErrorKind::StorageFull);
        assert!(matches!(full, Error::File(_)), "{full}");
        let unread = Error::io("read", Path::new("a"))(io::ErrorKind::PermissionDenied.into());
        assert!(matches!(unread, Error::File(_)), "{unread}");
    }
}
