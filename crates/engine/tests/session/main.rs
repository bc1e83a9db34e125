//! Sessions with a model, at the seam that embedders use.

#![allow(clippy::unwrap_used)]

mod limits;
mod machine;
mod overflow;
mod read_only;
mod support;
mod turns;
