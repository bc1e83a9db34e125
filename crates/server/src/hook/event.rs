//! What an agent tells its hooks, and what is done on each occasion.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_checkpoint::{Checkpoint, CheckpointStore, FileStore, Trigger, Turn};
use longhaul_engine::checkpoints::{Occasion, Whose, turn};
use longhaul_engine::event::Event;
use longhaul_engine::library::Library;
use longhaul_engine::live::Live;
use longhaul_engine::measure::Meter;
use longhaul_engine::survey::Surveys;
use longhaul_transcript::{Body, Context, Entry, Millis, Role, Session, SessionKey};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Error, Machine, checkpoints, packet};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// A compaction is about to begin.
    PreCompact,
    /// One has been.
    PostCompact,
    /// A session starts, or goes on.
    SessionStart,
    /// The agent has answered.
    Stop,
}

/// What the agent says about it, on standard input. Fields that nobody here
/// needs are passed over, and none is relied on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    pub(super) session_id: Option<String>,
    pub(super) transcript_path: Option<PathBuf>,
    pub(super) cwd: Option<PathBuf>,
    /// Of a compaction: `manual` or `auto`.
    pub(super) trigger: Option<String>,
    /// Of a start: `startup`, `resume`, `clear` or `compact`.
    pub(super) source: Option<String>,
    /// Whether a hook has already kept the agent from stopping.
    pub(super) stop_hook_active: bool,
}

/// Does what is to be done; what the agent reads, if it is to read something.
/// `said` is what the agent gave the hook.
pub fn answer(
    machine: &Machine<'_>,
    happened: Happened,
    said: &[u8],
) -> Result<Option<Value>, Error> {
    let told: Told = serde_json::from_slice(said).map_err(|error| {
        let what = format!("standard input is not the JSON of a hook: {error}");
        let remedy = "the agent may have changed its hooks; look for a newer longhaul";
        Error::new(what, Some(remedy.into()))
    })?;
    match happened {
        Happened::PreCompact => pre_compact(machine, &told).map(|()| None),
        Happened::PostCompact => post_compact(machine, &told).map(|()| None),
        Happened::SessionStart => session_start(machine, &told),
        Happened::Stop => stop(machine, &told).map(|()| None),
    }
}

impl Told {
    /// The agent's transcript.
    pub(super) fn session(&self, machine: &Machine<'_>) -> Result<Session, Error> {
        let Some(path) = &self.transcript_path else {
            return Err(Error::new("the agent names no transcript", None));
        };
        let path = match (path.strip_prefix("~"), machine.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.clone(),
        };
        Ok(Session::open(&path)?)
    }

    /// The folder the agent works in.
    pub(super) fn folder<'a>(&'a self, session: Option<&'a Session>) -> Option<&'a Path> {
        let header = session.and_then(|session| session.header().cwd.as_deref());
        self.cwd.as_deref().or(header)
    }
}

/// A session opened for saving its state.
struct Work {
    live: Live,
    store: FileStore,
    whose: Whose,
    occasion: Occasion,
}

impl Work {
    fn of(machine: &Machine<'_>, told: &Told) -> Result<Work, Error> {
        let session = told.session(machine)?;
        let keep = machine.keep(&session);
        let live = Live::open_with(&session, machine.config.state_capture(), &keep)?;
        let context = Context::build(live.loaded());
        let reading = Meter::new(machine.config.tokens.estimator).context(live.loaded(), &context);
        let window = (machine.window)(&session, &reading);
        let (window, _) = window.map_err(|reason| Error::new(reason, None))?;
        let manual = told.trigger.as_deref() == Some("manual");
        let occasion = Occasion {
            at: machine.now,
            trigger: match manual {
                true => Trigger::Manual,
                false => Trigger::Compaction,
            },
            tokens: reading.measurement.tokens,
            window: window.size(),
            turn: match manual {
                true => Turn::Whole,
                false => turn(&live, is_at_work(&context)),
            },
        };
        Ok(Work {
            store: machine.store(),
            whose: Whose::of(&session),
            live,
            occasion,
        })
    }

    /// Writes a checkpoint, unless the last one says the same.
    fn save(&self, machine: &Machine<'_>) -> Result<(), Error> {
        let mut told = |event: Event| {
            if let Event::CheckpointTrouble { reason, .. } = event {
                (machine.tell)(&reason);
            }
        };
        let checkpoints = checkpoints(&self.store, &self.whose);
        checkpoints.write(&self.live, &self.occasion, &mut told)?;
        Ok(())
    }
}

/// Whether the agent is in the middle of something: a compaction that it starts
/// by itself may come between a tool's result and what follows.
fn is_at_work(context: &Context) -> bool {
    context
        .messages
        .last()
        .is_some_and(|message| match message.role {
            Role::ToolResult => true,
            Role::Assistant => !message.view().tool_calls().is_empty(),
            _ => false,
        })
}

