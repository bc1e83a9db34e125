//! What the configuration says about checkpoints, as the rooms below take it.

use longhaul_assembly::RestoreLimits;
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

    /// How much is put back after a compaction.
    pub fn restore_limits(&self) -> RestoreLimits {
        let restore = &self.restore;
        RestoreLimits {
            checkpoint_tokens: restore.checkpoint_tokens,
            memory_tokens: restore.memory_tokens,
            context_tokens: restore.context_tokens,
            key_files: restore.key_files,
            key_file_tokens: restore.key_file_tokens,
            agents_sections: restore.agents_sections.clone(),
        }
    }

    /// Whether compactions and thresholds write checkpoints by themselves.
    pub fn writes_checkpoints(&self) -> bool {
        self.checkpoint.enabled && !self.sandbox.read_only
    }
}
