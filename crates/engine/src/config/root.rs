//! The whole configuration.

use longhaul_assembly::{BootstrapLimits, Reserves, RestoreLimits};
use longhaul_redact::RedactorSettings;
use longhaul_tokens::settings;

use super::{
    Checkpoint, Compaction, Dreaming, Gauge, Memory, ModelRule, Prewarm, Prompt, Requests, Sandbox,
    Skills, TokenCounting, ToolPolicy, Transcript,
};

settings! {
    /// Configuration of longhaul. Every key has a default; set only what differs.
    pub struct Config {
        /// The workspace, where neither a flag nor the session names one.
        workspace: Option<String> = None,
        /// Windows, longest answers and prices of models, above what is known of them; later ones win.
        models: Vec<ModelRule> = Vec::new(),
        /// How long a model is waited for, and how often it is asked.
        requests: Requests = Requests::default(),
        /// When and how a conversation is compacted.
        compaction: Compaction = Compaction::default(),
        /// The line that tells the agent how full its window is.
        gauge: Gauge = Gauge::default(),
        /// The structured state of the work, saved before it can be lost.
        checkpoint: Checkpoint = Checkpoint::default(),
        /// What the first context after a compaction carries.
        restore: RestoreLimits = RestoreLimits::default(),
        /// What outlives a session.
        memory: Memory = Memory::default(),
        /// Background consolidation of daily logs.
        dreaming: Dreaming = Dreaming::default(),
        /// What is taken for a secret and left out of everything written beside a session.
        redaction: RedactorSettings = RedactorSettings::default(),
        /// Files of the workspace that open every system prompt.
        bootstrap: BootstrapLimits = BootstrapLimits::default(),
        /// What the system prompt says beside files, skills and tools.
        prompt: Prompt = Prompt::default(),
        /// Where skills are looked for.
        skills: Skills = Skills::default(),
        /// Which tools an agent is given.
        tools: ToolPolicy = ToolPolicy::default(),
        /// What an assembled context leaves free.
        budget: Reserves = Reserves::default(),
        /// How tokens are counted.
        tokens: TokenCounting = TokenCounting::default(),
        /// The session file.
        transcript: Transcript = Transcript::default(),
        /// Running where nothing may be written.
        sandbox: Sandbox = Sandbox::default(),
        /// Reading ahead while idle.
        prewarm: Prewarm = Prewarm::default(),
    }
}
