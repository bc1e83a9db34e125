//! A site: where a compaction takes place, in terms of plain operations.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::civil::DateTime;
use longhaul_compaction::ladder::{Block, Limits};
use longhaul_compaction::prune::PruneSettings;
use longhaul_compaction::summary::Limits as SummaryLimits;
use longhaul_compaction::{BreakerRules, Layer, RiskRules, Trigger};
use longhaul_model::{CancellationToken, Model, ModelInfo};
use longhaul_tokens::{Spent, Tokens, Window};
use longhaul_transcript::{Draft, EntryId, Millis, Stamp};

use super::bench::Bench;
use crate::checkpoints::{Error as CheckpointError, Lock, Restoration};
use crate::config::{Config, SummaryModel};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::live::Live;
use crate::measure::Size;
use crate::state::SessionState;
use longhaul_compaction::CompactionRules;
use longhaul_compaction::compact::Tail;
use longhaul_compaction::cost::CacheTerms;

/// The window assumed for a compaction model that nobody knows. It is smaller than
/// what is assumed for an agent's own model, because the two err to different
/// sides: what is summarised in pieces that are too small takes a few more
/// requests, while a piece that is too large fails and loses the prose. An agent's
/// window that is taken for too small would compact a session again and again.
pub(crate) const UNKNOWN_WINDOW: Tokens = Tokens(32_000);

/// What is remembered between two looks at a session.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// The context's size at the last checkpoint.
    pub(crate) checkpointed: Option<Tokens>,
    /// The context's size when its cost was last looked at.
    pub(super) looked_at: Tokens,
    /// What of it is tool output.
    pub(super) output: Option<Output>,
    /// What was told in this epoch.
    pub(super) told: HashSet<Block>,
    /// Whether it was told that a read-only context is large.
    pub(super) pressed: bool,
}

impl Course {
    /// Another epoch has begun: everything is looked at anew.
    pub(crate) fn begin_epoch(&mut self) {
        *self = Course {
            looked_at: self.looked_at,
            ..Course::default()
        };
    }
}

/// The tool output of a context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// The context's size when it was looked at, and the window.
    pub(super) at: Tokens,
    pub(super) window: Tokens,
    pub(super) tokens: Tokens,
    /// What durable pruning would free.
    pub(super) freed: Tokens,
}

/// What is set about the compactions of a session, fitted to its window.
#[derive(Clone)]
pub struct Terms {
    /// What forbids what; whether the breaker is open is looked up.
    pub limits: Limits,
    /// Tokens that layer 2 and an emergency leave alone.
    pub protect: Tokens,
    /// Tokens that layer 3 leaves alone.
    pub protect_full: Tokens,
    /// Limits of pruning.
    pub prune: PruneSettings,
    /// How large the parts of a compaction may be.
    pub rules: CompactionRules,
    /// What becomes of a recent message that is larger than the tail.
    pub tail: Tail,
    /// When failures stop compaction.
    pub breaker: BreakerRules,
    /// How compactions are read as risk.
    pub risk: RiskRules,
    /// The least change, as a share of the window, for another checkpoint.
    pub least_change: f64,
    /// Whether one that was interrupted is gone on with.
    pub is_resumed: bool,
    /// Whether a checkpoint is written before one.
    pub writes_checkpoints: bool,
    /// Whether memory is flushed before a compaction.
    pub flushes: bool,
    /// Whether the user is told before a compaction happens by itself.
    pub notifies: bool,
    /// Whether a summary's cost is written into the session.
    pub notes_cost: bool,
    /// In a read-only sandbox the user is warned from this size on.
    pub warn_at: Tokens,
    /// How a model is asked for a summary.
    pub model: SummaryModel,
    /// The one that is asked; without one, summaries are extracted.
    pub summaries: Option<Arc<dyn Model>>,
    /// Stops whoever is waited for.
    pub cancel: CancellationToken,
    /// Where the state is written down; nowhere, where nothing outlives it.
    pub state_dir: Option<PathBuf>,
}

