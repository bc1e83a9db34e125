//! Compaction: pure decisions about what to forget, and proof of what was kept.
//!
//! Nothing here touches a file, a clock or a network. [`prune`] hides tool
//! output, [`ladder`] decides what is due, [`cut`] finds where a conversation
//! may be divided, [`summary`] says what the removed part was about, [`audit`]
//! proves it, and [`compact`] makes of them the entries of a compaction. The
//! engine carries the decisions out.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

pub mod audit;
mod breaker;
pub mod compact;
pub mod cost;
pub mod cut;
mod emergency;
mod guard;
pub mod ladder;
pub mod pinned;
pub mod prune;
mod rules;
pub mod summary;
pub mod tail;
mod terms;

pub use breaker::{Breaker, BreakerRules, BreakerState};
pub use emergency::{EMERGENCY_TURNS, EmergencyStep, emergency};
pub use guard::{Degradation, Risk, RiskRules, SpiralWarning, Wear};
pub use rules::CompactionRules;
pub use terms::{Counted, Layer, Trigger};
