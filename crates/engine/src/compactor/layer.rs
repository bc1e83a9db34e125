//! One layer, from the request to the entry, and what is said about it.

use longhaul_checkpoint::{CheckpointId, Trigger as Saved};
use longhaul_compaction::summary::Extractive;
use longhaul_compaction::{BreakerState, Degradation, Layer, Trigger};
use longhaul_tokens::{Spent, Tokens};
use longhaul_transcript::{Draft, EntryId, Stamp};

use super::climb::Compactor;
use super::journal::{Intent, completed};
use super::site::{Result, Site};
use crate::checkpoints::Restoration;
use crate::event::{CompactedEvent, Event};
use crate::live::{Compacted, CompactionFailure, Live, Pruned, Removed};
use crate::measure::Size;
use crate::spending::to_json;

/// What came of a layer.
#[derive(Debug)]
pub enum Outcome {
    /// The entry is written.
    Made(Box<Made>),
    /// Tool output is hidden.
    Pruned(Pruned),
    /// There was nothing to do.
    Nothing,
    /// It failed; the session is as it was.
    Failed(String),
}

/// A compaction that was made.
#[derive(Debug)]
pub struct Made {
    /// Its numbers, as they were told.
    pub event: CompactedEvent,
    /// What left the context.
    pub removed: Removed,
    /// The summary.
    pub summary: String,
    /// What the next context carries.
    pub restored: Restoration,
}

/// A compaction on its way into the session.
struct Carried {
    entry: EntryId,
    checkpoint: Option<CheckpointId>,
    tokens_after: Tokens,
    restored: Restoration,
}

/// What a layer is asked to do.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) layer: Layer,
    pub(super) trigger: Trigger,
    pub(super) focus: Option<&'a str>,
    pub(super) size: Size,
}

