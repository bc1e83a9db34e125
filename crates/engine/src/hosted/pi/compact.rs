//! A compaction that pi writes: at the end of a round by our thresholds, or when
//! pi asks by its own.

use longhaul_checkpoint::Trigger as Saved;
use longhaul_compaction::{BreakerState, Layer, Trigger};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::EntryId;
use serde::Serialize;
use serde_json::Value;

use super::carry;
use super::{PiHost, PiSession, Result};
use crate::checkpoints::with_checkpoint;
use crate::config::Layer as Configured;
use crate::event::{CompactedEvent, Event};
use crate::live::{CompactionFailure, CompactionRequest, Live};

/// Why pi is about to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its user asked for it.
    Manual,
    /// The context is above its threshold.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
}

/// A compaction in pi's words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PiCompaction {
    /// What stands for all that leaves.
    pub summary: String,
    /// The first entry that stays.
    pub first_kept_entry_id: Option<String>,
    /// Tokens before.
    pub tokens_before: u64,
    /// What our own compactions carry besides.
    pub details: Value,
}

/// What pi is offered when it is about to compact.
#[derive(Debug, Clone, PartialEq)]
pub enum Offer {
    /// The compaction that it should write in place of its own.
    Compaction(Box<PiCompaction>),
    /// Nothing would come free. What pi would do by itself asks a model to
    /// summarise our summary, which loses what that keeps exactly.
    Nothing,
    /// It did not come about, and pi should do what it would do without us.
    Own,
}

/// What came of one layer.
pub(super) enum Attempt {
    /// A compaction.
    Made(Box<Made>),
    /// There is nothing to do.
    Nothing,
    /// It failed, or may not be tried now; an event says why.
    Failed,
}

/// A compaction that was made.
pub(super) struct Made {
    /// What pi is asked to append.
    pub(super) entry: Value,
    /// The session with it.
    pub(super) live: Live,
    before: Tokens,
    after: Tokens,
    messages: usize,
}

impl Made {
    /// It in a sentence for pi's user.
    pub(super) fn told(&self) -> String {
        format!(
            "longhaul compacted {} messages: {} → {} tokens; `recall` brings back what left",
            self.messages, self.before, self.after,
        )
    }
}

