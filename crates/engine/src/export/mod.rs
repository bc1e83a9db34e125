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

use std::path::PathBuf;

use longhaul_files::Fault;

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
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] longhaul_files::Error),
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
            Error::File(error) => match error.fault {
                Fault::NotAFile(_) => {
                    "write the export to a file first, then name that file".into()
                }
                Fault::TooLarge { .. } => {
                    "export a fork that begins later, or carry the session file itself".into()
                }
                _ => return error.remedy(),
            },
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
}

/// The module's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
