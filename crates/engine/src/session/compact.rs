//! A session at work as a site of compactions: prune, count, decide, and carry
//! out what was decided, in this order before every request and after every turn.

use std::path::PathBuf;

use futures::future::BoxFuture;
use jiff::civil::DateTime;
use longhaul_compaction::cost::{EXPECTED_TURNS, Prices, Since};
use longhaul_compaction::{Layer, Trigger};
use longhaul_model::{CancellationToken, ModelInfo};
use longhaul_tokens::{Spent, Tokens};
use longhaul_transcript::{Draft, Durability, EntryId, Millis, Session as Stored, Stamp, Writer};

use super::{AtWork, Error, Listener, Result, Session, cache_prices};
use crate::checkpoints::Restoration;
use crate::compactor::{Bench, Compactor, Outcome, Site, Terms, UNKNOWN_WINDOW};
use crate::event::Event;
use crate::live::{Again, Live};
use crate::measure::Size;
use longhaul_compaction::compact::CompactionFailure;
use longhaul_compaction::cost::CacheTerms;

/// When a session is looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A request is about to leave. None does above the hard threshold.
    BeforeRequest,
    /// A turn has ended.
    AfterTurn,
}

impl Session {
    /// Makes room where it is due: prunes, counts, decides, carries out.
    pub async fn maintain(
        &mut self,
        due: Due,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        self.at_work(cancel, listener).maintain(due).await
    }

    /// Compacts because a person asks for it; with a focus, that is kept above
    /// all.
    pub async fn compact(
        &mut self,
        layer: Layer,
        focus: Option<&str>,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        if self.read_only() {
            return Err(Error::ReadOnly);
        }
        let mut work = self.at_work(cancel, listener);
        work.refresh()?;
        let outcome = Compactor::at(&mut work).by_hand(layer, focus).await?;
        match outcome {
            Outcome::Failed(reason) => Err(CompactionFailure::Failed(reason).into()),
            Outcome::Refused(why) => Err(why.into()),
            Outcome::Nothing if layer != Layer::Prune => Err(CompactionFailure::NothingToDo.into()),
            _ => work.commit(),
        }
    }

    /// Takes the last compaction or pruning back; nothing is rewritten.
    pub fn undo(&mut self, listener: &mut dyn Listener) -> Result<EntryId> {
        self.again(listener, |session| {
            let stored = Stored::open(session.path())?;
            let original = |id: &EntryId| stored.entry(id).ok();
            Ok(session.live().undo(|| session.setup.stamp(), &original)?)
        })
    }

    /// Takes the last undo back.
    pub fn redo(&mut self, listener: &mut dyn Listener) -> Result<EntryId> {
        self.again(listener, |session| {
            Ok(session.live().redo(|| session.setup.stamp())?)
        })
    }

    fn again(
        &mut self,
        listener: &mut dyn Listener,
        plan: impl FnOnce(&Session) -> Result<Again>,
    ) -> Result<EntryId> {
        if self.read_only() {
            return Err(Error::ReadOnly);
        }
        let mut work = self.heard(listener);
        work.refresh()?;
        let again = plan(&work)?;
        if let Some(branch) = again.branch {
            work.writer.branch(branch);
        }
        work.writer.append_all(&again.drafts)?;
        work.writer.end_turn()?;
        // The path is another one now.
        work.known_size = 0;
        work.refresh()?;
        work.bench.course.begin_epoch();
        work.remember();
        Ok(again.subject)
    }

    /// How long ago the last request was.
    fn since(&self) -> Since {
        match self.last_request {
            Some(last) => Since::Seconds((self.setup.now().0 - last.0) as f64 / 1000.0),
            None => Since::Never,
        }
    }

    /// What tokens cost, for the cache's arithmetic.
    fn prices(&self) -> Prices {
        cache_prices(&self.setup.config, self.model(), &self.model_name())
    }
}

