//! Telling our own last write from another program's.
//!
//! A session that was written to a moment ago is taken to be in use. Two
//! commands of ours in a row would trip over that, so each leaves a note of
//! how it left the file. Without the note the second is refused, which is safe.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_transcript::durable;

use crate::app::App;

fn note(app: &App) -> PathBuf {
    app.state_dir.join("last-write")
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
    let Some(state) = state(path) else { return };
    // Not worth failing for: see above.
    let _ = durable::create_folder(&app.state_dir)
        .and_then(|()| durable::replace(&note(app), &mut |out| out.write_all(state.as_bytes())));
}

/// Whether a file is as we left it.
pub(crate) fn is_ours(app: &App, path: &Path) -> bool {
    let noted = std::fs::read_to_string(note(app)).ok();
    noted.is_some() && noted == state(path)
}
