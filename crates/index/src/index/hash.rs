//! Hashes: by which texts and names are known again.

use super::leaf::HASH;
use crate::chunk::ChunkSettings;

/// The hash of a text as it is given. Divided otherwise than usual, it is
/// another, so that it is indexed again.
pub(super) fn text_hash(text: &str, settings: ChunkSettings) -> u64 {
    let hash = chunk_hash(text);
    if settings == ChunkSettings::default() {
        return hash;
    }
    hash ^ chunk_hash(&format!("{} {}", settings.tokens, settings.overlap))
}

/// The name of a chunk's text in the store of vectors.
pub(super) fn chunk_hash(text: &str) -> u64 {
    start_of(&blake3::hash(text.as_bytes()))
}

fn start_of(hash: &blake3::Hash) -> u64 {
    let mut start = [0; 8];
    start[..HASH].copy_from_slice(&hash.as_bytes()[..HASH]);
    u64::from_le_bytes(start)
}

/// What the name of a source is found by. Two may have the same.
pub(super) fn name_hash(name: &str) -> i32 {
    let hash = blake3::hash(name.as_bytes());
    let mut start = [0; 4];
    start.copy_from_slice(&hash.as_bytes()[..4]);
    i32::from_le_bytes(start)
}
