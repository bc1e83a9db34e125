//! What outlives a session: memory files, the flush before a compaction,
//! and dreaming.
//!
//! | question | answer |
//! |---|---|
//! | where are the memory files, and who writes them? | [`MemoryFolder`] |
//! | who said what stands there? | [`Source`], vouched for by a [`Seal`] |
//! | what is asked of the agent before a compaction? | [`flush`] |
//! | what becomes long-term memory, and who decides? | [`dream`] |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

pub mod dream;
mod error;
pub mod files;
pub mod flush;
mod provenance;

pub use error::{Error, Result};
pub use files::MemoryFolder;
pub use provenance::{Seal, Source};
