//! The tools of an agent: what a model may call during a turn.
//!
//! The turn loop knows a [`Toolbox`] and nothing else: it offers the definitions
//! to the model and hands every [`Call`] over. What goes wrong in a tool is an
//! [`Outcome`] for the model to read, because a turn must not end on a file that
//! is not there.

mod toolbox;

pub use self::toolbox::{Call, NoTools, Outcome, Toolbox};
