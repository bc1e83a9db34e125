//! Sessions with a model, at the seam that embedders use.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod breaker;
mod durable;
mod flush;
mod kept;
mod limits;
mod machine;
mod overflow;
mod providers;
#[path = "../long_run/read.rs"]
mod read;
mod read_only;
mod sizes;
mod summaries;
mod support;
mod trouble;
mod turns;
mod wire;
