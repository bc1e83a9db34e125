//! Opening: a regular file under its own name, or an error that says what else
//! is there.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, FileKind, Result};
use crate::folder;
use crate::system::{self, Beneath, How};

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
        match system::open(path, How::Create) {
            // Somebody else made it since.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let file = created.map_err(Error::io("create", path))?;
                folder::sync_folder(path)?;
                return Ok(file);
            }
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
    let (parent, name) = parted(&path, below)?;
    let file = Beneath::open(root, parent)
        .and_then(|folder| folder.open_file(name))
        .map_err(|error| explain("read", &path, error))?;
    regular("read", &path, file)
}

/// The folder and the name of a path below a root.
pub(crate) fn parted<'a>(
    path: &Path,
    below: &'a Path,
) -> Result<(Option<&'a Path>, &'a std::ffi::OsStr)> {
    match below.file_name() {
        Some(name) => Ok((below.parent(), name)),
        None => Err(Error::NotAFile {
            action: "open",
            path: path.to_owned(),
            kind: FileKind::Folder,
        }),
    }
}

/// Reads a whole file of at most `most` bytes. What the system says of a size
/// is not believed: a file may grow while it is read.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = |bytes| Error::TooLarge {
        path: path.to_owned(),
        bytes,
        most,
    };
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
    String::from_utf8(read(path, most)?).map_err(|_| Error::NotText {
        path: path.to_owned(),
    })
}

/// The same for a file that the user named on purpose, which may be a link.
pub fn read_named(path: &Path, most: u64) -> Result<Vec<u8>> {
    read(&resolve(path)?, most).map_err(|error| error.at(path))
}

/// Where a path leads that the user named on purpose, links followed.
pub fn resolve(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(Error::io("read", path))
}

/// The path with the links of its folder followed, and its last part as it is.
pub fn resolve_folder(path: &Path) -> Result<PathBuf> {
    let folder = folder::of(path);
    let real = fs::canonicalize(folder).map_err(Error::io("open", path))?;
    Ok(match path.file_name() {
        Some(name) => real.join(name),
        None => real,
    })
}

/// Refuses anything but a regular file under a name that another library is
/// about to open; a name that nothing has is free.
pub fn require_regular(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) => match FileKind::of(meta.file_type()) {
            None => Ok(()),
            Some(kind) => Err(Error::NotAFile {
                action: "open",
                path: path.to_owned(),
                kind,
            }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("open", path)(error)),
    }
}

/// What has this name and is no regular file, links not followed.
pub fn kind_of(path: &Path) -> Option<FileKind> {
    FileKind::of(fs::symlink_metadata(path).ok()?.file_type())
}

fn opened(action: &'static str, path: &Path, how: How) -> Result<File> {
    let file = system::open(path, how).map_err(|error| explain(action, path, error))?;
    regular(action, path, file)
}

/// Refuses what is open and no regular file.
pub(crate) fn regular(action: &'static str, path: &Path, file: File) -> Result<File> {
    let kind = file.metadata().map_err(Error::io(action, path))?;
    match FileKind::of(kind.file_type()) {
        None => {
            system::make_blocking(&file).map_err(Error::io(action, path))?;
            Ok(file)
        }
        Some(kind) => Err(Error::NotAFile {
            action,
            path: path.to_owned(),
            kind,
        }),
    }
}

/// Why something could not be opened: the system names a link or a socket by
/// numbers that mean other things too.
pub(crate) fn explain(action: &'static str, path: &Path, error: io::Error) -> Error {
    match kind_of(path) {
        Some(kind) if error.kind() != io::ErrorKind::PermissionDenied => Error::NotAFile {
            action,
            path: path.to_owned(),
            kind,
        },
        _ => Error::io(action, path)(error),
    }
}

/// What tells a file from another one under the same name; on systems that do
/// not say, all are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(Option<(u64, u64)>);

impl Identity {
    /// Whose these are.
    pub fn of(meta: &Metadata) -> Identity {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Identity(Some((meta.dev(), meta.ino())))
        }
        #[cfg(not(unix))]
        {
            let _ = meta;
            Identity(None)
        }
    }
}

/// Whether the path still names the open file.
pub fn same_file(file: &File, path: &Path) -> Result<bool> {
    let same = || Ok(Identity::of(&file.metadata()?) == Identity::of(&fs::symlink_metadata(path)?));
    same().map_err(Error::io("read", path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

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
            let lock = || {
                let wait = crate::Wait::Never;
                crate::lock_file(&path, crate::Sharing::Alone, wait).map(drop)
            };
            for result in [
                open(&path).map(drop),
                read(&path, 9).map(drop),
                append(&path).map(drop),
                append_or_create(&path).map(drop),
                require_regular(&path),
                lock(),
            ] {
                match result {
                    Err(Error::NotAFile { kind, .. }) => assert_eq!(kind, expected, "{path:?}"),
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
        assert!(matches!(error, Error::TooLarge { bytes: 5, .. }), "{error}");
        let missing = folder.path().join("b");
        assert!(crate::optional(read(&missing, 5)).unwrap().is_none());
        // A size of nought is not believed.
        #[cfg(target_os = "linux")]
        {
            let status = Path::new("/proc/self/status");
            let real = resolve(status).unwrap();
            assert!(matches!(
                read(&real, 16),
                Err(Error::TooLarge { bytes: 17, .. })
            ));
        }
    }
}
