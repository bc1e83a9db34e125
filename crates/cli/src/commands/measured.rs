//! A session with its context measured.

use std::ffi::OsStr;

use longhaul_engine::catalog::agent;
use longhaul_engine::measure::Reading;
use longhaul_engine::session::window_source;
use longhaul_engine::standing::Seen;
use longhaul_tokens::{Level, ResolvedWindow, Tokens, Window};
use longhaul_transcript::{Context, Loaded, Session};

use crate::app::App;
use crate::failure::Failure;
use crate::style::style;
use crate::{paint, resolve};

pub(super) struct Measured {
    pub(super) session: Session,
    pub(super) loaded: Loaded,
    pub(super) context: Context,
    pub(super) reading: Reading,
    pub(super) window: Window,
    pub(super) origin: ResolvedWindow,
}

impl Measured {
    /// The context at the leaf, or as of the entry called `at`.
    pub(super) fn of(
        app: &App,
        name: Option<&OsStr>,
        at: Option<&str>,
    ) -> Result<Measured, Failure> {
        let session = resolve::session(app, name)?;
        let loaded = match at {
            Some(at) => {
                let id = resolve::entry(&session.tree()?, &session, at)?;
                session.load_at(&id)?
            }
            None => session.load()?,
        };
        let context = Context::build(&loaded);
        let reading = app.meter().context(&loaded, &context);
        let (window, origin) = app.window_in(&session, &reading)?;
        Ok(Measured {
            session,
            loaded,
            context,
            reading,
            window,
            origin,
        })
    }

    pub(super) fn tokens(&self) -> Tokens {
        self.reading.measurement.tokens
    }

    /// Says what of the session is never sent.
    pub(super) fn note_unasked(&self, app: &App) {
        if let Some(note) = self.reading.unasked_note() {
            app.note(&format!("note: {note}"));
        }
    }

    /// Who says how large the window is, and how to change it.
    pub(super) fn window_source(&self, app: &App) -> String {
        let reading = &self.reading;
        let info = app.model_info(reading.provider.as_deref(), reading.model.as_deref());
        window_source(self.origin.origin, info.as_ref())
    }

    pub(super) fn level(&self) -> Level {
        self.window.level(self.tokens())
    }

    /// The same, as the engine looks at it.
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen {
            session: &self.session,
            loaded: &self.loaded,
            context: &self.context,
            reading: &self.reading,
            window: &self.window,
            origin: &self.origin,
        }
    }
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

/// The share of the window, in percent with one decimal.
pub(super) fn percent(measured: &Measured) -> f64 {
    paint::percent(&measured.window, measured.tokens())
}