impl PiSession {
    /// pi is about to compact, by its own thresholds or because its user says so.
    pub fn before_compact(
        &mut self,
        leaf: Option<&EntryId>,
        reason: Reason,
        focus: Option<&str>,
        host: PiHost,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Offer> {
        self.follow(leaf)?;
        let window = self.window(host)?;
        if self.setup.config.sandbox.read_only {
            return Ok(Offer::Own);
        }
        let rules = self.setup.config.breaker_rules();
        let (trigger, layers): (_, &[Layer]) = match reason {
            Reason::Manual => (Trigger::Manual, &[Layer::Summarize, Layer::Full]),
            Reason::Threshold if self.state.breaker.is_open(rules) => return Ok(Offer::Own),
            Reason::Threshold => (Trigger::Auto, &[Layer::Summarize, Layer::Full]),
            Reason::Overflow => (
                Trigger::Overflow,
                &[Layer::Summarize, Layer::Full, Layer::Emergency],
            ),
        };
        let live = self.live.clone();
        let mut best: Option<Box<Made>> = None;
        let mut failed = false;
        for layer in layers {
            let made = self.compact(&live, *layer, trigger, focus, &window, sink)?;
            let made = match made {
                Attempt::Made(made) => made,
                Attempt::Nothing => continue,
                Attempt::Failed => {
                    failed = true;
                    continue;
                }
            };
            let enough = reason == Reason::Manual || made.after < window.hysteresis_target();
            if best.as_ref().is_none_or(|best| made.after < best.after) {
                best = Some(made);
            }
            if enough {
                break;
            }
        }
        let compaction = best.and_then(|made| PiCompaction::of(&made.entry));
        Ok(match compaction {
            Some(compaction) => Offer::Compaction(Box::new(compaction)),
            // Above a threshold something has to be done, and pi still can.
            None if failed || reason != Reason::Manual => Offer::Own,
            None => Offer::Nothing,
        })
    }

    /// Carries one layer out, on paper.
    pub(super) fn compact(
        &mut self,
        live: &Live,
        layer: Layer,
        trigger: Trigger,
        focus: Option<&str>,
        window: &Window,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Attempt> {
        let begun = self.setup.clock.now();
        let size = self.size(Some(live), window);
        let _lock = match self.notebook.lock() {
            Ok(lock) => lock,
            Err(error) => {
                sink(error.event());
                return Ok(Attempt::Failed);
            }
        };
        let known = self.stored_entries()?;
        let configured = match layer {
            Layer::Prune => Configured::Prune,
            Layer::Summarize | Layer::Emergency => Configured::Summarize,
            Layer::Full => Configured::Full,
        };
        let request = CompactionRequest {
            layer,
            trigger,
            focus,
            window,
            protect: window.scaled(self.setup.config.protected_tail(configured)),
            overhead: size.overhead,
            tokens_before: size.tokens,
            rules: self.setup.config.compaction_rules(),
            is_stored: &|id| known.contains(id),
        };
        let compacted = match live.compact(&mut self.meter, &request) {
            Ok(compacted) => compacted,
            Err(CompactionFailure::NothingToDo) => {
                sink(Event::NothingToCompact {
                    layer,
                    tokens: size.tokens,
                });
                return Ok(Attempt::Nothing);
            }
            Err(failure) => {
                if layer != Layer::Emergency {
                    self.failed(failure.to_string(), sink);
                }
                return Ok(Attempt::Failed);
            }
        };
        let checkpoint = match self.setup.config.writes_checkpoints() {
            true => {
                let numbers = (size.tokens, window);
                let occasion =
                    self.occasion(live, Saved::Compaction, numbers, compacted.splits_turn);
                let written = self.checkpoints().write(live, &occasion, sink);
                written.inspect_err(|error| sink(error.event())).ok()
            }
            false => None,
        };
        let draft = with_checkpoint(compacted.draft, checkpoint);
        let stamp = self.stamp();
        let mut after = live.clone();
        let parent = after.entries().last().map(|entry| entry.id.clone());
        after.push_compaction(draft.to_entry(&stamp, parent.as_ref()), compacted.base);
        let tokens_after = self.size(Some(&after), window).tokens;
        self.checkpointed = None;
        self.told.clear();
        let milliseconds = (&self.setup.clock.now() - &begun)
            .total(jiff::Unit::Millisecond)
            .unwrap_or_default();
        sink(Event::Compacted(Box::new(CompactedEvent {
            entry: stamp.id.clone(),
            epoch: after.epoch(),
            layer,
            trigger,
            checkpoint: checkpoint.map(|id| id.to_string()).unwrap_or_default(),
            tokens_before: size.tokens,
            tokens_after,
            messages_compacted: compacted.removed.messages,
            messages_kept: compacted.kept_messages,
            summarizer: compacted.summarizer,
            milliseconds,
            splits_turn: compacted.splits_turn,
            fidelity: compacted.fidelity,
            notes: compacted.notes,
        })));
        if layer != Layer::Emergency {
            self.judge(size.tokens, tokens_after, sink);
        }
        Ok(Attempt::Made(Box::new(Made {
            entry: carry::for_pi(&draft, &stamp),
            live: after,
            before: size.tokens,
            after: tokens_after,
            messages: compacted.removed.messages,
        })))
    }

    /// Whether a compaction was worth its name.
    fn judge(&mut self, before: Tokens, after: Tokens, sink: &mut dyn FnMut(Event)) {
        let rules = self.setup.config.breaker_rules();
        let was_open = self.state.breaker.is_open(rules);
        let state = self.state.breaker.finished(before, after, rules);
        self.opened(state, was_open, sink);
    }

    /// A compaction did not come about.
    fn failed(&mut self, reason: String, sink: &mut dyn FnMut(Event)) {
        let rules = self.setup.config.breaker_rules();
        let was_open = self.state.breaker.is_open(rules);
        let state = self.state.breaker.failed(reason.clone(), rules);
        sink(Event::Failed { reason });
        self.opened(state, was_open, sink);
    }

    fn opened(&mut self, state: BreakerState, was_open: bool, sink: &mut dyn FnMut(Event)) {
        if state == BreakerState::Open && !was_open {
            let reasons = self.state.breaker.reasons.clone();
            sink(Event::BreakerOpened { reasons });
        }
        self.remember(sink);
    }
}

impl PiCompaction {
    /// The answer to `session_before_compact`, from the entry of a round's end.
    fn of(entry: &Value) -> Option<PiCompaction> {
        Some(PiCompaction {
            summary: entry.get("summary")?.as_str()?.to_owned(),
            first_kept_entry_id: entry
                .get("firstKeptEntryId")
                .and_then(Value::as_str)
                .map(str::to_owned),
            tokens_before: entry.get("tokensBefore")?.as_u64()?,
            details: entry.get("details").cloned().unwrap_or_default(),
        })
    }
}
