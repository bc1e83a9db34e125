//! Reading: names, texts, counts.

use longhaul_transcript::Millis;
use rusqlite::{OptionalExtension, params};

use super::SqliteIndex;
use super::place::files_of;
use super::record::{Passage, RecordKind, Status};
use super::vectors::model_key;
use super::write::{piece_id, unpacked};
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
             WHERE s.name = ?1 AND r.entry = ?2",
        )?;
        let splits = std::iter::once((key, "")).chain(
            key.rmatch_indices('#')
                .map(|(at, _)| (&key[..at], &key[at + 1..])),
        );
        for (source, entry) in splits {
            let found = statement
                .query_row(params![source, entry], |row| row.get(0))
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
        let Some((id, source, entry)) = self.record_of(key)? else {
            return Ok(None);
        };
        let (kind, role, time) = self.connection.query_row(
            "SELECT r.kind, o.name, r.time FROM record r LEFT JOIN role o ON o.id = r.role
             WHERE r.id = ?1",
            [id],
            |row| {
                Ok((
                    RecordKind::from_number(row.get(0)?),
                    row.get::<_, Option<String>>(1)?,
                    row.get::<_, Option<i64>>(2)?.map(Millis),
                ))
            },
        )?;
        let (first, last) = lines.map_or((1, u32::MAX), |(first, last)| (first.max(1), last));
        let mut text = String::new();
        let mut of = 0;
        let mut statement = self.connection.prepare_cached(
            "SELECT line, text FROM piece WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        )?;
        let mut rows = statement.query([piece_id(id, 0), piece_id(id, u64::MAX)])?;
        while let Some(row) = rows.next()? {
            let begin: u32 = row.get(0)?;
            let part = unpacked(row.get_ref(1)?.as_blob()?)?;
            of = lines_in(&part, begin);
            for (number, line) in (begin..).zip(part.split_inclusive('\n')) {
                if number >= first && number <= last {
                    text.push_str(line);
                }
            }
        }
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

    /// A chunk's text.
    pub(crate) fn chunk_text(
        &self,
        record: i64,
        start: u64,
        length: u64,
    ) -> rusqlite::Result<String> {
        let mut text = String::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT id, text FROM piece WHERE id < ?3 AND id >=
             (SELECT max(id) FROM piece WHERE id BETWEEN ?1 AND ?2) ORDER BY id",
        )?;
        let (from, to) = (start, start.saturating_add(length));
        let first = piece_id(record, 0);
        let mut rows = statement.query([first, piece_id(record, from), piece_id(record, to)])?;
        while let Some(row) = rows.next()? {
            let begin = (row.get::<_, i64>(0)? - first) as u64;
            let part = unpacked(row.get_ref(1)?.as_blob()?)?;
            let left = part.floor_char_boundary(from.saturating_sub(begin) as usize);
            let right = part.floor_char_boundary(to.saturating_sub(begin) as usize);
            text.push_str(&part[left.min(right)..right]);
        }
        Ok(text)
    }

    pub(super) fn counts(&mut self) -> rusqlite::Result<Status> {
        let one = |sql: &str| -> rusqlite::Result<u64> {
            self.connection
                .query_row(sql, [], |row| row.get::<_, i64>(0))
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
            status.vectors = self.connection.query_row(
                "SELECT count(*) FROM chunk c JOIN vector v ON v.hash = c.hash
                 JOIN model m ON m.id = v.model WHERE m.name = ?1",
                [model_key(&**encoder)],
                |row| row.get::<_, i64>(0),
            )? as u64;
        }
        Ok(status)
    }
}
