//! What outlives a session: memory files, the flush before a compaction,
//! dreaming, and the index, in which memory files and what left the context are
//! found again.
//!
//! | question | answer |
//! |---|---|
//! | where are the memory files, and who writes them? | [`MemoryFolder`] |
//! | who said what stands there? | [`Source`], vouched for by a [`Seal`] |
//! | what is asked of the agent before a compaction? | [`flush`] |
//! | what becomes long-term memory, and who decides? | [`dream`] |
//! | how is a text found again? | [`SqliteIndex`], a [`MemoryIndex`]: [`Record`]s go in, a [`Query`] gives [`Hits`] |
//! | who keeps it up to date? | [`WorkspaceFiles`] for files, an [`Indexer`] beside the work |
//! | what finds other words? | an [`Encoder`]: from [`Models`], or a [`RemoteEncoder`] |

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod chunk;
pub mod dream;
mod embed;
mod error;
pub mod files;
pub mod flush;
mod index;
mod provenance;
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
pub use search::SearchSettings;
