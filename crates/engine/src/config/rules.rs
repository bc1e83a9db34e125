//! What compaction asks of a configuration, as the room below takes it.

use longhaul_compaction::ladder::Layers;
use longhaul_compaction::prune::PruneSettings;
use longhaul_compaction::{CompactionRules, Layer, RiskRules, SpiralWarning};
use longhaul_tokens::Window;

use super::Config;

impl Config {
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

    /// What a single compaction is made by.
    pub fn compaction_rules(&self) -> CompactionRules {
        CompactionRules {
            summary: self.compaction.summary,
            emergency_turns: self.compaction.emergency.turns,
        }
    }

    /// The limits of pruning, fitted to a window.
    pub fn prune_settings(&self, window: &Window) -> PruneSettings {
        let prune = &self.compaction.prune;
        let mut arrival = prune.on_arrival;
        // Where nothing else makes room, what is old is hidden however few there are.
        if self.sandbox.read_only {
            arrival.whole_records = arrival.whole_records.min(self.sandbox.prune_after_rounds);
        }
        PruneSettings {
            protect_tail: window.scaled(self.protected_tail(Layer::Prune)),
            after_rounds: self.prune_after_rounds(),
            minimum: window.scaled(prune.prune_minimum_tokens),
            arrival,
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
    use longhaul_compaction::summary::Sizes;

    use super::super::LayerRule;
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_rooms_below() {
        let config = Config::default();
        assert_eq!(config.risk_rules(), RiskRules::default());
        assert_eq!(config.compaction_rules(), CompactionRules::default());
        assert_eq!(config.layers(), Layers::ALL);
    }

    #[test]
    fn what_is_set_is_what_the_rooms_below_are_given() {
        let mut config = Config::default();
        let compaction = &mut config.compaction;
        compaction.risk.medium_at = 4;
        compaction.risk.high_at = 5;
        compaction.risk.critical_at = 6;
        compaction.risk.loss_percent_each = 1.5;
        compaction.risk.loss_percent_most = 33.0;
        compaction.warn_at_compaction = 8;
        compaction.emergency.turns = 9;
        compaction.layers = vec![LayerRule::plain(Layer::Full)];
        compaction.summary.read_files = 16;
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
                    read_files: 16,
                    ..Sizes::default()
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
