//! What is shown, as typed results: pages render them, programs get them as JSON.

mod compaction;
mod context;
mod entry;
mod found;
mod memory;
mod sessions;
mod timeline;

use schemars::JsonSchema;
use serde::Serialize;

use crate::http::Refusal;

pub use compaction::{
    CompactionRow, CompactionView, Compactions, FileLine, Gone, SaidLine, ToDoLine,
};
pub use context::{ContextView, Filled, MessageRow, Restored, Threshold};
pub use entry::EntryView;
pub(super) use entry::stored;
pub use found::{FoundRow, FoundView, Question, Where};
pub use memory::{Beside, CandidateRow, DreamsView, EvidenceRow, MemoryFile, MemoryView};
pub use sessions::{Glances, Order, SessionRow, Sessions, Wanted};
pub use timeline::{MarkRow, TimelineView};

pub(super) type Shown<T> = Result<T, Refusal>;

/// A number that may be the least of what it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// `exact` or `atLeast`.
    pub certainty: &'static str,
    /// The number.
    pub count: u64,
}

impl From<longhaul_transcript::Epoch> for Count {
    fn from(epoch: longhaul_transcript::Epoch) -> Count {
        Count {
            certainty: if epoch.is_exact() { "exact" } else { "atLeast" },
            count: u64::from(epoch.count()),
        }
    }
}
