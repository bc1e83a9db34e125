//! Systems without descriptors of folders: the same by names, looked at first.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{How, Seen};
use crate::error::FileKind;
use crate::replace::NewFile;

pub(crate) fn open(path: &Path, how: How) -> io::Result<File> {
    if how != How::Create
        && let Some(kind) = crate::open::kind_of(path)
    {
        return Err(io::Error::other(format!("it is {kind}")));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    match how {
        How::Read => &mut options,
        How::Append => options.append(true),
        How::Create => options.append(true).create_new(true),
        How::AppendOrCreate => options.append(true).create(true),
    };
    options.open(path)
}

pub(crate) fn make_blocking(_file: &File) -> io::Result<()> {
    Ok(())
}

pub(crate) fn sync_folder_of(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// A folder by its name.
pub(crate) struct Beneath(PathBuf);

impl Beneath {
    pub(crate) fn at(folder: &Path) -> io::Result<Beneath> {
        Ok(Beneath(folder.to_owned()))
    }

    pub(crate) fn open(root: &Path, below: Option<&Path>) -> io::Result<Beneath> {
        let mut at = root.to_owned();
        for part in below.into_iter().flat_map(Path::components) {
            at.push(part);
            if fs::symlink_metadata(&at)?.is_symlink() {
                return Err(io::Error::other("a folder on the way is a link"));
            }
        }
        Ok(Beneath(at))
    }

    pub(crate) fn make(root: &Path, below: Option<&Path>) -> io::Result<Beneath> {
        fs::create_dir_all(root.join(below.unwrap_or(Path::new(""))))?;
        Beneath::open(root, below)
    }

    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        open(&self.0.join(name), How::Read)
    }

    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<Seen>> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(meta) => Ok(Some(Seen {
                kind: FileKind::of(meta.file_type()),
                permissions: meta.permissions(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn create(&self, name: &OsStr, _new: NewFile) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true);
        options.open(self.0.join(name))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
