//! What is known about candidates, as it is kept.

use longhaul_tokens::Spent;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;

/// What is known about candidates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    pub(super) version: u32,
    /// The number of the last change that is complete.
    pub(super) last_change: u32,
    pub(super) candidates: Vec<Candidate>,
    /// What the models of all dreams took.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub(super) paid: Spent,
}
