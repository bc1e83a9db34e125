//! What the configuration says about checkpoints, as the rooms below take it.

use longhaul_checkpoint::Policy;

use crate::config::Config;

impl Config {
    /// Which checkpoints are written and kept.
    pub fn checkpoint_policy(&self) -> Policy {
        Policy {
            minimum_change_percent: self.checkpoint.minimum_change_percent,
            keep: self.checkpoint.keep,
        }
    }

    /// Whether compactions and thresholds write checkpoints by themselves.
    pub fn writes_checkpoints(&self) -> bool {
        self.checkpoint.enabled && !self.sandbox.read_only
    }
}