/// Saves the state of the work. What is printed would become part of the
/// instructions for the agent's own summary, so nothing is.
fn pre_compact(machine: &Machine<'_>, told: &Told) -> Result<(), Error> {
    match machine.config.writes_checkpoints() {
        true => Work::of(machine, told)?.save(machine),
        false => Ok(()),
    }
}

/// Gives the state of the work back after a compaction. Every other start has
/// its whole history, or none.
fn session_start(machine: &Machine<'_>, told: &Told) -> Result<Option<Value>, Error> {
    if told.source.as_deref() != Some("compact") {
        return Ok(None);
    }
    let Some(text) = packet::text(machine, told)? else {
        return Ok(None);
    };
    Ok(Some(json!({
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": text,
        }
    })))
}

/// Puts what left the context into the index. An agent takes no text from this
/// hook: the state of the work goes back with the start that follows.
fn post_compact(machine: &Machine<'_>, told: &Told) -> Result<(), Error> {
    let config = machine.config;
    let index = &config.memory.index;
    if config.sandbox.read_only || !index.enabled || !index.transcripts {
        return Ok(());
    }
    let session = told.session(machine)?;
    let path = (machine.index)(told.folder(Some(&session)));
    // Vectors take longer than a hook may; `memory index` makes them.
    let library = Library::new(path, config.index_settings(), None);
    library.use_surveys(Surveys::below(machine.state_dir, config));
    library.take_session(session.path());
    // What does not get done now is taken in by the first search.
    library.settle(Duration::from_secs(600));
    let troubles = library.troubles();
    match troubles.is_empty() {
        false => Err(Error::new(troubles.join("; "), None)),
        true => Ok(()),
    }
}

/// Notes the state of the work, so that the next checkpoint has it even if the
/// transcript is gone by then. Claude Code asks again when a hook has kept it
/// from stopping; this one never does, and has nothing to add.
fn stop(machine: &Machine<'_>, told: &Told) -> Result<(), Error> {
    if told.stop_hook_active || !machine.config.writes_checkpoints() {
        return Ok(());
    }
    let work = Work::of(machine, told)?;
    let checkpoints = checkpoints(&work.store, &work.whose);
    checkpoints.save_state(&work.live, &work.occasion, &mut |_| {})?;
    Ok(())
}

/// The newest checkpoint of a session; without one, or with an old one, it is
/// made now. Where the transcript cannot be read, what was saved before is found by its id.
pub(super) fn newest(machine: &Machine<'_>, told: &Told) -> Result<Option<Checkpoint>, Error> {
    let session = match (told.session(machine), &told.session_id) {
        (Ok(session), _) => session,
        (Err(failure), Some(id)) => {
            let latest = machine.store().latest(&SessionKey::new(id))?;
            return latest.checkpoint.ok_or(failure).map(Some);
        }
        (Err(failure), None) => return Err(failure),
    };
    let (store, whose) = (machine.store(), Whose::of(&session));
    let latest = store.latest(&whose.key)?.checkpoint;
    let writes = machine.config.writes_checkpoints();
    let is_of_now = |latest: &Checkpoint| is_of_now(machine.now, &session, latest);
    if !writes || latest.as_ref().is_some_and(is_of_now) {
        return Ok(latest);
    }
    Work::of(machine, told)?.save(machine)?;
    Ok(store.latest(&whose.key)?.checkpoint)
}

/// Whether a checkpoint was made for the compaction that has just been: the hook
/// before it may have been given up, or not have been there, and what was said
/// after an earlier checkpoint is not in it.
fn is_of_now(now: Millis, session: &Session, checkpoint: &Checkpoint) -> bool {
    const LONGEST_COMPACTION_MILLIS: i64 = 15 * 60 * 1000;
    Millis::parse_iso(&checkpoint.meta.created_at).is_some_and(|made| {
        now.0 - made.0 <= LONGEST_COMPACTION_MILLIS
            && last_said(session).is_none_or(|said| said.0 <= made.0)
    })
}

/// When the last message before the latest compaction was said, where the end of
/// the file shows it.
fn last_said(session: &Session) -> Option<Millis> {
    const END: u64 = 4 << 20;
    let entries = session.tail(END).ok()?.entries;
    let compaction = |entry: &Entry| matches!(entry.body, Body::Compaction(_));
    let before = entries
        .iter()
        .rposition(compaction)
        .unwrap_or(entries.len());
    let said = entries[..before].iter().rev();
    said.filter(|entry| entry.message().is_some())
        .find_map(|entry| entry.time)
}
