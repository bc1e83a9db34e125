//! The fidelity audit: what of a session is in its context after a compaction.
//!
//! It is counted from the entries themselves and shares no code with the ledger
//! or the summary: a check that asks the maker of a summary what there was to
//! keep can only say that it was kept. [`Source`] reads the entries, [`audit`]
//! looks for everything it found in the text of the new context.

mod report;
mod search;
mod source;
mod survival;

pub use report::{Audit, Kept, Missing, UserTextTally, audit};
pub use source::{Source, SourceText};
pub use survival::{Standing, Survival, Traced, survival};
