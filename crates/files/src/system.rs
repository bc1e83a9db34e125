//! What the operating system is asked for: no link at the end of a path is
//! followed, and nothing waits.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::FileKind;

/// NONBLOCK: to open a pipe would wait for who is at its other end. NOCTTY: a
/// terminal would become ours.
const SAFE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const APPEND: OFlags = OFlags::RDWR.union(OFlags::APPEND);
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// To be read.
    Read,
    /// To be read and appended to; it must exist.
    Append,
    /// The same; it must not exist.
    Create,
    /// The same, whether it exists or not.
    AppendOrCreate,
}

/// Who may read a file that was not there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFile {
    /// The user alone.
    Private,
    /// Whoever may read the files that other programs of the user make.
    AsUsual,
}

/// What has a name in a folder.
pub(crate) struct Seen {
    /// What it is; nothing for a regular file.
    pub(crate) kind: Option<FileKind>,
    pub(crate) permissions: Permissions,
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(crate) fn open(path: &Path, how: How) -> io::Result<File> {
    let flags = match how {
        How::Read => OFlags::RDONLY,
        How::Append => APPEND,
        How::Create => APPEND | OFlags::CREATE | OFlags::EXCL,
        How::AppendOrCreate => APPEND | OFlags::CREATE,
    };
    Ok(rustix::fs::open(path, flags | SAFE, PRIVATE)?.into())
}

/// Reading and writing wait again, as they do in any file.
pub(crate) fn make_blocking(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}

/// Makes what happened to names in a path's folder durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    Beneath::at(folder_of(path))?.sync()
}

/// An open folder, whatever becomes of its name.
pub(crate) struct Beneath(OwnedFd);

impl Beneath {
    /// A folder, links followed.
    pub(crate) fn at(folder: &Path) -> io::Result<Beneath> {
        Ok(Beneath(rustix::fs::open(folder, FOLDER, Mode::empty())?))
    }

    /// A folder below another one, opened step by step without following links.
    pub(crate) fn below(
        root: &Path,
        below: Option<&Path>,
        missing: Missing,
    ) -> io::Result<Beneath> {
        let flags = FOLDER | OFlags::NOFOLLOW;
        let mut at = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
        for part in below.into_iter().flat_map(Path::components) {
            let part = match part {
                Component::Normal(part) => part,
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            };
            at = match rustix::fs::openat(&at, part, flags, Mode::empty()) {
                Err(Errno::NOENT) if missing == Missing::Made => {
                    match rustix::fs::mkdirat(&at, part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    rustix::fs::fsync(&at)?;
                    rustix::fs::openat(&at, part, flags, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(Beneath(at))
    }

    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | SAFE;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// What has a name here, links not followed.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<Seen>> {
        let found = match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            found => found?,
        };
        let kind = FileKind::of(FileType::from_raw_mode(found.st_mode));
        // 16 bits on some systems, 32 on others.
        #[allow(clippy::unnecessary_cast)]
        let mode = (found.st_mode as u32) & 0o7777;
        let permissions = Permissions::from_mode(mode);
        Ok(Some(Seen { kind, permissions }))
    }

    pub(crate) fn create(&self, name: &OsStr, new: NewFile) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = match new {
            NewFile::Private => PRIVATE,
            NewFile::AsUsual => Mode::from_raw_mode(0o666),
        };
        Ok(rustix::fs::openat(&self.0, name, flags | OFlags::CLOEXEC, mode)?.into())
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let at = &self.0;
        Ok(rustix::fs::linkat(at, from, at, to, AtFlags::empty())?)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}

/// What becomes of a folder on the way that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Refused,
    Made,
}
