//! Settings of the gauge, checkpoints, and what is put back after a compaction.

use longhaul_tokens::settings;

settings! {
    /// The line that tells the agent how full its window is.
    pub struct Gauge {
        /// Show the line at all.
        enabled: bool = true,
        /// From this percentage of the window on.
        trigger_percent: f64 [min = 1, max = 100] = 70.0,
        /// At least this percentage of the window before the checkpoint.
        lead_percent: f64 [min = 0, max = 100] = 10.0,
    }
}

settings! {
    /// The structured state of the work, saved before it can be lost.
    pub struct Checkpoint {
        /// Write checkpoints by themselves; when false, only by hand.
        enabled: bool = true,
        /// From this percentage of the window on.
        trigger_percent: f64 [min = 1, max = 100] = 80.0,
        /// At least this percentage of the window before activation.
        lead_percent: f64 [min = 0, max = 100] = 5.0,
        /// Skipped while token use moved less than this percentage and the state is unchanged.
        minimum_change_percent: f64 [min = 0, max = 100] = 5.0,
        /// The newest checkpoints kept for each session.
        keep: u32 [min = 1] = 5,
        /// From this compaction on, the restored text warns of the spiral.
        spiral_warning_at: u32 [min = 1] = 4,
        /// What is collected between checkpoints.
        state: StateCapture = StateCapture::default(),
    }
}

settings! {
    /// What is collected between checkpoints; the oldest leave first.
    pub struct StateCapture {
        /// Decisions kept.
        decisions: u32 [min = 1] = 50,
        /// Exchanges of the conversation kept.
        exchanges: u32 [min = 1] = 8,
        /// Tools kept.
        tools: u32 [min = 1] = 100,
        /// Files kept.
        files: u32 [min = 1] = 100,
        /// Characters kept of each message of an exchange.
        exchange_chars: u32 [min = 1] = 120,
        /// The last pairs of messages that are always among the exchanges.
        recent_pairs: u32 [min = 0] = 2,
        /// A user message shorter than this after a long answer may be a decision.
        short_message_chars: u32 [min = 1] = 50,
        /// An answer longer than this is long.
        long_answer_chars: u32 [min = 1] = 500,
    }
}
