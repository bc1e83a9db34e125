//! A session at work as a site of compactions.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use longhaul_compaction::{Layer, Trigger};
use longhaul_ledger::Ledger;
use longhaul_model::{CancellationToken, Model, ModelInfo};
use longhaul_tokens::{Spent, Tokens};
use longhaul_transcript::{Draft, Durability, EntryId, Millis, Session as Stored, Stamp, Writer};

use super::{Error, Listener, Result, Session, tell};
use crate::checkpoints::{Restoration, Untouched};
use crate::compactor::{
    Bench, Cache, Compactor, Course, Error as CompactorError, Outcome, Sequence, Site, Terms,
    UNKNOWN_WINDOW,
};
use crate::event::Event;
use crate::live::{CompactionFailure, Live};
use crate::measure::Size;
use crate::state::SessionState;

/// Requests to come that a rewrite of the prompt may be paid back in.
const EXPECTED_TURNS: u32 = 20;

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
            Outcome::Nothing if layer != Layer::Prune => Err(CompactionFailure::NothingToDo.into()),
            _ => self.commit(listener),
        }
    }

    /// Completes what a crash left of a compaction.
    pub(super) fn recover(&mut self, listener: &mut dyn Listener) {
        if self.setup.config.sandbox.read_only || !self.sequence().is_pending() {
            return;
        }
        let mut site = AtWork {
            session: self,
            cancel: &CancellationToken::new(),
            listener,
        };
        let _lock = site.lock();
        Compactor::at(&mut site).recover();
    }

    /// Takes the last compaction or pruning back; nothing is rewritten.
    pub fn undo(&mut self, listener: &mut dyn Listener) -> Result<EntryId> {
        if self.setup.config.sandbox.read_only {
            return Err(Error::ReadOnly);
        }
        self.refresh(listener)?;
        let stored = Stored::open(self.writer.path())?;
        let again = self
            .live
            .undo(|| self.stamp(), &|id| stored.entry(id).ok())?;
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
    fn live(&self) -> &Live {
        &self.session.live
    }

    fn bench(&mut self) -> Bench<'_> {
        let entries = self.session.entries.as_ref();
        Bench {
            live: &self.session.live,
            meter: &mut self.session.meter,
            window: &self.session.window,
            is_stored: Box::new(move |id| entries.is_some_and(|entries| entries.contains_key(id))),
        }
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
            let notebook = Untouched(&session.notebook);
            let checkpoints = session.checkpoints();
            checkpoints.restore(&notebook, ahead, putting, &mut |_| {})
        });
        let restored = session.fitting(restored.unwrap_or_default().fragments);
        session.size_with(ahead, &restored)
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
        terms
    }

    fn course(&mut self) -> &mut Course {
        &mut self.session.course
    }

    fn state(&mut self) -> &mut SessionState {
        &mut self.session.state
    }

    fn remember(&mut self) {
        self.session.remember(self.listener);
    }

    fn tell(&mut self, event: Event) {
        tell(self.listener, event);
    }

    fn sequence(&self) -> Sequence<'_> {
        self.session.sequence()
    }

    fn now(&self) -> Millis {
        self.session.now()
    }

    fn stamp(&mut self) -> Stamp {
        self.session.stamp()
    }

    fn milliseconds(&self) -> f64 {
        let now = self.session.setup.clock.now().timestamp();
        now.as_microsecond() as f64 / 1000.0
    }

    fn append(&mut self, drafts: &[Draft]) -> Result<(), CompactorError> {
        match self.session.setup.config.sandbox.read_only {
            true => self.session.think(drafts),
            false => drop(self.session.append(drafts)?),
        }
        Ok(())
    }

    fn write(&mut self, draft: &Draft, stamp: Stamp, base: Ledger) -> Result<(), CompactorError> {
        let session = &mut *self.session;
        Writer::open(session.writer.path(), Durability::Always)?.append(draft, stamp.clone())?;
        let parent = session.live.entries().last().map(|entry| entry.id.clone());
        let entry = draft.to_entry(&stamp, parent.as_ref());
        if let Some(entries) = &mut session.entries {
            entries.insert(stamp.id, Some(stamp.time));
        }
        session.live.push_compaction(entry, base);
        session.known_size = session.size_on_disk();
        session.anchor = None;
        session.told.clear();
        Ok(())
    }

    fn put_back(&mut self) -> Restoration {
        self.session.restore_now(self.listener)
    }

    fn summaries(&self) -> Option<Arc<dyn Model>> {
        self.session.setup.summaries.clone()
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

    fn cancel(&self) -> CancellationToken {
        self.cancel.clone()
    }

    fn spent(&mut self, spent: &Spent) {
        self.session.turn_spent.add(spent);
    }

    fn cache(&mut self) -> Option<Cache> {
        let session = &mut *self.session;
        let size = session.size();
        Some(Cache {
            prices: session.prices(),
            since: session.since(),
            expected_turns: EXPECTED_TURNS,
            weighs_pruning: false,
            growth: size.at_most - size.overhead,
        })
    }

    fn flush(&mut self, trigger: Trigger) -> BoxFuture<'_, Result<(), CompactorError>> {
        Box::pin(self.session.flush(trigger, self.cancel, self.listener))
    }

    fn in_emergency(&mut self) {
        self.session.save_conclusion(self.listener);
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
