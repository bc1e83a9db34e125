//! The files of an index on disk: made, told apart, and set aside.
//!
//! Whoever opens an index shares a lock, whoever puts another file in its
//! place has it alone: nobody opens the one database with the log of the
//! other. Who had it open before goes on with the old file until it sees that
//! the name is another's now.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use longhaul_transcript::durable;

use super::IndexError;

/// Which file it is, whatever its name; none where the system does not say.
pub(super) type Identity = Option<(u64, u64)>;

#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(_path: &Path) -> Identity {
    None
}

/// Held until it is dropped.
pub(super) struct Lock(#[allow(dead_code)] File);

/// Whether somebody had an index here: the file by which its users take turns is
/// made with the first, and stays.
pub(super) fn had_users(path: &Path) -> bool {
    with_suffix(path, ".lock").exists()
}

/// Keeps others from putting another file in the place of this one.
pub(super) fn lock_shared(path: &Path) -> Result<Lock, IndexError> {
    locked(path, File::lock_shared)
}

/// Keeps others from opening the index while its file changes.
pub(super) fn lock_alone(path: &Path) -> Result<Lock, IndexError> {
    locked(path, File::lock)
}

fn locked(path: &Path, lock: fn(&File) -> std::io::Result<()>) -> Result<Lock, IndexError> {
    let name = with_suffix(path, ".lock");
    let file = options()
        .create(true)
        .open(&name)
        .map_err(IndexError::io("open", &name))?;
    match lock(&file) {
        // A file system without locks: an index is no worse off there than
        // without this one.
        Err(error) if error.kind() != ErrorKind::Unsupported => {
            Err(IndexError::io("lock", &name)(error))
        }
        _ => Ok(Lock(file)),
    }
}

fn options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// A folder in the place of an index is somebody's, and none of ours to move.
pub(super) fn not_a_folder(path: &Path) -> Result<(), IndexError> {
    match path.is_dir() {
        false => Ok(()),
        true => Err(IndexError::Io {
            action: "open the index",
            path: path.to_owned(),
            source: std::io::Error::new(
                std::io::ErrorKind::IsADirectory,
                "a folder is in its place",
            ),
        }),
    }
}

pub(super) fn create_folder_of(path: &Path) -> Result<(), IndexError> {
    let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
    folder.map_or(Ok(()), |folder| {
        durable::create_folder(folder).map_err(|error| IndexError::Io {
            action: "create the folder of",
            path: path.to_owned(),
            source: std::io::Error::other(error),
        })
    })
}

/// A new file is the user's alone; SQLite gives its other files the same mode.
/// One that is there is not opened: closing it would end the locks that other
/// connections of this process have on it.
pub(super) fn private(path: &Path) -> Result<(), IndexError> {
    match options().create_new(true).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(IndexError::io("open", path)(error))
        }
        _ => Ok(()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

/// The path as an address that SQLite takes, with something behind it.
pub(super) fn uri(path: &Path, behind: &str) -> String {
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
        .find(|aside| !aside.exists())
        .expect("numbers do not end");
    fs::rename(path, &aside).map_err(IndexError::io("set aside", path))?;
    for file in &files_of(path)[1..] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(IndexError::io("delete", file)(error));
            }
            _ => {}
        }
    }
    Ok(aside)
}
