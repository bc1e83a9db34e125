//! Folders, and the names in them.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::{Error, Result};
use crate::system;

/// Creates a folder and its parents, private to the user.
pub fn create_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(path);
    made.map_err(Error::io("create", path))
}

/// Makes a rename or a new file in `path`'s folder durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    system::sync_folder_of(path).map_err(Error::io("write", path))
}

/// Gives a file another name in the same file system, durably. Links are moved,
/// not followed.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to)
        .and_then(|()| system::sync_folder_of(to))
        .map_err(Error::io("rename", from))
}

/// Removes a file and says whether it was there; a link is removed, not what it
/// leads to.
pub fn remove(path: &Path) -> Result<bool> {
    removed(path, fs::remove_file(path))
}

/// Removes a folder with all that is in it and says whether it was there; links
/// are removed, not what they lead to.
pub fn remove_folder(path: &Path) -> Result<bool> {
    removed(path, fs::remove_dir_all(path))
}

fn removed(path: &Path, result: io::Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("remove", path)(error)),
    }
}

/// The names in a folder that are plain text, in order; none if there is no such
/// folder.
pub fn names(folder: &Path) -> Result<Vec<String>> {
    let listing = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(Error::io("list", folder))?,
    };
    let mut names = Vec::new();
    for entry in listing {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        names.extend(name.into_string());
    }
    names.sort();
    Ok(names)
}

/// Where a path leads that the user named on purpose, links followed.
pub fn resolve(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(Error::io("read", path))
}

/// The path with the links of its folder followed, and its last part as it is.
pub fn resolve_folder(path: &Path) -> Result<PathBuf> {
    let real = fs::canonicalize(system::folder_of(path)).map_err(Error::io("open", path))?;
    Ok(match path.file_name() {
        Some(name) => real.join(name),
        None => real,
    })
}