impl<S: Site> Compactor<'_, S> {
    /// Carries one layer out.
    pub async fn layer(
        &mut self,
        layer: Layer,
        trigger: Trigger,
        focus: Option<&str>,
        size: Size,
    ) -> Result<Outcome> {
        let asked = Asked {
            layer,
            trigger,
            focus,
            size,
        };
        let begun = self.site.milliseconds();
        let spent_before = self.site.state().spending.compactions;
        let lock = self.site.lock()?;
        let compacted = match self.summarize(asked).await? {
            Ok(compacted) => compacted,
            Err(CompactionFailure::NothingToDo) => {
                let tokens = size.tokens;
                self.site.tell(Event::NothingToCompact { layer, tokens });
                return Ok(Outcome::Nothing);
            }
            // An emergency that finds nothing is no attempt that was paid for.
            Err(failure) if layer == Layer::Emergency => {
                return Ok(Outcome::Failed(failure.to_string()));
            }
            Err(failure) => return Ok(self.failed(failure.to_string())),
        };
        let before: Vec<EntryId> = self
            .site
            .live()
            .entries()
            .iter()
            .map(|entry| entry.id.clone())
            .collect();
        let carried = match self.carry_out(asked, &compacted) {
            Ok(carried) => carried,
            Err(error) => return Ok(self.failed(error.to_string())),
        };
        drop(lock);
        let course = self.site.course();
        course.begin_epoch();
        course.looked_at = carried.tokens_after;
        self.site.rewrote(None);
        if let Some(reason) = &compacted.fallback {
            let reason = reason.clone();
            self.site.tell(Event::SummaryFallback { reason });
        }
        let event = CompactedEvent {
            entry: carried.entry,
            epoch: self.site.live().epoch(),
            layer,
            trigger,
            checkpoint: carried
                .checkpoint
                .map(|id| id.to_string())
                .unwrap_or_default(),
            tokens_before: size.tokens,
            tokens_after: carried.tokens_after,
            messages_compacted: compacted.removed.messages,
            messages_kept: compacted.kept_messages,
            summarizer: compacted.summarizer,
            milliseconds: self.site.milliseconds() - begun,
            splits_turn: compacted.splits_turn,
            fidelity: compacted.fidelity,
            notes: compacted.notes,
        };
        self.site.tell(Event::Compacted(Box::new(event.clone())));
        self.warn_of_wear();
        if layer != Layer::Emergency {
            let rules = self.site.terms().breaker;
            let (before, after) = (event.tokens_before, event.tokens_after);
            self.judge(|site| site.state().breaker.finished(before, after, rules));
        }
        self.note_cost(&spent_before)?;
        self.site.remember();
        self.site.left(&before);
        Ok(Outcome::Made(Box::new(Made {
            event,
            removed: compacted.removed,
            summary: match compacted.draft {
                Draft::Compaction { summary, .. } => summary,
                _ => String::new(),
            },
            restored: carried.restored,
        })))
    }

    /// What a layer would come to, with prose that is extracted: nobody is
    /// asked, and nothing is written. With the size after it.
    pub fn preview(
        &mut self,
        layer: Layer,
        focus: Option<&str>,
    ) -> Result<Result<(Compacted, Tokens), CompactionFailure>> {
        self.site.look_up()?;
        let asked = Asked {
            layer,
            trigger: Trigger::Manual,
            focus,
            size: self.site.size(),
        };
        Ok(self.extract(asked).map(|compacted| {
            let stamp = Stamp {
                id: EntryId::from("preview"),
                time: self.site.now(),
            };
            let after = self.foresee(&compacted, &compacted.draft, &stamp);
            (compacted, after)
        }))
    }

    /// Whether a layer would find anything, looked at without a model.
    pub(super) fn finds_something(&mut self, layer: Layer, size: Size) -> bool {
        let planned = self.extract(Asked {
            layer,
            trigger: Trigger::Auto,
            focus: None,
            size,
        });
        !matches!(
            planned,
            Err(CompactionFailure::NothingToDo | CompactionFailure::TurnTooLarge { .. })
        )
    }

    pub(super) fn extract(&mut self, asked: Asked<'_>) -> Result<Compacted, CompactionFailure> {
        self.plan_with(&mut Extractive, asked)
    }

    /// The size after a compaction, before it is written.
    fn foresee(&mut self, compacted: &Compacted, draft: &Draft, stamp: &Stamp) -> Tokens {
        let mut ahead = self.site.live().clone();
        let leaf = ahead.entries().last().map(|entry| entry.id.clone());
        ahead.push_compaction(draft.to_entry(stamp, leaf.as_ref()), compacted.base.clone());
        self.site.foresee(&ahead)
    }

    /// Saves the state, writes the entry, puts the state back; each durable
    /// before the next.
    fn carry_out(&mut self, asked: Asked<'_>, compacted: &Compacted) -> Result<Carried> {
        let stamp = self.site.stamp();
        let live = self.site.live();
        let intent = Intent {
            entry: stamp.id,
            at: stamp.time,
            layer: asked.layer,
            trigger: asked.trigger,
            focus: asked.focus.map(str::to_owned),
            leaf: live.entries().last().map(|entry| entry.id.clone()),
        };
        let saving = self.saving(Saved::Compaction, asked.size.tokens, compacted.splits_turn);
        let mut events = Vec::new();
        let sequence = self.site.sequence();
        let live = self.site.live();
        let mut journal = sequence.begin(intent, &mut |event| events.push(event));
        let checkpoint = sequence.save(live, &mut journal, saving, &mut |event| {
            events.push(event);
        });
        self.tell_all(events);
        let draft = completed(compacted.draft.clone(), checkpoint, None);
        let tokens_after = self.foresee(compacted, &draft, &journal.stamp());
        let draft = completed(compacted.draft.clone(), checkpoint, Some(tokens_after));
        self.site
            .write(&draft, journal.stamp(), compacted.base.clone())?;
        let mut events = Vec::new();
        let sequence = self.site.sequence();
        sequence.written(&mut journal, checkpoint, &mut |event| events.push(event));
        self.tell_all(events);
        // The entry is written: whatever fails now is made good later.
        self.drop_answers();
        let restored = self.put_back();
        Ok(Carried {
            entry: journal.stamp().id,
            checkpoint,
            tokens_after,
            restored,
        })
    }

    /// Puts the state of the work back; with that, nothing is under way.
    fn put_back(&mut self) -> Restoration {
        let restored = self.site.put_back();
        if !restored.unrecorded {
            let mut events = Vec::new();
            let sequence = self.site.sequence();
            sequence.finish(&mut |event| events.push(event));
            self.tell_all(events);
        }
        restored
    }

    /// Completes what a crash interrupted after the entry was written, and says
    /// which compaction was interrupted before that.
    pub fn recover(&mut self) -> Option<Intent> {
        let mut events = Vec::new();
        let (sequence, live) = (self.site.sequence(), self.site.live());
        let pending = sequence.pending(live, &mut |event| events.push(event));
        self.tell_all(events);
        match pending {
            Some(intent) if is_in(self.site.live(), &intent.entry) => {
                self.put_back();
                None
            }
            pending => pending,
        }
    }

    /// From a few compactions on, the user is told with each of them.
    fn warn_of_wear(&mut self) {
        let risk = self.site.terms().risk;
        let live = self.site.live();
        if live.epoch() < risk.warn_at {
            return;
        }
        let worn = Degradation::of(live.epoch(), live.wear(), &risk);
        self.site.tell(Event::Worn {
            compactions: worn.compactions,
            recommendation: worn.recommendation,
        });
    }

    /// Writes down in the session what its summary took.
    fn note_cost(&mut self, before: &Spent) -> Result<()> {
        let spent = self.site.state().spending.compactions.since(before);
        let notes = self.site.terms().notes_cost && spent.requests > 0;
        let Some(model) = self.site.summaries().filter(|_| notes) else {
            return Ok(());
        };
        let info = model.info();
        let epoch = self.site.live().epoch();
        self.site.append(&[Draft::Usage {
            kind: "compaction".to_owned(),
            provider: info.provider.clone(),
            model: info.name.clone(),
            usage: to_json(&spent).to_string(),
            note: Some(format!("summary of compaction {epoch}")),
        }])
    }

    /// A compaction did not come about.
    fn failed(&mut self, reason: String) -> Outcome {
        let rules = self.site.terms().breaker;
        let told = reason.clone();
        self.site.tell(Event::Failed { reason: told });
        let told = reason.clone();
        self.judge(|site| site.state().breaker.failed(told, rules));
        self.site.remember();
        Outcome::Failed(reason)
    }

    /// Takes note of how an attempt ended; the breaker may open by it.
    fn judge(&mut self, ended: impl FnOnce(&mut S) -> BreakerState) {
        let rules = self.site.terms().breaker;
        let was_open = self.site.state().breaker.is_open(rules);
        if ended(self.site) == BreakerState::Open && !was_open {
            let reasons = self.site.state().breaker.reasons.clone();
            self.site.gave_up(&reasons);
            self.site.tell(Event::BreakerOpened { reasons });
        }
    }
}

/// Whether a compaction was written: then it is in the path.
fn is_in(live: &Live, entry: &EntryId) -> bool {
    live.entries().iter().any(|there| there.id == *entry)
}
