//! Settings of what a context is assembled from, and of the session file.

use longhaul_tokens::{Estimator, settings};
use longhaul_transcript::Durability;
use schemars::JsonSchema;

settings! {
    /// How tokens are counted where the provider does not say.
    pub struct TokenCounting {
        /// The counter: by kind of content, exact for a vocabulary, or characters / 4.
        estimator: Estimator = Estimator::default(),
    }
}

/// The names of [`Durability`], for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
#[allow(dead_code)]
enum DurabilityName {
    Always,
    Turn,
    Os,
}

settings! {
    /// The session file.
    pub struct Transcript {
        /// When entries are forced to the disk: each one, each turn, or as the system sees fit.
        #[schemars(with = "DurabilityName")]
        durability: Durability = Durability::default(),
        /// Compress what `session archive` moves away.
        compress_archive: bool = false,
    }
}

settings! {
    /// Where skills are looked for, besides the usual folders.
    pub struct Skills {
        /// Further folders with skills; later sources win over them.
        extra_dirs: Vec<String> = Vec::new(),
    }
}

settings! {
    /// Which tools an agent is given, by glob.
    pub struct ToolPolicy {
        /// Tools allowed.
        allow: Vec<String> = vec!["*".to_owned()],
        /// Tools denied, whatever is allowed.
        deny: Vec<String> = Vec::new(),
    }
}

settings! {
    /// Running where nothing may be written.
    pub struct Sandbox {
        /// No flush, no compaction, no checkpoint: pruning in memory only.
        read_only: bool = false,
        /// In place of `compaction.prune.pruneAfterRounds`, where that is larger.
        prune_after_rounds: u32 [min = 1] = 3,
    }
}

settings! {
    /// What the system prompt says beside files, skills and tools.
    pub struct Prompt {
        /// The tag in which reasoning is to be wrapped.
        reasoning_tag: Option<String> = None,
        /// How to write where answers are read aloud.
        tts: Option<String> = None,
        /// What to do on a heartbeat.
        heartbeat: Option<String> = None,
        /// What to begin unasked.
        proactive: Option<String> = None,
        /// What else is to be said, at its end.
        extra: Option<String> = None,
    }
}

settings! {
    /// Reading ahead while idle.
    pub struct Prewarm {
        /// Re-read the files that memory and checkpoint point to while idle.
        enabled: bool = false,
    }
}
