//! Checkpoints at work: the state of a session saved as it goes, before every
//! compaction and on demand, and put back afterwards.
//!
//! The room below keeps the files; here they are joined with the session they
//! are made of. Nothing about checkpoints stops a turn: what goes wrong is an
//! [`Event`], and the work goes on without it.
//!
//! | question | answer |
//! |---|---|
//! | how is the work saved? | [`Checkpoints::save_state`], [`Checkpoints::write`] |
//! | what does the agent see of it? | [`Checkpoints::notes`], the gauge last |
//! | what is put back, and when again? | [`Checkpoints::restore`], once per epoch |
//! | where do the small notes about it lie? | a [`Notebook`] |

mod notebook;
mod restore;
mod settings;

use longhaul_checkpoint::{
    Checkpoint, CheckpointId, CheckpointStore, Draft, LastToolCall, Moment, Outcome, Recovery,
    Trigger, Turn,
};
use longhaul_tokens::{CheckpointNote, Counter, Fragment, Tokens, Window};
use longhaul_transcript::{Millis, Session, SessionKey};

pub use notebook::{FileNotebook, Lock, Notebook, Untouched};
pub(crate) use notebook::{note_of, read_note, write_note};
pub(crate) use restore::fitting;
pub use restore::{News, Putting, Restoration, named_checkpoint};

use crate::event::{CheckpointEvent, Event};
use crate::live::Live;

/// Where events go.
pub type Sink<'a> = dyn FnMut(Event) + 'a;

/// Whose work is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whose {
    /// The session's key.
    pub key: SessionKey,
    /// The session's file, as it should be found again.
    pub session_file: String,
    /// Where the user speaks to the agent.
    pub channel: String,
    /// The agent.
    pub agent: String,
}

impl Whose {
    /// The owner of a stored session. It goes by its key, or by its id where
    /// its agent gives it none.
    pub fn of(session: &Session) -> Whose {
        let key = session.key();
        // OpenClaw's keys are `agent:<id>:…`.
        let agent = key
            .strip_prefix("agent:")
            .and_then(|rest| rest.split(':').next());
        Whose {
            agent: agent.unwrap_or("main").to_owned(),
            key: SessionKey::new(key),
            session_file: session.reference().name(),
            channel: session.format().agent().to_owned(),
        }
    }
}

/// Why and when the work is saved, and how full the context is.
#[derive(Debug, Clone, PartialEq)]
pub struct Occasion {
    /// The time now.
    pub at: Millis,
    /// Why.
    pub trigger: Trigger,
    /// Tokens in the context.
    pub tokens: Tokens,
    /// Tokens that fit.
    pub window: Tokens,
    /// Whether a compaction cuts the present turn.
    pub turn: Turn,
}

/// The checkpoints of one session.
#[derive(Clone, Copy)]
pub struct Checkpoints<'a> {
    /// Where they are kept.
    pub store: &'a dyn CheckpointStore,
    /// Whose they are.
    pub whose: &'a Whose,
    /// Takes secrets out of a text before it is written.
    pub redact: &'a dyn Fn(&str) -> String,
}

/// Something about checkpoints that went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] longhaul_checkpoint::Error),
    /// The session or a note could not be written.
    #[error(transparent)]
    Write(#[from] longhaul_transcript::Error),
    /// A note about the session cannot be read.
    #[error("the note {name} is damaged ({reason})")]
    Damaged {
        /// The note.
        name: String,
        /// What is wrong with it.
        reason: String,
        /// Where it is kept.
        kept: String,
    },
    /// Another process is compacting the session.
    #[error("another process is compacting session {key}")]
    Busy {
        /// The session.
        key: SessionKey,
    },
}

impl Error {
    /// What the user can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Error::Store(error) => error.remedy(),
            Error::Write(error) => error.remedy(),
            Error::Damaged { kept, .. } => Some(format!(
                "it is kept as {kept}, and what it said is done once more"
            )),
            Error::Busy { .. } => Some("wait until it is done, then look again".into()),
        }
    }

    /// The same as an event.
    pub fn event(&self) -> Event {
        Event::CheckpointTrouble {
            reason: self.to_string(),
            remedy: self.remedy(),
        }
    }
}

impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        Error::Write(error.into())
    }
}

/// The module's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Takes secrets out of texts as if they were one: a text may show what only
/// another gives away.
pub(crate) fn redacted(texts: &[String], redact: &dyn Fn(&str) -> String) -> Vec<String> {
    const BETWEEN: &str = "\n\u{1e}\n";
    let whole = redact(&texts.join(BETWEEN));
    let parts: Vec<String> = whole.split(BETWEEN).map(str::to_owned).collect();
    // A text that has the mark in it cannot be told from two.
    match parts.len() == texts.len() {
        true => parts,
        false => texts.iter().map(|text| redact(text)).collect(),
    }
}

