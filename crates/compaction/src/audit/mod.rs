//! The fidelity audit: what of a session's facts is still in its context.
//!
//! After each compaction, without a model, every fact of the ledger is looked
//! for in the text of the new context. It is there, or it can be had back
//! because an entry that proves it is stored, or it is nowhere. The last must
//! never happen.

mod facts;
mod report;
mod search;

pub use facts::{Fact, facts};
pub use longhaul_ledger::Category;
pub use report::{Audit, Missing, Tally, audit, present};
