//! What may be set about compactions.

use crate::emergency::EMERGENCY_TURNS;
use crate::summary::Sizes;

/// What may be set about a single compaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactionRules {
    /// How large the summary may be.
    pub summary: Sizes,
    /// Turns that leave in one step of an emergency.
    pub emergency_turns: u32,
}

impl Default for CompactionRules {
    fn default() -> CompactionRules {
        CompactionRules {
            summary: Sizes::default(),
            emergency_turns: EMERGENCY_TURNS,
        }
    }
}
