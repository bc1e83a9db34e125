//! Telling our own last write from another program's.
//!
//! A session that was written to a moment ago is taken to be in use. Two
//! commands of ours in a row would trip over that, so each leaves a note of
//! how it left the file: one note a session, since sessions are worked on in
//! turns. Without the note the second is refused, which is safe.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::liveness;
use crate::session::Session;

/// As many notes are kept. A note only matters for the seconds after a write.
const MOST_NOTES: usize = 64;
/// No note has more.
const MOST_BYTES: u64 = 64 << 10;

/// How we left the files that we wrote to, as far as a state folder knows.
#[derive(Debug, Clone)]
pub struct LastWrites {
    state_dir: PathBuf,
}

impl LastWrites {
    /// Those that a state folder knows.
    pub fn below(state_dir: &Path) -> LastWrites {
        LastWrites {
            state_dir: state_dir.to_owned(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.state_dir.join("last-writes")
    }

    /// The note of a file, whose own name may be too long or say too much.
    fn note(&self, path: &Path) -> Option<PathBuf> {
        let path = path.canonicalize().ok()?;
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        Some(self.folder().join(&hash[..16]))
    }

    /// Notes how we left a file.
    pub fn remember(&self, path: &Path) {
        let (Some(state), Some(note)) = (state(path), self.note(path)) else {
            return;
        };
        // Not worth failing for: see above.
        let _ = longhaul_files::create_folder(&self.folder())
            .and_then(|()| longhaul_files::replace(&note, state.as_bytes()));
        forget_oldest(&self.folder(), MOST_NOTES);
    }

    /// The file of a session that may be written to now: its format is one that we
    /// write, and nobody else runs it.
    pub fn writable(&self, session: &Session, now: SystemTime) -> Result<PathBuf> {
        let path = session.path().to_owned();
        if !session.format().is_writable() {
            let agent = session.format().agent();
            return Err(Error::Foreign { path, agent });
        }
        let written = std::fs::metadata(&path).and_then(|meta| meta.modified());
        let age = written.ok().and_then(|then| now.duration_since(then).ok());
        let tells = !self.is_ours(&path) && !self.shows_its_use(&path);
        match liveness::in_use(&path, age.filter(|_| tells))? {
            Some(evidence) => Err(evidence.refusal(&path)),
            None => Ok(path),
        }
    }

    /// Whether a file is as we left it.
    fn is_ours(&self, path: &Path) -> bool {
        let note = self.note(path);
        let noted = note.and_then(|note| longhaul_files::read_text(&note, MOST_BYTES).ok());
        noted.is_some() && noted == state(path)
    }

    /// Whether the age of a session says nothing: nobody but us runs those in our
    /// own folder, and we keep what we run open, which the system shows. Where it
    /// does not, the age is the only sign there is.
    fn shows_its_use(&self, path: &Path) -> bool {
        let sessions = self.state_dir.join("sessions").canonicalize();
        let lies_in = |folder: PathBuf| path.canonicalize().is_ok_and(|at| at.starts_with(folder));
        cfg!(target_os = "linux") && sessions.is_ok_and(lies_in)
    }
}

/// A file's name, size and time: any write since changes one of them.
fn state(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let meta = std::fs::metadata(&path).ok()?;
    let written = meta.modified().ok()?;
    let since = written.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let (bytes, nanos) = (meta.len(), since.as_nanos());
    Some(format!("{bytes} {nanos} {}\n", path.to_string_lossy()))
}

/// Removes all but the newest notes. One that stays goes the next time.
fn forget_oldest(folder: &Path, most: usize) {
    let Ok(files) = std::fs::read_dir(folder) else {
        return;
    };
    let mut notes: Vec<(SystemTime, PathBuf)> = files
        .flatten()
        .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
        .collect();
    notes.sort();
    for (_, old) in &notes[..notes.len().saturating_sub(most)] {
        let _ = longhaul_files::remove(old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_notes_stay() {
        let folder = tempfile::tempdir().unwrap();
        for nth in 0..5_u64 {
            let path = folder.path().join(nth.to_string());
            let file = std::fs::File::create(path).unwrap();
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 - nth);
            file.set_modified(at).unwrap();
        }
        forget_oldest(folder.path(), 2);
        let mut left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["0", "1"]);
    }
}
