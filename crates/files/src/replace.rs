//! Replacing: old or new, never half, and never through somebody else's link.
//!
//! The new version is written to a file beside the old one, under a name nobody
//! can guess, then fsync, rename, fsync of the folder. Its writer holds a lock on
//! it, so that what a crash leaves behind can be told from what is still being
//! written: nobody holds a lock on a leftover.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::folder;
use crate::lock::{Sharing, Wait, lock};
use crate::open::{append, name_of, nothing_else};
use crate::system::{Beneath, Missing, NewFile, folder_of};

/// Ends the name of a file that is being written.
const TEMPORARY: &str = ".longhaul-tmp";
/// Digits of the part of such a name that nobody can guess.
const DIGITS: usize = 32;
const BUFFER: usize = 256 * 1024;

/// Replaces or creates a file with these bytes. An existing file's permissions
/// are kept; a new one is private.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_by(path, &mut |out| out.write_all(bytes))
}

/// Replaces or creates a file by what `write` produces.
pub fn replace_by(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    replace_checked(path, write, &mut |_| Ok(())).map(drop)
}

/// The same, but the new file takes the old one's place only if `check` is
/// content with it. Returns the new file, locked until it is dropped.
pub fn replace_checked<E: From<Error>>(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    check: &mut dyn FnMut(&Path) -> Result<(), E>,
) -> Result<File, E> {
    let parent = folder_of(path);
    sweep_once(parent);
    let target = Target::new(path, path, Beneath::at(parent))?;
    target.replace(Place::Over, NewFile::Private, write, &mut |temporary| {
        check(&parent.join(temporary))
    })
}

/// Creates a file that must not exist by what `write` produces, whole or not at
/// all: of two processes at once one is first, and nobody reads half of it.
pub fn create_whole(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let target = Target::new(path, path, Beneath::at(folder_of(path)))?;
    target.put(Place::New, NewFile::Private, write)
}

/// Replaces or creates a file below a folder, which no part of the path may
/// leave; folders on the way are made.
pub fn replace_beneath(root: &Path, below: &Path, new: NewFile, bytes: &[u8]) -> Result<()> {
    let path = root.join(below);
    let folder = Beneath::below(root, below.parent(), Missing::Made);
    let target = Target::new(&path, below, folder)?;
    target.put(Place::Over, new, &mut |out| out.write_all(bytes))
}

/// What may be under the name of a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An older version.
    Over,
    /// Nothing.
    New,
}

/// A name in an open folder.
struct Target<'a> {
    folder: Beneath,
    path: &'a Path,
    name: &'a OsStr,
}

impl<'a> Target<'a> {
    fn new(path: &'a Path, below: &'a Path, folder: io::Result<Beneath>) -> Result<Target<'a>> {
        let name = name_of(path, below)?;
        let folder = folder.map_err(Error::io("write", path))?;
        Ok(Target { folder, path, name })
    }

    fn put(
        &self,
        place: Place,
        new: NewFile,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        self.replace(place, new, write, &mut |_| Ok::<(), Error>(()))
            .map(drop)
    }

    fn replace<E: From<Error>>(
        &self,
        place: Place,
        new: NewFile,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
        check: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<File, E> {
        let failed = || Error::io("write", self.path);
        let old = match place {
            Place::Over => self.old()?,
            Place::New => None,
        };
        let (name, file) = temporary(&self.folder, new).map_err(failed())?;
        let finish = || -> Result<(), E> {
            filled(&file, old, write).map_err(failed())?;
            check(&name)?;
            let placed = match place {
                Place::Over => self.folder.rename(name.as_ref(), self.name),
                Place::New => self.place_new(name.as_ref()),
            };
            Ok(placed.map_err(failed())?)
        };
        if let Err(error) = finish() {
            let _ = self.folder.remove(name.as_ref());
            return Err(error);
        }
        self.folder.sync().map_err(failed())?;
        Ok(file)
    }

    /// A second name is only given where there is none. Not every file system
    /// gives second names.
    fn place_new(&self, name: &OsStr) -> io::Result<()> {
        match self.folder.link(name, self.name) {
            Ok(()) => self.folder.remove(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(error) => match self.folder.look(self.name)? {
                None => self.folder.rename(name, self.name),
                Some(_) => Err(error),
            },
        }
    }

    /// The permissions of what is there; nothing but a regular file is replaced.
    fn old(&self) -> Result<Option<Permissions>> {
        let found = self.folder.look(self.name);
        let Some(seen) = found.map_err(Error::io("write", self.path))? else {
            return Ok(None);
        };
        nothing_else("write", self.path, seen.kind)?;
        Ok(Some(seen.permissions))
    }
}

fn filled(
    file: &File,
    old: Option<Permissions>,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BUFFER, file);
    write(&mut writer)?;
    writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    if let Some(old) = old {
        file.set_permissions(old)?;
    }
    file.sync_all()
}

