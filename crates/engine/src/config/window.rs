//! What the rest of the engine asks of a configuration.

use longhaul_compaction::Layer;
use longhaul_tokens::{Tokens, WindowSettings};

use super::{Config, LayerRule};

impl Config {
    /// Everything the thresholds of a window of this size depend on. The size
    /// itself is decided among config, metadata and the provider's errors; see
    /// `longhaul_tokens::WindowSources`, which takes `compaction.contextWindow`.
    pub fn window_settings(&self, window: Tokens) -> WindowSettings {
        let compaction = &self.compaction;
        let share = |percent: f64| percent / 100.0;
        let own_trigger = |layer| self.rule(layer).and_then(|rule| rule.trigger_percent);
        WindowSettings {
            window,
            reserve_tokens: compaction.reserve_tokens,
            reserve_floor: compaction.reserve_tokens_floor,
            soft_margin: compaction.soft_threshold_tokens,
            prune_tool_output: compaction.prune.tool_output_tokens,
            gauge_fraction: share(self.gauge.trigger_percent),
            gauge_lead: share(self.gauge.lead_percent),
            checkpoint_fraction: share(self.checkpoint.trigger_percent),
            checkpoint_lead: share(self.checkpoint.lead_percent),
            full_fraction: share(
                own_trigger(Layer::Full).unwrap_or(compaction.full.trigger_percent),
            ),
            hysteresis: share(compaction.hysteresis_percent),
            auto_threshold_percent: compaction
                .auto_threshold_percent
                .or(own_trigger(Layer::Summarize)),
            trigger_tokens: compaction.trigger_tokens,
        }
    }

    /// How much of a conversation's end a layer leaves alone, for a window of
    /// 200,000 (`Window::scaled` fits it to another). A layer that is not in use
    /// has one too: a person may still ask for it.
    pub fn protected_tail(&self, layer: Layer) -> Tokens {
        let compaction = &self.compaction;
        let (layer, of_section) = match layer {
            Layer::Prune => (layer, compaction.prune.protect_recent_tokens),
            // An emergency drops what a summary would have taken.
            Layer::Summarize | Layer::Emergency => {
                (Layer::Summarize, compaction.preserve_recent_tokens)
            }
            Layer::Full => (layer, compaction.full.protect_recent_tokens),
        };
        let own = self.rule(layer).and_then(|rule| rule.protect_recent_tokens);
        own.unwrap_or(of_section)
    }

    /// Age in rounds at which tool results are hidden, the sandbox considered.
    pub fn prune_after_rounds(&self) -> u32 {
        let usual = self.compaction.prune.prune_after_rounds;
        if self.sandbox.read_only {
            usual.min(self.sandbox.prune_after_rounds)
        } else {
            usual
        }
    }

    pub(super) fn rule(&self, layer: Layer) -> Option<&LayerRule> {
        let mut rules = self.compaction.layers.iter();
        rules.find(|rule| rule.layer == layer)
    }
}
