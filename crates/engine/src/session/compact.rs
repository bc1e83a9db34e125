//! A session at work as a site of compactions.

use std::collections::HashSet;
use std::path::PathBuf;

use futures::future::BoxFuture;
use jiff::civil::DateTime;
use longhaul_compaction::{Layer, Trigger};
use longhaul_model::{CancellationToken, ModelInfo};
use longhaul_tokens::{Spent, Tokens};
use longhaul_transcript::{Draft, Durability, EntryId, Millis, Session as Stored, Stamp, Writer};

use super::{Error, Listener, Result, Session, tell};
use crate::checkpoints::{Restoration, Untouched};
use crate::compactor::{
    Bench, Compactor, Error as CompactorError, Outcome, Sequence, Site, Stored as Recallable,
    Terms, UNKNOWN_WINDOW,
};
use crate::event::Event;
use crate::live::{Again, CacheTerms, CompactionFailure, Live};
use crate::measure::Size;
use longhaul_compaction::cost::EXPECTED_TURNS;

/// A session, and who listens to what is done to it.
pub(super) struct AtWork<'a> {
    pub(super) session: &'a mut Session,
    pub(super) cancel: &'a CancellationToken,
    pub(super) listener: &'a mut dyn Listener,
}

impl Session {
    /// Compacts because a person asks for it; with a focus, that is kept above
    /// all.
    pub async fn compact(
        &mut self,
        layer: Layer,
        focus: Option<&str>,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        if self.setup.config.sandbox.read_only {
            return Err(Error::ReadOnly);
        }
        self.refresh(listener)?;
        let mut site = AtWork {
            session: self,
            cancel,
            listener,
        };
        let outcome = Compactor::at(&mut site).by_hand(layer, focus).await?;
        match outcome {
            Outcome::Failed(reason) => Err(CompactionFailure::Failed(reason).into()),
            Outcome::Refused(why) => Err(why.into()),
            Outcome::Nothing if layer != Layer::Prune => Err(CompactionFailure::NothingToDo.into()),
            _ => self.commit(listener),
        }
    }

    /// Completes what a crash left of a compaction.
    pub(super) fn recover(&mut self, listener: &mut dyn Listener) {
        let read_only = self.setup.config.sandbox.read_only;
        let mut site = AtWork {
            session: self,
            cancel: &CancellationToken::new(),
            listener,
        };
        if read_only || !site.bench().sequence.is_pending() {
            return;
        }
        let _lock = site.lock();
        Compactor::at(&mut site).recover();
    }

    /// Takes the last compaction or pruning back; nothing is rewritten.
    pub fn undo(&mut self, listener: &mut dyn Listener) -> Result<EntryId> {
        self.again(listener, |session| {
            let stored = Stored::open(session.writer.path())?;
            let original = |id: &EntryId| stored.entry(id).ok();
            Ok(session.live.undo(|| session.stamp(), &original)?)
        })
    }

    /// Takes the last undo back.
    pub fn redo(&mut self, listener: &mut dyn Listener) -> Result<EntryId> {
        self.again(listener, |session| {
            Ok(session.live.redo(|| session.stamp())?)
        })
    }

    fn again(
        &mut self,
        listener: &mut dyn Listener,
        plan: impl FnOnce(&Session) -> Result<Again>,
    ) -> Result<EntryId> {
        if self.setup.config.sandbox.read_only {
            return Err(Error::ReadOnly);
        }
        self.refresh(listener)?;
        let again = plan(self)?;
        if let Some(branch) = again.branch {
            self.writer.branch(branch);
        }
        self.writer.append_all(&again.drafts)?;
        self.writer.end_turn()?;
        // The path is another one now.
        self.known_size = 0;
        self.refresh(listener)?;
        self.course.begin_epoch();
        self.remember(listener);
        Ok(again.subject)
    }
}

