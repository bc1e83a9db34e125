//! The fence around the files of an agent.
//!
//! A path is first resolved by hand, symlinks and `..` included, also where its
//! end does not exist yet, and must then lie below a root. What it resolved to
//! is opened folder by folder without following any symlink, so that one put
//! there in between leads to an error and not out of the workspace.

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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Ground {
        _folder: tempfile::TempDir,
        workspace: PathBuf,
        outside: PathBuf,
        fence: Fence,
    }

    fn ground() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let (workspace, outside) = (base.join("work"), base.join("outside"));
        fs::create_dir_all(workspace.join("src")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(workspace.join("src/a"), "a").unwrap();
        Ground {
            fence: Fence::new(&workspace, &[]).unwrap(),
            _folder: folder,
            workspace,
            outside,
        }
    }

    #[test]
    fn paths_inside_are_found_however_they_are_written() {
        let ground = ground();
        let absolute = ground.workspace.join("src/a");
        for path in [
            "src/a",
            "./src/a",
            "src/../src/a",
            absolute.to_str().unwrap(),
        ] {
            let inside = ground.fence.resolve(path, Access::Write).unwrap();
            assert_eq!(inside.below(), Path::new("src/a"), "{path}");
        }
    }

    #[test]
    fn no_way_out_by_dots_or_absolute_paths() {
        let ground = ground();
        let secret = ground.outside.join("secret");
        for path in [
            "..",
            "../outside/secret",
            "src/../../outside/secret",
            secret.to_str().unwrap(),
            "/etc/passwd",
            "/",
            "~/x",
            "../work-beside/x",
        ] {
            for access in [Access::Read, Access::Write] {
                assert!(ground.fence.resolve(path, access).is_err(), "{path}");
            }
        }
    }

    #[test]
    fn a_folder_whose_name_begins_like_the_workspace_is_outside() {
        let ground = ground();
        let beside = ground.workspace.with_file_name("work2");
        fs::create_dir(&beside).unwrap();
        fs::write(beside.join("x"), "x").unwrap();
        let path = beside.join("x");
        let refused = ground.fence.resolve(path.to_str().unwrap(), Access::Read);
        assert!(refused.unwrap_err().contains("outside the workspace"));
    }

    #[test]
    fn no_way_out_by_symlinks_of_files_folders_or_parents() {
        let ground = ground();
        symlink(ground.outside.join("secret"), ground.workspace.join("file")).unwrap();
        symlink(&ground.outside, ground.workspace.join("folder")).unwrap();
        symlink("../outside", ground.workspace.join("relative")).unwrap();
        symlink(
            ground.outside.join("new"),
            ground.workspace.join("dangling"),
        )
        .unwrap();
        symlink("folder", ground.workspace.join("twice")).unwrap();
        for path in [
            "file",
            "folder/secret",
            "folder/new",
            "folder/new/deeper",
            "relative/secret",
            "dangling",
            "twice/secret",
            "src/../folder/secret",
        ] {
            for access in [Access::Read, Access::Write] {
                let refused = ground.fence.resolve(path, access).unwrap_err();
                assert!(
                    refused.contains("outside the workspace"),
                    "{path}: {refused}"
                );
            }
        }
    }

    #[test]
    fn symlinks_that_stay_inside_are_followed_and_kept() {
        let ground = ground();
        symlink("src", ground.workspace.join("link")).unwrap();
        symlink("src/a", ground.workspace.join("to-a")).unwrap();
        let inside = ground.fence.resolve("link/a", Access::Read).unwrap();
        assert_eq!(inside.below(), Path::new("src/a"));
        let inside = ground.fence.resolve("to-a", Access::Write).unwrap();
        write(&inside, b"new").unwrap();
        assert_eq!(fs::read(ground.workspace.join("src/a")).unwrap(), b"new");
        assert!(ground.workspace.join("to-a").is_symlink());
    }

    #[test]
    fn symlinks_in_a_circle_end() {
        let ground = ground();
        symlink("b", ground.workspace.join("a")).unwrap();
        symlink("a", ground.workspace.join("b")).unwrap();
        let refused = ground.fence.resolve("a/x", Access::Read).unwrap_err();
        assert!(refused.contains("too many symlinks"), "{refused}");
    }

    #[test]
    fn a_symlink_put_there_after_the_check_leads_nowhere() {
        let ground = ground();
        let inside = ground.fence.resolve("src/secret", Access::Write).unwrap();
        let file = ground.fence.resolve("src/a", Access::Read).unwrap();
        fs::remove_dir_all(ground.workspace.join("src")).unwrap();
        symlink(&ground.outside, ground.workspace.join("src")).unwrap();
        assert!(write(&inside, b"overwritten").is_err());
        assert!(open(&file).is_err());
        assert_eq!(fs::read(ground.outside.join("secret")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(&ground.outside).unwrap().count(), 1);
    }

    #[test]
    fn a_file_swapped_for_a_symlink_after_the_check_is_neither_read_nor_followed() {
        let ground = ground();
        let inside = ground.fence.resolve("src/a", Access::Write).unwrap();
        fs::remove_file(ground.workspace.join("src/a")).unwrap();
        symlink(
            ground.outside.join("secret"),
            ground.workspace.join("src/a"),
        )
        .unwrap();
        assert!(open(&inside).is_err());
        assert!(write(&inside, b"x").is_err());
        assert_eq!(fs::read(ground.outside.join("secret")).unwrap(), b"secret");
    }

    #[test]
    fn a_symlink_in_place_of_the_temporary_file_is_not_written_through() {
        let ground = ground();
        let inside = ground.fence.resolve("src/a", Access::Write).unwrap();
        let temporary = temporary_name("a".as_ref());
        let trap = ground.workspace.join("src").join(temporary);
        symlink(ground.outside.join("secret"), &trap).unwrap();
        write(&inside, b"new").unwrap();
        assert_eq!(fs::read(ground.outside.join("secret")).unwrap(), b"secret");
        assert_eq!(fs::read(ground.workspace.join("src/a")).unwrap(), b"new");
        assert!(!trap.exists() && !trap.is_symlink());
    }

    #[test]
    fn other_folders_can_be_read_but_not_written() {
        let ground = ground();
        let fence = Fence::new(&ground.workspace, std::slice::from_ref(&ground.outside)).unwrap();
        let secret = ground.outside.join("secret");
        let path = secret.to_str().unwrap();
        let inside = fence.resolve(path, Access::Read).unwrap();
        assert_eq!(inside.path(), secret);
        assert!(fence.resolve(path, Access::Write).is_err());
    }

    #[test]
    fn new_folders_are_made_and_permissions_are_kept() {
        let ground = ground();
        let new = ground.fence.resolve("x/y/z", Access::Write).unwrap();
        write(&new, b"z").unwrap();
        assert_eq!(fs::read(ground.workspace.join("x/y/z")).unwrap(), b"z");
        let script = ground.workspace.join("run");
        fs::write(&script, "old").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let inside = ground.fence.resolve("run", Access::Write).unwrap();
        write(&inside, b"new").unwrap();
        let mode = fs::metadata(&script).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn a_pipe_is_refused_instead_of_waited_for() {
        let ground = ground();
        let path = ground.workspace.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let inside = ground.fence.resolve("pipe", Access::Read).unwrap();
        assert!(open(&inside).unwrap_err().to_string().contains("regular"));
        assert!(write(&inside, b"x").is_err());
    }

    #[test]
    fn a_folder_is_not_replaced_by_a_file() {
        let ground = ground();
        for path in ["src", "."] {
            let inside = ground.fence.resolve(path, Access::Write).unwrap();
            let error = write(&inside, b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{path}");
        }
        assert!(ground.workspace.join("src/a").exists());
    }

    #[test]
    fn dots_behind_a_folder_that_does_not_exist_are_refused() {
        let ground = ground();
        let refused = ground.fence.resolve("no/../../outside/x", Access::Write);
        assert!(refused.unwrap_err().contains("does not exist"));
    }
}
