//! Files that survive a crash, for the crates that are not on `longhaul_files` yet.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::error::Result;

/// Replaces a file by what `write` produces.
pub fn replace(path: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    Ok(longhaul_files::replace_by(path, write)?)
}

/// Like [`replace`], but the new file takes the old one's place only if
/// `check` is content with it.
pub fn replace_checked(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    check: &mut dyn FnMut(&Path) -> Result<()>,
) -> Result<()> {
    longhaul_files::replace_checked(path, write, check).map(drop)
}

/// Creates a new private file with these bytes; fails if it exists.
pub fn create(path: &Path, bytes: &[u8]) -> Result<File> {
    Ok(longhaul_files::create(path, bytes)?)
}

/// Creates a folder and its parents, private to the user.
pub fn create_folder(path: &Path) -> Result<()> {
    Ok(longhaul_files::create_folder(path)?)
}