impl Site for AtWork<'_> {
    fn bench(&mut self) -> Bench<'_> {
        let session = &mut *self.session;
        let entries = session.entries.as_ref();
        let writes = session.setup.config.writes_checkpoints();
        Bench {
            live: &mut session.live,
            meter: &mut session.meter,
            window: &session.window,
            state: &mut session.state,
            course: &mut session.course,
            sequence: Sequence::new(
                &session.store,
                &session.whose,
                &session.notebook,
                true,
                writes,
            ),
            stored: entries.map_or(Recallable::Unknown, Recallable::Times),
        }
    }

    fn terms(&self) -> Terms {
        let Session {
            setup,
            window,
            state,
            ..
        } = &*self.session;
        let mut terms = Terms::of(&setup.config, window, state);
        terms.limits.subagent = setup.subagent.is_some();
        terms.flushes = setup.config.compaction.memory_flush.enabled;
        terms.notes_cost = true;
        terms.summaries = setup.summaries.clone();
        terms.cancel = self.cancel.clone();
        terms.state_dir = Some(setup.state_dir.clone());
        terms
    }

    fn look_up(&mut self) -> Result<(), CompactorError> {
        self.session.known_entries()
    }

    fn size(&mut self) -> Size {
        self.session.size()
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        let session = &mut *self.session;
        // A compaction rewrites the prompt anyway.
        session.lay_out_anew(self.listener);
        let restored = session.put_back(self.listener, |session, putting, _| {
            let notebook = Untouched(Some(&session.notebook));
            let checkpoints = session.checkpoints();
            checkpoints.restore(&notebook, ahead, putting, &mut |_| {})
        });
        let restored = restored.unwrap_or_default().fragments;
        let restored = session.fitting(Some(ahead), restored);
        session.size_with(Some(ahead), &restored)
    }

    fn tell(&mut self, event: Event) {
        tell(self.listener, event);
    }

    fn now(&self) -> Millis {
        self.session.now()
    }

    fn stamp(&mut self) -> Stamp {
        self.session.stamp()
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<(), CompactorError> {
        let session = &mut *self.session;
        if session.setup.config.sandbox.read_only {
            return Ok(());
        }
        match drafts {
            [(Draft::Compaction { .. }, _)] => {
                Writer::open(session.writer.path(), Durability::Always)?.append_all(drafts)?;
            }
            _ => drop(session.writer.append_all(drafts)?),
        }
        if let Some(entries) = &mut session.entries {
            let written = drafts.iter();
            entries.extend(written.map(|(_, stamp)| (stamp.id.clone(), Some(stamp.time))));
        }
        session.known_size = session.size_on_disk();
        Ok(())
    }

    fn rewrote(&mut self, suffix: Option<Tokens>) {
        self.session.anchor = None;
        if suffix.is_none() {
            self.session.told.clear();
        }
    }

    fn put_back(&mut self) -> Restoration {
        self.session.restore_now(self.listener)
    }

    /// The session's own model has the session's window, which may have been
    /// learnt or configured.
    fn summary_window(&self, model: &ModelInfo) -> Tokens {
        let own = self
            .session
            .model()
            .is_some_and(|own| own.name == model.name && own.provider == model.provider);
        let known = model.window.map(Tokens);
        let window = self.session.window.size();
        match own {
            true => known.map_or(window, |known| known.min(window)),
            false => known.unwrap_or(UNKNOWN_WINDOW),
        }
    }

    fn spent(&mut self, spent: &Spent) {
        self.session.turn_spent.add(spent);
    }

    fn cache(&mut self) -> Option<CacheTerms> {
        Some(CacheTerms {
            prices: self.session.prices(),
            since: self.session.since(),
            expected_turns: EXPECTED_TURNS,
        })
    }

    fn flush(&mut self, trigger: Trigger) -> BoxFuture<'_, Result<(), CompactorError>> {
        Box::pin(self.session.flush(trigger, self.cancel, self.listener))
    }

    fn workspace(&self) -> Option<(PathBuf, DateTime)> {
        let setup = &self.session.setup;
        Some((setup.workspace.clone(), setup.clock.now().datetime()))
    }

    fn gave_up(&mut self, reasons: &[String]) {
        self.session.save_error(reasons, self.listener);
    }

    fn left(&mut self, before: &[EntryId]) {
        let Some(departures) = &self.session.setup.departures else {
            return;
        };
        let entries = self.session.live.entries().iter();
        let here: HashSet<&EntryId> = entries.map(|entry| &entry.id).collect();
        let left: Vec<EntryId> = before
            .iter()
            .filter(|id| !here.contains(id))
            .cloned()
            .collect();
        departures.left(self.session.writer.path(), &left);
    }
}
