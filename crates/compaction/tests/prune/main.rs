//! Pruning as a whole: what goes, what stays, and what it comes to on real
//! sessions.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod build;
mod corpus;
mod properties;
mod rules;
