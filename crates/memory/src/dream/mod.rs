//! Dreaming: the last days' logs become candidates for long-term memory.
//!
//! A pure core inside a durable shell. The core reads lines with their sources
//! ([`of_log`], [`of_session`]) and folds them into candidates ([`consolidate`]):
//! what was said again is counted, what is known is left out, what contradicts
//! is marked, what is newer takes the place of what is older, with the days on
//! which each held. The shell ([`Dreams`]) keeps them, shows them in
//! `DREAMS.md`, and carries promotions out as changes that can be undone.
//!
//! Every promotion quotes its source. Nothing but the user's own words is
//! promoted without a person having seen it.

mod again;
mod asking;
mod backfill;
mod candidate;
mod claim;
mod consolidate;
mod diff;
mod likeness;
mod listed;
mod marks;
mod model;
mod moved;
mod naming;
mod noise;
mod passing;
mod phrase;
mod promote;
mod prose;
mod recalls;
mod refold;
mod remark;
mod run;
mod score;
mod staging;
mod store;
mod takeback;
mod trigger;
mod voices;

use longhaul_index::page;

pub use backfill::{Backfilled, Progress};
pub use candidate::{Candidate, Evidence, Review, Status, Topic};
pub use consolidate::{Consolidated, Days, KnownLine, consolidate};
pub use diff::{DiffLine, diff};
pub use model::{Ask, Question, Reply};
pub use promote::{PageChange, Planned, Standing, Turn, headings, home};
pub use recalls::{Recalled, Recalls};
pub use remark::{Remark, Remarks, of_log, of_session};
pub use run::{ModelReport, Report, Settings};
pub use staging::waiting;
pub use store::{Change, DreamLock, Dreams, Past, Undoing, Undone};
pub use takeback::Left;
pub use trigger::{Cause, LastRun, Moment, Trigger, due, next};
