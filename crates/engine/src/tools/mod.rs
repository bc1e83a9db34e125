//! The tools of an agent: what a model may call during a turn.
//!
//! The turn loop knows a [`Toolbox`] and nothing else: it offers the definitions
//! to the model and hands every call over. What goes wrong in a tool is an
//! [`Outcome`] for the model to read, because a turn must not end on a file that
//! is not there.
//!
//! [`WorkspaceTools`] is the toolbox of an agent that works in a folder. Files
//! are confined to it; what changes something asks an [`Approver`] first, unless
//! [`Permissions`] allow it. Commands are not confined, and whoever is asked for
//! one is told so.

mod arguments;
mod bash;
mod confine;
mod edit;
mod note;
mod permission;
mod read;
mod remembered;
mod schema;
#[cfg(test)]
mod tests;
mod toolbox;
mod workspace;

pub use self::bash::{BashSettings, guard_commands};
pub use self::note::{MOST_CHARS as MOST_NOTE_CHARS, Noted};
pub use self::permission::{Approval, Approver, Ask, NobodyToAsk, Permissions, Policy};
pub use self::toolbox::{NoTools, Outcome, Toolbox};
pub use self::workspace::{Error, WorkspaceSettings, WorkspaceTools};
pub use crate::library::Notebook;
pub use crate::recall::{Findings, InSight, Recall};
