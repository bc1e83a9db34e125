//! Settings of the gauge, checkpoints, and what is put back after a compaction.

use longhaul_tokens::Tokens;

settings! {
    /// The line that tells the agent how full its window is.
    pub struct Gauge {
        /// Show the line at all.
        enabled: bool = true,
        /// From this percentage of the window on.
        #[schemars(range(min = 1, max = 100))]
        trigger_percent: f64 = 70.0,
        /// At least this percentage of the window before the checkpoint.
        #[schemars(range(min = 0, max = 100))]
        lead_percent: f64 = 10.0,
    }
}

settings! {
    /// The structured state of the work, saved before it can be lost.
    pub struct Checkpoint {
        /// Write checkpoints by themselves; when false, only by hand.
        enabled: bool = true,
        /// From this percentage of the window on.
        #[schemars(range(min = 1, max = 100))]
        trigger_percent: f64 = 80.0,
        /// At least this percentage of the window before activation.
        #[schemars(range(min = 0, max = 100))]
        lead_percent: f64 = 5.0,
        /// Skipped while token use moved less than this percentage and the state is unchanged.
        #[schemars(range(min = 0, max = 100))]
        minimum_change_percent: f64 = 5.0,
        /// The newest checkpoints kept for each session.
        #[schemars(range(min = 1))]
        keep: u32 = 5,
        /// From this compaction on, the restored text warns of the spiral.
        #[schemars(range(min = 1))]
        spiral_warning_at: u32 = 4,
        /// What is collected between checkpoints.
        state: StateCapture = StateCapture::default(),
    }
}

settings! {
    /// What is collected between checkpoints; the oldest leave first.
    pub struct StateCapture {
        /// Decisions kept.
        #[schemars(range(min = 1))]
        decisions: u32 = 50,
        /// Exchanges of the conversation kept.
        #[schemars(range(min = 1))]
        exchanges: u32 = 8,
        /// Tools kept.
        #[schemars(range(min = 1))]
        tools: u32 = 100,
        /// Files kept.
        #[schemars(range(min = 1))]
        files: u32 = 100,
        /// Characters kept of each message of an exchange.
        #[schemars(range(min = 1))]
        exchange_chars: u32 = 120,
        /// The last pairs of messages that are always among the exchanges.
        #[schemars(range(min = 0))]
        recent_pairs: u32 = 2,
        /// A user message shorter than this after a long answer may be a decision.
        #[schemars(range(min = 1))]
        short_message_chars: u32 = 50,
        /// An answer longer than this is long.
        #[schemars(range(min = 1))]
        long_answer_chars: u32 = 500,
    }
}

settings! {
    /// What the first context after a compaction carries, each part with its cap.
    pub struct Restore {
        /// The checkpoint as text, in tokens.
        #[schemars(with = "u32", range(min = 1, max = 700))]
        checkpoint_tokens: Tokens = Tokens(700),
        /// What the user said in the session of the same key before, in tokens.
        #[schemars(with = "u32", range(min = 1, max = 2_000))]
        carried_tokens: Tokens = Tokens(2_000),
        /// `MEMORY.md`, in tokens.
        #[schemars(with = "u32", range(min = 1, max = 800))]
        memory_tokens: Tokens = Tokens(800),
        /// `memories/context.md`, in tokens.
        #[schemars(with = "u32", range(min = 1, max = 1_000))]
        context_tokens: Tokens = Tokens(1_000),
        /// Today's and yesterday's log, in tokens.
        #[schemars(with = "u32", range(min = 1, max = 2_000))]
        log_tokens: Tokens = Tokens(2_000),
        /// Key files re-read from disk.
        #[schemars(range(min = 0))]
        key_files: u32 = 5,
        /// Each key file, in tokens.
        #[schemars(with = "u32", range(min = 1, max = 1_000))]
        key_file_tokens: Tokens = Tokens(1_000),
        /// Sections of `AGENTS.md` given again, by heading.
        #[schemars(inner(length(min = 1)))]
        agents_sections: Vec<String> = vec!["Session Startup".to_owned(), "Red Lines".to_owned()],
    }
}
