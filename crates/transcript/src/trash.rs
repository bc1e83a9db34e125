//! Sessions moved to the trash of a state folder, and back. Nothing is erased.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_files::{Sharing, Wait, create_folder, create_whole, open, read_text, remove};
use serde::{Deserialize, Serialize};

use crate::archive::{Packing, archive_path};
use crate::error::{Error, Result};
use crate::session::Session;
use crate::time::Millis;

const NOTE: &str = "origin.json";
const MOST_NOTE: u64 = 64 << 10;

/// The trash of a state folder: a folder for each session in it.
#[derive(Debug, Clone)]
pub struct Trash {
    folder: PathBuf,
}

/// What is noted beside a session in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Where its file lay.
    pub path: PathBuf,
    /// When it was deleted.
    pub deleted: String,
}

/// A session in the trash.
pub struct Discarded {
    /// The session, where it lies now.
    pub session: Session,
    /// Where it was.
    pub origin: Origin,
}

impl Trash {
    /// The trash of a state folder.
    pub fn below(state_dir: &Path) -> Trash {
        let folder = state_dir.join("trash");
        Trash { folder }
    }

    /// Moves a session's file and its archives into a folder of this name.
    pub fn take(&self, session: &Session, name: &str, now: Millis) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        create_folder(&folder)?;
        let origin = Origin {
            path: session.path().to_owned(),
            deleted: now.to_iso(),
        };
        let note = serde_json::to_vec_pretty(&origin).map_err(io::Error::from);
        let note = note.map_err(Error::io("write", &folder))?;
        longhaul_files::replace(&folder.join(NOTE), &note)?;
        move_all(session.path(), &folder)?;
        Ok(folder)
    }

    /// What is in it; of what cannot be read, why.
    pub fn list(&self) -> Result<Vec<Result<Discarded>>> {
        let names = longhaul_files::names(&self.folder)?;
        let folders = names.iter().map(|name| self.folder.join(name));
        Ok(folders.map(|folder| found(&folder)).collect())
    }
}

impl Discarded {
    /// Puts it back to where it was.
    pub fn put_back(&self) -> Result<()> {
        let file = self.session.path();
        let folder = self.origin.path.parent().unwrap_or(Path::new("/"));
        create_folder(folder)?;
        move_all(file, folder)?;
        longhaul_files::remove_folder(file.parent().unwrap_or(file))?;
        Ok(())
    }
}

fn found(folder: &Path) -> Result<Discarded> {
    let note = folder.join(NOTE);
    let origin = serde_json::from_str(&read_text(&note, MOST_NOTE)?).map_err(io::Error::from);
    let origin: Origin = origin.map_err(Error::io("read", &note))?;
    let file = folder.join(origin.path.file_name().unwrap_or_default());
    let session = Session::open(&file)?;
    Ok(Discarded { session, origin })
}

/// Moves a session's file, which nobody may be writing to, and its archives: the
/// file last, so that what is cut short is still a session where it was.
fn move_all(path: &Path, folder: &Path) -> Result<()> {
    let file = open(path)?;
    longhaul_files::lock(&file, path, Sharing::Alone, Wait::Never)?;
    let archives = [Packing::Plain, Packing::Zstd].map(|packing| archive_path(path, packing));
    let there = archives.into_iter().filter(|archive| archive.exists());
    for from in there.chain([path.to_owned()]) {
        let to = folder.join(from.file_name().unwrap_or_default());
        match longhaul_files::rename(&from, &to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                create_whole(&to, &mut |out| {
                    let mut from = open(&from).map_err(longhaul_files::Error::into_io)?;
                    io::copy(&mut from, out).map(drop)
                })?;
                remove(&from)?;
            }
            moved => moved?,
        }
    }
    Ok(())
}
