//! Where a memory file really is: in the workspace, or nowhere.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longhaul_transcript::durable;

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

/// The real path of a file that is to be written; its folder is made. Links
/// are followed as long as they stay in the workspace.
pub(super) fn for_writing(root: &Path, name: &str) -> Result<PathBuf> {
    let named = root.join(name);
    let folder = named.parent().unwrap_or(root);
    if folder != root {
        durable::create_folder(folder).map_err(Error::write)?;
    }
    let real = fs::canonicalize(folder).map_err(Error::io("create", folder))?;
    let path = match named.file_name() {
        Some(name) if real.starts_with(root) => real.join(name),
        _ => return Err(Error::Outside { path: named }),
    };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
        Err(error) => Err(Error::io("read", &path)(error)),
        Ok(_) => existing(root, name, &path),
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
    // A pipe would make the reader wait for ever.
    match fs::metadata(&real)
        .map_err(Error::io("read", path))?
        .is_file()
    {
        true => Ok(real),
        false => Err(Error::NotAFile {
            path: path.to_owned(),
        }),
    }
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

/// Whether a file could be read, if it is there: its size and kind, not its
/// content.
pub(super) fn readable(root: &Path, name: &str, most: u64) -> Result<()> {
    let Some(path) = for_reading(root, name)? else {
        return Ok(());
    };
    let named = root.join(name);
    let file = fs::File::open(&path).map_err(Error::io("read", &named))?;
    let bytes = file.metadata().map_err(Error::io("read", &named))?.len();
    match bytes > most {
        true => Err(Error::TooLarge {
            path: named,
            bytes,
            most,
        }),
        false => Ok(()),
    }
}

/// The file's text. Bytes that are not UTF-8 become U+FFFD: people and other
/// programs write here too. Not for what is written back.
pub(super) fn read(root: &Path, name: &str, most: u64) -> Result<Option<String>> {
    let bytes = bytes(root, name, most)?;
    Ok(bytes.map(|bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

/// The file as it is.
pub(super) fn bytes(root: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>> {
    let Some(path) = for_reading(root, name)? else {
        return Ok(None);
    };
    // What is known to be too large is not read at all; what grows meanwhile
    // only so far.
    readable(root, name, most)?;
    let named = root.join(name);
    let file = fs::File::open(&path).map_err(Error::io("read", &named))?;
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", &named))?;
    if bytes.len() as u64 > most {
        return Err(Error::TooLarge {
            bytes: fs::metadata(&path).map_or(most + 1, |meta| meta.len()),
            path: named,
            most,
        });
    }
    Ok(Some(bytes))
}

/// The size of a file, if it is there.
pub(super) fn size(root: &Path, name: &str) -> Result<Option<u64>> {
    match for_reading(root, name)? {
        Some(path) => fs::metadata(&path)
            .map(|meta| Some(meta.len()))
            .map_err(Error::io("read", &path)),
        None => Ok(None),
    }
}

/// The names in a folder; none if there is no such folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let listing = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(Error::io("list", folder))?,
    };
    let mut names = Vec::new();
    for entry in listing {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        // A memory file has a name of plain text.
        names.extend(name.into_string());
    }
    names.sort();
    Ok(names)
}

/// Makes a folder of the workspace; says whether it is new.
pub(super) fn folder(root: &Path, name: &str) -> Result<bool> {
    let path = root.join(name);
    let is_new = fs::symlink_metadata(&path).is_err();
    durable::create_folder(&path).map_err(Error::write)?;
    match fs::canonicalize(&path) {
        Ok(real) if real.starts_with(root) => Ok(is_new),
        _ => Err(Error::Outside { path }),
    }
}
