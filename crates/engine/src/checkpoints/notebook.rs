//! The notebook: small notes about a session, each old or new, never half.

use std::path::{Path, PathBuf};

use longhaul_files::{Fault, Sharing, Wait};
use longhaul_transcript::SessionKey;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Error, Result};

/// No note has more.
const MOST_BYTES: u64 = 64 << 20;

/// Where a session's notes are kept, in terms of plain data.
pub trait Notebook: Send + Sync {
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
    _lock: longhaul_files::Lock,
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

    /// Where its notes lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Notebook for FileNotebook {
    fn read(&self, name: &str) -> Result<Option<String>> {
        let path = self.folder.join(name);
        let bytes = longhaul_files::optional(longhaul_files::read(&path, MOST_BYTES))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        longhaul_files::create_folder(&self.folder)?;
        Ok(longhaul_files::replace(
            &self.folder.join(name),
            text.as_bytes(),
        )?)
    }

    fn remove(&self, name: &str) -> Result<()> {
        longhaul_files::remove(&self.folder.join(name))?;
        Ok(())
    }

    fn set_aside(&self, name: &str) -> Result<String> {
        let from = self.folder.join(name);
        let to = self.folder.join(format!("{name}.damaged"));
        longhaul_files::rename(&from, &to)?;
        Ok(to.display().to_string())
    }

    fn lock(&self) -> Result<Option<Lock>> {
        longhaul_files::create_folder(&self.folder)?;
        let path = self.folder.join(".compacting");
        let taken = longhaul_files::lock_file(&path, Sharing::Alone, Wait::Never);
        match taken {
            Ok(lock) => Ok(Some(Lock { _lock: lock })),
            Err(error) => Err(match error.fault {
                Fault::Locked => Error::Busy {
                    key: self.key.clone(),
                },
                _ => error.into(),
            }),
        }
    }
}

/// A note read as what was written into it. A damaged one is set aside.
pub(crate) fn read_note<T: DeserializeOwned>(
    notebook: &dyn Notebook,
    name: &str,
) -> Result<Option<T>> {
    let Some(text) = notebook.read(name)? else {
        return Ok(None);
    };
    match serde_json::from_str(&text) {
        Ok(note) => Ok(Some(note)),
        Err(error) => Err(Error::Damaged {
            name: name.to_owned(),
            reason: error.to_string(),
            kept: notebook.set_aside(name)?,
        }),
    }
}

/// Writes a note that [`read_note`] reads.
pub(crate) fn write_note(notebook: &dyn Notebook, name: &str, note: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(note).unwrap_or_default();
    notebook.write(name, &text)
}

/// The name of a note about one session file: several files may share a key.
pub(crate) fn note_of(kind: &str, session_file: &str) -> String {
    let hash = blake3::hash(session_file.as_bytes()).to_hex();
    format!("{kind}-{}.json", &hash[..10])
}
