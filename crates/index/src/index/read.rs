//! Reading: names, texts, counts.

use std::ffi::OsStr;
use std::path::Path;

use longhaul_transcript::Millis;
use rusqlite::{OptionalExtension, params};

use super::hash::name_hash;
use super::leaf::Entry;
use super::place::files_of;
use super::record::{Passage, RecordKind, Status};
use super::register::Register;
use super::{IndexError, SqliteIndex};
use crate::chunk::lines_in;

/// A session's id has as many characters at least.
const SHORTEST_ID: usize = 6;

impl SqliteIndex {
    pub(super) fn names(&self, kinds: &[RecordKind]) -> rusqlite::Result<Vec<String>> {
        let wanted = kinds
            .iter()
            .fold(0i64, |wanted, kind| wanted | 1 << *kind as u8);
        self.connection
            .prepare_cached("SELECT name FROM source WHERE kinds & ?1 <> 0 ORDER BY name")?
            .query_map([wanted], |row| row.get(0))?
            .collect()
    }

    /// The record of a key. A file's name may hold a `#`, so the whole key is
    /// tried as a name first.
    fn record_of(&self, key: &str) -> rusqlite::Result<Option<(String, Entry)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM source WHERE hash = ?2 AND name = ?1")?;
        let splits = std::iter::once((key, "")).chain(
            key.rmatch_indices('#')
                .map(|(at, _)| (&key[..at], &key[at + 1..])),
        );
        for (source, entry) in splits {
            let found: Option<i64> = statement
                .query_row(params![source, name_hash(source)], |row| row.get(0))
                .optional()?;
            let Some(id) = found else { continue };
            if let Some(entry) = Register::load(&self.connection, id)?.take(entry) {
                return Ok(Some((source.to_owned(), entry)));
            }
        }
        self.record_by_session(key)
    }

    /// The record of a key that names its session by its id, with which agents end
    /// the names of its file.
    fn record_by_session(&self, key: &str) -> rusqlite::Result<Option<(String, Entry)>> {
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
            let id = self
                .connection
                .prepare_cached("SELECT id FROM source WHERE hash = ?2 AND name = ?1")?
                .query_row(params![name, name_hash(&name)], |row| row.get(0))?;
            if let Some(entry) = Register::load(&self.connection, id)?.take(entry) {
                return Ok(Some((name, entry)));
            }
        }
        Ok(None)
    }

    pub(super) fn passage(
        &self,
        key: &str,
        lines: Option<(u32, u32)>,
    ) -> rusqlite::Result<Option<Passage>> {
        // One view of the record and its text.
        let view = self.connection.unchecked_transaction()?;
        let Some((source, record)) = self.record_of(key)? else {
            return Ok(None);
        };
        let role = match record.role {
            Some(role) => view
                .query_row("SELECT name FROM role WHERE id = ?1", [role], |row| {
                    row.get::<_, String>(0)
                })
                .optional()?,
            None => None,
        };
        let (first, last) = lines.map_or((1, u32::MAX), |(first, last)| (first.max(1), last));
        let whole = self.text_at(record.at, record.bytes)?;
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
            kind: RecordKind::from_number(record.kind),
            source,
            entry: record.name,
            role,
            time: record.time.map(Millis),
            lines: (first.min(of.max(1)), last.min(of)),
            of,
            text,
        }))
    }

    /// The text that stands at a place, in the open transaction.
    pub(crate) fn text_at(&self, at: u64, length: u64) -> rusqlite::Result<String> {
        let stretch = at..at.saturating_add(length);
        self.texts.borrow_mut().read(&self.connection, stretch)
    }

    pub(super) fn counts(&mut self) -> Result<Status, IndexError> {
        let sqlite = self.sqlite();
        let one = |sql: &str| -> rusqlite::Result<u64> {
            self.connection
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .map(|n| n.max(0) as u64)
        };
        let mut status = Status {
            sources: one("SELECT count(*) FROM source").map_err(&sqlite)?,
            records: one("SELECT coalesce(sum(count), 0) FROM leaf").map_err(&sqlite)?,
            chunks: one("SELECT coalesce(sum(chunks), 0) FROM leaf").map_err(&sqlite)?,
            text_bytes: one("SELECT coalesce(sum(bytes), 0) FROM leaf").map_err(&sqlite)?,
            disk_bytes: files_of(&self.path)[..2]
                .iter()
                .filter_map(|file| file.metadata().ok())
                .map(|file| file.len())
                .sum(),
            model: None,
            vectors: 0,
            vectors_left_out: 0,
            vectors_refused: 0,
        };
        if let Some(encoder) = self.encoder.clone() {
            status.model = Some(encoder.id().to_owned());
            let known = self.with_vector(&*encoder).map_err(&sqlite)?;
            let shape = self.shape_now()?;
            status.vectors_left_out = shape.bare() as u64;
            status.vectors_refused = shape.refused(&known) as u64;
            let without = self.without_vector(&known)?.0;
            let without = without + status.vectors_left_out + status.vectors_refused;
            status.vectors = status.chunks.saturating_sub(without);
        }
        Ok(status)
    }
}
