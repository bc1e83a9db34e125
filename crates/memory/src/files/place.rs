//! Where a memory file really is: in the workspace, or nowhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The workspace with its links followed.
pub(super) fn root(workspace: &Path) -> Result<PathBuf> {
    let error = |reason: String| Error::NoWorkspace {
        path: workspace.to_owned(),
        reason,
    };
    let root = fs::canonicalize(workspace).map_err(|e| error(e.to_string()))?;
    match root.is_dir() {
        true => Ok(root),
        false => Err(error("something else is there".into())),
    }
}

/// The path of a file that is to be written; its folder is made. Links of folders
/// are followed as long as they stay in the workspace; one in the place of the
/// file is refused by whoever opens it.
pub(super) fn for_writing(root: &Path, name: &str) -> Result<PathBuf> {
    let named = root.join(name);
    let folder = named.parent().unwrap_or(root);
    if folder != root {
        longhaul_files::create_folder(folder)?;
    }
    let real = fs::canonicalize(folder).map_err(Error::io("create", folder))?;
    let path = match named.file_name() {
        Some(name) if real.starts_with(root) => real.join(name),
        _ => return Err(Error::Outside { path: named }),
    };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
        Err(error) => Err(Error::io("read", &path)(error)),
        Ok(_) => existing(root, name, &path).map(|_| path),
    }
}

/// Whether a file that has a name in a memory folder is in one: a link there
/// leads to another memory file, or is none of ours.
fn is_memory(root: &Path, name: &str, real: &Path) -> bool {
    const FOLDERS: [&str; 2] = ["memory", "memories"];
    let within = |folder: &str| {
        let inside = name.strip_prefix(folder);
        inside.is_some_and(|inside| inside.starts_with('/'))
    };
    if !FOLDERS.into_iter().any(within) {
        return true;
    }
    FOLDERS.iter().any(|folder| {
        let home = fs::canonicalize(root.join(folder));
        home.is_ok_and(|home| real.starts_with(home))
    })
}

/// The real path of something that is there.
fn existing(root: &Path, name: &str, path: &Path) -> Result<PathBuf> {
    // A link to nowhere would be made a file where it points to.
    let outside = |_| Error::Outside {
        path: path.to_owned(),
    };
    let real = fs::canonicalize(path).map_err(outside)?;
    if !real.starts_with(root) {
        return Err(outside(io::ErrorKind::NotFound.into()));
    }
    if !is_memory(root, name, &real) {
        return Err(Error::NoMemory {
            path: path.to_owned(),
        });
    }
    longhaul_files::require_regular(&real).map_err(|error| error.at(path))?;
    Ok(real)
}

/// The real path of a file that is to be read, if it is there.
pub(super) fn for_reading(root: &Path, name: &str) -> Result<Option<PathBuf>> {
    let named = root.join(name);
    match fs::symlink_metadata(&named) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::io("read", &named)(error)),
        Ok(_) => existing(root, name, &named).map(Some),
    }
}

/// The file's text. Bytes that are not UTF-8 become U+FFFD: people and other
/// programs write here too. Not for what is written back.
pub(super) fn read(root: &Path, name: &str, most: u64) -> Result<Option<String>> {
    let bytes = bytes(root, name, most)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The file as it is.
pub(super) fn bytes(root: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>> {
    let Some(path) = for_reading(root, name)? else {
        return Ok(None);
    };
    let read = longhaul_files::read(&path, most);
    Ok(Some(read.map_err(|error| error.at(&root.join(name)))?))
}

/// The size of a file, if it is there.
pub(super) fn size(root: &Path, name: &str) -> Result<Option<u64>> {
    let path = for_reading(root, name)?;
    let meta = |path: PathBuf| fs::metadata(&path).map_err(Error::io("read", &path));
    Ok(path.map(meta).transpose()?.map(|meta| meta.len()))
}

/// Makes a folder of the workspace; says whether it is new.
pub(super) fn folder(root: &Path, name: &str) -> Result<bool> {
    let path = root.join(name);
    let is_new = fs::symlink_metadata(&path).is_err();
    longhaul_files::create_folder(&path)?;
    match fs::canonicalize(&path) {
        Ok(real) if real.starts_with(root) => Ok(is_new),
        _ => Err(Error::Outside { path }),
    }
}
