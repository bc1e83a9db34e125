//! Settings of the gauge, checkpoints, and what is put back after a compaction.

use longhaul_ledger::Capture;
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
        state: Capture = Capture::default(),
    }
}
