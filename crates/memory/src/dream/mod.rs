//! Dreaming: the last days' logs become candidates for long-term memory.
//!
//! A pure core inside a durable shell. The core takes the lines of logs (`remark`)
//! and folds them into candidates (`consolidate`): what says the same is counted
//! once, what is known is left out, what may contradict is linked (`similar`), and
//! all of it is put in order (`score`). The shell ([`Dreams`]) keeps them, shows them
//! in `DREAMS.md`, and carries promotions out as changes that can be undone.
//!
//! Whether a line is worth keeping is for a model (`judge`) or a person to say.
//! Every promotion quotes its source, and nothing is promoted that neither has looked
//! at.

mod backfill;
mod candidate;
mod change;
mod consolidate;
mod diff;
mod judge;
mod marks;
mod merge;
mod pages;
mod promote;
mod recalls;
mod remark;
mod run;
mod score;
mod settings;
mod similar;
mod staging;
mod state;
mod store;
mod trigger;

use longhaul_index::page;

pub use backfill::{Backfilled, Progress};
pub use candidate::{Candidate, Evidence, Review, Status, Topic, Verdict};
pub use change::{Change, Left, PageChange, Turn};
pub use consolidate::Consolidated;
pub use diff::{DiffLine, diff};
pub use judge::{Ask, ModelReport, Question, Reply};
pub use promote::{headings, home};
pub use recalls::{Recalled, Recalls};
pub use run::Report;
pub use score::waiting;
pub use settings::Settings;
pub use similar::Meaning;
pub use store::{DreamLock, Dreams, Past, Undoing, Undone};
pub use trigger::{Cause, LastRun, Moment, Trigger, due, next};
