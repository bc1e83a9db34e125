//! Reading: names, texts, counts.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use longhaul_transcript::Millis;
use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{OptionalExtension, params};

use super::place::files_of;
use super::vectors::model_key;
use super::{Shape, SqliteIndex};
use crate::chunk::lines_in;
use crate::error::IndexError;
use crate::record::{Passage, RecordKind, Status};

/// A record without its text.
struct Found {
    source: String,
    entry: String,
    kind: RecordKind,
    role: Option<String>,
    time: Option<i64>,
    first: i64,
    chunks: i64,
}

/// A session's id has as many characters at least.
const SHORTEST_ID: usize = 6;

impl SqliteIndex {
    pub(crate) fn names(&self, kinds: &[RecordKind]) -> rusqlite::Result<Vec<String>> {
        let wanted: Vec<String> = kinds.iter().map(|kind| (*kind as u8).to_string()).collect();
        let sql = format!(
            "SELECT name FROM source WHERE EXISTS
             (SELECT 1 FROM record WHERE source = source.id AND kind IN ({})) ORDER BY name",
            wanted.join(",")
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let names = statement.query_map([], |row| row.get(0))?;
        names.collect()
    }

    /// The entries of a source that are of these kinds; of none is all.
    pub(crate) fn entries_of(
        &self,
        source: &str,
        kinds: &[RecordKind],
    ) -> rusqlite::Result<HashSet<String>> {
        let sql =
            "SELECT entry, kind FROM record JOIN source ON source.id = source WHERE name = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([source])?;
        let mut entries = HashSet::new();
        while let Some(row) = rows.next()? {
            let kind: u8 = row.get(1)?;
            if kinds.is_empty() || kinds.iter().any(|one| *one as u8 == kind) {
                entries.insert(row.get(0)?);
            }
        }
        Ok(entries)
    }

    /// What was noted of a source by the rules of now.
    pub(crate) fn note_of(&self, source: &str) -> rusqlite::Result<Option<String>> {
        let note: Option<Option<String>> = self
            .connection
            .prepare_cached("SELECT note FROM source WHERE name = ?1")?
            .query_row([source], |row| row.get(0))
            .optional()?;
        let rules = self.settings.rules();
        let note = note.flatten();
        Ok(note.and_then(|note| Some(note.strip_prefix(&rules)?.trim_start().to_owned())))
    }

    /// The record of a key. A file's name may hold a `#`, so the whole key is
    /// tried as a name first.
    fn record_of(&self, key: &str) -> rusqlite::Result<Option<Found>> {
        let splits = std::iter::once((key, "")).chain(
            key.rmatch_indices('#')
                .map(|(at, _)| (&key[..at], &key[at + 1..])),
        );
        for (source, entry) in splits {
            if let Some(found) = self.record(source, entry)? {
                return Ok(Some(found));
            }
        }
        self.record_by_session(key)
    }

    /// The record of a key that names its session by its id, with which agents end
    /// the names of its file.
    fn record_by_session(&self, key: &str) -> rusqlite::Result<Option<Found>> {
        let Some((session, entry)) = key.rsplit_once('#') else {
            return Ok(None);
        };
        if session.len() < SHORTEST_ID || session.contains(['/', '\\']) {
            return Ok(None);
        }
        let kinds = [RecordKind::Transcript, RecordKind::Present];
        for name in self.names(&kinds)?.into_iter().rev() {
            let stem = Path::new(&name).file_stem().and_then(OsStr::to_str);
            let before = stem.and_then(|stem| stem.strip_suffix(session));
            if before.is_none_or(|before| before.ends_with(char::is_alphanumeric)) {
                continue;
            }
            if let Some(found) = self.record(&name, entry)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn record(&self, source: &str, entry: &str) -> rusqlite::Result<Option<Found>> {
        let sql = "SELECT kind, role, time, first, chunks FROM record
                   JOIN source ON source.id = source WHERE name = ?1 AND entry = ?2";
        let found = |row: &rusqlite::Row<'_>| {
            Ok(Found {
                source: source.to_owned(),
                entry: entry.to_owned(),
                kind: RecordKind::from_number(row.get(0)?),
                role: row.get(1)?,
                time: row.get(2)?,
                first: row.get(3)?,
                chunks: row.get(4)?,
            })
        };
        self.connection
            .prepare_cached(sql)?
            .query_row(params![source, entry], found)
            .optional()
    }

    pub(crate) fn passage(
        &self,
        key: &str,
        lines: Option<(u32, u32)>,
    ) -> rusqlite::Result<Option<Passage>> {
        // One view of the record and its text.
        let _view = self.connection.unchecked_transaction()?;
        let Some(found) = self.record_of(key)? else {
            return Ok(None);
        };
        let (first, last) = lines.map_or((1, u32::MAX), |(first, last)| (first.max(1), last));
        let whole = self.whole(&found)?;
        let of = if whole.is_empty() {
            0
        } else {
            lines_in(&whole, 1)
        };
        let text = (1..)
            .zip(whole.split_inclusive('\n'))
            .filter(|(number, _)| (first..=last).contains(number))
            .map(|(_, line)| line)
            .collect();
        Ok(Some(Passage {
            kind: found.kind,
            source: found.source,
            entry: found.entry,
            role: found.role,
            time: found.time.map(Millis),
            lines: (first.min(of.max(1)), last.min(of)),
            of,
            text,
        }))
    }

    /// The text of a record, from its chunks; neighbours share some lines.
    fn whole(&self, found: &Found) -> rusqlite::Result<String> {
        let mut whole = String::new();
        let end = found.first.saturating_add(found.chunks);
        let sql = "SELECT id, start FROM chunk WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([found.first, end])?;
        while let Some(row) = rows.next()? {
            let start: i64 = row.get(1)?;
            let text = self.text_at(row.get(0)?)?;
            let start = usize::try_from(start).ok();
            let new = start.and_then(|start| whole.len().checked_sub(start));
            whole.push_str(new.and_then(|known| text.get(known..)).unwrap_or(&text));
        }
        Ok(whole)
    }

    /// The text of a chunk, in the open transaction.
    pub(super) fn text_at(&self, chunk: i64) -> rusqlite::Result<String> {
        let sql = "SELECT text FROM text WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row([chunk], |row| {
            let damaged = |error: FromSqlError| {
                rusqlite::Error::FromSqlConversionFailure(
                    0,
                    rusqlite::types::Type::Blob,
                    Box::new(error),
                )
            };
            match row.get_ref(0)? {
                ValueRef::Blob(packed) => {
                    let text = longhaul_files::unpack(packed)
                        .map_err(|error| damaged(FromSqlError::Other(Box::new(error))))?;
                    String::from_utf8(text)
                        .map_err(|error| damaged(FromSqlError::Other(Box::new(error))))
                }
                text => Ok(text.as_str().map_err(damaged)?.to_owned()),
            }
        })
    }

