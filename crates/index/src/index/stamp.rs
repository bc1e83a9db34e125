//! Stamps: what the file system says of a file, by which it is known without
//! being read.
//!
//! A file that is written twice within one tick of the file system's clock may
//! look the same after both. So a stamp is noted only of a file that had rested
//! for a while when it was read: whatever is written afterwards has another time.

use std::collections::HashMap;
use std::path::Path;

use longhaul_transcript::Millis;
use rusqlite::params;

use crate::error::IndexError;
use crate::settings::IndexSettings;
use crate::store::{SqliteIndex, start_of};

/// Longer than the tick of any file system.
const REST: i64 = 2_000;

/// What a file looked like.
#[cfg_attr(not(unix), allow(dead_code))]
pub(super) struct Stamp {
    pub(super) value: i64,
    pub(super) bytes: u64,
    /// When it last changed in any way.
    changed: Millis,
}

impl Stamp {
    /// None where the file system does not say enough.
    #[cfg(unix)]
    pub(super) fn of(path: &Path, settings: &IndexSettings) -> Option<Stamp> {
        use std::os::unix::fs::MetadataExt;

        let meta = std::fs::metadata(path).ok()?;
        let mut hasher = blake3::Hasher::new();
        for number in [
            meta.dev() as i64,
            meta.ino() as i64,
            meta.size() as i64,
            meta.mtime(),
            meta.mtime_nsec(),
            // The user can set the other time, not this one.
            meta.ctime(),
            meta.ctime_nsec(),
        ] {
            hasher.update(&number.to_le_bytes());
        }
        // Divided otherwise, the same file is to be indexed again.
        hasher.update(&settings.chunks.tokens.to_le_bytes());
        hasher.update(&settings.chunks.overlap.to_le_bytes());
        let seconds = meta.mtime().max(meta.ctime());
        Some(Stamp {
            value: start_of(&hasher.finalize()),
            bytes: meta.size(),
            // The second is over when all of its parts are.
            changed: Millis(seconds.saturating_add(1).saturating_mul(1_000)),
        })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &Path, _: &IndexSettings) -> Option<Stamp> {
        None
    }

    /// Whether a file had not changed for a while at this time.
    pub(super) fn rested(&self, at: Millis) -> bool {
        self.changed.0.saturating_add(REST) < at.0
    }
}

impl SqliteIndex {
    /// The stamps that were noted, by the names of their files.
    pub(super) fn stamps(&mut self) -> Result<HashMap<String, i64>, IndexError> {
        self.mending(|index| {
            let noted = || -> rusqlite::Result<HashMap<String, i64>> {
                index
                    .connection
                    .prepare_cached("SELECT name, stamp FROM source WHERE stamp IS NOT NULL")?
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect()
            };
            noted().map_err(index.sqlite())
        })
    }

    /// Notes stamps of files, each with the hash of the text that was read:
    /// where another process has written something else since, nothing is noted.
    pub(super) fn note_stamps(&mut self, read: &[(String, i64, i64)]) -> Result<(), IndexError> {
        if read.is_empty() {
            return Ok(());
        }
        self.mending(|index| {
            let sqlite = index.sqlite();
            let note = || -> rusqlite::Result<()> {
                let transaction = index.connection.unchecked_transaction()?;
                for (name, stamp, hash) in read {
                    let sql = "UPDATE source SET stamp = ?2 WHERE name = ?1 AND EXISTS
                        (SELECT 1 FROM record WHERE source = id AND entry = '' AND hash = ?3)";
                    transaction
                        .prepare_cached(sql)?
                        .execute(params![name, stamp, hash])?;
                }
                transaction.commit()
            };
            note().map_err(sqlite)
        })
    }
}

#[cfg(test)]
mod tests;
