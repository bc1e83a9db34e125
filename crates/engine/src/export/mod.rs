//! Export and import: a session's context in one file, and a fresh session
//! begun from it.
//!
//! An export is one JSON document that needs nothing beside it: the session's
//! path entry by entry, every summary on it and one of all that is in the
//! context now, the checkpoint, the ledger and the settings. Secrets are out of
//! it unless they were asked for. The path comes last and one entry a line, so
//! that a session of any length is written without being held in memory, and
//! what is wrong with a file can be said with its line.
//!
//! | question | answer |
//! |---|---|
//! | what goes in? | [`Source::gather`], then [`Source::write`] |
//! | is this file one? | [`Export::read`] |
//! | how does a session go on from it? | [`Export::begin`] with a [`Carry`] |
//! | what was taken out? | [`Report::redacted`] |

mod begin;
mod read;
mod write;

use std::io;
use std::path::{Path, PathBuf};

pub use begin::{Begun, Carry, IMPORT_MARK, RESTORED_MARK};
pub(crate) use begin::{Fresh, message};
pub use read::{Export, ExportedSession, ExportedSettings, MAX_EXPORT_BYTES};
pub use write::{At, Report, Secrets, Source};

/// The name of the schema.
pub const SCHEMA: &str = "longhaul/export";
/// The newest version of it that is written and read.
pub const VERSION: u64 = 1;

/// What stands before the seal, which covers every byte before this.
const SEALED: &str = ",\n\"seal\": ";

/// Why there is no export, or no session from one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// What is named is a folder, a device or a pipe.
    #[error("{} is not a regular file", path.display())]
    NoFile {
        /// What was named.
        path: PathBuf,
    },
    /// The file is larger than any export that can be read.
    #[error("{} has {bytes} bytes; an export of more than {MAX_EXPORT_BYTES} is not read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The file ends in the middle.
    #[error("{} is cut off at line {line}", path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Where it ends.
        line: usize,
    },
    /// Something in the file is not as the schema has it.
    #[error("line {line} of {} is not as an export has it: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The file is something else.
    #[error("{} is not an export of a context: {found}", path.display())]
    NotAnExport {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// A later program wrote it.
    #[error("{} is an export of version {version}; this program reads version {VERSION}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// A session could not be read or written.
    #[error(transparent)]
    Session(#[from] longhaul_transcript::Error),
    /// A checkpoint could not be read.
    #[error(transparent)]
    Checkpoint(#[from] longhaul_checkpoint::Error),
}

impl Error {
    /// What to do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::Unreadable { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the name of the file".into(),
                io::ErrorKind::PermissionDenied => "check who owns it and its permissions".into(),
                io::ErrorKind::InvalidData => "an export is UTF-8 text; copy it again".into(),
                _ => return None,
            },
            Error::NoFile { .. } => "write the export to a file first, then name that file".into(),
            Error::TooLarge { .. } => {
                "export a fork that begins later, or carry the session file itself".into()
            }
            Error::CutOff { .. } => "copy the file again, or export the session again".into(),
            Error::Invalid { .. } => {
                "exports are not edited by hand: export the session again".into()
            }
            Error::NotAnExport { .. } => "`longhaul context export` writes one".into(),
            Error::Newer { .. } => "update longhaul, or export again with this version".into(),
            Error::Session(error) => return error.remedy(),
            Error::Checkpoint(error) => return error.remedy(),
        })
    }

    fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Unreadable { path, source }
    }
}

/// The module's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