impl AtWork<'_> {
    pub(super) async fn maintain(&mut self, due: Due) -> Result<()> {
        let mut compactor = Compactor::at(self);
        if due == Due::BeforeRequest {
            compactor.economise()?;
        }
        compactor.climb().await?;
        match due {
            Due::BeforeRequest => self.make_fit().await,
            Due::AfterTurn => Ok(()),
        }
    }
}

impl Site for AtWork<'_> {
    fn bench(&mut self) -> &mut Bench {
        &mut self.session.bench
    }

    fn terms(&self) -> Terms {
        let setup = &self.setup;
        let mut terms = Terms::of(&setup.config, self.window(), &self.bench.state);
        terms.limits.subagent = setup.subagent.is_some();
        terms.flushes = setup.config.compaction.memory_flush.enabled;
        terms.is_resumed = true;
        terms.notes_cost = true;
        terms.summaries = setup.summaries.clone();
        terms.cancel = self.cancel.clone();
        terms.state_dir = Some(setup.state_dir.clone());
        terms
    }

    fn look_up(&mut self) -> Result<()> {
        match self.bench.stored {
            Some(_) => Ok(()),
            None => {
                let stored = Stored::open(self.path())?;
                Ok(self.bench.look_up(&stored)?)
            }
        }
    }

    fn size(&mut self) -> Size {
        self.session.size()
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        // A compaction rewrites the prompt anyway.
        self.lay_out_anew();
        let restored = self.restored_ahead(ahead);
        self.size_with(Some(ahead), &restored)
    }

    fn tell(&mut self, event: Event) {
        self.listener.event(&event);
    }

    fn now(&self) -> Millis {
        self.setup.now()
    }

    fn stamp(&mut self) -> Stamp {
        self.setup.stamp()
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<()> {
        if self.read_only() {
            return Ok(());
        }
        match drafts {
            [(Draft::Compaction { .. }, _)] => {
                Writer::open(self.path(), Durability::Always)?.append_all(drafts)?;
            }
            _ => drop(self.writer.append_all(drafts)?),
        }
        if let Some(stored) = &mut self.bench.stored {
            let written = drafts.iter();
            stored.extend(written.map(|(_, stamp)| (stamp.id.clone(), Some(stamp.time))));
        }
        self.known_size = self.size_on_disk();
        Ok(())
    }

    fn rewrote(&mut self, suffix: Option<Tokens>) {
        self.anchor = None;
        self.gauged &= suffix.is_some();
        self.told_unwritten &= suffix.is_some();
    }

    fn put_back(&mut self) -> Restoration {
        self.restore()
    }

    /// The session's own model has the session's window, which may have been
    /// learnt or configured.
    fn summary_window(&self, model: &ModelInfo) -> Tokens {
        let is_own = |own: &ModelInfo| own.name == model.name && own.provider == model.provider;
        let known = model.window.map(Tokens);
        let window = self.window().size();
        match self.model().is_some_and(is_own) {
            true => known.map_or(window, |known| known.min(window)),
            false => known.unwrap_or(UNKNOWN_WINDOW),
        }
    }

    fn spent(&mut self, spent: &Spent) {
        self.turn_spent.add(spent);
    }

    fn cache(&mut self) -> Option<CacheTerms> {
        Some(CacheTerms {
            prices: self.prices(),
            since: self.since(),
            expected_turns: EXPECTED_TURNS,
        })
    }

    fn flush(&mut self, trigger: Trigger) -> BoxFuture<'_, Result<()>> {
        Box::pin(AtWork::flush(self, trigger))
    }

    fn workspace(&self) -> Option<(PathBuf, DateTime)> {
        let setup = &self.setup;
        Some((setup.workspace.clone(), setup.clock.now().datetime()))
    }

    fn gave_up(&mut self, reasons: &[String]) {
        self.save_error(reasons);
    }

    fn left(&mut self, entries: Vec<EntryId>) {
        if let Some(departures) = &self.setup.departures {
            departures.left(self.path(), &entries);
        }
    }
}
