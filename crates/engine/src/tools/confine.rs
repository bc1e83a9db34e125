//! The fence around the files of an agent.
//!
//! A path is first resolved, symlinks and `..` included, also where its
//! end does not exist yet, and must then lie below a root. What it resolved to
//! is opened folder by folder without following any symlink, so that one put
//! there in between leads to an error and not out of the workspace.

#[cfg(all(test, unix))]
mod tests;

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use longhaul_files::{Error, NewFile};

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
    let error = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        found => return found,
    };
    // What does not exist has no parent that could be known.
    let (Some(folder), Some(Component::Normal(name))) =
        (path.parent(), path.components().next_back())
    else {
        let reason = "it goes through a folder that does not exist";
        return Err(io::Error::new(error.kind(), reason));
    };
    let folder = real_path(folder)?;
    let place = folder.join(name);
    match fs::read_link(&place) {
        // It leads to what does not exist yet, so not in a circle.
        Ok(target) => real_path(&folder.join(target)),
        Err(_) => Ok(place),
    }
}

/// Opens a file to be read.
pub(super) fn open(inside: &Inside) -> io::Result<File> {
    longhaul_files::open_beneath(&inside.root, &inside.below).map_err(Error::into_io)
}

/// Replaces or creates a file; folders on the way are made. The permissions of an
/// existing file stay; a new one gets what any program of the user's would give
/// it.
pub(super) fn write(inside: &Inside, bytes: &[u8]) -> io::Result<()> {
    let new = NewFile::AsUsual;
    longhaul_files::replace_beneath(&inside.root, &inside.below, new, bytes).map_err(Error::into_io)
}
