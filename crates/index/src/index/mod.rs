//! The index as it is used: what a store holds, searched, kept true to the memory
//! files, and filled beside the work.

mod background;
mod current;
mod stamp;
mod workspace;

use std::collections::HashSet;
use std::sync::Arc;

pub use self::background::{Indexer, Indexing, Waits, Work};
pub use self::current::Condition;
pub use self::workspace::{DEPTH, Synced, Unseen, WorkspaceFiles};
use crate::embed::Encoder;
use crate::error::IndexError;
use crate::record::{Budget, Hit, Hits, Passage, Progress, Query, Record, RecordKind, Status};
use crate::search;
use crate::store::SqliteIndex;
use crate::text;

/// What every way of keeping an index can do. A store for fleets will come
/// behind the same trait, so nothing here says where it is kept.
pub trait MemoryIndex: Send {
    /// Takes records in. What has not changed is not written again; what is
    /// taken in stays, whatever happens to the rest. `progress` hears of every
    /// transaction.
    fn update(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError>;

    /// Takes a source out with all its records; says how many there were.
    fn remove(&mut self, source: &str) -> Result<u64, IndexError>;

    /// Takes these records of a source out; says how many there were.
    fn remove_entries(
        &mut self,
        source: &str,
        entries: &HashSet<String>,
    ) -> Result<u64, IndexError>;

    /// The entries of a source that are in it as one of these kinds; all of them
    /// where none is named.
    fn entries(
        &mut self,
        source: &str,
        kinds: &[RecordKind],
    ) -> Result<HashSet<String>, IndexError>;

    /// What was noted of a source, by the rules that texts are taken in by now. It
    /// goes with the source.
    fn noted(&mut self, source: &str) -> Result<Option<String>, IndexError>;

    /// Notes something of a source that is in it.
    fn note(&mut self, source: &str, note: &str) -> Result<(), IndexError>;

    /// The names of all sources that hold records of these kinds.
    fn sources(&mut self, kinds: &[RecordKind]) -> Result<Vec<String>, IndexError>;

    /// The model that makes vectors from now on; none for words alone.
    fn use_encoder(&mut self, encoder: Option<Arc<dyn Encoder>>);

    /// Makes vectors for chunks that have none of the active model; at most
    /// `chunks` of them. Says how many are still without.
    fn embed(&mut self, chunks: u64, progress: &mut dyn FnMut(u64, u64))
    -> Result<u64, IndexError>;

    /// Searches.
    fn search(&mut self, query: &Query) -> Result<Hits, IndexError>;

    /// A record by its key, whole or the given lines.
    fn get(&mut self, key: &str, lines: Option<(u32, u32)>) -> Result<Option<Passage>, IndexError>;

    /// What is in it.
    fn status(&mut self) -> Result<Status, IndexError>;
}

impl MemoryIndex for SqliteIndex {
    fn use_encoder(&mut self, encoder: Option<Arc<dyn Encoder>>) {
        SqliteIndex::use_encoder(self, encoder);
    }

    fn update(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError> {
        self.mending(|index| index.write(records, budget, progress))
    }

    fn remove(&mut self, source: &str) -> Result<u64, IndexError> {
        self.mending(|index| index.take_out(source, &|_| true))
    }

    fn remove_entries(
        &mut self,
        source: &str,
        entries: &HashSet<String>,
    ) -> Result<u64, IndexError> {
        self.mending(|index| index.take_out(source, &|entry| entries.contains(entry)))
    }

    fn entries(
        &mut self,
        source: &str,
        kinds: &[RecordKind],
    ) -> Result<HashSet<String>, IndexError> {
        self.mending(|index| index.entries_of(source, kinds).map_err(index.sqlite()))
    }

    fn noted(&mut self, source: &str) -> Result<Option<String>, IndexError> {
        self.mending(|index| index.note_of(source).map_err(index.sqlite()))
    }

    fn note(&mut self, source: &str, note: &str) -> Result<(), IndexError> {
        self.mending(|index| index.set_note(source, note).map_err(index.sqlite()))
    }

    fn sources(&mut self, kinds: &[RecordKind]) -> Result<Vec<String>, IndexError> {
        self.mending(|index| index.names(kinds).map_err(index.sqlite()))
    }

    fn embed(
        &mut self,
        chunks: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, IndexError> {
        self.mending(|index| index.make_vectors(chunks, progress))
    }

    fn search(&mut self, query: &Query) -> Result<Hits, IndexError> {
        let mut hits = match self.mending(|index| search::find(index, query)) {
            // Nothing is found, which is no failure of who searches.
            Err(error @ IndexError::Replaced { .. }) => Hits {
                hits: Vec::new(),
                model: None,
                unknown: Vec::new(),
                notes: vec![error.to_string()],
            },
            found => found?,
        };
        hits.notes.extend(self.unwritable_note());
        hits.hits.truncate(query.k);
        hits.hits.retain(says_something);
        drop_strays(&query.text, &mut hits.hits);
        Ok(hits)
    }

    fn get(&mut self, key: &str, lines: Option<(u32, u32)>) -> Result<Option<Passage>, IndexError> {
        self.mending(|index| index.passage(key, lines).map_err(index.sqlite()))
    }

    fn status(&mut self) -> Result<Status, IndexError> {
        self.mending(SqliteIndex::counts)
    }
}

/// Whether a hit has a word of the query, or a score that shows in the three
/// places scores are given in. Others fill a list that nothing else fills.
fn says_something(hit: &Hit) -> bool {
    !hit.why.terms.is_empty() || hit.score >= 0.0005
}

/// Who asks for one word wants what has it. What only has other words of a hit is
/// left out then, unless its meaning is near.
fn drop_strays(query: &str, hits: &mut Vec<Hit>) {
    let has_word = |hit: &Hit| !hit.why.terms.is_empty();
    let one_word = query.split_whitespace().count() == 1 && !text::has_unspaced(query);
    if one_word && hits.iter().any(has_word) {
        hits.retain(|hit| has_word(hit) || hit.why.vector.is_some());
    }
}
