//! The fence around the files of an agent.
//!
//! A path is first resolved by hand, symlinks and `..` included, also where its
//! end does not exist yet, and must then lie below a root. What it resolved to
//! is opened folder by folder without following any symlink, so that one put
//! there in between leads to an error and not out of the workspace.

#[cfg(all(test, unix))]
mod tests;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Symlinks followed in one path; Linux has the same limit.
const MOST_LINKS: usize = 40;

/// Where an agent may read and write.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    workspace: PathBuf,
    readable: Vec<PathBuf>,
}

/// What a path is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A path below a root, with no symlink in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inside {
    root: PathBuf,
    below: PathBuf,
}

impl Inside {
    /// The whole path.
    pub(super) fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }

    /// The path below its root.
    pub(super) fn below(&self) -> &Path {
        &self.below
    }
}

impl Fence {
    /// A fence around a workspace, which must exist; other folders may be read
    /// too, where they exist.
    pub(super) fn new(workspace: &Path, readable: &[PathBuf]) -> io::Result<Fence> {
        let workspace = fs::canonicalize(workspace)?;
        if !workspace.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Fence {
            workspace,
            readable: readable.to_vec(),
        })
    }

    /// The workspace.
    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Where a path of the model's leads.
    pub(super) fn resolve(&self, path: &str, access: Access) -> Result<Inside, String> {
        if path.trim().is_empty() {
            return Err("The path is empty. Name a file in the workspace.".into());
        }
        if path.contains('\0') {
            return Err("The path has a NUL character in it. Name a file in the workspace.".into());
        }
        if path == "~" || path.starts_with("~/") {
            return Err(format!(
                "\"{path}\" is in the home folder, and only files of the workspace can be used: {}",
                self.workspace.display()
            ));
        }
        let real = real_path(&self.workspace.join(path))
            .map_err(|error| format!("\"{path}\" cannot be followed: {error}."))?;
        let extra: &[PathBuf] = match access {
            Access::Read => &self.readable,
            Access::Write => &[],
        };
        // These folders may be made at any time, so they are looked up now.
        let extra = extra.iter().filter_map(|root| fs::canonicalize(root).ok());
        for root in std::iter::once(self.workspace.clone()).chain(extra) {
            if let Ok(below) = real.strip_prefix(&root) {
                let below = below.to_owned();
                return Ok(Inside { root, below });
            }
        }
        let led = match self.workspace.join(path) == real {
            true => String::new(),
            false => format!(" (it leads to {})", real.display()),
        };
        Err(format!(
            "\"{path}\"{led} is outside the workspace {}. Only files in the workspace can be {}.",
            self.workspace.display(),
            match access {
                Access::Read => "read",
                Access::Write => "written",
            }
        ))
    }
}

/// The path with every `.`, `..` and symlink resolved. Its end need not exist.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::new();
    let mut left: VecDeque<OsString> = VecDeque::new();
    let mut missing = false;
    let mut links = 0;
    push_front(&mut left, path);
    while let Some(part) = left.pop_front() {
        match Path::new(&part).components().next() {
            None | Some(Component::CurDir) => {}
            Some(root @ (Component::RootDir | Component::Prefix(_))) => real.push(root.as_os_str()),
            // What does not exist has no parent that could be known.
            Some(Component::ParentDir) if missing => {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    "it goes through a folder that does not exist",
                ));
            }
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                match fs::symlink_metadata(&next) {
                    Ok(meta) if meta.is_symlink() => {
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(io::Error::other("too many symlinks"));
                        }
                        let target = fs::read_link(&next)?;
                        if target.is_absolute() {
                            real = PathBuf::new();
                        }
                        push_front(&mut left, &target);
                    }
                    Ok(_) => real = next,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        missing = true;
                        real = next;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(real)
}

fn push_front(left: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        left.push_front(part.as_os_str().to_owned());
    }
}