/// A new file under a name that nobody can guess, locked.
fn temporary(folder: &Beneath, new: NewFile) -> io::Result<(String, File)> {
    loop {
        let name = unguessable()?;
        let file = match folder.create(name.as_ref(), new) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created?,
        };
        // Whoever sweeps may have seen it before it was locked.
        let path = Path::new(&name);
        lock(&file, path, Sharing::Alone, Wait::Always).map_err(Error::into_io)?;
        if folder.look(name.as_ref())?.is_some() {
            return Ok((name, file));
        }
    }
}

fn unguessable() -> io::Result<String> {
    let mut random = [0u8; DIGITS / 2];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!(".{digits}{TEMPORARY}"))
}

fn is_temporary(name: &str) -> bool {
    let random = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(TEMPORARY));
    random.is_some_and(|random| {
        random.len() == DIGITS && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Removes what interrupted replacements left in a folder, and says how many
/// there were. What another process is still writing stays.
pub fn sweep(folder: &Path) -> Result<u32> {
    let mut removed = 0;
    for name in folder::names(folder)? {
        if !is_temporary(&name) {
            continue;
        }
        let path = folder.join(&name);
        let Ok(file) = append(&path) else {
            continue;
        };
        // Without locks nobody can tell.
        if file.try_lock().is_ok() {
            folder::remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Sweeps a folder when this process first writes there.
fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_first = match SWEPT.lock() {
        Ok(mut swept) => swept.insert(folder.to_owned()),
        Err(_) => false,
    };
    if is_first {
        // A leftover is in nobody's way.
        let _ = sweep(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fault, FileKind};
    use std::fs;

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let failed = replace_by(&path, &mut |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err());
        let refused = replace_checked(&path, &mut |out| out.write_all(b"new"), &mut |new| {
            assert_eq!(fs::read(new).unwrap(), b"new");
            Err(Error::new("read", new, Fault::NotText))
        });
        assert!(refused.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_crash_left_is_swept_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let leftover = folder.path().join(format!(".{:032x}{TEMPORARY}", 7));
        fs::write(&leftover, "half").unwrap();
        let path = folder.path().join("a");
        replace_by(&path, &mut |out| {
            assert_eq!(sweep(folder.path()).unwrap(), 0);
            assert_eq!(folder::names(folder.path()).unwrap().len(), 1);
            out.write_all(b"new")
        })
        .unwrap();
        assert_eq!(folder::names(folder.path()).unwrap(), ["a"]);
        fs::write(&leftover, "half").unwrap();
        fs::write(folder.path().join("b.longhaul-tmp"), "not ours").unwrap();
        assert_eq!(sweep(folder.path()).unwrap(), 1);
        assert_eq!(
            folder::names(folder.path()).unwrap(),
            ["a", "b.longhaul-tmp"]
        );
    }

    #[test]
    fn new_files_are_private_and_old_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace(&path, b"1").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"2").unwrap();
        assert_eq!((mode(), fs::read(&path).unwrap()), (0o640, b"2".to_vec()));
    }

    #[test]
    fn a_whole_new_file_takes_nobodys_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create_whole(&path, &mut |out| out.write_all(b"first")).unwrap();
        let second = create_whole(&path, &mut |out| out.write_all(b"second")).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(folder::names(folder.path()).unwrap(), ["a"]);
    }

    #[test]
    fn nothing_but_a_regular_file_is_replaced() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("canary"), "canary").unwrap();
        symlink(at("canary"), at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        for (name, expected) in [("link", FileKind::Link), ("folder", FileKind::Folder)] {
            for result in [
                replace(&at(name), b"new"),
                replace_beneath(folder.path(), name.as_ref(), NewFile::AsUsual, b"new"),
            ] {
                match result {
                    Err(Error {
                        fault: Fault::NotAFile(kind),
                        ..
                    }) => assert_eq!(kind, expected),
                    other => panic!("{name}: {other:?}"),
                }
            }
        }
        assert_eq!(fs::read(at("canary")).unwrap(), b"canary");
        assert_eq!(folder::names(folder.path()).unwrap().len(), 3);
        let deep = Path::new("x/y/z");
        replace_beneath(folder.path(), deep, NewFile::AsUsual, b"z").unwrap();
        assert_eq!(fs::read(folder.path().join(deep)).unwrap(), b"z");
    }
}
