//! Counting: how large a context is, how full its window, and what may be put in.
//!
//! Everything here is arithmetic on values handed in: no files, no clock, no
//! environment. The same input gives the same numbers on every machine.
//!
//! | question | answer |
//! |---|---|
//! | how many tokens is this text? | a [`Counter`]: [`Bpe`], [`Heuristic`] or [`CompactRs`], chosen by name through [`Estimator`] |
//! | how many tokens is this document? | [`document_tokens`], by its pages |
//! | how wrong is that for this model? | [`Calibration`], learnt from what providers report |
//! | how large is the context now? | a [`Measurement`]: the provider's [`Usage`] plus an estimate of what follows it |
//! | how much fits, and what happens when? | a [`Window`] with its thresholds, from [`WindowSettings`] and [`WindowSources`] |
//! | what is the agent told? | the [`Gauge`] line |
//! | what may be injected? | a [`Fragment`], never larger than the cap of its [`FragmentKind`] |
//! | how is a setting of any of it declared? | in a section of [`settings!`] |
//! | what did requests take? | [`Spent`] |
//! | must it be counted again? | not if the [`CountCache`] has it |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod bpe;
mod cache;
mod calibration;
mod compact_rs;
mod content;
mod counter;
mod document;
mod estimator;
mod fragment;
mod gauge;
mod heuristic;
mod measurement;
mod section;
mod settings;
mod sources;
mod spent;
mod tokens;
mod usage;
mod window;

pub use bpe::{Bpe, Vocabulary};
pub use cache::{CacheStatistics, CountCache, CountKey};
pub use calibration::{Calibration, Sample};
pub use compact_rs::CompactRs;
pub use content::ContentKind;
pub use counter::{
    Counter, IMAGE_TOKENS, MESSAGE_OVERHEAD, TOOL_CALL_OVERHEAD, TOOL_RESULT_OVERHEAD,
};
pub use document::{PAGE_TOKENS, document_tokens, pdf_pages};
pub use estimator::Estimator;
pub use fragment::{Fragment, FragmentKind, TRUNCATION_MARKER};
pub use gauge::{CheckpointNote, Gauge};
pub use heuristic::Heuristic;
pub use measurement::{Measurement, Source};
pub use settings::{SMALLEST_WINDOW, WindowError, WindowSettings};
pub use sources::{DEFAULT_WINDOW, ResolvedWindow, WindowOrigin, WindowSources};
pub use spent::Spent;
pub use tokens::Tokens;
pub use usage::Usage;
pub use window::{Level, REFERENCE_WINDOW, Window};
