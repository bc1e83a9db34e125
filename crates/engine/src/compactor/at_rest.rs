//! A session at rest: a file that nobody runs, compacted by a command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Zoned;
use jiff::civil::DateTime;
use longhaul_assembly::{FileCache, Workspace};
use longhaul_model::Model;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Durability, Loaded, Millis, Session, Stamp, Writer};

use super::bench::{Bench, Restoring};
use super::site::{Site, Terms, lock};
use crate::checkpoints::{Lock, Restoration, Sink};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::live::Live;
use crate::measure::{Reading, Size};
use longhaul_compaction::compact::allowance;

/// What a session at rest is compacted with.
pub struct Resting<'a> {
    /// The session.
    pub stored: &'a Session,
    /// The same in memory.
    pub bench: Bench,
    /// What was found of its size.
    pub reading: &'a Reading,
    /// What is configured.
    pub config: &'a Config,
    /// Where our own files lie.
    pub state_dir: &'a Path,
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
    /// The workspace from which the state of the work is put back, where it is here.
    pub found: Option<Workspace>,
    /// Hears what happens.
    pub sink: Box<Sink<'a>>,
}

/// A session at rest.
pub struct AtRest<'a> {
    with: Resting<'a>,
    /// What a request has beside the messages.
    overhead: Tokens,
    /// The context's size, until it is written to.
    known: Option<Tokens>,
}

impl<'a> AtRest<'a> {
    /// A session that is looked at, and may be compacted.
    pub fn new(mut with: Resting<'a>) -> AtRest<'a> {
        let counted: Tokens = with.reading.per_message.iter().copied().sum();
        let tokens = with.reading.measurement.tokens;
        // It is saved with the compaction.
        with.bench.course.checkpointed = Some(tokens);
        AtRest {
            overhead: tokens - counted.scale(with.reading.factor.value),
            known: Some(tokens),
            with,
        }
    }

    fn counted(&mut self, ahead: Option<&Live>) -> Tokens {
        let Bench { live, meter, .. } = &mut self.with.bench;
        let counted = meter.messages(ahead.unwrap_or(live).messages());
        self.overhead + counted.scale(self.with.reading.factor.value)
    }
}

impl Site for AtRest<'_> {
    fn bench(&mut self) -> &mut Bench {
        &mut self.with.bench
    }

    fn terms(&self) -> Terms {
        let bench = &self.with.bench;
        Terms {
            is_resumed: true,
            notes_cost: true,
            summaries: self.with.summaries.clone(),
            state_dir: Some(self.with.state_dir.to_owned()),
            ..Terms::of(self.with.config, &bench.window, &bench.state)
        }
    }

    fn look_up(&mut self) -> Result<()> {
        Ok(self.with.bench.look_up(self.with.stored)?)
    }

    fn size(&mut self) -> Size {
        let tokens = self.known.unwrap_or_else(|| self.counted(None));
        let Bench { window, meter, .. } = &self.with.bench;
        Size {
            tokens,
            at_most: tokens + allowance(window, meter.estimator(), tokens),
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
        let lock = lock(self)?;
        let boundary = |loaded: &Loaded| loaded.compaction().map(|(entry, _)| entry.id.clone());
        let now = Session::open_ref(self.with.stored.reference())?.load()?;
        match boundary(&now) == boundary(self.with.bench.live.loaded()) {
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
        let with = &mut self.with;
        let restoring = Restoring {
            config: with.config,
            workspace: with.found.as_ref(),
            now: &(with.now)(),
            files: &mut FileCache::new(),
        };
        with.bench.restore(None, restoring, &mut *with.sink)
    }
}
