//! Sessions with a model, at the seam that embedders use.

mod machine;
mod support;
mod turns;
