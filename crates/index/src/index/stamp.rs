//! Stamps: what the file system says of a file, by which it is known without
//! being read.
//!
//! A file that is written twice within one tick of the file system's clock may
//! look the same after both. So a stamp is noted only of a file that had rested
//! for a while when it was read: whatever is written afterwards has another time.

use std::collections::HashMap;
use std::path::Path;

use longhaul_transcript::Millis;
use rusqlite::{OptionalExtension, params};

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

/// What the files of a source looked like together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks(i64);

impl SqliteIndex {
    /// What the files of a source look like, for [`SqliteIndex::is_as_noted`] and
    /// [`SqliteIndex::note_looks`]; ask before they are read. None where the file
    /// system does not say enough, or where one of them changed so shortly before
    /// `at`, the time it is now, that a further change may look the same.
    pub fn looks(&self, files: &[&Path], at: Millis) -> Option<Looks> {
        let mut hasher = blake3::Hasher::new();
        // What is taken for a secret may differ from one version to the next.
        hasher.update(self.settings.redaction.fingerprint().as_bytes());
        for file in files.iter().filter(|file| file.exists()) {
            let stamp = Stamp::of(file, &self.settings).filter(|stamp| stamp.rested(at))?;
            hasher.update(file.as_os_str().as_encoded_bytes());
            hasher.update(&stamp.value.to_le_bytes());
        }
        Some(Looks(start_of(&hasher.finalize())))
    }

    /// Whether a source was taken in from files that looked like this, and nothing
    /// was written to it since.
    pub fn is_as_noted(&mut self, source: &str, looks: Looks) -> Result<bool, IndexError> {
        self.mending(|index| {
            let noted = index
                .connection
                .prepare_cached("SELECT stamp FROM source WHERE name = ?1")
                .and_then(|mut statement| {
                    let noted = statement.query_row([source], |row| row.get::<_, Option<i64>>(0));
                    noted.optional()
                });
            Ok(noted.map_err(index.sqlite())?.flatten() == Some(looks.0))
        })
    }

    /// Notes what the files of a source looked like that is in as they are.
    pub fn note_looks(&mut self, source: &str, looks: Looks) -> Result<(), IndexError> {
        self.mending(|index| {
            let noted = index.connection.execute(
                "UPDATE source SET stamp = ?2 WHERE name = ?1",
                params![source, looks.0],
            );
            noted.map(drop).map_err(index.sqlite())
        })
    }

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
