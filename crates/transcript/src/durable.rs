//! Files that survive a crash: old or new, never half.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Suffix of temporary files. Their names do not vary, so what a crash leaves
/// behind is taken over by the next write.
const TEMPORARY: &str = ".longhaul-tmp";

/// Replaces a file by what `write` produces: temporary file in the same
/// folder, fsync, rename, fsync of the folder. An existing file's permissions
/// are kept; a new one is private.
pub fn replace(path: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    replace_checked(path, write, &mut |_| Ok(()))
}

/// Like [`replace`], but the new file takes the old one's place only if
/// `check` is content with it.
pub fn replace_checked(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    check: &mut dyn FnMut(&Path) -> Result<()>,
) -> Result<()> {
    let temporary = temporary_path(path);
    let result = write_temporary(path, &temporary, write)
        .map_err(Error::io("write", path))
        .and_then(|()| check(&temporary))
        .and_then(|()| {
            fs::rename(&temporary, path)
                .and_then(|()| sync_folder(path))
                .map_err(Error::io("write", path))
        });
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write_temporary(
    path: &Path,
    temporary: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file =
        private(OpenOptions::new().write(true).create(true).truncate(true)).open(temporary)?;
    let mut writer = io::BufWriter::with_capacity(256 * 1024, file);
    write(&mut writer)?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// Creates a new private file with these bytes; fails if it exists.
pub fn create(path: &Path, bytes: &[u8]) -> Result<File> {
    let make = || -> io::Result<File> {
        let mut file =
            private(OpenOptions::new().read(true).append(true).create_new(true)).open(path)?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        sync_folder(path)?;
        Ok(file)
    };
    make().map_err(Error::io("create", path))
}

/// Creates a folder and its parents, private to the user.
pub fn create_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path).map_err(Error::io("create", path))
}

/// Makes a rename or a new file in `path`'s folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Adds the mode of private files to open options.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(TEMPORARY);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, &mut |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn new_files_are_private_and_old_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, &mut |out| out.write_all(b"1")).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, &mut |out| out.write_all(b"2")).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o644
        );
    }
}
