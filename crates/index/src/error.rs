//! What can go wrong with the index and the models, said with its remedy.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the index, a search or a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] longhaul_files::Error),
    /// Another process keeps the index locked.
    #[error(
        "the index {} is locked by another process; wait for it, or try again",
        path.display()
    )]
    Busy {
        /// The index.
        path: PathBuf,
    },
    /// The index is damaged.
    #[error(
        "the index {} is damaged ({reason}); it holds nothing that is not elsewhere: \
         `longhaul memory index --rebuild` makes it anew",
        path.display()
    )]
    Damaged {
        /// The index.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// The index was damaged, and an empty one has taken its place.
    #[error(
        "the index {} was damaged ({reason}){}; a new one was begun: \
         `longhaul memory index` fills it again",
        path.display(),
        aside.as_ref().map(|aside| format!(" and lies at {}", aside.display())).unwrap_or_default()
    )]
    Replaced {
        /// The index.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
        /// Where the damaged one was put; none where another process did it.
        aside: Option<PathBuf>,
    },
    /// The index may be read and not written.
    #[error(
        "the index {} cannot be written: it or its folder is read-only; what is in it can be \
         searched",
        path.display()
    )]
    ReadOnly {
        /// The index.
        path: PathBuf,
    },
    /// There is no room for the index.
    #[error(
        "no room left for the index {}; what is indexed so far stays, free some space and run \
         `longhaul memory index`",
        path.display()
    )]
    Full {
        /// The index.
        path: PathBuf,
    },
    /// The disk failed, which is also how SQLite tells that it has no room for
    /// the files beside the index.
    #[error(
        "the index {} cannot be read or written ({reason}); the disk may be full or failing: \
         free some space, then try again",
        path.display()
    )]
    Disk {
        /// The index.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// A newer longhaul made the index.
    #[error(
        "the index {} was made by a newer longhaul (layout {found}, this one knows {known}); \
         update longhaul, or delete the index to make it anew",
        path.display()
    )]
    Newer {
        /// The index.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest layout known here.
        known: i64,
    },
    /// SQLite failed otherwise.
    #[error("the index {} failed: {source}", path.display())]
    Sqlite {
        /// The index.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A folder or wheel is no model that can be used.
    #[error("{} is no usable model: {reason}; {remedy}", path.display())]
    Model {
        /// The folder, wheel or file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A model failed while it made vectors.
    #[error("the model {model} failed: {reason}")]
    Encoder {
        /// The model.
        model: String,
        /// What it said.
        reason: String,
    },
}

/// Why an index could only be opened to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unwritable {
    /// Nobody may write there.
    Refused,
    /// There is no room.
    Full,
    /// The disk failed, in SQLite's words.
    Disk(String),
}

impl Unwritable {
    /// Whether a failure to open an index for writing leaves it to be read.
    pub(crate) fn by(error: &IndexError) -> Option<Unwritable> {
        use io::ErrorKind;
        match error {
            IndexError::ReadOnly { .. } => Some(Unwritable::Refused),
            IndexError::Full { .. } => Some(Unwritable::Full),
            IndexError::Disk { reason, .. } => Some(Unwritable::Disk(reason.clone())),
            IndexError::File(error) => match error.kind() {
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    Some(Unwritable::Refused)
                }
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(Unwritable::Full),
                _ => None,
            },
            _ => None,
        }
    }

    /// What whoever writes all the same is told.
    pub(crate) fn error(&self, path: &Path) -> IndexError {
        let path = path.to_owned();
        match self {
            Unwritable::Refused => IndexError::ReadOnly { path },
            Unwritable::Full => IndexError::Full { path },
            Unwritable::Disk(reason) => IndexError::Disk {
                path,
                reason: reason.clone(),
            },
        }
    }

    /// What whoever searches should know. That a folder may only be read is
    /// meant so, and no news.
    pub(crate) fn note(&self, path: &Path) -> Option<String> {
        let error = match self {
            Unwritable::Refused => return None,
            Unwritable::Full | Unwritable::Disk(_) => self.error(path),
        };
        Some(format!("what is indexed was searched as it is: {error}"))
    }
}

impl IndexError {
    /// Whether it may be gone a while later without anybody's doing: an endpoint
    /// that is away, an index that another process has locked.
    pub fn may_pass(&self) -> bool {
        matches!(self, IndexError::Encoder { .. } | IndexError::Busy { .. })
    }

    /// Whether what is in the file is at fault, and not the disk, a lock or a
    /// permission. Without a table that should be there, SQLite finds a
    /// statement wrong.
    pub(crate) fn is_of_content(&self) -> bool {
        use rusqlite::ErrorCode;
        match self {
            IndexError::Damaged { .. } => true,
            IndexError::Sqlite { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(
                    ErrorCode::Unknown
                        | ErrorCode::ConstraintViolation
                        | ErrorCode::TypeMismatch
                        | ErrorCode::TooBig
                )
            ),
            _ => false,
        }
    }

    /// A folder, wheel or file that is no usable model.
    pub(crate) fn model(
        path: &Path,
        reason: impl Into<String>,
        remedy: &'static str,
    ) -> IndexError {
        IndexError::Model {
            path: path.to_owned(),
            reason: reason.into(),
            remedy,
        }
    }

    pub(crate) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> IndexError + use<> {
        let wrap = longhaul_files::Error::io(action, path);
        move |source| IndexError::File(wrap(source))
    }

    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        move |source| {
            let path = path.clone();
            let reason = source.to_string();
            match source.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    IndexError::Busy { path }
                }
                Some(ErrorCode::DiskFull) => IndexError::Full { path },
                Some(ErrorCode::SystemIoFailure) => IndexError::Disk { path, reason },
                Some(ErrorCode::ReadOnly) => IndexError::ReadOnly { path },
                _ if is_damage(&source) => IndexError::Damaged { path, reason },
                _ => IndexError::Sqlite { path, source },
            }
        }
    }
}

/// Whether a failure shows that the file is not as it was written.
fn is_damage(source: &rusqlite::Error) -> bool {
    use rusqlite::{Error, ErrorCode};
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => true,
        // Every file of ours has all tables.
        Some(ErrorCode::Unknown) => source.to_string().contains("no such table"),
        Some(_) => false,
        // Pages that were overwritten may pass for pages, with values
        // that were never written here.
        None => matches!(
            source,
            Error::InvalidColumnType(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::FromSqlConversionFailure(..)
                | Error::Utf8Error(..)
        ),
    }
}
