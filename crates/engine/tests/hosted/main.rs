//! A host's session: whatever the host does to its list, nothing is doubled and
//! nothing is lost.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod host;
mod lists;
mod loops;
mod random;
mod turns;
