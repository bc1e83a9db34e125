//! What can go wrong, said so that a person knows what to do next.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use rustix::fs::FileType;

/// A failure of an operation on a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {fault}", path.display())]
pub struct Error {
    /// What was tried, as a verb phrase.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What is in the way.
    #[source]
    pub fault: Fault,
}

/// What is in the way of an operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The operating system refused.
    #[error(transparent)]
    System(io::Error),

    /// Something that is no regular file has the name.
    #[error("it is {0}")]
    NotAFile(FileKind),

    /// A file is larger than what is read of its kind.
    #[error("it has {bytes} bytes, more than the {most} it may have")]
    TooLarge {
        /// Its size, or so many bytes at least.
        bytes: u64,
        /// The largest size that is read.
        most: u64,
    },

    /// A file that should hold text does not.
    #[error("it is not text in UTF-8")]
    NotText,

    /// Another process holds the lock.
    #[error("it is locked by another process")]
    Locked,
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
    pub(crate) fn new(action: &'static str, path: &Path, fault: Fault) -> Error {
        Error {
            action,
            path: path.to_owned(),
            fault,
        }
    }

    /// Wraps an I/O error with what was tried on which path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| Error::new(action, &path, Fault::System(source))
    }

    /// The same failure under another name of the file, the one that a person
    /// knows it by.
    pub fn at(self, name: &Path) -> Error {
        Error {
            path: name.to_owned(),
            ..self
        }
    }

    /// What kind of failure it is, in the system's terms.
    pub fn kind(&self) -> io::ErrorKind {
        match &self.fault {
            Fault::System(source) => source.kind(),
            Fault::NotAFile(FileKind::Folder) => io::ErrorKind::IsADirectory,
            Fault::NotAFile(_) => io::ErrorKind::InvalidInput,
            Fault::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Fault::NotText => io::ErrorKind::InvalidData,
            Fault::Locked => io::ErrorKind::WouldBlock,
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
        match self.fault {
            Fault::System(source) => source,
            fault => io::Error::new(kind, fault),
        }
    }

    /// What the user can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        let path = self.path.display();
        Some(match &self.fault {
            Fault::System(source) => match source.kind() {
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
            Fault::NotAFile(FileKind::Link) => {
                format!("put a regular file in the place of {path}, or name what it leads to")
            }
            Fault::NotAFile(_) => {
                format!("move {path} out of the way; only regular files are read and written")
            }
            Fault::TooLarge { .. } => format!("shorten {path}, or move it out of the way"),
            Fault::NotText => format!("put text in the place of {path}"),
            Fault::Locked => {
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
