//! What a shell command line does to files, without running it.
//!
//! Only what the text itself says is believed: a path that hangs on a glob, a
//! variable of unknown value or a substitution is no path. Better to miss a
//! file than to invent one.

mod effects;
mod git;
mod operands;
mod runs;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use effects::{Effect, effects};
pub use runs::means_no;
pub(crate) use runs::{only_looks, runs};
