//! Settings of pruning, the ladder, summaries and what stops them.
//!
//! Sizes "for 200,000" shrink in proportion on smaller windows and do not grow on
//! larger ones.

use longhaul_compaction::prune::ArrivalTrim;
use longhaul_compaction::summary::Sizes;
use longhaul_compaction::{BreakerRules, Layer};
use longhaul_tokens::{Tokens, settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// When and how a conversation is compacted.
    pub struct Compaction {
        /// Compact by itself at the threshold; when false, only by hand and on overflow.
        auto_enabled: bool = true,
        /// Activation as a percentage of the window, in place of window − reserve − soft margin.
        auto_threshold_percent: Option<f64> [min = 1, max = 100] = None,
        /// Activation in tokens, in place of window − reserve − soft margin; with a percentage set too, the smaller counts.
        trigger_tokens: Option<Tokens> [min = 1] = None,
        /// The model's window in tokens, where smaller than what the model's metadata says.
        context_window: Option<Tokens> [min = 1024] = None,
        /// Tokens kept free for the answer; at most a quarter of the window counts.
        reserve_tokens: Tokens [min = 1] = Tokens(16_384),
        /// The reserve is never below this; 0 for no floor.
        reserve_tokens_floor: Tokens [min = 0] = Tokens(20_000),
        /// Activation comes this many tokens before the hard limit (for 200,000).
        soft_threshold_tokens: Tokens [min = 0] = Tokens(4_000),
        /// Most recent tokens that layer 2 (summarize) keeps verbatim (for 200,000).
        preserve_recent_tokens: Tokens [min = 1] = Tokens(25_000),
        /// The ladder stops this percentage of the window below activation.
        hysteresis_percent: f64 [min = 0, max = 50] = 5.0,
        /// Hiding old tool output.
        prune: Prune = Prune::default(),
        /// The layers of the ladder that are carried out by themselves, with settings of their own where they differ.
        layers: Vec<LayerRule> = Layer::LADDER.map(LayerRule::plain).to_vec(),
        /// Layer 3, the whole conversation as a summary.
        full: FullLayer = FullLayer::default(),
        /// Tell the user before an automatic compaction.
        notify_before_auto: bool = true,
        /// After this many compactions that lost something or have no audit, no more automatic ones.
        max_auto_compactions: u32 [min = 1] = 5,
        /// From this many compactions on, warn of degradation.
        warn_at_compaction: u32 [min = 1] = 3,
        /// In a read-only sandbox, warn above this many tokens (for 200,000).
        warn_at_token_threshold: Tokens [min = 1] = Tokens(150_000),
        /// The model that writes summaries.
        model: SummaryModel = SummaryModel::default(),
        /// What a summary holds and how large it may be.
        summary: Sizes = Sizes::default(),
        /// The silent turn that saves to memory before a compaction.
        memory_flush: MemoryFlush = MemoryFlush::default(),
        /// How the number of compactions is read as risk.
        risk: Risk = Risk::default(),
        /// What stops compaction after repeated failures.
        breaker: BreakerRules = BreakerRules::default(),
        /// What happens when compaction did not make a request fit.
        emergency: Emergency = Emergency::default(),
    }
}

settings! {
    /// Hiding old tool output; the transcript keeps all of it.
    pub struct Prune {
        /// Prune at all.
        enabled: bool = true,
        /// Most recent tokens never pruned (for 200,000).
        protect_recent_tokens: Tokens [min = 1] = Tokens(40_000),
        /// Durable pruning runs only if at least this many tokens come free (for 200,000).
        prune_minimum_tokens: Tokens [min = 1] = Tokens(20_000),
        /// Durable pruning needs more tool output than this in the context (for 200,000).
        tool_output_tokens: Tokens [min = 1] = Tokens(50_000),
        /// Tool results older than this many rounds become a placeholder.
        prune_after_rounds: u32 [min = 1] = 10,
        /// How long the provider keeps a cached prompt, in seconds; unset, what is known of the model.
        cache_ttl_seconds: Option<u32> [min = 1] = None,
        /// Shortening of single results once they have left the protected tail.
        on_arrival: ArrivalTrim = ArrivalTrim::default(),
    }
}

/// The names of the layers that can be in use, for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
#[allow(dead_code)]
enum LayerName {
    /// Layer 1: tool output is hidden durably.
    Prune,
    /// Layer 2: older turns become a summary.
    Summarize,
    /// Layer 3: the whole conversation becomes a summary.
    Full,
}

/// A layer in use. What is left out follows the keys of its own section.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LayerRule {
    /// Which layer.
    #[schemars(with = "LayerName")]
    pub layer: Layer,
    /// Where it begins, as a percentage of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub trigger_percent: Option<f64>,
    /// Most recent tokens it leaves alone (for 200,000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub protect_recent_tokens: Option<Tokens>,
}

impl LayerRule {
    /// The layer with nothing of its own.
    pub fn plain(layer: Layer) -> LayerRule {
        LayerRule {
            layer,
            trigger_percent: None,
            protect_recent_tokens: None,
        }
    }
}

settings! {
    /// Layer 3, the whole conversation as a summary.
    pub struct FullLayer {
        /// Where it begins, as a percentage of the window.
        trigger_percent: f64 [min = 1, max = 100] = 95.0,
        /// Most recent tokens it keeps verbatim (for 200,000).
        protect_recent_tokens: Tokens [min = 1] = Tokens(15_000),
    }
}

settings! {
    /// The model that writes summaries; without one they are extracted mechanically.
    pub struct SummaryModel {
        /// Provider, such as `openrouter`; unset, the session's own.
        provider: Option<String> = None,
        /// Model, such as `google/gemini-2.0-flash-exp:free`; unset, the session's own.
        model_name: Option<String> = None,
        /// Address of its server, if not where the provider usually is.
        base_url: Option<String> = None,
        /// Sampling temperature.
        temperature: f64 [min = 0, max = 2] = 0.3,
        /// Most tokens it may answer with.
        max_tokens: Tokens [min = 1] = Tokens(4_000),
        /// Largest chunk given to it at once, as a percentage of its own window.
        chunk_percent: f64 [min = 1, max = 90] = 40.0,
    }
}

settings! {
    /// The silent turn that saves to memory before a compaction, once per epoch.
    pub struct MemoryFlush {
        /// Flush at all.
        enabled: bool = true,
        /// What the agent is asked, in place of the built-in prompt.
        prompt: Option<String> = None,
        /// The system prompt of that turn, in place of the built-in one.
        system_prompt: Option<String> = None,
    }
}

settings! {
    /// How the number of compactions is read as risk of degradation.
    pub struct Risk {
        /// Medium from this many compactions on.
        medium_at: u32 [min = 1] = 2,
        /// High from this many on.
        high_at: u32 [min = 1] = 3,
        /// Critical from this many on.
        critical_at: u32 [min = 1] = 5,
        /// Loss estimated for each compaction, in percent, where none was measured.
        loss_percent_each: f64 [min = 0, max = 100] = 10.0,
        /// The estimated loss is never above this percentage.
        loss_percent_most: f64 [min = 0, max = 100] = 90.0,
    }
}

settings! {
    /// What happens when compaction did not make a request fit.
    pub struct Emergency {
        /// Oldest turns dropped from the context at each step.
        turns: u32 [min = 1] = 2,
    }
}
