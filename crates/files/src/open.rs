//! Opening: a regular file under its own name, or an error that says what else
//! is there.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::FileType;

use crate::error::{Error, Fault, FileKind, Result};
use crate::folder::resolve;
use crate::system::{self, Beneath, How, Missing};

/// Opens a file to be read.
pub fn open(path: &Path) -> Result<File> {
    opened("read", path, How::Read)
}

/// Opens a file that is there for reading and appending.
pub fn append(path: &Path) -> Result<File> {
    opened("write", path, How::Append)
}

/// Opens a file for reading and appending; a new one is private to the user,
/// and its name is on the disk when this returns.
pub fn append_or_create(path: &Path) -> Result<File> {
    loop {
        match append(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match create(path, b"") {
            // Somebody else made it since.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
    }
}

/// Creates a file that must not exist, private to the user and with these
/// bytes, and opens it for reading and appending.
pub fn create(path: &Path, bytes: &[u8]) -> Result<File> {
    let make = || -> io::Result<File> {
        let mut file = system::open(path, How::Create)?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        system::sync_folder_of(path)?;
        Ok(file)
    };
    make().map_err(Error::io("create", path))
}

/// Opens a file below a folder, which no part of the path may leave: every
/// folder on the way is opened without following a link.
pub fn open_beneath(root: &Path, below: &Path) -> Result<File> {
    let path = root.join(below);
    let name = name_of(&path, below)?;
    let file = Beneath::below(root, below.parent(), Missing::Refused)
        .and_then(|folder| folder.open_file(name))
        .map_err(|error| explain("read", &path, error))?;
    regular("read", &path, file)
}

/// The last part of a path below a root.
pub(crate) fn name_of<'a>(path: &Path, below: &'a Path) -> Result<&'a OsStr> {
    let name = below.file_name();
    name.ok_or_else(|| Error::new("open", path, Fault::NotAFile(FileKind::Folder)))
}

/// Reads a whole file of at most `most` bytes. What the system says of a size
/// is not believed: a file may grow while it is read.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = |bytes| Error::new("read", path, Fault::TooLarge { bytes, most });
    let size = file.metadata().map_err(Error::io("read", path))?.len();
    if size > most {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    match bytes.len() as u64 {
        read if read > most => Err(too_large(read)),
        _ => Ok(bytes),
    }
}

/// Reads a whole file of at most `most` bytes as text.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let text = String::from_utf8(read(path, most)?);
    text.map_err(|_| Error::new("read", path, Fault::NotText))
}

/// The same for a file that the user named on purpose, which may be a link.
pub fn read_named(path: &Path, most: u64) -> Result<Vec<u8>> {
    read(&resolve(path)?, most).map_err(|error| error.at(path))
}

/// Refuses anything but a regular file under a name that another library is
/// about to open; a name that nothing has is free.
pub fn require_regular(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) => nothing_else("open", path, kind(&meta)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("open", path)(error)),
    }
}

/// What has this name and is no regular file, links not followed.
pub fn kind_of(path: &Path) -> Option<FileKind> {
    kind(&fs::symlink_metadata(path).ok()?)
}

fn kind(meta: &Metadata) -> Option<FileKind> {
    // 16 bits on some systems, 32 on others.
    #[allow(clippy::useless_conversion)]
    let mode = meta.mode().try_into().unwrap_or_default();
    FileKind::of(FileType::from_raw_mode(mode))
}

pub(crate) fn nothing_else(
    action: &'static str,
    path: &Path,
    kind: Option<FileKind>,
) -> Result<()> {
    match kind {
        None => Ok(()),
        Some(kind) => Err(Error::new(action, path, Fault::NotAFile(kind))),
    }
}

/// Opens what may only be a regular file.
pub(crate) fn opened(action: &'static str, path: &Path, how: How) -> Result<File> {
    let file = system::open(path, how).map_err(|error| explain(action, path, error))?;
    regular(action, path, file)
}

/// Refuses what is open and no regular file.
fn regular(action: &'static str, path: &Path, file: File) -> Result<File> {
    let meta = file.metadata().map_err(Error::io(action, path))?;
    nothing_else(action, path, kind(&meta))?;
    system::make_blocking(&file).map_err(Error::io(action, path))?;
    Ok(file)
}

