//! Whose archive it is: a small file beside it that names the session and the
//! hash of what was moved.
//!
//! It is written after the archive and before the live file. A crash in between
//! leaves a record of the archive as it was before; what the archive has beyond
//! that is still in the live file, and needs nobody to vouch for it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

const MAX_BYTES: u64 = 64 << 10;

/// What was known of an archive when it was made.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// The id of the session it was taken out of.
    pub(super) session: String,
    /// Bytes of entries in it, unpacked.
    pub(super) bytes: u64,
    /// Their hash.
    pub(super) blake3: String,
}

/// Where the record of a session's archive is.
pub(super) fn record_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".bak.json");
    path.with_file_name(name)
}

impl Record {
    pub(super) fn read(path: &Path) -> Result<Option<Record>> {
        let path = record_path(path);
        let text = longhaul_files::optional(longhaul_files::read_text(&path, MAX_BYTES))?;
        text.map(|text| {
            serde_json::from_str(&text).map_err(|error| {
                Error::refused(
                    "use",
                    &path,
                    format!("it is no record of an archive ({error})"),
                )
            })
        })
        .transpose()
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        Ok(longhaul_files::replace(
            &record_path(path),
            text.as_bytes(),
        )?)
    }

    /// Whether the entries begin with those of this record.
    pub(super) fn vouches_for(&self, entries: &mut dyn Read) -> io::Result<bool> {
        let (bytes, blake3) = hash(&mut entries.take(self.bytes))?;
        Ok(bytes == self.bytes && blake3 == self.blake3)
    }
}

/// How many bytes there are, and their hash.
pub(super) fn hash(entries: &mut dyn Read) -> io::Result<(u64, String)> {
    let mut hasher = blake3::Hasher::new();
    let bytes = io::copy(entries, &mut hasher)?;
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}
