//! The compactor: every compaction of every session goes through it.
//!
//! A chat, a host's session, one of pi's, a file at rest and a recording are
//! compacted alike; what is different about them is a [`Site`]: how large the
//! context is there, where an entry is written, who may be asked. Policy is
//! `longhaul_compaction`'s; here it is asked, in one place, and carried out.
//!
//! | question | answer |
//! |---|---|
//! | what is due by the thresholds? | [`Compactor::climb`] |
//! | a context does not fit | [`Compactor::shrink`], until it does |
//! | a person asks for it | [`Compactor::by_hand`] |
//! | what would come of it? | [`Compactor::preview`] |
//! | how does it survive a crash? | each step is durable and finds what is there; [`Compactor::recover`] |
//! | who writes the summary? | [`summary_model`]; what fails is extracted, and told |
//! | a session that nobody runs | [`AtRest`] |

mod at_rest;
mod bench;
mod brakes;
mod climb;
mod driver;
mod journal;
mod layer;
mod outcome;
mod site;
mod summarizer;

pub use at_rest::{AtRest, Resting};
pub use bench::{Bench, Restoring, Seen};
pub use brakes::{Brakes, Guarded};
pub use driver::Compactor;
pub use journal::Intent;
pub use outcome::{Made, Outcome};
pub(crate) use site::UNKNOWN_WINDOW;
pub use site::{Course, Site, Terms};
pub use summarizer::{EXTRACTIVE, FREE_MODEL, SummaryChoice, summary_model};
