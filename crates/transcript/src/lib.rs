//! Session files of LLM agents: read, written and kept whole.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod archive;
mod chain;
mod context;
mod copy;
mod coverage;
mod draft;
mod entry;
mod error;
mod exchange;
mod fault;
mod fingerprint;
mod header;
pub mod import;
mod inbound;
pub mod json;
mod key;
mod last_writes;
mod layout;
mod lines;
pub mod liveness;
mod load;
mod message;
mod native;
mod scan;
mod session;
mod time;
mod trash;
mod tree;
mod user_text;
mod verify;
mod writer;

pub use archive::{Archived, Packing, archive, archive_path, each_archived, has_archive, restore};
pub use chain::Chain;
pub use context::{Census, Context, ContextMessage, unasked};
pub use copy::{Copied, NewSession, each_line_of_path, fork, import, write_path};
pub use draft::{Draft, Stamp, is_pin};
pub use entry::{
    Body, Boundary, Compaction, ContextEdit, Entry, EntryId, EntryType, Place, Replacement,
};
pub use error::{Error, Result};
pub use exchange::{CallState, Conversation, Piece, ToolExchange};
pub use fault::{Fault, FaultKind};
pub use fingerprint::Fingerprint;
pub use header::Header;
pub use key::SessionKey;
pub use last_writes::LastWrites;
pub use layout::Dialect;
pub use lines::Record;
pub use load::{Epoch, Loaded, ModelName, Settings};
pub use message::{Block, MessageView, ProviderUsage, Role, ToolCall};
pub use session::{Format, Linked, Session, SessionRef, Source, Tail, VisitLined, VisitPath};
pub use time::Millis;
pub use trash::{Discarded, Origin, Trash};
pub use tree::{Node, Tree};
pub use user_text::{Channel, UserText};
pub use verify::{Report, verify};
pub use writer::{Durability, Writer, torn_path};
