//! Settings of what a context is assembled from, and of the session file.

use longhaul_tokens::{Estimator, Tokens};
use longhaul_transcript::Durability;
use schemars::JsonSchema;

settings! {
    /// How tokens are counted where the provider does not say.
    pub struct TokenCounting {
        /// The counter: by kind of content, exact for a vocabulary, or characters / 4.
        #[schemars(with = "EstimatorName")]
        estimator: Estimator = Estimator::default(),
    }
}

/// The names of [`Estimator`], for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", inline)]
#[allow(dead_code)]
enum EstimatorName {
    Heuristic,
    O200k,
    Cl100k,
    CompactRs,
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
    /// Files of the workspace that open every system prompt.
    pub struct Bootstrap {
        /// Characters kept of each file.
        #[schemars(range(min = 1))]
        max_chars: u32 = 20_000,
        /// Characters kept of all files together.
        #[schemars(range(min = 1))]
        total_max_chars: u32 = 60_000,
        /// Share of a file's limit kept from its beginning, in percent.
        #[schemars(range(min = 0, max = 100))]
        head_percent: f64 = 70.0,
        /// Share of a file's limit kept from its end, in percent.
        #[schemars(range(min = 0, max = 100))]
        tail_percent: f64 = 20.0,
        /// Further files, as globs in the workspace.
        #[schemars(inner(length(min = 1)))]
        extra_files: Vec<String> = Vec::new(),
    }
}

settings! {
    /// Where skills are looked for, besides the usual folders.
    pub struct Skills {
        /// Further folders with skills; later sources win over them.
        #[schemars(inner(length(min = 1)))]
        extra_dirs: Vec<String> = Vec::new(),
    }
}

settings! {
    /// Which tools an agent is given, by glob.
    pub struct ToolPolicy {
        /// Tools allowed.
        #[schemars(inner(length(min = 1)))]
        allow: Vec<String> = vec!["*".to_owned()],
        /// Tools denied, whatever is allowed.
        #[schemars(inner(length(min = 1)))]
        deny: Vec<String> = Vec::new(),
    }
}

settings! {
    /// What an assembled context leaves free.
    pub struct Budget {
        /// Tokens left for the answer (for 200,000).
        #[schemars(with = "u32", range(min = 1))]
        response_reserve_tokens: Tokens = Tokens(8_000),
        /// Tokens left for tool definitions (for 200,000).
        #[schemars(with = "u32", range(min = 0))]
        tools_reserve_tokens: Tokens = Tokens(2_000),
    }
}

settings! {
    /// Running where nothing may be written.
    pub struct Sandbox {
        /// No flush, no compaction, no checkpoint: pruning in memory only.
        read_only: bool = false,
        /// In place of `compaction.prune.pruneAfterRounds`, where that is larger.
        #[schemars(range(min = 1))]
        prune_after_rounds: u32 = 3,
    }
}

settings! {
    /// What the system prompt says beside files, skills and tools.
    pub struct Prompt {
        /// The tag in which reasoning is to be wrapped.
        #[schemars(length(min = 1))]
        reasoning_tag: Option<String> = None,
        /// How to write where answers are read aloud.
        #[schemars(length(min = 1))]
        tts: Option<String> = None,
        /// What to do on a heartbeat.
        #[schemars(length(min = 1))]
        heartbeat: Option<String> = None,
        /// What to begin unasked.
        #[schemars(length(min = 1))]
        proactive: Option<String> = None,
        /// What else is to be said, at its end.
        #[schemars(length(min = 1))]
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
