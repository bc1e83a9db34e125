//! What compaction asks of a configuration, as the room below takes it.

use longhaul_compaction::ladder::Layers;
use longhaul_compaction::prune::{ArrivalTrim, PruneSettings};
use longhaul_compaction::summary::Sizes;
use longhaul_compaction::{BreakerRules, CompactionRules, RiskRules, SpiralWarning};
use longhaul_tokens::Window;

use super::{Config, Layer};

impl Config {
    /// When failures stop compaction.
    pub fn breaker_rules(&self) -> BreakerRules {
        let breaker = &self.compaction.breaker;
        BreakerRules {
            failures: breaker.failures,
            least_freed: breaker.minimum_freed_percent / 100.0,
        }
    }

    /// How the number of compactions is read.
    pub fn risk_rules(&self) -> RiskRules {
        let risk = &self.compaction.risk;
        RiskRules {
            medium_at: risk.medium_at,
            high_at: risk.high_at,
            critical_at: risk.critical_at,
            loss_percent_each: risk.loss_percent_each,
            loss_percent_most: risk.loss_percent_most,
            warn_at: self.compaction.warn_at_compaction,
        }
    }

    /// What an agent is told of its many compactions, once they are so many.
    pub fn spiral_warning(&self) -> SpiralWarning {
        SpiralWarning {
            from: self.checkpoint.spiral_warning_at,
            rules: self.risk_rules(),
        }
    }

    /// How large summaries may be.
    pub fn summary_sizes(&self) -> Sizes {
        let summary = &self.compaction.summary;
        Sizes {
            words: summary.user_words_tokens,
            rest: summary.mechanical_tokens,
            prose: summary.prose_tokens,
            full_prose: summary.full_prose_tokens,
            paste: summary.paste_tokens,
            read_files: summary.read_files as usize,
            compression_ratio: summary.compression_ratio,
        }
    }

    /// What a single compaction is made by.
    pub fn compaction_rules(&self) -> CompactionRules {
        CompactionRules {
            summary: self.summary_sizes(),
            emergency_turns: self.compaction.emergency.turns,
        }
    }

    /// The limits of pruning, fitted to a window.
    pub fn prune_settings(&self, window: &Window) -> PruneSettings {
        let prune = &self.compaction.prune;
        let arrival = &prune.on_arrival;
        let chars = |count: u32| count as usize;
        // Where nothing else makes room, what is old is hidden however few there are.
        let whole = match self.sandbox.read_only {
            true => arrival.whole_records.min(self.sandbox.prune_after_rounds),
            false => arrival.whole_records,
        };
        PruneSettings {
            protect_tail: window.scaled(self.protected_tail(Layer::Prune)),
            after_rounds: self.prune_after_rounds(),
            whole_records: chars(whole),
            minimum: window.scaled(prune.prune_minimum_tokens),
            arrival: arrival.enabled.then(|| ArrivalTrim {
                result_chars: chars(arrival.result_chars),
                result_tail_chars: chars(arrival.result_tail_chars),
                file_chars: chars(arrival.file_chars),
            }),
        }
    }

    /// The layers that may be carried out by themselves.
    pub fn layers(&self) -> Layers {
        let listed = |layer| self.rule(layer).is_some();
        Layers {
            prune: listed(Layer::Prune) && self.compaction.prune.enabled,
            summarize: listed(Layer::Summarize),
            full: listed(Layer::Full),
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::Tokens;

    use super::super::LayerRule;
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_rooms_below() {
        let config = Config::default();
        assert_eq!(config.breaker_rules(), BreakerRules::default());
        assert_eq!(config.risk_rules(), RiskRules::default());
        assert_eq!(config.summary_sizes(), Sizes::default());
        assert_eq!(config.compaction_rules(), CompactionRules::default());
        assert_eq!(config.layers(), Layers::ALL);
    }

    #[test]
    fn what_is_set_is_what_the_rooms_below_are_given() {
        let mut config = Config::default();
        let compaction = &mut config.compaction;
        compaction.breaker.failures = 7;
        compaction.breaker.minimum_freed_percent = 25.0;
        compaction.risk.medium_at = 4;
        compaction.risk.high_at = 5;
        compaction.risk.critical_at = 6;
        compaction.risk.loss_percent_each = 1.5;
        compaction.risk.loss_percent_most = 33.0;
        compaction.warn_at_compaction = 8;
        compaction.emergency.turns = 9;
        compaction.layers = vec![LayerRule::plain(Layer::Full)];
        let summary = &mut compaction.summary;
        summary.user_words_tokens = Tokens(11);
        summary.prose_tokens = Tokens(12);
        summary.full_prose_tokens = Tokens(13);
        summary.mechanical_tokens = Tokens(14);
        summary.paste_tokens = Tokens(15);
        summary.read_files = 16;
        summary.compression_ratio = 19.0;
        assert_eq!(
            config.breaker_rules(),
            BreakerRules {
                failures: 7,
                least_freed: 0.25,
            }
        );
        assert_eq!(
            config.risk_rules(),
            RiskRules {
                medium_at: 4,
                high_at: 5,
                critical_at: 6,
                loss_percent_each: 1.5,
                loss_percent_most: 33.0,
                warn_at: 8,
            }
        );
        assert_eq!(
            config.compaction_rules(),
            CompactionRules {
                summary: Sizes {
                    words: Tokens(11),
                    prose: Tokens(12),
                    full_prose: Tokens(13),
                    rest: Tokens(14),
                    paste: Tokens(15),
                    read_files: 16,
                    compression_ratio: 19.0,
                },
                emergency_turns: 9,
            }
        );
        let only_full = Layers {
            prune: false,
            summarize: false,
            full: true,
        };
        assert_eq!(config.layers(), only_full);
    }
}
