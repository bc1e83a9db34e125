//! The index, in which memory files and what left the context are found again.
//!
//! | question | answer |
//! |---|---|
//! | how is a text found again? | [`SqliteIndex`], a [`MemoryIndex`]: [`Record`]s go in, a [`Query`] gives [`Hits`] |
//! | what keeps secrets out of it? | the [`Redaction`] that its owner passes in |
//! | who keeps it up to date? | [`WorkspaceFiles`] for files, an [`Indexer`] beside the work |
//! | what finds other words? | an [`Encoder`]: from [`Models`], or a [`RemoteEncoder`] |
//! | how does a page of the memory quote what it keeps? | [`page`] |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod chunk;
mod embed;
mod error;
mod index;
pub mod page;
mod record;
mod redaction;
mod search;
mod settings;
mod store;
mod text;

pub use chunk::ChunkSettings;
pub use embed::{
    BestModel, Embed, Encoder, EncoderKind, InstalledModel, Models, Patience, RemoteEncoder,
    Unmade, open_model,
};
pub use error::IndexError;
pub use index::{
    Condition, DEPTH, Indexer, Indexing, MemoryIndex, Synced, Unseen, Waits, Work, WorkspaceFiles,
};
pub use record::{
    Behind, Budget, Filters, Fusion, Hit, Hits, Kept, Mode, Passage, Progress, Query, Record,
    RecordKind, Status, Why,
};
pub use redaction::Redaction;
pub use settings::{IndexSettings, SearchSettings};
pub use store::SqliteIndex;
pub use text::content_words;

/// A size in millions of bytes: `64 MB`, `16.8 MB`.
pub fn megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    match tenths % 10 {
        0 => format!("{} MB", tenths / 10),
        tenth => format!("{}.{tenth} MB", tenths / 10),
    }
}