/// Why something could not be opened: the system names a link or a socket by
/// numbers that mean other things too.
fn explain(action: &'static str, path: &Path, error: io::Error) -> Error {
    match kind_of(path) {
        Some(kind) if error.kind() != io::ErrorKind::PermissionDenied => {
            Error::new(action, path, Fault::NotAFile(kind))
        }
        _ => Error::io(action, path)(error),
    }
}

/// What tells a file from another one under the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Whose these are.
    pub fn of(meta: &Metadata) -> Identity {
        Identity {
            device: meta.dev(),
            inode: meta.ino(),
        }
    }
}

/// Whether the path still names the open file.
pub fn same_file(file: &File, path: &Path) -> Result<bool> {
    let same = || Ok(Identity::of(&file.metadata()?) == Identity::of(&fs::symlink_metadata(path)?));
    same().map_err(Error::io("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    /// A folder with one of everything that is no regular file.
    fn odd_files() -> (tempfile::TempDir, Vec<(PathBuf, FileKind)>) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("canary"), "canary").unwrap();
        symlink(at("canary"), at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let odd = vec![
            (at("link"), FileKind::Link),
            (at("device"), FileKind::Link),
            (at("dangling"), FileKind::Link),
            (at("folder"), FileKind::Folder),
            (at("pipe"), FileKind::Pipe),
            (at("socket"), FileKind::Socket),
            (PathBuf::from("/dev/null"), FileKind::Device),
        ];
        (folder, odd)
    }

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let (folder, odd) = odd_files();
        for (path, expected) in odd {
            for result in [
                open(&path).map(drop),
                read(&path, 9).map(drop),
                append(&path).map(drop),
                append_or_create(&path).map(drop),
                opened("lock", &path, How::AppendOrCreate).map(drop),
                require_regular(&path),
            ] {
                match result {
                    Err(Error {
                        fault: Fault::NotAFile(kind),
                        ..
                    }) => assert_eq!(kind, expected, "{path:?}"),
                    other => panic!("{path:?}: {other:?}"),
                }
            }
            assert!(create(&path, b"new").is_err(), "{path:?}");
        }
        let canary = fs::read(folder.path().join("canary")).unwrap();
        assert_eq!(canary, b"canary");
        assert!(!folder.path().join("nowhere").exists());
    }

    #[test]
    fn links_in_the_folders_above_are_the_users_own() {
        let (folder, _) = odd_files();
        symlink(folder.path(), folder.path().join("folder/up")).unwrap();
        let canary = folder.path().join("folder/up/canary");
        assert_eq!(read_text(&canary, 9).unwrap(), "canary");
        assert!(open_beneath(folder.path(), Path::new("canary")).is_ok());
        assert!(open_beneath(folder.path(), Path::new("folder/up/canary")).is_err());
        let real = resolve(&folder.path().join("link")).unwrap();
        assert_eq!(read_text(&real, 9).unwrap(), "canary");
    }

    #[test]
    fn new_files_are_private_and_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        create(&one, b"1").unwrap().write_all(b"2").unwrap();
        append_or_create(&two).unwrap().write_all(b"3").unwrap();
        append_or_create(&two).unwrap().write_all(b"4").unwrap();
        for (path, text) in [(&one, "12"), (&two, "34")] {
            assert_eq!(read_text(path, 2).unwrap(), text);
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(create(&one, b"again").is_err());
        assert!(append(&folder.path().join("three")).is_err());
    }

    #[test]
    fn a_file_is_read_up_to_the_limit_and_not_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err();
        assert!(
            matches!(error.fault, Fault::TooLarge { bytes: 5, .. }),
            "{error}"
        );
        let missing = folder.path().join("b");
        assert!(crate::optional(read(&missing, 5)).unwrap().is_none());
        // A size of nought is not believed.
        #[cfg(target_os = "linux")]
        {
            let status = Path::new("/proc/self/status");
            let real = resolve(status).unwrap();
            assert!(matches!(
                read(&real, 16),
                Err(Error {
                    fault: Fault::TooLarge { bytes: 17, .. },
                    ..
                })
            ));
        }
    }
}
