//! The settings of a context's parts, in the terms of the crate that lays it out.

use std::path::{Path, PathBuf};

use longhaul_assembly::{BootstrapLimits, Hints, Reserves, RestoreLimits, Result, ToolPolicy};
use longhaul_tokens::Window;

use super::Config;

impl Config {
    /// How much of the workspace's files is shown, fitted to a window.
    pub fn bootstrap_limits(&self, window: &Window) -> BootstrapLimits {
        let bootstrap = &self.bootstrap;
        BootstrapLimits {
            max_chars: bootstrap.max_chars,
            total_max_chars: bootstrap.total_max_chars,
            head_percent: bootstrap.head_percent,
            tail_percent: bootstrap.tail_percent,
            extra_files: bootstrap.extra_files.clone(),
        }
        .scaled_to(window)
    }

    /// What is put back after a compaction.
    pub fn restore_limits(&self) -> RestoreLimits {
        let restore = &self.restore;
        RestoreLimits {
            checkpoint_tokens: restore.checkpoint_tokens,
            carried_tokens: restore.carried_tokens,
            memory_tokens: restore.memory_tokens,
            context_tokens: restore.context_tokens,
            log_tokens: restore.log_tokens,
            key_files: restore.key_files,
            key_file_tokens: restore.key_file_tokens,
            agents_sections: restore.agents_sections.clone(),
        }
    }

    /// How an agent is to behave, at a thinking level.
    pub fn hints(&self, thinking: Option<String>) -> Hints {
        let prompt = self.prompt.clone();
        Hints {
            thinking,
            reasoning_tag: prompt.reasoning_tag,
            tts: prompt.tts,
            heartbeat: prompt.heartbeat,
            proactive: prompt.proactive,
        }
    }

    /// What a request leaves free.
    pub fn reserves(&self) -> Reserves {
        Reserves {
            response: self.budget.response_reserve_tokens,
            tools: self.budget.tools_reserve_tokens,
        }
    }

    /// Which tools are given.
    pub fn tool_policy(&self) -> Result<ToolPolicy> {
        ToolPolicy::new(&self.tools.allow, &self.tools.deny)
    }

    /// Further folders with skills; those that are not absolute are the
    /// workspace's.
    pub fn skill_dirs(&self, workspace: &Path) -> Vec<PathBuf> {
        let dirs = self.skills.extra_dirs.iter();
        dirs.map(|dir| workspace.join(dir)).collect()
    }
}
