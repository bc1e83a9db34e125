//! `dream review`: what waits, for programs as JSON and for people as a
//! dialogue.

use std::io::IsTerminal;

use longhaul_memory::dream::{Dreams, waiting};

use super::super::memory_folder::{reading, writing};
use super::dialogue::{Terminal, talk};
use super::{half_done, locked, unfinished};
use crate::prelude::*;

pub(super) fn review(app: &App) -> Result {
    if app.json {
        return list(app);
    }
    let has_person = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let memory = match has_person {
        true => writing(app)?,
        false => reading(app)?,
    };
    let dreams = Dreams::new(&app.state_dir, &memory);
    // What is shown must not be half of a change.
    if unfinished(app, &memory).is_some() && has_person {
        drop(locked(&dreams)?);
    }
    if waiting(&dreams.candidates()?).is_empty() {
        return Err(Failure::nothing("nothing waits for review"));
    }
    if !has_person {
        return Err(Failure::usage("a review is a dialogue, and there is no terminal")
            .help("list with `longhaul dream review --json`, then `dream promote ID` or `dream reject ID`"));
    }
    let mut terminal = Terminal::new();
    talk(app, &dreams, &mut terminal)?;
    match terminal.ended() {
        None => Ok(()),
        Some(outcome) => Err(Failure {
            outcome,
            ..Failure::new("the review was ended by a signal; what was decided before is kept")
        }),
    }
}

fn list(app: &App) -> Result {
    let memory = reading(app)?;
    let view = app.dreaming(&memory).waiting(&app.zoned())?;
    view.unfinished.iter().for_each(|told| half_done(told));
    out::json(&view)
}
