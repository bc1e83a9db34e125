//! The default summarizer: no model, and so no prose.

use super::model::{Outcome, Summarizer, Task};

/// The mechanical part by itself: deterministic, and nothing that pretends to be
/// prose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Extractive {
    /// Its name in compaction entries.
    pub const NAME: &'static str = "extractive";
}

impl Summarizer for Extractive {
    fn name(&self) -> String {
        Extractive::NAME.to_owned()
    }

    fn prose(&mut self, _: &Task<'_>) -> Outcome {
        Outcome {
            text: String::new(),
            summarizer: self.name(),
            fallback: None,
            model_calls: 0,
        }
    }
}
