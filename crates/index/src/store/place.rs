//! The files of an index on disk: made, told apart, and set aside.
//!
//! Whoever opens an index shares a lock, whoever puts another file in its
//! place has it alone: nobody opens the one database with the log of the
//! other. Who had it open before goes on with the old file until it sees that
//! the name is another's now.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use longhaul_files::{Lock, Sharing, Wait};
use rusqlite::OpenFlags;

use crate::error::IndexError;

/// Which file it is, whatever its name; none where there is none.
pub(super) type Identity = Option<longhaul_files::Identity>;

pub(super) fn identity(path: &Path) -> Identity {
    Some(longhaul_files::Identity::of(&path.metadata().ok()?))
}

/// Whether somebody had an index here: the file by which its users take turns is
/// made with the first, and stays.
pub(super) fn had_users(path: &Path) -> bool {
    with_suffix(path, ".lock").exists()
}

/// Keeps others from putting another file in the place of this one, and from opening it
/// as well where its file changes.
pub(super) fn lock(path: &Path, sharing: Sharing) -> Result<Lock, IndexError> {
    let name = with_suffix(path, ".lock");
    Ok(longhaul_files::lock_file(&name, sharing, Wait::Always)?)
}

/// Refuses what is no regular file in the place of the index, or of a file that
/// SQLite keeps beside it: SQLite would follow it, or wait for it.
pub(super) fn require_regular(path: &Path) -> Result<(), IndexError> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        longhaul_files::require_regular(&with_suffix(path, suffix))?;
    }
    Ok(())
}

pub(super) fn create_folder_of(path: &Path) -> Result<(), IndexError> {
    let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
    folder.map_or(Ok(()), |folder| Ok(longhaul_files::create_folder(folder)?))
}

/// A new file is the user's alone; SQLite gives its other files the same mode.
/// One that is there is not opened: closing it would end the locks that other
/// connections of this process have on it.
pub(super) fn private(path: &Path) -> Result<(), IndexError> {
    match longhaul_files::create(path, b"") {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        _ => require_regular(path),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

/// How every file is opened: SQLite follows no link. Those of the folders are the
/// user's, and [`uri`] has followed them.
pub(super) const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_URI
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// The path as an address that SQLite takes, with something behind it.
pub(super) fn uri(path: &Path, behind: &str) -> String {
    let path = longhaul_files::resolve_folder(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + behind
}

/// The database, its log, and what its users share.
pub(super) fn files_of(path: &Path) -> [PathBuf; 3] {
    [
        path.to_owned(),
        with_suffix(path, "-wal"),
        with_suffix(path, "-shm"),
    ]
}

/// Whether something was written that is not in the database itself yet.
pub(super) fn has_log(path: &Path) -> bool {
    let log = files_of(path)[1].metadata();
    log.is_ok_and(|log| log.len() > 0)
}

/// Renames a damaged index to the first free `.corrupt-<n>`. Who calls it has
/// the lock alone.
pub(super) fn set_aside(path: &Path, _lock: &Lock) -> Result<PathBuf, IndexError> {
    let aside = (1..)
        .map(|n| with_suffix(path, &format!(".corrupt-{n}")))
        .find(|aside| aside.symlink_metadata().is_err())
        .expect("numbers do not end");
    longhaul_files::rename(path, &aside)?;
    for file in &files_of(path)[1..] {
        longhaul_files::remove(file)?;
    }
    Ok(aside)
}