impl Checkpoints<'_> {
    /// The work as it is, with secrets taken out.
    pub fn draft(&self, live: &Live, occasion: &Occasion) -> Draft {
        let mut draft = draft(live, self.whose, occasion);
        let redactor = live.redactor();
        let mut texts = draft.texts_mut();
        let shown: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        let clean = redacted(&shown, &|text| (self.redact)(&redactor.redact(text).text));
        for (text, clean) in texts.iter_mut().zip(clean) {
            **text = clean;
        }
        draft
    }

    /// Writes down what the next checkpoint will hold. Only parts that changed
    /// are written, so this may be called after every entry.
    pub fn save_state(&self, live: &Live, occasion: &Occasion, sink: &mut Sink<'_>) -> Result<()> {
        let state = self.draft(live, occasion).state();
        self.store.save_state(&self.whose.key, &state)?;
        let files = &state.files;
        sink(Event::StateSaved {
            decisions: files.decisions.decisions.len(),
            files: files.resources.files_read.len() + files.resources.files_modified.len(),
            open_items: files.open_items.open_items.len(),
        });
        Ok(())
    }

    /// Writes a checkpoint, unless the last one says the same. Returns the one
    /// that holds the work now.
    pub fn write(
        &self,
        live: &Live,
        occasion: &Occasion,
        sink: &mut Sink<'_>,
    ) -> Result<CheckpointId> {
        let draft = self.draft(live, occasion);
        let written = self.store.write(&self.whose.key, draft)?;
        report(&written.recovery, sink);
        sink(match &written.outcome {
            Outcome::Stored(checkpoint) => {
                Event::CheckpointWritten(Box::new(CheckpointEvent::of(checkpoint)))
            }
            Outcome::Unchanged(id) => Event::CheckpointUnchanged {
                checkpoint: id.to_string(),
                tokens: occasion.tokens,
            },
        });
        let retired = &written.recovery.retired;
        if !retired.is_empty() {
            sink(Event::CheckpointsRetired {
                checkpoints: retired.iter().map(ToString::to_string).collect(),
            });
        }
        Ok(written.outcome.id())
    }

    /// The newest checkpoint that can be read; damaged newer ones are told.
    pub fn latest(&self, sink: &mut Sink<'_>) -> Result<Option<Checkpoint>> {
        let latest = self.store.latest(&self.whose.key)?;
        for error in latest.passed_over {
            sink(Error::Store(error).event());
        }
        Ok(latest.checkpoint)
    }

    /// What the gauge says: whether a checkpoint was written in this epoch of
    /// this session.
    pub fn note(&self, latest: Option<&Checkpoint>, epoch: u32) -> CheckpointNote {
        let ours = latest.is_some_and(|checkpoint| {
            checkpoint.meta.session_file == self.whose.session_file
                && checkpoint.meta.compaction_count == epoch
        });
        match ours {
            true => CheckpointNote::Saved,
            false => CheckpointNote::None,
        }
    }

    /// What belongs at the end of a context of this size: the advisory from the
    /// checkpoint threshold on, the gauge line last.
    pub fn notes(
        &self,
        used: Tokens,
        window: &Window,
        live: &Live,
        counter: &dyn Counter,
        sink: &mut Sink<'_>,
    ) -> Vec<Fragment> {
        let latest = match self.latest(sink) {
            Ok(latest) => latest,
            Err(error) => {
                sink(error.event());
                None
            }
        };
        let note = self.note(latest.as_ref(), live.epoch());
        let notes = longhaul_assembly::notes(used, window, note, counter);
        if let Some(gauge) = notes.last() {
            sink(Event::Gauge {
                tokens: used,
                line: gauge.text().to_owned(),
            });
        }
        notes
    }
}

/// The work of a session at a moment. The same arguments give the same draft.
pub fn draft(live: &Live, whose: &Whose, occasion: &Occasion) -> Draft {
    Draft::of(
        live.ledger(),
        Moment {
            session_key: whose.key.clone(),
            session_file: whose.session_file.clone(),
            at: occasion.at,
            trigger: occasion.trigger,
            compactions: live.epoch(),
            input_tokens: occasion.tokens,
            context_window: occasion.window,
            channel: whose.channel.clone(),
            agent_id: whose.agent.clone(),
            turn: occasion.turn.clone(),
        },
    )
}

/// The present turn, for a compaction that divides it or not.
pub fn turn(live: &Live, splits_turn: bool) -> Turn {
    if !splits_turn {
        return Turn::Whole;
    }
    let last = live.entries().iter().rev().find_map(|entry| {
        let message = entry.message()?;
        let calls = message.tool_calls();
        calls.last().map(|call| LastToolCall {
            name: call.name.clone().into_owned(),
            params_summary: call.arguments.to_owned(),
        })
    });
    Turn::Interrupted(last)
}

/// Says what had to be completed or passed over.
fn report(recovery: &Recovery, sink: &mut Sink<'_>) {
    let moved = recovery.pointer_moved;
    if recovery.swept > 0 || moved.is_some() || !recovery.set_aside.is_empty() {
        sink(Event::CheckpointsRecovered {
            swept: recovery.swept,
            pointer_moved: moved.map(|id| id.to_string()),
            set_aside: recovery
                .set_aside
                .iter()
                .map(|part| format!("{} ({})", part.part, part.reason))
                .collect(),
        });
    }
    for error in &recovery.passed_over {
        sink(Event::CheckpointTrouble {
            reason: error.to_string(),
            remedy: error.remedy(),
        });
    }
}
