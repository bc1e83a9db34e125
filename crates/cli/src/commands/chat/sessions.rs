//! Which session a chat goes on with.

use std::path::{Path, PathBuf};

use longhaul_engine::catalog::{self, Places};
use longhaul_transcript::Session;

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
