//! What can go wrong, said so that a person knows what to do next.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use rustix::fs::FileType;

/// A failure of an operation on a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// Something that is no regular file has the name.
    #[error("cannot {action} {}: it is {kind}", path.display())]
    NotAFile {
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// What is there.
        kind: FileKind,
    },

    /// A file is larger than what is read of its kind.
    #[error("{} has {bytes} bytes, more than the {most} it may have", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size, or so many bytes at least.
        bytes: u64,
        /// The largest size that is read.
        most: u64,
    },

    /// A file that should hold text does not.
    #[error("{} is not text in UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },

    /// Another process holds the lock.
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// What has a name and is no regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// A named pipe.
    Pipe,
    /// A device.
    Device,
    /// A socket.
    Socket,
    /// Something else.
    Other,
}

impl FileKind {
    /// What the system says it is; nothing for a regular file.
    pub(crate) fn of(kind: FileType) -> Option<FileKind> {
        Some(match kind {
            FileType::RegularFile => return None,
            FileType::Symlink => FileKind::Link,
            FileType::Directory => FileKind::Folder,
            FileType::Fifo => FileKind::Pipe,
            FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
            FileType::Socket => FileKind::Socket,
            FileType::Unknown => FileKind::Other,
        })
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Link => "a link, and none is followed here",
            FileKind::Folder => "a folder",
            FileKind::Pipe => "a pipe and no regular file",
            FileKind::Device => "a device and no regular file",
            FileKind::Socket => "a socket and no regular file",
            FileKind::Other => "no regular file",
        })
    }
}

impl Error {
    /// Wraps an I/O error with what was tried on which path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }

    pub(crate) fn not_a_file(action: &'static str, path: &Path, kind: FileKind) -> Error {
        Error::NotAFile {
            action,
            path: path.to_owned(),
            kind,
        }
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Error::Io { path, .. }
            | Error::NotAFile { path, .. }
            | Error::TooLarge { path, .. }
            | Error::NotText { path }
            | Error::Locked { path } => path,
        }
    }

    /// The same failure under another name of the file, the one that a person
    /// knows it by.
    pub fn at(mut self, name: &Path) -> Error {
        match &mut self {
            Error::Io { path, .. }
            | Error::NotAFile { path, .. }
            | Error::TooLarge { path, .. }
            | Error::NotText { path }
            | Error::Locked { path } => *path = name.to_owned(),
        }
        self
    }

    /// What kind of failure it is, in the system's terms.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Error::Io { source, .. } => source.kind(),
            Error::NotAFile {
                kind: FileKind::Folder,
                ..
            } => io::ErrorKind::IsADirectory,
            Error::NotAFile { .. } => io::ErrorKind::InvalidInput,
            Error::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Error::NotText { .. } => io::ErrorKind::InvalidData,
            Error::Locked { .. } => io::ErrorKind::WouldBlock,
        }
    }

    /// Whether there is nothing of that name.
    pub fn is_missing(&self) -> bool {
        matches!(
            self.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    }

    /// The reason without the path, for whoever tells the path himself.
    pub fn into_io(self) -> io::Error {
        let kind = self.kind();
        match self {
            Error::Io { source, .. } => source,
            Error::NotAFile { kind: what, .. } => io::Error::new(kind, format!("it is {what}")),
            Error::TooLarge { bytes, most, .. } => io::Error::new(
                kind,
                format!("it has {bytes} bytes, more than the {most} it may have"),
            ),
            Error::NotText { .. } => io::Error::new(kind, "it is not text in UTF-8"),
            Error::Locked { .. } => io::Error::new(kind, "another process has it locked"),
        }
    }

    /// What the user can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        let path = self.path().display();
        Some(match self {
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path".into(),
                io::ErrorKind::PermissionDenied => {
                    format!("check who owns {path} and its permissions")
                }
                io::ErrorKind::StorageFull => "free some disk space; nothing was lost".into(),
                io::ErrorKind::ReadOnlyFilesystem => {
                    "the folder is read-only; reading commands still work".into()
                }
                _ => return None,
            },
            Error::NotAFile {
                kind: FileKind::Link,
                ..
            } => format!("put a regular file in the place of {path}, or name what it leads to"),
            Error::NotAFile { .. } => {
                format!("move {path} out of the way; only regular files are read and written")
            }
            Error::TooLarge { .. } => format!("shorten {path}, or move it out of the way"),
            Error::NotText { .. } => format!("put text in the place of {path}"),
            Error::Locked { .. } => {
                "wait for the other process to finish, or stop it, then try again".into()
            }
        })
    }
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Nothing where there is no such file.
pub fn optional<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}
