//! What outlives a session: memory files, the flush before a compaction,
//! dreaming, the index, in which memory files and what left the context are
//! found again, and redaction, which keeps secrets out of everything that is
//! written down beside a transcript.
//!
//! | question | answer |
//! |---|---|
//! | where are the memory files, and who writes them? | [`MemoryFolder`] |
//! | who said what stands there? | [`Source`], vouched for by a [`Seal`] |
//! | what is asked of the agent before a compaction? | [`flush`] |
//! | what becomes long-term memory, and who decides? | [`dream`] |
//! | what is a secret? | a [`Kind`], found by a [`Redactor`] |
//! | how is one text redacted? | [`Redactor::redact`] |
//! | how are many texts redacted as one document? | [`Redactor::document`], then [`Document::text`] or [`Document::json`] |
//! | what was found? | [`Tally`]: how many of each kind, never the secrets |
//! | how is a text found again? | [`SqliteIndex`], a [`MemoryIndex`]: [`Record`]s go in, a [`Query`] gives [`Hits`] |
//! | who keeps it up to date? | [`WorkspaceFiles`] for files, an [`Indexer`] beside the work |
//! | what finds other words? | an [`Encoder`]: from [`Models`], or a [`RemoteEncoder`] |
//!
//! ```
//! use longhaul_memory::Redactor;
//!
//! let redactor = Redactor::default();
//! let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
//! let redacted = redactor.redact(&format!("push with {token}, then revoke {token}"));
//! assert_eq!(
//!     redacted.text,
//!     "push with [redacted:github-token#1], then revoke [redacted:github-token#1]"
//! );
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod chunk;
pub mod dream;
mod embed;
mod error;
pub mod files;
pub mod flush;
mod index;
mod provenance;
mod redact;
mod search;
mod text;

pub use chunk::ChunkSettings;
pub use embed::{
    BestModel, Embed, Encoder, EncoderKind, InstalledModel, Models, Patience, RemoteEncoder,
    Unmade, open_model,
};
pub use error::{Error, Result};
pub use files::MemoryFolder;
pub use index::{
    Behind, Budget, Condition, Filters, Fusion, Hit, Hits, IndexError, IndexSettings, Indexer,
    Indexing, Kept, Looks, MemoryIndex, Mode, Passage, Progress, Query, Record, RecordKind,
    SqliteIndex, Status, Synced, Waits, Why, WorkspaceFiles,
};
pub use provenance::{Seal, Source};
pub use redact::{Document, Kind, RULES, Redacted, Redactor, RedactorSettings, Tally};
pub use search::SearchSettings;
