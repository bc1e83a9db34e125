//! Compactions with checkpoints.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod place;
mod putting_back;
mod secrets;
mod stopping;
