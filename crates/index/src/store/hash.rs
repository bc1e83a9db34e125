//! Hashes: by which texts are known again.

use crate::chunk::ChunkSettings;

/// The hash of a text as it is given. Divided otherwise than usual, it is
/// another, so that it is indexed again.
pub(crate) fn text_hash(text: &str, settings: ChunkSettings) -> i64 {
    let hash = chunk_hash(text);
    if settings == ChunkSettings::default() {
        return hash;
    }
    hash ^ chunk_hash(&format!("{} {}", settings.tokens, settings.overlap))
}

/// The name of a chunk's text in the table of vectors.
pub(super) fn chunk_hash(text: &str) -> i64 {
    start_of(&blake3::hash(text.as_bytes()))
}

/// The beginning of a hash, as SQLite keeps numbers.
pub(crate) fn start_of(hash: &blake3::Hash) -> i64 {
    let mut start = [0; 8];
    start.copy_from_slice(&hash.as_bytes()[..8]);
    i64::from_le_bytes(start)
}
