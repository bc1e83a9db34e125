//! Plan, carry out, count again: as far as a context's size asks for it.

use longhaul_checkpoint::Trigger as Saved;
use longhaul_compaction::ladder::{self, Block, Occasion, State, Step};
use longhaul_compaction::prune::PruneSettings;
use longhaul_compaction::{Degradation, Layer, Trigger};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Role, Stamp};

use super::bench::Bench;
use super::brakes::Guarded;
use super::driver::Compactor;
use super::outcome::Outcome;
use super::site::{Output, Site, Terms};
use crate::error::Result;
use crate::event::Event;
use crate::live::Pruned;
use crate::measure::{Size, compacted};

/// Growth of the context after which it is looked at again, for a window of
/// 200,000.
const LOOK_EVERY: Tokens = Tokens(10_000);

impl<S: Site> Compactor<'_, S> {
    /// Does what the thresholds ask for.
    pub async fn climb(&mut self) -> Result<()> {
        let mut tried = Vec::new();
        loop {
            let size = self.site.size();
            let before = tried.len();
            for step in self.plan(Occasion::Threshold, size, &tried) {
                self.step(step, Trigger::Auto, None, size, &mut tried)
                    .await?;
            }
            if tried.len() == before {
                return Ok(());
            }
        }
    }

    /// Makes a context smaller that does not fit: the next layer that changes
    /// something, the oldest turns last. Whether there was one; whoever asks
    /// looks whether it is enough, and asks again only if it is not.
    pub async fn shrink(&mut self, tried: &mut Vec<Layer>) -> Result<bool> {
        let size = self.site.size();
        loop {
            for step in self.plan(Occasion::Overflow, size, tried) {
                let last = step == Step::Compact(Layer::Emergency);
                let made = self
                    .step(step, Trigger::Overflow, None, size, tried)
                    .await?;
                match made {
                    Some(Outcome::Made(_)) => return Ok(true),
                    Some(Outcome::Nothing | Outcome::Failed(_)) if last => return Ok(false),
                    _ => {}
                }
            }
        }
    }

    /// Compacts because a person asks for it; with a focus, that is kept above
    /// all.
    pub async fn by_hand(&mut self, layer: Layer, focus: Option<&str>) -> Result<Outcome> {
        let size = self.site.size();
        let mut tried = Vec::new();
        let mut outcome = Outcome::Nothing;
        for step in self.plan(Occasion::Manual(layer), size, &[]) {
            let made = self.step(step, Trigger::Manual, focus, size, &mut tried);
            if let Some(made) = made.await? {
                outcome = made;
            }
        }
        Ok(outcome)
    }

    /// What is due now, without what prepares a compaction from which nothing
    /// would come: memory is flushed once in an epoch, and that one time must
    /// not be spent on nothing.
    fn plan(&mut self, occasion: Occasion, size: Size, tried: &[Layer]) -> Vec<Step> {
        let state = self.ladder_state(occasion, size, tried);
        let mut steps = ladder::plan(&self.site.bench().window, &state);
        let layer = steps.iter().find_map(|step| match step {
            Step::Compact(layer) if *layer != Layer::Prune => Some(*layer),
            _ => None,
        });
        if let Some(layer) = layer
            && steps.contains(&Step::Flush)
            && !self.finds_something(layer, size)
        {
            steps.retain(|step| !matches!(step, Step::Flush | Step::Notify));
        }
        steps
    }

    /// Carries one step out.
    async fn step(
        &mut self,
        step: Step,
        trigger: Trigger,
        focus: Option<&str>,
        size: Size,
        tried: &mut Vec<Layer>,
    ) -> Result<Option<Outcome>> {
        let tokens = size.tokens;
        match step {
            Step::Gauge => self.site.gauge(tokens),
            Step::Checkpoint => {
                let why = match trigger {
                    Trigger::Manual => Saved::Manual,
                    _ => Saved::Threshold,
                };
                self.checkpoint(why, tokens);
            }
            Step::Flush => self.site.flush(trigger).await?,
            Step::Notify => {
                let layer = Layer::Full;
                self.site.tell(Event::CompactionDue { layer, tokens });
            }
            Step::Blocked(block) => {
                self.blocked(block, size);
                if trigger == Trigger::Overflow {
                    // What is forbidden was not tried, but it is behind us.
                    tried.extend([Layer::Summarize, Layer::Full]);
                }
            }
            Step::Compact(Layer::Prune) => {
                tried.push(Layer::Prune);
                return self.prune(size).map(Some);
            }
            Step::Compact(layer) => {
                tried.push(layer);
                // Layer 3 has its own notice; and where compaction is off, the user is told
                // that an overflow leaves no choice.
                let asked = trigger == Trigger::Manual || layer == Layer::Full;
                if !asked && (self.site.terms().notifies || trigger == Trigger::Overflow) {
                    self.site.tell(Event::CompactionDue { layer, tokens });
                }
                return self.layer(layer, trigger, focus, size).await.map(Some);
            }
        }
        Ok(None)
    }

    /// What the ladder looks at.
    fn ladder_state(&mut self, occasion: Occasion, size: Size, tried: &[Layer]) -> State {
        let terms = self.site.terms();
        let context = size.at_most;
        let bench = self.site.bench();
        let (epoch, lossy) = (bench.live.epoch(), bench.live.wear().counted());
        let flushed_epoch = match terms.flushes {
            true => bench.state.memory_flush_compaction_count,
            false => Some(epoch),
        };
        let moved = bench.course.checkpointed.is_none_or(|at| {
            let moved = f64::from(size.tokens.0.abs_diff(at.0));
            moved >= terms.least_change * f64::from(bench.window.size().0)
        });
        let checkpointed = !moved || !terms.writes_checkpoints;
        let look = terms.limits.layers.prune
            && context >= bench.window.checkpoint()
            && !tried.contains(&Layer::Prune);
        let (tool_output, prunable) = match look {
            true => self.tool_output(size, &terms),
            false => (Tokens::ZERO, Tokens::ZERO),
        };
        State {
            occasion,
            context,
            tool_output,
            prunable,
            prune_minimum: terms.prune.minimum,
            epoch,
            lossy,
            flushed_epoch,
            checkpointed,
            cold: self.is_cold(size, &terms),
            tried: tried.to_vec(),
            limits: terms.limits,
        }
    }

    /// Whether the cache is cold and the context will have to be compacted, as
    /// far as anyone can tell; and whether that would free what makes a rewrite
    /// worth while.
    fn is_cold(&mut self, size: Size, terms: &Terms) -> bool {
        if !self.site.cache().is_some_and(|cache| cache.is_cold()) {
            return false;
        }
        let after = self.summarized(size, terms);
        self.expects_summary(size, terms) && size.at_most >= after + terms.prune.minimum
    }

    /// What a summary would bring the context to, as far as anyone can tell: to
    /// what the last one did. The first may take all that it is allowed, which
    /// in a small window is far more than any of them takes.
    fn summarized(&mut self, size: Size, terms: &Terms) -> Tokens {
        let Bench { live, window, .. } = self.site.bench();
        let most = terms.summarized(window, size.overhead);
        compacted(live.loaded()).map_or(most, |last| last.min(most))
    }

    /// Whether a summary will make room by itself, as far as anyone can tell: a
    /// session goes on for about as long as it has gone on already.
    fn expects_summary(&mut self, size: Size, terms: &Terms) -> bool {
        let Bench { live, window, .. } = self.site.bench();
        let goes_on = size.at_most + (size.at_most - size.overhead);
        terms.summarizes(live.wear().counted())
            && (live.epoch() > 0 || goes_on >= window.activation())
    }

    /// Tool output in the context, and how much of it is worth hiding. Looked
    /// at again only when the context has grown by a good piece.
    fn tool_output(&mut self, size: Size, terms: &Terms) -> (Tokens, Tokens) {
        let context = size.at_most;
        let bench = self.site.bench();
        let window = bench.window;
        let is_near = |known: &Output| {
            let step = window.scaled(LOOK_EVERY);
            known.window == window.size() && context >= known.at && context - known.at < step
        };
        let output = bench.course.output.filter(is_near).unwrap_or_else(|| {
            let (live, meter) = (&bench.live, &mut bench.meter);
            let pruned = live.prune(meter, &terms.prune, size.overhead);
            let is_result = |role: &Role| matches!(role, Role::ToolResult | Role::BashExecution);
            let messages = live.messages().iter();
            let results = messages.filter(|message| is_result(&message.role));
            Output {
                at: context,
                window: window.size(),
                tokens: results.map(|message| meter.message(message)).sum(),
                freed: pruned.map_or(Tokens::ZERO, |pruned| pruned.freed),
            }
        });
        bench.course.output = Some(output);
        // A summary makes more room at the same price: hiding output instead pays
        // only where it makes as much, or where there will be no summary.
        let after = self.summarized(size, terms);
        let summarizes = terms.summarizes(self.site.bench().live.wear().counted());
        let pays = !summarizes || context - output.freed <= after;
        let prunable = if pays { output.freed } else { Tokens::ZERO };
        (output.tokens, prunable)
    }

    /// Layer 1.
    pub fn prune(&mut self, size: Size) -> Result<Outcome> {
        let terms = self.site.terms();
        let Some(pruned) = self.prunable(&terms.prune, size) else {
            return Ok(Outcome::Nothing);
        };
        self.hide(&pruned, size, "tool output above its threshold".to_owned())?;
        Ok(Outcome::Pruned(pruned))
    }

    /// What hiding tool output would come to.
    pub fn prunable(&mut self, settings: &PruneSettings, size: Size) -> Option<Pruned> {
        let bench = self.site.bench();
        bench.live.prune(&mut bench.meter, settings, size.overhead)
    }

    /// Looks whether hiding tool output now saves money. A look costs as much as
    /// the context is long, so it is taken only when the cache is cold or the
    /// context has grown by a good piece. In a read-only sandbox nothing else
    /// makes room, so it is done whenever there is something.
    pub fn economise(&mut self) -> Result<()> {
        let terms = self.site.terms();
        let size = self.site.size();
        if terms.limits.read_only {
            let all = PruneSettings {
                minimum: Tokens(1),
                ..terms.prune
            };
            if terms.limits.layers.prune
                && size.at_most >= self.site.bench().window.checkpoint()
                && let Some(pruned) = self.prunable(&all, size)
            {
                self.hide(&pruned, size, "read-only sandbox".into())?;
            }
            return Ok(());
        }
        let Some(cache) = self.site.cache().filter(|_| terms.limits.layers.prune) else {
            return Ok(());
        };
        let context = size.tokens;
        let bench = self.site.bench();
        let step = bench.window.scaled(LOOK_EVERY);
        let course = &mut bench.course;
        let soon = cache.is_cold() && context > course.looked_at + Tokens(step.0 / 4);
        if context < course.looked_at + step && !soon {
            course.looked_at = course.looked_at.min(context);
            return Ok(());
        }
        course.looked_at = context;
        // What only puts a summary off saves nothing.
        if self.expects_summary(size, &terms) {
            return Ok(());
        }
        let Bench { live, meter, .. } = self.site.bench();
        let chosen = live.prune_if_cheaper(meter, &terms.prune, &cache, size.overhead);
        if let Some((pruned, verdict)) = chosen {
            let after = self.hide(&pruned, size, verdict.to_string())?;
            self.site.bench().course.looked_at = after;
        }
        Ok(())
    }

    fn hide(&mut self, pruned: &Pruned, size: Size, reason: String) -> Result<Tokens> {
        let drafts = pruned.drafts.iter();
        let drafts: Vec<(Draft, Stamp)> = drafts
            .map(|draft| (draft.clone(), self.site.stamp()))
            .collect();
        self.write(&drafts, None)?;
        self.site.bench().course.output = None;
        self.site.rewrote(Some(pruned.suffix));
        let tokens_after = self.site.size().tokens;
        self.site.tell(Event::Pruned {
            results: pruned.results,
            tokens_before: size.tokens,
            tokens_after,
            reason,
        });
        Ok(tokens_after)
    }

    /// Says once in an epoch that something is due and may not happen.
    fn blocked(&mut self, block: Block, size: Size) {
        let tokens = size.tokens;
        let terms = self.site.terms();
        let course = &mut self.site.bench().course;
        let presses = block == Block::ReadOnly && tokens >= terms.warn_at && !course.pressed;
        course.pressed |= presses;
        let is_new = course.told.insert(block);
        if presses {
            let threshold = terms.warn_at;
            self.site
                .tell(Event::ReadOnlyPressure { tokens, threshold });
        }
        if !is_new {
            return;
        }
        self.site.tell(Event::Blocked { block, tokens });
        if block == Block::Guard {
            let live = &self.site.bench().live;
            let worn = Degradation::of(live.epoch(), live.wear(), &terms.risk);
            let guarded = Guarded {
                lossy: worn.lossy,
                most: terms.limits.max_auto,
            };
            self.site.tell(Event::Worn {
                compactions: worn.compactions,
                recommendation: guarded.to_string(),
            });
        }
    }
}
