//! Reading: names, texts, counts.

use longhaul_transcript::Millis;
use rusqlite::{OptionalExtension, params};

use super::SqliteIndex;
use super::place::files_of;
use super::record::{Passage, RecordKind, Status};
use super::write::name_hash;
use crate::chunk::lines_in;

impl SqliteIndex {
    pub(super) fn names(&self, kinds: &[RecordKind]) -> rusqlite::Result<Vec<String>> {
        let mut names = Vec::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT s.name, r.kind FROM source s JOIN record r ON r.source = s.id
             ORDER BY s.name",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            if kinds.contains(&RecordKind::from_number(row.get(1)?)) && names.last() != Some(&name)
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// The record of a key. A file's name may hold a `#`, so the whole key is
    /// tried as a name first.
    fn record_of(&self, key: &str) -> rusqlite::Result<Option<(i64, String, String)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT r.id FROM record r JOIN source s ON s.id = r.source
             WHERE s.hash = ?3 AND s.name = ?1 AND r.entry = ?2",
        )?;
        let splits = std::iter::once((key, "")).chain(
            key.rmatch_indices('#')
                .map(|(at, _)| (&key[..at], &key[at + 1..])),
        );
        for (source, entry) in splits {
            let found = statement
                .query_row(params![source, entry, name_hash(source)], |row| row.get(0))
                .optional()?;
            if let Some(id) = found {
                return Ok(Some((id, source.to_owned(), entry.to_owned())));
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
        let Some((id, source, entry)) = self.record_of(key)? else {
            return Ok(None);
        };
        let (kind, role, time, bytes) = view.query_row(
            "SELECT r.kind, o.name, r.time, r.bytes FROM record r LEFT JOIN role o ON o.id = r.role
             WHERE r.id = ?1",
            [id],
            |row| {
                Ok((
                    RecordKind::from_number(row.get(0)?),
                    row.get::<_, Option<String>>(1)?,
                    row.get::<_, Option<i64>>(2)?.map(Millis),
                    row.get::<_, i64>(3)? as u64,
                ))
            },
        )?;
        let (first, last) = lines.map_or((1, u32::MAX), |(first, last)| (first.max(1), last));
        let whole = self.text_at(id as u64, bytes)?;
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
            kind,
            source,
            entry,
            role,
            time,
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

    pub(super) fn counts(&mut self) -> rusqlite::Result<Status> {
        let view = self.connection.unchecked_transaction()?;
        let one = |sql: &str| -> rusqlite::Result<u64> {
            view.query_row(sql, [], |row| row.get::<_, i64>(0))
                .map(|n| n as u64)
        };
        let mut status = Status {
            sources: one("SELECT count(*) FROM source")?,
            records: one("SELECT count(*) FROM record")?,
            chunks: one("SELECT count(*) FROM chunk")?,
            text_bytes: one("SELECT coalesce(sum(bytes), 0) FROM record")?,
            disk_bytes: files_of(&self.path)[..2]
                .iter()
                .filter_map(|file| file.metadata().ok())
                .map(|file| file.len())
                .sum(),
            model: None,
            vectors: 0,
        };
        if let Some(encoder) = &self.encoder {
            status.model = Some(encoder.id().to_owned());
            let known = self.with_vector(&**encoder)?;
            status.vectors = status.chunks - self.without_vector(&known)?.0;
        }
        Ok(status)
    }
}
