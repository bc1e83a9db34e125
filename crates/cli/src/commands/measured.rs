//! A session with its context measured.

use std::ffi::OsStr;

use longhaul_engine::catalog::agent;
use longhaul_engine::session;
pub(super) use longhaul_engine::standing::Measured;
use longhaul_transcript::Session;

use crate::prelude::*;

/// The context of a session at its leaf, or as of the entry called `at`.
pub(super) fn measure(app: &App, name: Option<&OsStr>, at: Option<&str>) -> Result<Measured> {
    let session = resolve::session(app, name)?;
    let loaded = match at {
        Some(at) => session.load_at(&resolve::entry(&session.tree()?, &session, at)?)?,
        None => session.load()?,
    };
    let window = |session: &Session, reading: &_| app.window_in(session, reading);
    Measured::of(session, loaded, app.meter(), window)
}

/// Says what of the session is never sent.
pub(super) fn note_unasked(measured: &Measured) {
    if let Some(note) = measured.reading.unasked_note() {
        note!("note: {note}");
    }
}

/// Who says how large the window is, and how to change it.
pub(super) fn window_source(app: &App, measured: &Measured) -> String {
    let reading = &measured.reading;
    let info = app.model_info(reading.provider.as_deref(), reading.model.as_deref());
    session::window_source(measured.origin.origin, info.as_ref())
}

/// The line that says whose session this is.
pub(super) fn heading(app: &App, session: &Session) -> String {
    let key = session.reference().key.clone();
    let name = key.unwrap_or_else(|| resolve::id_of(session.reference()));
    let agent = agent(session.path(), session.format(), &app.state_dir);
    let mut line = format!("{} {}", style(agent).bold(), paint::gist(&name, 80));
    if let Some(cwd) = &session.header().cwd {
        // The end of a path tells more than its start.
        let taken = console::measure_text_width(&line) + " in ".len();
        let room = app.columns().saturating_sub(taken).max(16);
        let folder = paint::gist(&app.show_path(cwd), 4096);
        line.push_str(&format!(" in {}", paint::folder_ending(&folder, room)));
    }
    line
}
