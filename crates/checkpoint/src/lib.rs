//! Checkpoints: the structured state of the work, saved before a compaction
//! can blur it.
//!
//! A [`Draft`] is made from a ledger and a [`Moment`], without clock or model;
//! a [`CheckpointStore`] gives it a number, links it to the one before and
//! keeps it as an immutable file.
//!
//! | question | answer |
//! |---|---|
//! | what is saved? | [`Checkpoint`], OpenClaw's schema, version 1, as YAML |
//! | from what is it made? | [`Draft::of`] a ledger at a [`Moment`] |
//! | what is kept between two of them? | [`State`], the four JSON files |
//! | where is it kept? | a [`CheckpointStore`]; [`FileStore`] is the embedded one |

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod draft;
mod error;
mod files;
mod id;
mod schema;
mod state;
mod store;
mod text;
mod yaml;

pub use draft::{Draft, Moment, Turn};
pub use error::{Error, Flaw, Result};
pub use files::FileStore;
pub use id::CheckpointId;
pub use schema::{
    Checkpoint, Exchange, LastToolCall, Meta, Resources, Role, Status, TakenDecision, Thread,
    TokenUsage, Trigger, Working,
};
pub use state::State;
pub use store::{CheckpointStore, Latest, Listed, Outcome, Policy, Recovery, SetAside, Written};
pub use yaml::Seal;