impl Terms {
    /// What a configuration says.
    pub fn of(config: &Config, window: &Window, state: &SessionState) -> Terms {
        let compaction = &config.compaction;
        let protected = |layer| window.scaled(config.protected_tail(layer));
        Terms {
            limits: Limits {
                auto_enabled: state.autocompact.unwrap_or(compaction.auto_enabled),
                read_only: config.sandbox.read_only,
                subagent: false,
                breaker_open: state.breaker.is_open(compaction.breaker),
                max_auto: compaction.max_auto_compactions,
                layers: config.layers(),
            },
            protect: protected(Layer::Summarize),
            protect_full: protected(Layer::Full),
            prune: config.prune_settings(window),
            rules: config.compaction_rules(),
            tail: Tail::default(),
            breaker: compaction.breaker,
            risk: config.risk_rules(),
            least_change: config.checkpoint.minimum_change_percent / 100.0,
            is_resumed: false,
            writes_checkpoints: config.writes_checkpoints(),
            flushes: false,
            notifies: compaction.notify_before_auto,
            notes_cost: false,
            warn_at: window.scaled(compaction.warn_at_token_threshold),
            model: compaction.model.clone(),
            summaries: None,
            cancel: CancellationToken::new(),
            state_dir: None,
        }
    }

    /// Whether summaries may make room by themselves, after so many compactions
    /// that the guard counts.
    pub(super) fn summarizes(&self, lossy: u32) -> bool {
        let limits = &self.limits;
        let may = limits.auto_enabled && !limits.read_only && !limits.breaker_open;
        may && limits.layers.summarize && lossy < limits.max_auto
    }

    /// What a context comes to after a summary, at most.
    pub(super) fn summarized(&self, window: &Window, overhead: Tokens) -> Tokens {
        let kept = self.protect + Tokens(self.protect.0 / 8);
        let summary = SummaryLimits::new(window, Layer::Summarize, &self.rules.summary).total;
        overhead + kept + summary
    }

    /// The tail that a layer protects.
    pub(super) fn protected(&self, layer: Layer) -> Tokens {
        match layer {
            Layer::Prune => self.prune.protect_tail,
            Layer::Summarize | Layer::Emergency => self.protect,
            Layer::Full => self.protect_full,
        }
    }
}

/// Keeps other processes from compacting a session.
pub(super) fn lock<S: Site + ?Sized>(site: &mut S) -> Result<Option<Lock>> {
    match site.bench().notebook.lock() {
        Ok(lock) => Ok(lock),
        Err(error @ CheckpointError::Busy { .. }) => Err(Error::Busy(error)),
        // Where no lock can be had, the session's own has to do.
        Err(error) => {
            site.tell(error.event());
            Ok(None)
        }
    }
}

/// Where a compaction takes place.
pub trait Site {
    /// The session, and what belongs to its compactions.
    fn bench(&mut self) -> &mut Bench;

    /// What is set.
    fn terms(&self) -> Terms;

    /// The size of the next request.
    fn size(&mut self) -> Size;

    /// The size of the next request once this is the session, with all that the
    /// next epoch's requests have beside the conversation.
    fn foresee(&mut self, ahead: &Live) -> Tokens;

    /// Writes entries; durable, where one is a compaction.
    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<()>;

    /// Says what happens.
    fn tell(&mut self, event: Event);

    /// The time now.
    fn now(&self) -> Millis;

    /// A name and a time for a new entry.
    fn stamp(&mut self) -> Stamp;

    /// Milliseconds of a clock, for saying how long something took.
    fn milliseconds(&self) -> f64 {
        self.now().0 as f64
    }

    /// Finds out what can be recalled, where that takes the whole file.
    fn look_up(&mut self) -> Result<()> {
        Ok(())
    }

    /// Keeps other processes from compacting the session.
    fn lock(&mut self) -> Result<Option<Lock>> {
        lock(self)
    }

    /// What was written is in the session, and rewrites the context: all of it,
    /// or only so much at its end.
    fn rewrote(&mut self, _: Option<Tokens>) {}

    /// Puts the state of the work back, where an epoch begins with that.
    fn put_back(&mut self) -> Restoration {
        Restoration::default()
    }

    /// The window that what is summarised has to fit into.
    fn summary_window(&self, model: &ModelInfo) -> Tokens {
        model.window.map_or(UNKNOWN_WINDOW, Tokens)
    }

    /// A request of ours was paid for.
    fn spent(&mut self, _: &Spent) {}

    /// What the prompt cache says, where there is one.
    fn cache(&mut self) -> Option<CacheTerms> {
        None
    }

    /// The gauge is due.
    fn gauge(&mut self, _: Tokens) {}

    /// Lets the agent write down what it wants to remember.
    fn flush(&mut self, _: Trigger) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The workspace whose memory may be written, and the time there.
    fn workspace(&self) -> Option<(PathBuf, DateTime)> {
        None
    }

    /// Compaction was given up.
    fn gave_up(&mut self, _: &[String]) {}

    /// These entries are no longer in the context.
    fn left(&mut self, _: Vec<EntryId>) {}
}
