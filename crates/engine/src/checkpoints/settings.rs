//! What the configuration says about checkpoints, as the rooms below take it.

use longhaul_checkpoint::Policy;
use longhaul_ledger::Capture;

use crate::config::Config;

impl Config {
    /// Which checkpoints are written and kept.
    pub fn checkpoint_policy(&self) -> Policy {
        Policy {
            minimum_change_percent: self.checkpoint.minimum_change_percent,
            keep: self.checkpoint.keep,
            capture: self.state_capture(),
        }
    }

    /// How much of a session a checkpoint holds.
    pub fn state_capture(&self) -> Capture {
        self.checkpoint.state
    }

    /// Whether compactions and thresholds write checkpoints by themselves.
    pub fn writes_checkpoints(&self) -> bool {
        self.checkpoint.enabled && !self.sandbox.read_only
    }
}
