//! Telling our own last write from another program's.
//!
//! A session that was written to a moment ago is taken to be in use. Two
//! commands of ours in a row would trip over that, so each leaves a note of
//! how it left the file: one note a session, since sessions are worked on in
//! turns. Without the note the second is refused, which is safe.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::app::App;

/// As many notes are kept. A note only matters for the seconds after a write.
const MOST_NOTES: usize = 64;
/// No note has more.
const MOST_BYTES: u64 = 64 << 10;

fn folder(app: &App) -> PathBuf {
    app.state_dir.join("last-writes")
}

/// The note of a file, whose own name may be too long or say too much.
fn note(app: &App, path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    Some(folder(app).join(&hash[..16]))
}

/// A file's name, size and time: any write since changes one of them.
fn state(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let meta = std::fs::metadata(&path).ok()?;
    let written = meta.modified().ok()?;
    let nanos = written
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()?
        .as_nanos();
    Some(format!(
        "{} {nanos} {}\n",
        meta.len(),
        path.to_string_lossy()
    ))
}

/// Notes how we left a file.
pub(crate) fn remember(app: &App, path: &Path) {
    let (Some(state), Some(note)) = (state(path), note(app, path)) else {
        return;
    };
    // Not worth failing for: see above.
    let _ = longhaul_files::create_folder(&folder(app))
        .and_then(|()| longhaul_files::replace(&note, state.as_bytes()));
    forget_oldest(&folder(app), MOST_NOTES);
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
    if notes.len() <= most {
        return;
    }
    notes.sort();
    for (_, old) in &notes[..notes.len() - most] {
        let _ = longhaul_files::remove(old);
    }
}

/// Whether a file is as we left it.
pub(crate) fn is_ours(app: &App, path: &Path) -> bool {
    let noted = note(app, path).and_then(|note| longhaul_files::read_text(&note, MOST_BYTES).ok());
    noted.is_some() && noted == state(path)
}

/// Whether the age of a session says nothing: nobody but us runs those in our
/// own folder, and we keep what we run open, which the system shows. Where it
/// does not, the age is the only sign there is.
pub(crate) fn shows_its_use(app: &App, path: &Path) -> bool {
    let sessions = app.state_dir.join("sessions").canonicalize();
    cfg!(target_os = "linux")
        && sessions.is_ok_and(|sessions| {
            path.canonicalize()
                .is_ok_and(|path| path.starts_with(sessions))
        })
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
