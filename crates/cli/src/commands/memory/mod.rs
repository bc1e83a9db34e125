//! `memory`: the index of what was remembered and of what left the context.

mod index;
mod model;
mod search;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_memory::{Encoder, IndexError, Models, SqliteIndex};

use crate::app::App;
use crate::args::MemoryIndexCommand;
use crate::failure::{Failure, Outcome};

pub(crate) fn run(app: &App, command: &MemoryIndexCommand) -> Result<(), Failure> {
    match command {
        MemoryIndexCommand::Index(args) => index::run(app, args),
        MemoryIndexCommand::Search(args) => search::run(app, args),
        MemoryIndexCommand::Get { key, lines } => search::get(app, key, *lines),
        MemoryIndexCommand::Model(command) => model::run(app, command),
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Failure {
        Failure {
            outcome: match &error {
                IndexError::Busy { .. } => Outcome::Blocked,
                _ => Outcome::Failed,
            },
            ..Failure::new(error.to_string())
        }
    }
}

/// The index of the workspace.
pub(crate) fn path(app: &App) -> PathBuf {
    longhaul_engine::library::index_path(&app.state_dir, "main", &app.workspace)
}

fn models(app: &App) -> Models {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Models::new(app.state_dir.join("models"), threads)
}

/// The model in use, with why better ones are not.
pub(crate) fn encoder(app: &App) -> Result<Option<Arc<dyn Encoder>>, Failure> {
    let best = models(app).best()?;
    for note in best.notes {
        app.note(&format!("note: {note}"));
    }
    Ok(best.encoder)
}

/// Opens the index. A damaged one is set aside, and told.
fn open(app: &App) -> Result<SqliteIndex, Failure> {
    let index = SqliteIndex::open(&path(app), app.config.config.index_settings())?;
    if let Some(aside) = index.set_aside() {
        app.note(&format!(
            "note: the index was damaged; it lies at {} and a new one is made",
            app.show_path(aside)
        ));
    }
    Ok(index)
}
