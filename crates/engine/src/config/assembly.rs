//! The settings of a context's parts, in the terms of the crate that lays it out.

use std::path::{Path, PathBuf};

use longhaul_assembly::{BootstrapLimits, Hints, Result, ToolPolicy};
use longhaul_tokens::Window;

use super::Config;

impl Config {
    /// How much of the workspace's files is shown, fitted to a window.
    pub fn bootstrap_limits(&self, window: &Window) -> BootstrapLimits {
        self.bootstrap.clone().scaled_to(window)
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
