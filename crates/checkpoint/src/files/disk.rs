//! The writes of the file store, one method each, so that a test can stop
//! after any of them.

use std::path::Path;

use longhaul_files::Fault;

use crate::error::{Error, Result};

/// What the store does to files.
pub(crate) trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes a folder and its parents.
    fn create_folder(&self, path: &Path) -> Result<()>;
    /// Puts a whole file in place, durably: old or new, never half.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()>;
    /// Moves a file within the file system.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;
    /// Removes a file, if it is there.
    fn remove(&self, path: &Path) -> Result<()>;
    /// Removes what interrupted replacements left in a folder.
    fn sweep(&self, folder: &Path) -> Result<u32>;
}

/// The real one.
#[derive(Debug)]
pub(crate) struct Durable;

impl Disk for Durable {
    fn create_folder(&self, path: &Path) -> Result<()> {
        Ok(longhaul_files::create_folder(path)?)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        Ok(longhaul_files::replace(path, bytes)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        Ok(longhaul_files::rename(from, to)?)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        longhaul_files::remove(path)?;
        Ok(())
    }

    fn sweep(&self, folder: &Path) -> Result<u32> {
        Ok(longhaul_files::sweep(folder)?)
    }
}

/// The file's text, or nothing if there is no such file.
pub(crate) fn read(path: &Path, most: u64) -> Result<Option<String>> {
    let damaged = |reason: &str| Error::Damaged {
        path: path.to_owned(),
        flaw: crate::Flaw::new(reason),
        instead: None,
    };
    let text = longhaul_files::optional(longhaul_files::read_text(path, most));
    text.map_err(|error| match error.fault {
        Fault::TooLarge { .. } => damaged("it is far larger than any file of its kind"),
        Fault::NotText => damaged("it is not text"),
        _ => error.into(),
    })
}
