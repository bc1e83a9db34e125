//! A session at rest: a file that nobody runs, compacted by a command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Zoned;
use jiff::civil::DateTime;
use longhaul_model::Model;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Draft, Durability, EntryId, Loaded, Millis, Session, Stamp, Writer};

use super::journal::Sequence;
use super::site::{Bench, Course, Error, Result, Site, Stored, Terms};
use crate::checkpoints::{Error as CheckpointError, Lock, Restoration, Sink};
use crate::config::Config;
use crate::event::Event;
use crate::live::{Live, allowance};
use crate::measure::{Meter, Reading, Size};
use crate::state::SessionState;

/// Puts the state of a session's work back.
type PutBack<'a> = dyn FnMut(&Live, &mut Sink<'_>) -> Result<Restoration, CheckpointError> + 'a;

/// What a session at rest is compacted with.
pub struct Resting<'a> {
    /// The session.
    pub stored: &'a Session,
    /// The same in memory.
    pub live: Live,
    /// What counts its messages, and what it found.
    pub meter: Meter,
    /// What it found.
    pub reading: &'a Reading,
    /// The window.
    pub window: Window,
    /// What is configured.
    pub config: &'a Config,
    /// Where our own files lie.
    pub state_dir: &'a Path,
    /// Checkpoints and the journal.
    pub sequence: Sequence<'a>,
    /// Whether an entry can be recalled.
    pub is_stored: Box<dyn Fn(&EntryId) -> bool + 'a>,
    /// When what is written is forced to the disk.
    pub durability: Durability,
    /// Who writes summaries.
    pub summaries: Option<Arc<dyn Model>>,
    /// Names and times for new entries.
    pub stamp: Box<dyn FnMut() -> Stamp + 'a>,
    /// The workspace, where it is here and its memory may be written.
    pub workspace: Option<PathBuf>,
    /// The time, where the user is.
    pub now: Box<dyn Fn() -> Zoned + 'a>,
    /// Puts the state of the work back.
    pub put_back: Box<PutBack<'a>>,
    /// Hears what happens.
    pub sink: Box<Sink<'a>>,
}

/// A session at rest.
pub struct AtRest<'a> {
    with: Resting<'a>,
    state: SessionState,
    course: Course,
    /// Provider tokens for one of ours.
    factor: f64,
    /// What a request has beside the messages.
    overhead: Tokens,
    /// The context's size, until it is written to.
    known: Option<Tokens>,
}

impl<'a> AtRest<'a> {
    /// A session that is looked at, and may be compacted.
    pub fn new(with: Resting<'a>) -> AtRest<'a> {
        let key = with.sequence.checkpoints.whose.key.to_string();
        let (state, damage) = SessionState::load(with.state_dir, &key);
        let factor = with.reading.factor.value;
        let counted: Tokens = with.reading.per_message.iter().copied().sum();
        let tokens = with.reading.measurement.tokens;
        let mut at_rest = AtRest {
            state,
            course: Course::default(),
            overhead: tokens - counted.scale(factor),
            known: Some(tokens),
            factor,
            with,
        };
        // It is saved with the compaction.
        at_rest.course.checkpointed = Some(at_rest.size().tokens);
        if let Some(reason) = damage {
            at_rest.tell(Event::trouble(reason));
        }
        at_rest
    }

    fn counted(&mut self, live: Option<&Live>) -> Tokens {
        let live = live.unwrap_or(&self.with.live);
        let counted = self.with.meter.messages(live.messages());
        self.overhead + counted.scale(self.factor)
    }
}

impl Site for AtRest<'_> {
    fn bench(&mut self) -> Bench<'_> {
        let Resting {
            live,
            meter,
            window,
            sequence,
            is_stored,
            ..
        } = &mut self.with;
        Bench {
            live,
            meter,
            window,
            state: &mut self.state,
            course: &mut self.course,
            sequence: *sequence,
            stored: Stored::Asked(&**is_stored),
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            notes_cost: true,
            summaries: self.with.summaries.clone(),
            state_dir: Some(self.with.state_dir.to_owned()),
            ..Terms::of(self.with.config, &self.with.window, &self.state)
        }
    }

    fn look_up(&mut self) -> Result<()> {
        Ok(self.with.live.read_source(self.with.stored)?)
    }

    fn size(&mut self) -> Size {
        let tokens = match self.known {
            Some(tokens) => tokens,
            None => self.counted(None),
        };
        let estimator = self.with.meter.estimator();
        Size {
            tokens,
            at_most: tokens + allowance(&self.with.window, estimator, tokens),
            overhead: self.overhead,
            reported: self.with.reading.anchor.is_some(),
        }
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        self.counted(Some(ahead))
    }

    fn tell(&mut self, event: Event) {
        (self.with.sink)(event);
    }

    /// Messages that came since it was opened do no harm: they follow the
    /// boundary. Another compaction does.
    fn lock(&mut self) -> Result<Option<Lock>> {
        let lock = match self.with.sequence.notebook.lock() {
            Ok(lock) => lock,
            Err(error @ CheckpointError::Busy { .. }) => return Err(Error::Busy(error)),
            Err(error) => {
                self.tell(error.event());
                None
            }
        };
        let boundary = |loaded: &Loaded| loaded.compaction().map(|(entry, _)| entry.id.clone());
        let now = Session::open_ref(self.with.stored.reference())?.load()?;
        match boundary(&now) == boundary(self.with.live.loaded()) {
            true => Ok(lock),
            false => Err(Error::Changed),
        }
    }

    fn now(&self) -> Millis {
        Millis((self.with.now)().timestamp().as_millisecond())
    }

    fn workspace(&self) -> Option<(PathBuf, DateTime)> {
        Some((self.with.workspace.clone()?, (self.with.now)().datetime()))
    }

    fn stamp(&mut self) -> Stamp {
        (self.with.stamp)()
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<()> {
        let mut writer = Writer::open(self.with.stored.path(), self.with.durability)?;
        writer.append_all(drafts)?;
        writer.end_turn()?;
        self.known = None;
        Ok(())
    }

    fn put_back(&mut self) -> Restoration {
        let Resting {
            live,
            put_back,
            sink,
            ..
        } = &mut self.with;
        put_back(live, sink).unwrap_or_else(|error| {
            sink(error.event());
            Restoration {
                unrecorded: true,
                ..Restoration::default()
            }
        })
    }
}
