//! Compacting a session: from a request to drafts that can be appended.

mod carry;
mod divide;
mod prune;
mod request;
mod write;

pub(crate) use divide::allowance;
pub use prune::{CacheTerms, Explained, Pruned};
pub use request::{Compacted, CompactionFailure, CompactionRequest, Removed, Tail};