/// Opens a file to be read. Only regular files: a pipe or a device could hold a
/// turn up for ever.
pub(super) fn open(inside: &Inside) -> io::Result<File> {
    let file = system::open_file(inside)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok(file)
}

/// Replaces or creates a file: temporary file beside it, fsync, rename, fsync
/// of the folder. Folders on the way are made. The permissions of an existing
/// file stay; a new one gets what any program of the user's would give it.
pub(super) fn write(inside: &Inside, bytes: &[u8]) -> io::Result<()> {
    if inside.below.file_name().is_none() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    system::replace(inside, &mut |file| file.write_all(bytes))
}

/// The name of the temporary file for a file: always the same, so that what a
/// crash left behind is taken over, and short whatever the file's own is.
fn temporary_name(name: &std::ffi::OsStr) -> String {
    let hash = blake3::hash(name.as_encoded_bytes()).to_hex();
    format!(".{}.longhaul-tmp", &hash[..16])
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};
    use rustix::io::Errno;

    use super::{Inside, temporary_name};

    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);

    /// A folder below the root, opened step by step.
    fn folder(root: &Path, below: Option<&Path>, make: Make) -> io::Result<OwnedFd> {
        let mut at = rustix::fs::openat(CWD, root, FOLDER, Mode::empty())?;
        for part in below.into_iter().flat_map(Path::components) {
            at = match rustix::fs::openat(&at, part.as_os_str(), FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if make == Make::Missing => {
                    match rustix::fs::mkdirat(&at, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    rustix::fs::fsync(&at)?;
                    rustix::fs::openat(&at, part.as_os_str(), FOLDER, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(at)
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Make {
        Missing,
        Nothing,
    }

    pub(super) fn open_file(inside: &Inside) -> io::Result<File> {
        let Some(name) = inside.below.file_name() else {
            return Ok(File::from(folder(&inside.root, None, Make::Nothing)?));
        };
        let folder = folder(&inside.root, inside.below.parent(), Make::Nothing)?;
        // NONBLOCK: to open a pipe would wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
        Ok(File::from(file))
    }

    pub(super) fn replace(
        inside: &Inside,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let name = inside.below.file_name().unwrap_or_default();
        let folder = folder(&inside.root, inside.below.parent(), Make::Missing)?;
        let old = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(old) => Some(rustix::fs::FileType::from_raw_mode(old.st_mode)).zip(Some(old)),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        match old {
            Some((rustix::fs::FileType::RegularFile, _)) | None => {}
            Some((rustix::fs::FileType::Directory, _)) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Some(_) => return Err(io::Error::other("it is no regular file")),
        }
        let temporary = temporary_name(name);
        // A file that somebody put there is not written through.
        match rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(0o666))?;
        let mut file = File::from(file);
        let mut finish = || -> io::Result<()> {
            write(&mut file)?;
            if let Some((_, old)) = &old {
                #[allow(clippy::unnecessary_cast)]
                let mode = (old.st_mode as u32) & 0o7777;
                file.set_permissions(std::fs::Permissions::from_mode(mode))?;
            }
            file.sync_all()?;
            rustix::fs::renameat(&folder, &temporary, &folder, name)?;
            rustix::fs::fsync(folder.as_fd())?;
            Ok(())
        };
        let finished = finish();
        if finished.is_err() {
            let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        }
        finished
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{self, File};
    use std::io;

    use super::{Inside, temporary_name};

    pub(super) fn open_file(inside: &Inside) -> io::Result<File> {
        File::open(inside.path())
    }

    pub(super) fn replace(
        inside: &Inside,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let path = inside.path();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let temporary = path.with_file_name(temporary_name(path.file_name().unwrap_or_default()));
        let _ = fs::remove_file(&temporary);
        let finished = File::create_new(&temporary)
            .and_then(|mut file| {
                write(&mut file)?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&temporary, &path));
        if finished.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        finished
    }
}
