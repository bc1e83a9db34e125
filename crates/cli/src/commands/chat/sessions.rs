//! Which session a chat goes on with.

use std::path::{Path, PathBuf};

use longhaul_engine::catalog::{self, Places};
use longhaul_transcript::{Session, SessionKey};

use crate::prelude::*;

/// Our own sessions, newest first.
fn own(app: &App) -> Vec<PathBuf> {
    let places = Places {
        own: vec![app.state_dir.join("sessions")],
        ..Places::default()
    };
    let mut found = catalog::find(&places).sessions;
    found.sort_by_key(|listed| std::cmp::Reverse(listed.modified));
    found
        .into_iter()
        .map(|listed| listed.reference.path)
        .collect()
}

/// The newest session of a name.
pub(super) fn named(app: &App, name: &str) -> Option<PathBuf> {
    // The name in the file's name is shortened; the one inside is not.
    let folder = SessionKey::new(name).folder_name().to_string();
    own(app).into_iter().find(|path| {
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        stem.contains(&folder)
            && Session::open(path).is_ok_and(|session| session.header().id == name)
    })
}

/// The newest session of the workspace, but of a subagent's: nobody talks to those.
pub(super) fn newest(app: &App) -> Option<PathBuf> {
    own(app).into_iter().find(|path| is_here(app, path))
}

fn is_here(app: &App, path: &Path) -> bool {
    Session::open(path).is_ok_and(|session| {
        !session.header().id.contains(":subagent:")
            && resolve::belongs_to(session.reference(), &app.workspace)
    })
}
