//! A compaction from the decision to the entry, and back.

use std::collections::HashSet;
use std::sync::Arc;

use longhaul_compaction::summary::Staged;
use longhaul_compaction::{BreakerState, Degradation, Layer, Trigger};
use longhaul_model::{CancellationToken, Model};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId, Session as Stored, Stamp, Writer};

use super::spending::to_json;
use super::summary::{Known, Used};
use super::{Error, Listener, Result, Session, Size, Spent, tell};
use crate::checkpoints::{Carried, Intent, Job, turn};
use crate::event::{CompactedEvent, Event};
use crate::live::{Compacted, CompactionFailure, CompactionRequest, Live};

/// The window assumed for a model that nobody knows.
const UNKNOWN_WINDOW: Tokens = Tokens(32_000);

/// What came of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// The entry is written.
    Done,
    /// There was nothing to do.
    Nothing,
    /// It failed; the session is as it was.
    Failed,
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
        let size = self.size();
        let occasion = longhaul_compaction::ladder::Occasion::Manual(layer);
        let state = self.ladder_state(occasion, size, &[]);
        let mut tried = Vec::new();
        let steps = longhaul_compaction::ladder::plan(&self.window, &state);
        for step in self.worthwhile(steps, size) {
            let made = self
                .step(
                    step,
                    Trigger::Manual,
                    focus,
                    size,
                    &mut tried,
                    cancel,
                    listener,
                )
                .await?;
            match made {
                Some(Made::Nothing) => return Err(CompactionFailure::NothingToDo.into()),
                Some(Made::Failed) => {
                    return Err(CompactionFailure::Failed(
                        self.state
                            .breaker
                            .reasons
                            .last()
                            .cloned()
                            .unwrap_or_default(),
                    )
                    .into());
                }
                _ => {}
            }
        }
        self.commit(listener)
    }

    /// Carries one layer out.
    pub(super) async fn compact_layer(
        &mut self,
        layer: Layer,
        trigger: Trigger,
        focus: Option<&str>,
        size: Size,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Made> {
        let begun = self.setup.clock.now();
        let spent_before = self.state.spending.compactions;
        let lock = match self.notebook.lock() {
            Ok(lock) => Some(lock),
            Err(error @ crate::checkpoints::Error::Busy { .. }) => return Err(Error::Busy(error)),
            Err(error) => {
                tell(listener, error.event());
                None
            }
        };
        let compacted = match self
            .plan_compaction(layer, trigger, focus, size, cancel, listener)
            .await
        {
            Ok(compacted) => compacted,
            Err(Error::Compaction(CompactionFailure::NothingToDo)) => {
                tell(
                    listener,
                    Event::NothingToCompact {
                        layer,
                        tokens: size.tokens,
                    },
                );
                return Ok(Made::Nothing);
            }
            Err(Error::Compaction(failure)) => {
                // An emergency that finds nothing is no attempt that was paid for.
                if layer != Layer::Emergency {
                    self.failed(failure.to_string(), listener);
                }
                return Ok(Made::Failed);
            }
            Err(error) => return Err(error),
        };
        let before: Vec<EntryId> = self
            .live
            .entries()
            .iter()
            .map(|entry| entry.id.clone())
            .collect();
        let carried = match self.carry_out(layer, trigger, focus, size, &compacted, listener) {
            Some(carried) => carried,
            None => return Ok(Made::Failed),
        };
        drop(lock);
        self.drop_answers();
        self.told.clear();
        let checkpoint = carried.checkpoint;
        self.checkpointed = None;
        self.lay_out_anew(listener);
        self.take_restored(carried.restored, listener);
        let after = self.size().tokens;
        self.looked_at = after;
        let milliseconds = (&self.setup.clock.now() - &begun)
            .total(jiff::Unit::Millisecond)
            .unwrap_or_default();
        if let Some(reason) = &compacted.fallback {
            tell(
                listener,
                Event::SummaryFallback {
                    reason: reason.clone(),
                },
            );
        }
        tell(
            listener,
            Event::Compacted(Box::new(CompactedEvent {
                entry: carried.entry,
                epoch: self.live.epoch(),
                layer,
                trigger,
                checkpoint: checkpoint.map(|id| id.to_string()).unwrap_or_default(),
                tokens_before: size.tokens,
                tokens_after: after,
                messages_compacted: compacted.removed.messages,
                messages_kept: compacted.kept_messages,
                summarizer: compacted.summarizer,
                milliseconds,
                splits_turn: compacted.splits_turn,
                fidelity: compacted.fidelity,
                notes: compacted.notes,
            })),
        );
        self.warn_of_wear(listener);
        if layer != Layer::Emergency {
            self.judge(size.tokens, after, listener);
        }
        self.note_cost(&spent_before)?;
        self.remember(listener);
        self.tell_departures(&before);
        Ok(Made::Done)
    }

    /// Whether a layer would find anything, looked at without a model.
    pub(super) fn has_something_to_compact(&mut self, layer: Layer, size: Size) -> bool {
        let request = CompactionRequest {
            layer,
            trigger: Trigger::Auto,
            focus: None,
            window: &self.window,
            protect: self.protected(layer),
            overhead: size.overhead,
            tokens_before: size.tokens,
            is_stored: &|_| true,
            rules: self.setup.config.compaction_rules(),
        };
        let planned = self.live.compact(&mut self.meter, &request);
        !matches!(
            planned,
            Err(CompactionFailure::NothingToDo | CompactionFailure::TurnTooLarge { .. })
        )
    }

    /// The window that a summary has to fit into. The session's own model has the
    /// session's window, which may have been learnt or configured.
    fn summary_window(&self, model: &Arc<dyn Model>) -> Tokens {
        let info = model.info();
        let own = self
            .model()
            .is_some_and(|own| own.name == info.name && own.provider == info.provider);
        let known = info.window.map(Tokens);
        match own {
            true => known.map_or(self.window.size(), |known| known.min(self.window.size())),
            false => known.unwrap_or(UNKNOWN_WINDOW),
        }
    }

    /// Plans until nothing is missing that a model has to say.
    async fn plan_compaction(
        &mut self,
        layer: Layer,
        trigger: Trigger,
        focus: Option<&str>,
        size: Size,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Compacted> {
        self.known_entries()?;
        let model = match layer {
            // In an emergency nothing is asked that may fail.
            Layer::Emergency => None,
            _ => self.setup.summaries.clone(),
        };
        let protect = self.protected(layer);
        let mut answers = self.finished_answers();
        loop {
            // What is planned with ends before anybody is waited for: the closures in
            // it stay on their thread.
            let (planned, model, name, missing, used) = {
                let entries = self.entries.as_ref();
                let request = CompactionRequest {
                    layer,
                    trigger,
                    focus,
                    window: &self.window,
                    protect,
                    overhead: size.overhead,
                    tokens_before: size.tokens,
                    rules: self.setup.config.compaction_rules(),
                    is_stored: &|id| entries.is_some_and(|entries| entries.contains_key(id)),
                };
                let Some(model) = &model else {
                    return Ok(self.live.compact(&mut self.meter, &request)?);
                };
                let info = model.info();
                let mut known = Known {
                    name: format!("{}/{}", info.provider, info.name),
                    window: self.summary_window(model),
                    answers: &answers,
                    missing: None,
                };
                let mut used = Used::default();
                let planned = self.live.compact_with(
                    &mut Staged::new(&mut known, &mut used)
                        .with_chunks_of(self.setup.config.compaction.model.chunk_percent),
                    &mut self.meter,
                    &request,
                );
                (planned, model, known.name, known.missing, used)
            };
            self.keep_answers(&mut answers, used, listener);
            match missing {
                Some(asked) => {
                    if cancel.is_cancelled() {
                        return Err(Error::Cancelled);
                    }
                    self.ask_for_summary(
                        model.as_ref(),
                        &name,
                        &asked,
                        &mut answers,
                        cancel,
                        listener,
                    )
                    .await?;
                }
                None => return Ok(planned?),
            }
        }
    }

    /// Saves the state, writes the entry, puts the state back.
    fn carry_out(
        &mut self,
        layer: Layer,
        trigger: Trigger,
        focus: Option<&str>,
        size: Size,
        compacted: &Compacted,
        listener: &mut dyn Listener,
    ) -> Option<Carried> {
        let Stamp { id, time } = self.stamp();
        let intent = Intent {
            entry: id,
            at: time,
            layer,
            trigger,
            focus: focus.map(str::to_owned),
            leaf: self.live.entries().last().map(|entry| entry.id.clone()),
        };
        let path = self.writer.path().to_owned();
        let durability = longhaul_transcript::Durability::Always;
        let mut append = |draft: &Draft, stamp: Stamp| {
            let mut writer = Writer::open(&path, durability)?;
            writer.append(draft, stamp)
        };
        let mut occasion =
            self.occasion(longhaul_checkpoint::Trigger::Compaction, size.tokens, false);
        occasion.turn = turn(&self.live, compacted.splits_turn);
        let job = Job {
            draft: &compacted.draft,
            occasion,
            append: &mut append,
        };
        let header = self.live.header().clone();
        let mut live = std::mem::replace(&mut self.live, Live::new(header));
        let mut reason = None;
        let carried = self.put_back(listener, |session, putting, sink| {
            let carried = session
                .sequence()
                .carry_out(&mut live, intent, job, putting, sink);
            if let Err(error) = &carried {
                reason = Some(error.to_string());
            }
            carried
        });
        self.live = live;
        self.known_size = self.size_on_disk();
        match carried {
            Some(carried) => {
                self.anchor = None;
                if let Some(entries) = &mut self.entries {
                    entries.insert(carried.entry.clone(), Some(time));
                }
                Some(carried)
            }
            None => {
                self.failed(
                    reason.unwrap_or_else(|| "the entry could not be written".into()),
                    listener,
                );
                None
            }
        }
    }

    /// From a few compactions on, the user is told with each of them.
    fn warn_of_wear(&self, listener: &mut dyn Listener) {
        let config = &self.setup.config;
        if self.live.epoch() < config.compaction.warn_at_compaction {
            return;
        }
        let worn = Degradation::of(self.live.epoch(), None, &config.risk_rules());
        tell(
            listener,
            Event::Worn {
                compactions: worn.compactions,
                recommendation: worn.recommendation,
            },
        );
    }

    /// Writes down in the session what its summary took.
    fn note_cost(&mut self, before: &Spent) -> Result<()> {
        let spent = self.state.spending.compactions.since(before);
        let Some(model) = self.setup.summaries.clone().filter(|_| spent.requests > 0) else {
            return Ok(());
        };
        let info = model.info();
        self.append(&[Draft::Usage {
            kind: "compaction".to_owned(),
            provider: info.provider.clone(),
            model: info.name.clone(),
            usage: to_json(&spent).to_string(),
            note: Some(format!("summary of compaction {}", self.live.epoch())),
        }])?;
        Ok(())
    }

    /// Whether a compaction was worth its name.
    fn judge(&mut self, before: Tokens, after: Tokens, listener: &mut dyn Listener) {
        let rules = self.setup.config.breaker_rules();
        let was_open = self.state.breaker.is_open(rules);
        let state = self.state.breaker.finished(before, after, rules);
        if state == BreakerState::Open && !was_open {
            self.opened(listener);
        }
    }

    /// A compaction did not come about.
    fn failed(&mut self, reason: String, listener: &mut dyn Listener) {
        let rules = self.setup.config.breaker_rules();
        let was_open = self.state.breaker.is_open(rules);
        let state = self.state.breaker.failed(reason.clone(), rules);
        tell(listener, Event::Failed { reason });
        if state == BreakerState::Open && !was_open {
            self.opened(listener);
        }
        self.remember(listener);
    }

    fn opened(&mut self, listener: &mut dyn Listener) {
        let reasons = self.state.breaker.reasons.clone();
        self.save_error(&reasons, listener);
        tell(listener, Event::BreakerOpened { reasons });
    }

    /// What is no longer in the context can be made findable now.
    fn tell_departures(&self, before: &[EntryId]) {
        let Some(departures) = &self.setup.departures else {
            return;
        };
        let here: HashSet<&EntryId> = self.live.entries().iter().map(|entry| &entry.id).collect();
        let left: Vec<EntryId> = before
            .iter()
            .filter(|id| !here.contains(id))
            .cloned()
            .collect();
        departures.left(self.writer.path(), &left);
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
        self.told.clear();
        self.remember(listener);
        Ok(again.subject)
    }
}
