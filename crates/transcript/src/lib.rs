//! Session files of LLM agents: read, written and kept whole.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod context;
mod entry;
mod error;
mod fault;
mod header;
pub mod import;
pub mod json;
mod layout;
mod lines;
mod load;
mod message;
mod native;
mod scan;
mod session;
mod time;
mod tree;

pub use context::{Census, Context, ContextMessage};
pub use entry::{Body, Boundary, Compaction, ContextEdit, Entry, EntryId, EntryType, Place, Replacement};
pub use error::{Error, Result};
pub use fault::{Fault, FaultKind};
pub use header::Header;
pub use layout::Dialect;
pub use lines::Record;
pub use load::{Epoch, Loaded, ModelName, Settings};
pub use message::{Block, MessageView, ProviderUsage, Role, ToolCall};
pub use session::{Format, Session, SessionRef, Source};
pub use time::Millis;
pub use tree::{Node, Tree};