    /// The text of a slot, in the open transaction.
    pub(crate) fn text_of(&self, shape: &Shape, slot: u32) -> Result<String, IndexError> {
        let chunk = shape.extents[slot as usize].id;
        self.text_at(chunk).map_err(self.sqlite())
    }

    pub(crate) fn counts(&mut self) -> Result<Status, IndexError> {
        let sqlite = self.sqlite();
        let one = |sql: &str| -> rusqlite::Result<u64> {
            self.connection
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .map(|n| n.max(0) as u64)
        };
        let mut status = Status {
            sources: one("SELECT count(*) FROM source").map_err(&sqlite)?,
            records: one("SELECT count(*) FROM record").map_err(&sqlite)?,
            chunks: one("SELECT count(*) FROM chunk").map_err(&sqlite)?,
            text_bytes: one("SELECT coalesce(sum(bytes), 0) FROM record").map_err(&sqlite)?,
            disk_bytes: files_of(&self.path)[..2]
                .iter()
                .filter_map(|file| file.metadata().ok())
                .map(|file| file.len())
                .sum(),
            ..Status::default()
        };
        if let Some(encoder) = &self.encoder {
            status.model = Some(encoder.id().to_owned());
            let of = |refused: &str| -> rusqlite::Result<i64> {
                let sql = format!(
                    "SELECT count(*) FROM chunk JOIN vector ON vector.hash = chunk.hash
                     JOIN model ON model.id = model WHERE name = ?1 AND scale {refused} 0"
                );
                let name = model_key(&**encoder);
                self.connection.query_row(&sql, [name], |row| row.get(0))
            };
            status.vectors = of(">").map_err(&sqlite)?.max(0) as u64;
            status.vectors_refused = of("=").map_err(&sqlite)?.max(0) as u64;
        }
        Ok(status)
    }
}
