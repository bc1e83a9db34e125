//! Prune, count, decide, and carry out what was decided, in this order before
//! every request and after every turn.

use longhaul_checkpoint::Trigger as Saved;
use longhaul_compaction::cost::{Prices, Since};
use longhaul_compaction::ladder::{self, Block, Limits, Occasion, State, Step};
use longhaul_compaction::summary::Limits as SummaryLimits;
use longhaul_compaction::{Degradation, Layer, Risk, Trigger};
use longhaul_model::CancellationToken;
use longhaul_tokens::Tokens;
use longhaul_transcript::Draft;

use super::compact::Made;
use super::{Listener, Result, Session, Size, Told, cache_prices, tell};
use crate::checkpoints::{Occasion as Saving, turn};
use crate::event::Event;
use crate::live::{CacheTerms, Pruned};

/// Requests to come that a rewrite of the prompt may be paid back in.
const EXPECTED_TURNS: u32 = 20;
/// Growth of the context after which its cost is looked at again, for a window
/// of 200,000.
const LOOK_EVERY: Tokens = Tokens(10_000);

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
        if due == Due::BeforeRequest {
            self.economise(listener)?;
        }
        self.climb(cancel, listener).await?;
        if due == Due::BeforeRequest {
            self.make_fit(cancel, listener).await?;
        }
        Ok(())
    }

    /// Climbs the ladder as far as the thresholds ask for it.
    async fn climb(
        &mut self,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let mut tried = Vec::new();
        loop {
            let size = self.size();
            let state = self.ladder_state(Occasion::Threshold, size, &tried);
            let before = tried.len();
            let steps = ladder::plan(&self.window, &state);
            for step in self.worthwhile(steps, size) {
                self.step(
                    step,
                    Trigger::Auto,
                    None,
                    size,
                    &mut tried,
                    cancel,
                    listener,
                )
                .await?;
            }
            if tried.len() == before {
                return Ok(());
            }
        }
    }

    /// The steps without those that prepare a compaction from which nothing will
    /// come: memory is flushed once in an epoch, and that one time must not be
    /// spent on nothing.
    pub(super) fn worthwhile(&mut self, mut steps: Vec<Step>, size: Size) -> Vec<Step> {
        let layer = steps.iter().find_map(|step| match step {
            Step::Compact(layer) if *layer != Layer::Prune => Some(*layer),
            _ => None,
        });
        if let Some(layer) = layer
            && steps.contains(&Step::Flush)
            && !self.has_something_to_compact(layer, size)
        {
            steps.retain(|step| !matches!(step, Step::Flush | Step::Notify));
        }
        steps
    }

    /// Carries one step of a plan out.
    #[allow(clippy::too_many_arguments)] // They are the plan's, and it is one place.
    pub(super) async fn step(
        &mut self,
        step: Step,
        trigger: Trigger,
        focus: Option<&str>,
        size: Size,
        tried: &mut Vec<Layer>,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Option<Made>> {
        match step {
            Step::Gauge => {}
            Step::Checkpoint => {
                let why = match trigger {
                    Trigger::Manual => Saved::Manual,
                    _ => Saved::Threshold,
                };
                self.checkpoint(why, size.tokens, listener);
            }
            Step::Flush => self.flush(trigger, cancel, listener).await?,
            Step::Notify => tell(
                listener,
                Event::CompactionDue {
                    layer: Layer::Full,
                    tokens: size.tokens,
                },
            ),
            Step::Blocked(block) => {
                self.blocked(block, size, listener);
                if trigger == Trigger::Overflow {
                    // What is forbidden was not tried, but it is behind us.
                    tried.extend([Layer::Summarize, Layer::Full]);
                }
            }
            Step::Compact(Layer::Prune) => {
                tried.push(Layer::Prune);
                self.prune(size, listener)?;
            }
            Step::Compact(layer) => {
                tried.push(layer);
                // Layer 3 has its own notice; and where compaction is off, the user is told
                // that an overflow leaves no choice.
                let notify = self.setup.config.compaction.notify_before_auto;
                let asked = trigger == Trigger::Manual || layer == Layer::Full;
                if !asked && (notify || trigger == Trigger::Overflow) {
                    tell(
                        listener,
                        Event::CompactionDue {
                            layer,
                            tokens: size.tokens,
                        },
                    );
                }
                let made = self
                    .compact_layer(layer, trigger, focus, size, cancel, listener)
                    .await?;
                return Ok(Some(made));
            }
        }
        Ok(None)
    }

    /// What the ladder looks at.
    pub(super) fn ladder_state(
        &mut self,
        occasion: Occasion,
        size: Size,
        tried: &[Layer],
    ) -> State {
        let context = size.at_most;
        let look = context >= self.window.checkpoint() && !tried.contains(&Layer::Prune);
        let layers = self.setup.config.layers();
        let settings = self.prune_settings();
        let (tool_output, prunable) = match look && layers.prune {
            true => {
                let pruned = self.live.prune(&mut self.meter, &settings, size.overhead);
                let output = self.tool_output();
                (output, pruned.map_or(Tokens::ZERO, |pruned| pruned.freed))
            }
            false => (Tokens::ZERO, Tokens::ZERO),
        };
        let compaction = &self.setup.config.compaction;
        let flushed = match compaction.memory_flush.enabled {
            true => self.state.memory_flush_compaction_count,
            false => Some(self.live.epoch()),
        };
        let moved = self.checkpointed.is_none_or(|at| {
            let least = self.setup.config.checkpoint.minimum_change_percent / 100.0;
            f64::from(context.0.abs_diff(at.0)) >= least * f64::from(self.window.size().0)
        });
        State {
            occasion,
            context,
            tool_output,
            prunable,
            prune_minimum: settings.minimum,
            epoch: self.live.epoch(),
            flushed_epoch: flushed,
            checkpointed: !moved || !self.setup.config.writes_checkpoints(),
            cold: self.is_cold() && self.expects_compaction(context, size.overhead),
            tried: tried.to_vec(),
            limits: Limits {
                auto_enabled: self.state.autocompact.unwrap_or(compaction.auto_enabled),
                read_only: self.setup.config.sandbox.read_only,
                subagent: self.setup.subagent.is_some(),
                breaker_open: self
                    .state
                    .breaker
                    .is_open(self.setup.config.breaker_rules()),
                max_auto: compaction.max_auto_compactions,
                layers,
            },
        }
    }

    fn is_cold(&self) -> bool {
        self.last_request.is_some() && !self.prices().is_warm(self.since())
    }

    /// How long ago the last request was.
    fn since(&self) -> Since {
        match self.last_request {
            Some(last) => Since::Seconds((self.now().0 - last.0) as f64 / 1000.0),
            None => Since::Never,
        }
    }

    /// Whether the context will have to be compacted, as far as anyone can tell:
    /// a session goes on for about as long as it has gone on already.
    fn expects_compaction(&self, context: Tokens, overhead: Tokens) -> bool {
        let window = &self.window;
        let protect = self.protected(Layer::Summarize);
        let kept = protect + Tokens(protect.0 / 2);
        let sizes = self.setup.config.summary_sizes();
        let summary = SummaryLimits::new(window, Layer::Summarize, &sizes).total;
        let least = window.scaled(self.setup.config.compaction.prune.prune_minimum_tokens);
        let grows_to = context + context - overhead;
        grows_to >= window.activation() && context >= overhead + kept + summary + least
    }

    /// What tokens cost, for the cache's arithmetic.
    fn prices(&self) -> Prices {
        cache_prices(&self.setup.config, self.model(), &self.model_name())
    }

    /// The tail that a layer protects, fitted to the window.
    pub(super) fn protected(&self, layer: Layer) -> Tokens {
        use crate::config::Layer as Configured;
        let configured = match layer {
            Layer::Prune => Configured::Prune,
            Layer::Summarize | Layer::Emergency => Configured::Summarize,
            Layer::Full => Configured::Full,
        };
        self.window
            .scaled(self.setup.config.protected_tail(configured))
    }

    /// Looks whether hiding tool output now saves money. In a read-only sandbox
    /// nothing else makes room, so it is done whenever there is something.
    fn economise(&mut self, listener: &mut dyn Listener) -> Result<()> {
        if !self.setup.config.compaction.prune.enabled {
            return Ok(());
        }
        let size = self.size();
        let settings = self.prune_settings();
        if self.setup.config.sandbox.read_only {
            let all = longhaul_compaction::prune::PruneSettings {
                minimum: Tokens(1),
                ..settings
            };
            if size.at_most >= self.window.checkpoint()
                && let Some(pruned) = self.live.prune(&mut self.meter, &all, size.overhead)
            {
                self.hide(pruned, size, "read-only sandbox".into(), listener)?;
            }
            return Ok(());
        }
        if !self.setup.config.layers().prune {
            return Ok(());
        }
        let step = self.window.scaled(LOOK_EVERY);
        let context = size.tokens;
        let cold = self.is_cold();
        if context < self.looked_at + step
            && !(cold && context > self.looked_at + Tokens(step.0 / 4))
        {
            self.looked_at = self.looked_at.min(context);
            return Ok(());
        }
        self.looked_at = context;
        let prices = self.prices();
        let terms = CacheTerms {
            prices: &prices,
            since: self.since(),
            expected_turns: EXPECTED_TURNS,
        };
        let chosen = self
            .live
            .prune_if_cheaper(&mut self.meter, &settings, &terms, size.overhead);
        if let Some((pruned, verdict)) = chosen {
            self.hide(pruned, size, verdict.to_string(), listener)?;
            self.looked_at = self.size().tokens;
        }
        Ok(())
    }

    /// Layer 1.
    fn prune(&mut self, size: Size, listener: &mut dyn Listener) -> Result<()> {
        let settings = self.prune_settings();
        let pruned = self.live.prune(&mut self.meter, &settings, size.overhead);
        if let Some(pruned) = pruned {
            let reason = "tool output above its threshold".to_owned();
            self.hide(pruned, size, reason, listener)?;
        }
        Ok(())
    }

    fn hide(
        &mut self,
        pruned: Pruned,
        size: Size,
        reason: String,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        match self.setup.config.sandbox.read_only {
            true => self.think(&pruned.drafts),
            false => {
                self.append(&pruned.drafts)?;
            }
        }
        let after = self.size().tokens;
        tell(
            listener,
            Event::Pruned {
                results: pruned.results,
                tokens_before: size.tokens,
                tokens_after: after,
                reason,
            },
        );
        Ok(())
    }

    /// Folds entries in without writing them.
    fn think(&mut self, drafts: &[Draft]) {
        for draft in drafts {
            let parent = self.live.entries().last().map(|entry| entry.id.clone());
            let entry = draft.to_entry(&self.stamp(), parent.as_ref());
            self.observe(entry);
        }
    }

    /// Saves the state of the work.
    pub(super) fn checkpoint(
        &mut self,
        trigger: Saved,
        tokens: Tokens,
        listener: &mut dyn Listener,
    ) {
        self.checkpointed = Some(tokens);
        let occasion = self.occasion(trigger, tokens, false);
        let mut sink = |event: Event| listener.event(&event);
        let written = self.checkpoints().write(&self.live, &occasion, &mut sink);
        if let Err(error) = written {
            tell(listener, error.event());
        }
    }

    pub(super) fn occasion(&self, trigger: Saved, tokens: Tokens, splits_turn: bool) -> Saving {
        Saving {
            at: self.now(),
            trigger,
            tokens,
            window: self.window.size(),
            turn: turn(&self.live, splits_turn),
        }
    }

    /// Says once in an epoch that something is due and may not happen.
    fn blocked(&mut self, block: Block, size: Size, listener: &mut dyn Listener) {
        if block == Block::ReadOnly {
            let warn_at = self.setup.config.compaction.warn_at_token_threshold;
            let threshold = self.window.scaled(warn_at);
            if size.tokens >= threshold && self.told.insert(Told::ReadOnly) {
                tell(
                    listener,
                    Event::ReadOnlyPressure {
                        tokens: size.tokens,
                        threshold,
                    },
                );
            }
        }
        if !self.told.insert(Told::Blocked(block)) {
            return;
        }
        tell(
            listener,
            Event::Blocked {
                block,
                tokens: size.tokens,
            },
        );
        if block == Block::Guard {
            let worn = Degradation::of(self.live.epoch(), None, &self.setup.config.risk_rules());
            // Whoever allows fewer than it takes to wear a session out still wants to
            // know how to go on.
            let recommendation = match worn.risk {
                Risk::Critical => worn.recommendation,
                _ => format!(
                    "compacted {} times, as often as `compaction.maxAutoCompactions` allows; \
                     start a fresh session: `longhaul context export`, then `context import`, or \
                     `session handoff` for another agent",
                    worn.compactions
                ),
            };
            tell(
                listener,
                Event::Worn {
                    compactions: worn.compactions,
                    recommendation,
                },
            );
        }
    }
}
