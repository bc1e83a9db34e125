//! The notebook: small notes about a session, each old or new, never half.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use longhaul_transcript::{Error as WriteError, SessionKey, durable};

use super::{Error, Result};

/// Where a session's notes are kept, in terms of plain data.
pub trait Notebook {
    /// A note, if there is one of this name.
    fn read(&self, name: &str) -> Result<Option<String>>;
    /// Replaces a note, durably.
    fn write(&self, name: &str, text: &str) -> Result<()>;
    /// Removes a note, if it is there.
    fn remove(&self, name: &str) -> Result<()>;
    /// Moves a note that cannot be read out of the way; says where to.
    fn set_aside(&self, name: &str) -> Result<String>;
    /// Takes the lock of the session's compactions, where there is one; one
    /// process has it at a time.
    fn lock(&self) -> Result<Option<Lock>> {
        Ok(None)
    }
}

/// A notebook that is only looked into, or none at all: what would be written
/// is dropped.
#[derive(Clone, Copy)]
pub struct Untouched<'a>(pub Option<&'a dyn Notebook>);

impl Notebook for Untouched<'_> {
    fn read(&self, name: &str) -> Result<Option<String>> {
        self.0.map_or(Ok(None), |notebook| notebook.read(name))
    }

    fn write(&self, _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn remove(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn set_aside(&self, name: &str) -> Result<String> {
        Ok(name.to_owned())
    }
}

/// Notes as files beside the session's state.
#[derive(Debug, Clone)]
pub struct FileNotebook {
    folder: PathBuf,
    key: SessionKey,
}

/// Keeps other processes from compacting the same session while it lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl FileNotebook {
    /// The notebook of a session below the state folder. Nothing is created
    /// before it is needed.
    pub fn new(state_dir: &Path, key: &SessionKey) -> FileNotebook {
        FileNotebook {
            folder: state_dir.join("context/state").join(key.folder_name()),
            key: key.clone(),
        }
    }
}

impl Notebook for FileNotebook {
    fn read(&self, name: &str) -> Result<Option<String>> {
        let path = self.folder.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path)(error)),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        durable::create_folder(&self.folder)?;
        let path = self.folder.join(name);
        Ok(durable::replace(&path, &mut |out| {
            out.write_all(text.as_bytes())
        })?)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    fn set_aside(&self, name: &str) -> Result<String> {
        let from = self.folder.join(name);
        let to = self.folder.join(format!("{name}.damaged"));
        fs::rename(&from, &to).map_err(failed("set aside", &from))?;
        Ok(to.display().to_string())
    }

    fn lock(&self) -> Result<Option<Lock>> {
        durable::create_folder(&self.folder)?;
        let path = self.folder.join(".compacting");
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(&path).map_err(failed("lock", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Err(Error::Busy {
                key: self.key.clone(),
            }),
            // A file system without locks: refusing would make it useless.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Some(Lock { _file: file }))
            }
            Err(TryLockError::Error(error)) => Err(failed("lock", &path)(error)),
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let wrap = longhaul_files::Error::io(action, path);
    move |source| Error::Write(WriteError::from(wrap(source)))
}

/// The name of a note about one session file: several files may share a key.
pub(crate) fn note_of(kind: &str, session_file: &str) -> String {
    let hash = blake3::hash(session_file.as_bytes()).to_hex();
    format!("{kind}-{}.json", &hash[..10])
}
