//! One layer, from the request to the entry, and what is said about it.

use longhaul_checkpoint::CheckpointId;
use longhaul_compaction::summary::Extractive;
use longhaul_compaction::{Breaker, BreakerState, Degradation, Layer, Trigger};
use longhaul_memory::MemoryFolder;
use longhaul_memory::flush::snapshot;
use longhaul_tokens::{Spent, Tokens};
use longhaul_transcript::{Draft, EntryId, Stamp};

use super::driver::Compactor;
use super::outcome::{Asked, Made, Outcome};
use super::site::Site;
use crate::error::Result;
use crate::event::Event;
use crate::measure::Size;
use crate::spending::to_json;
use longhaul_compaction::compact::{Compacted, CompactionFailure};

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
        let spent_before = self.site.bench().state.spending.compactions;
        let lock = self.site.lock()?;
        let compacted = match self.summarize(asked).await? {
            Ok(compacted) => compacted,
            Err(CompactionFailure::NothingToDo) => {
                let tokens = size.tokens;
                self.site.tell(Event::NothingToCompact { layer, tokens });
                return Ok(Outcome::Nothing);
            }
            Err(failure @ CompactionFailure::Grows { .. }) => return Ok(Outcome::Refused(failure)),
            // An emergency that finds nothing is no attempt that was paid for.
            Err(failure) if layer == Layer::Emergency => {
                return Ok(Outcome::Failed(failure.to_string()));
            }
            Err(failure) => return Ok(self.failed(failure.to_string())),
        };
        let before = self.site.bench().ids();
        let fallback = compacted.fallback.clone();
        let mut made = match self.carry_out(asked, compacted) {
            Ok(made) => made,
            Err(error) => return Ok(self.failed(error.to_string())),
        };
        drop(lock);
        let event = &mut made.event;
        let course = &mut self.site.bench().course;
        course.begin_epoch();
        course.looked_at = event.tokens_after;
        if let Some(reason) = fallback {
            self.site.tell(Event::SummaryFallback { reason });
        }
        event.milliseconds = self.site.milliseconds() - begun;
        self.site.tell(Event::Compacted(Box::new(event.clone())));
        self.warn_of_wear();
        if layer != Layer::Emergency {
            let rules = self.site.terms().breaker;
            let (before, after) = (event.tokens_before, event.tokens_after);
            self.judge(|breaker| breaker.finished(before, after, rules));
        }
        self.note_cost(&spent_before)?;
        self.remember();
        let left = self.site.bench().left_of(before);
        self.site.left(left);
        Ok(Outcome::Made(Box::new(made)))
    }

    /// What a layer would come to, with prose that is extracted: nobody is
    /// asked, and nothing is written.
    pub fn preview(
        &mut self,
        layer: Layer,
        focus: Option<&str>,
    ) -> Result<Result<Made, CompactionFailure>> {
        self.site.look_up()?;
        let asked = Asked {
            layer,
            trigger: Trigger::Manual,
            focus,
            size: self.site.size(),
        };
        let stamp = Stamp {
            id: EntryId::from("preview"),
            time: self.site.now(),
        };
        Ok(self.extract(asked).map(|compacted| {
            let after = self.foresee(&compacted, &compacted.draft, &stamp);
            let epoch = self.site.bench().live.epoch() + 1;
            Made::of(asked, compacted, stamp.id, epoch, after)
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
    pub(super) fn foresee(
        &mut self,
        compacted: &Compacted,
        draft: &Draft,
        stamp: &Stamp,
    ) -> Tokens {
        let mut ahead = self.site.bench().live.clone();
        let drafts = std::iter::once(draft).chain(&compacted.edits);
        let drafts: Vec<_> = drafts.map(|it| (it.clone(), stamp.clone())).collect();
        ahead.push_drafts(&drafts, Some(compacted.base.clone()));
        self.site.foresee(&ahead)
    }

    /// Saves the state, writes the entry, puts the state back; each durable
    /// before the next.
    fn carry_out(&mut self, asked: Asked<'_>, compacted: Compacted) -> Result<Made> {
        self.save_task();
        let at = self.begin(asked);
        let stamp = self.site.stamp();
        let checkpoint = self.save_before(at, asked.size.tokens, compacted.splits_turn);
        let draft = completed(compacted.draft.clone(), checkpoint, None);
        let tokens_after = self.foresee(&compacted, &draft, &stamp);
        let draft = completed(compacted.draft.clone(), checkpoint, Some(tokens_after));
        let mut drafts = vec![(draft, stamp.clone())];
        for edit in &compacted.edits {
            drafts.push((edit.clone(), self.site.stamp()));
        }
        self.write(&drafts, Some(compacted.base.clone()))?;
        self.site.rewrote(None);
        // The entry is written: whatever fails now is made good later.
        self.drop_answers();
        let epoch = self.site.bench().live.epoch();
        let mut made = Made::of(asked, compacted, stamp.id, epoch, tokens_after);
        made.event.checkpoint = checkpoint.map_or_else(String::new, |id| id.to_string());
        made.restored = self.site.put_back();
        self.finish();
        Ok(made)
    }

    /// Before anything leaves the context, the task at hand is written down where
    /// the next one finds it.
    fn save_task(&mut self) {
        let limits = self.site.terms().limits;
        let Some((workspace, at)) = self.site.workspace() else {
            return;
        };
        let live = &self.site.bench().live;
        let is_subagent = limits.subagent || live.ledger().is_ordered();
        // A session of another machine has no workspace here.
        if limits.read_only || is_subagent || !workspace.is_dir() {
            return;
        }
        let Some(text) = snapshot(live.ledger()) else {
            return;
        };
        let redactor = live.redactor();
        let written = MemoryFolder::open(&workspace, None)
            .and_then(|memory| memory.with_redactor(redactor).write_context(at, &text));
        if let Err(error) = written {
            self.site.tell(Event::trouble(error.to_string()));
        }
    }

    /// From a few compactions on, the user is told with each of them.
    fn warn_of_wear(&mut self) {
        let risk = self.site.terms().risk;
        let live = &self.site.bench().live;
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
        let spent = self.site.bench().state.spending.compactions.since(before);
        let notes = self.site.terms().notes_cost && spent.requests > 0;
        let Some(model) = self.site.terms().summaries.filter(|_| notes) else {
            return Ok(());
        };
        let info = model.info();
        let epoch = self.site.bench().live.epoch();
        let draft = Draft::Usage {
            kind: "compaction".to_owned(),
            provider: info.provider.clone(),
            model: info.name.clone(),
            usage: to_json(&spent).to_string(),
            note: Some(format!("summary of compaction {epoch}")),
        };
        let stamp = self.site.stamp();
        self.write(&[(draft, stamp)], None)
    }

    /// A compaction did not come about.
    fn failed(&mut self, reason: String) -> Outcome {
        let rules = self.site.terms().breaker;
        let told = reason.clone();
        self.site.tell(Event::Failed { reason: told });
        let told = reason.clone();
        self.judge(|breaker| breaker.failed(told, rules));
        self.remember();
        Outcome::Failed(reason)
    }

    /// Takes note of how an attempt ended; the breaker may open by it.
    fn judge(&mut self, ended: impl FnOnce(&mut Breaker) -> BreakerState) {
        let rules = self.site.terms().breaker;
        let breaker = &mut self.site.bench().state.breaker;
        let was_open = breaker.is_open(rules);
        if ended(breaker) == BreakerState::Open && !was_open {
            let reasons = breaker.reasons.clone();
            self.site.gave_up(&reasons);
            self.site.tell(Event::BreakerOpened { reasons });
        }
    }
}

/// The compaction entry, naming its checkpoint and the size that it comes to.
fn completed(
    mut draft: Draft,
    checkpoint: Option<CheckpointId>,
    tokens_after: Option<Tokens>,
) -> Draft {
    if let Draft::Compaction { details, .. } = &mut draft {
        let checkpoint = checkpoint.map(|id| format!("\"checkpointId\":\"{id}\""));
        let after = tokens_after.map(|tokens| format!("\"tokensAfter\":{}", tokens.0));
        let rest = details.take().unwrap_or_default();
        let rest = rest
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let rest = rest.filter(|rest| !rest.is_empty()).map(str::to_owned);
        let fields: Vec<String> = checkpoint.into_iter().chain(after).chain(rest).collect();
        *details = Some(format!("{{{}}}", fields.join(",")));
    }
    draft
}
