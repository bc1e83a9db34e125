//! The engine: what joins transcripts, counting and configuration.
//!
//! The rooms below know nothing of each other; here they meet. [`measure`]
//! says how large a session's context is, [`catalog`] finds the sessions of
//! every agent on a machine, [`config`] holds every number that can be set.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod catalog;
pub mod config;
pub mod event;
pub mod live;
pub mod measure;
pub mod recall;
pub mod replay;
pub mod state;
