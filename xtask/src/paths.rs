//! Where things are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// The workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.parent().map_or(xtask.clone(), Path::to_owned)
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    let root = root();
    // A relative folder is relative to the workspace, where chores run.
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Where programs are installed.
pub(crate) fn tools() -> PathBuf {
    target().join("tools")
}

/// An empty folder for one chore's files.
pub(crate) fn scratch(chore: &str) -> Result<PathBuf> {
    let folder = target().join("xtask").join(chore);
    renew(&folder)?;
    Ok(folder)
}

/// Makes a folder, without what was in it.
pub(crate) fn renew(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

/// The files of a folder whose name passes, in order.
pub(crate) fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if wanted(&name(&path)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A file's name as text.
pub(crate) fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
