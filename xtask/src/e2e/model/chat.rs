//! The two chats of a cell, driven through the engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Zoned;
use longhaul_engine::config::Config;
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::{Clock, Engine, Session, Setup};
use longhaul_engine::tools::NoTools;
use longhaul_model::{CancellationToken, Model, Protocol};
use longhaul_tokens::Tokens;

use super::Cell;
use super::heard::Heard;
use super::program::{Program, Summaries};
use super::words;
use crate::Result;

/// Turns after which a chat that was not compacted often enough is given up.
const MOST_TURNS: usize = 80;
/// Compactions with the model as summarizer, and then without.
const BY_MODEL: usize = 2;
const EXTRACTED: usize = 1;

/// A chat that has ended.
pub(super) struct Chat {
    pub(super) heard: Heard,
    /// The session's file.
    pub(super) session: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) state: PathBuf,
    /// The window the engine believes in at the end.
    pub(super) window: Tokens,
}

/// A chat at the true window: compacted by the model, then closed, opened again
/// and compacted without one.
pub(super) async fn long(cell: &Cell<'_>) -> Result<Chat> {
    match (cell.protocol, cell.window) {
        // The program cannot be told to let a model say little: where there is
        // room for it, a small one goes on for minutes.
        (Protocol::Chat, ..=2048) => long_by_program(cell),
        _ => long_by_library(cell).await,
    }
}

fn long_by_program(cell: &Cell<'_>) -> Result<Chat> {
    let place = Place::new(&cell.folder.join("long"))?;
    let mut heard = Heard::default();
    let page = page(cell);
    let mut program = Program {
        program: cell.program,
        model: cell.spec().to_string(),
        workspace: &place.workspace,
        state: &place.state,
        config: place.folder.join("longhaul.yaml"),
        session: None,
        window: cell.window,
    };
    let mut turn = 0;
    for (summaries, compactions) in [
        (Summaries::ByModel, BY_MODEL),
        (Summaries::Extracted, BY_MODEL + EXTRACTED),
    ] {
        program.settle(summaries)?;
        while heard.compactions.len() < compactions && turn < MOST_TURNS {
            program.say(&words::message(turn, page), &mut heard)?;
            turn += 1;
        }
    }
    program.say(&words::message(turn, page), &mut heard)?;
    let session = program.session.take();
    let session = session.ok_or("longhaul chat does not say where the session is")?;
    let window = Tokens(program.window);
    place.end(session, window, heard)
}

async fn long_by_library(cell: &Cell<'_>) -> Result<Chat> {
    let place = Place::new(&cell.folder.join("long"))?;
    let model = cell.connect(cell.window, &place.folder)?;
    let mut heard = Heard::default();
    let page = page(cell);
    let with = place.engine(Arc::clone(&model), Some(Arc::clone(&model)));
    let mut session = with.create(Some("long"), &mut heard)?;
    let mut turn = 0;
    let until = |heard: &Heard, count: usize| heard.compactions.len() >= count;
    while !until(&heard, BY_MODEL) && turn < MOST_TURNS {
        say(&mut session, &words::message(turn, page), &mut heard).await;
        turn += 1;
    }
    let file = session.path().to_owned();
    drop(session);
    let without = place.engine(model, None);
    let mut session = without.open(&file, &mut heard)?;
    while !until(&heard, BY_MODEL + EXTRACTED) && turn < MOST_TURNS {
        say(&mut session, &words::message(turn, page), &mut heard).await;
        turn += 1;
    }
    // What was compacted is to be gone on with.
    say(&mut session, &words::message(turn, page), &mut heard).await;
    place.end(session.path().to_owned(), session.window().size(), heard)
}

/// A chat that is told a window four times as large as the server's, so that the
/// context outgrows the server long before any threshold.
pub(super) async fn surprised(cell: &Cell<'_>) -> Result<Chat> {
    let place = Place::new(&cell.folder.join("surprised"))?;
    let model = cell.connect(cell.window * 4, &place.folder)?;
    let mut heard = Heard::default();
    let engine = place.engine(model, None);
    let mut session = engine.create(Some("surprised"), &mut heard)?;
    let page = page(cell);
    let mut turn = 0;
    while heard.refused.is_empty() && turn < MOST_TURNS {
        say(&mut session, &words::message(turn, page), &mut heard).await;
        turn += 1;
    }
    // The window is known now; the next one goes through at once.
    say(&mut session, &words::message(turn, page), &mut heard).await;
    place.end(session.path().to_owned(), session.window().size(), heard)
}

/// Words of a long message.
fn page(cell: &Cell<'_>) -> usize {
    cell.window as usize / 16
}

async fn say(session: &mut Session, message: &str, heard: &mut Heard) {
    let cancel = CancellationToken::new();
    let ended = session.turn(message, &cancel, heard).await;
    if let Err(error) = ended {
        heard.failed(&error.to_string());
    }
}

/// The folders of a chat.
struct Place {
    folder: PathBuf,
    workspace: PathBuf,
    state: PathBuf,
}

impl Place {
    fn new(folder: &Path) -> Result<Place> {
        let place = Place {
            folder: folder.to_owned(),
            workspace: folder.join("workspace"),
            state: folder.join("state"),
        };
        fs::create_dir_all(&place.workspace)?;
        fs::create_dir_all(&place.state)?;
        Ok(place)
    }

    fn engine(&self, model: Arc<dyn Model>, summaries: Option<Arc<dyn Model>>) -> Engine {
        let mut config = Config::default();
        // A summary that takes as long as the rest of the chat shows no more.
        config.compaction.model.max_tokens = Tokens(super::SUMMARY);
        Engine::new(Setup {
            config,
            state_dir: self.state.clone(),
            workspace: self.workspace.clone(),
            environment: Environment::default(),
            clock: Arc::new(Wall),
            model: Some(model),
            summaries,
            tools: Arc::new(NoTools),
            departures: None,
            subagent: None,
            max_rounds: 20,
        })
    }

    fn end(self, session: PathBuf, window: Tokens, heard: Heard) -> Result<Chat> {
        fs::write(self.folder.join("events.jsonl"), heard.log.join("\n"))?;
        Ok(Chat {
            session,
            window,
            heard,
            workspace: self.workspace,
            state: self.state,
        })
    }
}

/// The clock on the wall.
struct Wall;

impl Clock for Wall {
    fn now(&self) -> Zoned {
        Zoned::now()
    }

    fn new_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}
