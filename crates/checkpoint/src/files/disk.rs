//! The writes of the file store, one method each, so that a test can stop
//! after any of them.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_transcript::durable;

use crate::error::{Error, Result};

/// Ends the name of what [`durable::replace`] has not finished.
pub(crate) const LEFTOVER: &str = ".longhaul-tmp";

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
}

/// The real one.
#[derive(Debug)]
pub(crate) struct Durable;

impl Disk for Durable {
    fn create_folder(&self, path: &Path) -> Result<()> {
        Ok(durable::create_folder(path)?)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        Ok(durable::replace(path, &mut |out| out.write_all(bytes))?)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(Error::io("set aside", from))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", path)(error))
            }
            _ => Ok(()),
        }
    }
}

/// The file's text, or nothing if there is no such file.
pub(crate) fn read(path: &Path, most: u64) -> Result<Option<String>> {
    use std::io::Read;
    let file = match fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::io("read", path))?,
    };
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    let damaged = |reason: &str| Error::Damaged {
        path: path.to_owned(),
        flaw: crate::Flaw::new(reason),
        instead: None,
    };
    if bytes.len() as u64 > most {
        return Err(damaged("it is far larger than any file of its kind"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(damaged("it is not text")),
    }
}

/// The names in a folder; none if there is no such folder.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let listing = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(Error::io("list", folder))?,
    };
    let mut names = Vec::new();
    for entry in listing {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        // No name of ours is anything but plain text.
        names.extend(name.into_string());
    }
    Ok(names)
}

/// The path of what an interrupted write of `path` leaves behind.
pub(crate) fn leftover(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(LEFTOVER);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_named_as_the_durable_write_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut seen = Vec::new();
        durable::replace(&path, &mut |out| {
            seen = names(folder.path()).unwrap();
            out.write_all(b"1")
        })
        .unwrap();
        let expected = leftover(&path).file_name().unwrap().to_owned();
        assert_eq!(seen, [expected.into_string().unwrap()]);
    }
}
