//! Compaction policy: pure decisions about what to forget and when to stop.
//!
//! So far one tenant: the [`guard`](Degradation), which says how far a session
//! has been worn by the compactions it went through.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod guard;

pub use guard::{Degradation, Risk};
