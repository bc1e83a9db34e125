//! Checkpoints: the structured state of the work, saved before a compaction
//! can blur it.
//!
//! A [`Draft`] is made from a ledger and a [`Moment`], without clock or model;
//! a [`CheckpointStore`] gives it a number, links it to the one before and
//! keeps it as an immutable file. After a compaction, or in a new session of
//! the same key, [`Checkpoint::restore`] puts it back as text within a cap;
//! [`Handoff`] hands it to another agent.
//!
//! | question | answer |
//! |---|---|
//! | what is saved? | [`Checkpoint`], OpenClaw's schema, version 1, as YAML |
//! | from what is it made? | [`Draft::of`] a ledger at a [`Moment`] |
//! | what is kept between two of them? | [`State`], the four JSON files |
//! | where is it kept? | a [`CheckpointStore`]; [`FileStore`] is the embedded one |
//! | how does an agent get it back? | [`Checkpoint::restore`] |
//! | what did the user say? | [`user_words`] within a cap; of a hand-off the [`constraints`] |
//! | how does another agent get it? | [`Handoff`], XML with a [schema](HANDOFF_SCHEMA) |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod draft;
mod error;
mod files;
mod handoff;
mod id;
mod restore;
mod schema;
mod state;
mod store;
mod text;
mod words;
mod yaml;

pub use draft::{Draft, Moment, Turn};
pub use error::{Error, Flaw, Result};
pub use files::FileStore;
pub use handoff::{
    AGENTS_TEMPLATE, Assignment, HANDOFF_SCHEMA, Handoff, HandoffFile, HandoffFrom,
    MAX_HANDOFF_BYTES,
};
pub use id::CheckpointId;
pub use restore::Restoring;
pub use schema::{
    Checkpoint, Exchange, LastToolCall, Meta, Resources, Role, Status, TakenDecision, Thread,
    TokenUsage, Trigger, Working,
};
pub use state::State;
pub use store::{CheckpointStore, Latest, Listed, Outcome, Policy, Recovery, SetAside, Written};
pub use words::{USER_WORDS, constraints, user_words};
pub use yaml::Seal;
