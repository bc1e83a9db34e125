//! Taking records in and out.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::record::{Budget, Progress, Record};
use super::texts::{self, Packed, Packer, Stretch};
use super::{IndexError, IndexSettings, SqliteIndex, schema};
use crate::chunk::chunks;
use crate::text::{self, Stems, Stored, Tongue};

/// A transaction takes this much text at most, so that others get their turn.
const BATCH_BYTES: u64 = 4 << 20;
/// Or so many records.
const BATCH_RECORDS: usize = 4_000;

/// A record with everything that costs time done, so that the lock is held
/// for the writing only.
struct Prepared {
    record: Record,
    hash: [u8; 16],
    tongue: Tongue,
    /// Where its text begins among those of its batch.
    at: u64,
    bytes: u64,
    chunks: Vec<PreparedChunk>,
    redacted: u64,
}

/// What is written in one transaction.
struct Batch {
    records: Vec<Prepared>,
    texts: Packed,
}

struct PreparedChunk {
    start: usize,
    length: usize,
    lines: (u32, u32),
    hash: i64,
    tokens: Stored,
}

impl SqliteIndex {
    pub(super) fn write(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError> {
        let sqlite = self.sqlite();
        let mut done = Progress::default();
        let mut batch: Option<Batch> = None;
        let mut stems = std::mem::take(&mut self.stems);
        let settings = self.settings.clone();
        let mut records = records.fuse();
        loop {
            let records_waiting = batch.iter().flat_map(|batch| &batch.records);
            let waiting = records_waiting
                .map(|one| one.record.text.len() as u64)
                .sum();
            let lot = self.gather(&mut records, budget, waiting, &mut done)?;
            if lot.is_empty() {
                break;
            }
            let prepare_all = |stems: &mut Stems| -> Batch {
                let mut packer = Packer::new();
                let records = lot
                    .into_iter()
                    .map(|(record, hash)| prepare(record, hash, &settings, stems, &mut packer))
                    .collect();
                Batch {
                    records,
                    texts: packer.finish(),
                }
            };
            let Some(ready) = &batch else {
                batch = Some(prepare_all(&mut stems));
                continue;
            };
            // While one lot is written, the next is prepared.
            let next = std::thread::scope(|scope| {
                let next = scope.spawn(|| prepare_all(&mut stems));
                let written = self.commit(ready, &mut done);
                let next = next
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                written.map(|()| next)
            });
            batch = Some(next.map_err(&sqlite)?);
            progress(&done);
        }
        self.stems = stems;
        if let Some(batch) = batch {
            self.commit(&batch, &mut done).map_err(&sqlite)?;
        }
        if done.written > 0 {
            self.close_holes().map_err(&sqlite)?;
            self.put_together(done.bytes).map_err(&sqlite)?;
            schema::give_back(&self.connection).map_err(&sqlite)?;
            if done.bytes > BATCH_BYTES {
                let patience = self.settings.patience;
                schema::shorten_log(&self.connection, patience).map_err(&sqlite)?;
            }
        }
        progress(&done);
        Ok(done)
    }

    /// Puts together what FTS5 keeps of each transaction, where most of the index
    /// is new: it is smaller and quicker so. Otherwise FTS5 does it bit by bit.
    fn put_together(&self, written: u64) -> rusqlite::Result<()> {
        let all: i64 =
            self.connection
                .query_row("SELECT coalesce(sum(bytes), 0) FROM record", [], |row| {
                    row.get(0)
                })?;
        if written * 2 < all as u64 {
            return Ok(());
        }
        for table in ["words", "pairs"] {
            self.connection.execute(
                &format!("INSERT INTO {table} ({table}) VALUES ('optimize')"),
                [],
            )?;
        }
        Ok(())
    }

    /// The next records that are new or have changed, as many as go into one
    /// transaction.
    fn gather(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        waiting: u64,
        done: &mut Progress,
    ) -> Result<Vec<(Record, [u8; 16])>, IndexError> {
        let mut lot = Vec::new();
        let mut bytes = 0;
        while !done.exhausted && bytes < BATCH_BYTES && lot.len() < BATCH_RECORDS {
            // The budget counts what is written, so that a second call goes on
            // where this one stopped instead of reading it all for nothing.
            if done.bytes + waiting + bytes >= budget.bytes {
                done.exhausted = records.next().is_some();
                break;
            }
            let Some(record) = records.next() else { break };
            done.seen += 1;
            let hash = hash_of(&record, &self.settings);
            if self.known(&record, &hash).map_err(self.sqlite())? {
                done.unchanged += 1;
                continue;
            }
            bytes += record.text.len() as u64;
            lot.push((record, hash));
        }
        Ok(lot)
    }

    fn known(&self, record: &Record, hash: &[u8; 16]) -> rusqlite::Result<bool> {
        let stored = self.stored_as(record, hash)?;
        Ok(stored == Some(true))
    }

    /// Whether what is stored under a record's name has this hash; none where
    /// nothing is.
    pub(super) fn stored_as(
        &self,
        record: &Record,
        hash: &[u8; 16],
    ) -> rusqlite::Result<Option<bool>> {
        self.connection
            .prepare_cached(
                "SELECT r.hash = ?3 FROM record r JOIN source s ON s.id = r.source
                 WHERE s.hash = ?4 AND s.name = ?1 AND r.entry = ?2",
            )?
            .query_row(
                params![record.source, record.entry, hash, name_hash(&record.source)],
                |row| row.get(0),
            )
            .optional()
    }

    fn commit(&mut self, batch: &Batch, done: &mut Progress) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut names: HashMap<String, i64> = HashMap::new();
        let mut roles: HashMap<String, i64> = HashMap::new();
        let mut tongues = 0i64;
        let mut next = *done;
        let begin = texts::end(&transaction)?;
        texts::append(&transaction, &batch.texts)?;
        let mut chunk: i64 =
            transaction.query_row("SELECT coalesce(max(id), 0) + 1 FROM chunk", [], |row| {
                row.get(0)
            })?;
        let mut holes = Vec::new();
        for prepared in &batch.records {
            let source = source_id(&transaction, &prepared.record.source, &mut names)?;
            let role = match &prepared.record.role {
                Some(role) => Some(role_id(&transaction, role, &mut roles)?),
                None => None,
            };
            holes.extend(drop_record(&transaction, source, &prepared.record.entry)?);
            insert(&transaction, source, role, begin, chunk, prepared)?;
            chunk += prepared.chunks.len() as i64;
            tongues |= 1 << (prepared.tongue as u8);
            next.written += 1;
            next.chunks += prepared.chunks.len() as u64;
            next.bytes += prepared.record.text.len() as u64;
            next.redacted += prepared.redacted;
        }
        texts::bury(&transaction, holes)?;
        transaction.execute(
            "UPDATE meta SET value = value | ?1 WHERE name = 'tongues'",
            [tongues],
        )?;
        changed(&transaction)?;
        transaction.commit()?;
        *done = next;
        Ok(())
    }

    /// Closes the holes that texts left which were taken out, where there are
    /// many.
    fn close_holes(&mut self) -> rusqlite::Result<()> {
        if !texts::is_hollow(&self.connection)? {
            return Ok(());
        }
        let to = texts::end(&self.connection)?;
        let mut from = Some(0);
        while let Some(next) = from {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            from = texts::close_holes(&transaction, next, to, BATCH_BYTES)?;
            changed(&transaction)?;
            transaction.commit()?;
        }
        Ok(())
    }

    pub(super) fn take_out(&mut self, source: &str) -> Result<u64, IndexError> {
        let sqlite = self.sqlite();
        let mut take = || -> rusqlite::Result<u64> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(id) = transaction
                .query_row(
                    "SELECT id FROM source WHERE hash = ?2 AND name = ?1",
                    params![source, name_hash(source)],
                    |row| row.get::<_, i64>(0),
                )
                .optional()?
            else {
                return Ok(0);
            };
            let entries: Vec<String> = transaction
                .prepare("SELECT entry FROM record WHERE source = ?1")?
                .query_map([id], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let mut holes = Vec::new();
            for entry in &entries {
                holes.extend(drop_record(&transaction, id, entry)?);
            }
            texts::bury(&transaction, holes)?;
            transaction.execute("DELETE FROM source WHERE id = ?1", [id])?;
            changed(&transaction)?;
            transaction.commit()?;
            self.close_holes()?;
            schema::give_back(&self.connection)?;
            Ok(entries.len() as u64)
        };
        take().map_err(sqlite)
    }
}

/// Everything about a record that would have to be written again if it changed.
pub(super) fn hash_of(record: &Record, settings: &IndexSettings) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[record.kind as u8]);
    hasher.update(&settings.chunks.tokens.to_le_bytes());
    hasher.update(&settings.chunks.overlap.to_le_bytes());
    hasher.update(&record.position.to_le_bytes());
    hasher.update(&record.time.map_or(i64::MIN, |time| time.0).to_le_bytes());
    let role = record.role.as_deref().unwrap_or("");
    hasher.update(&(role.len() as u64).to_le_bytes());
    hasher.update(role.as_bytes());
    hasher.update(record.text.as_bytes());
    let mut hash = [0; 16];
    hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    hash
}

fn prepare(
    record: Record,
    hash: [u8; 16],
    settings: &IndexSettings,
    stems: &mut Stems,
    packer: &mut Packer,
) -> Prepared {
    let redacted = settings.redactor.redact(&record.text);
    let text = redacted.text;
    let tongue = text::tongue(&text);
    let chunks = chunks(&text, settings.chunks)
        .into_iter()
        .map(|chunk| {
            let part = &text[chunk.bytes.clone()];
            PreparedChunk {
                start: chunk.bytes.start,
                length: chunk.bytes.len(),
                lines: chunk.lines,
                hash: chunk_hash(part),
                tokens: text::stored(part, tongue, stems),
            }
        })
        .collect();
    Prepared {
        hash,
        tongue,
        at: packer.put(&text),
        bytes: text.len() as u64,
        chunks,
        redacted: redacted.found.len() as u64,
        record,
    }
}

/// The name of a chunk's text in the store of vectors.
pub(super) fn chunk_hash(text: &str) -> i64 {
    let hash = blake3::hash(text.as_bytes());
    let mut start = [0; 8];
    start.copy_from_slice(&hash.as_bytes()[..8]);
    i64::from_le_bytes(start)
}

/// What the name of a source is found by. Two may have the same.
pub(super) fn name_hash(name: &str) -> i32 {
    let hash = blake3::hash(name.as_bytes());
    let mut start = [0; 4];
    start.copy_from_slice(&hash.as_bytes()[..4]);
    i32::from_le_bytes(start)
}

fn source_id(
    transaction: &Transaction<'_>,
    name: &str,
    known: &mut HashMap<String, i64>,
) -> rusqlite::Result<i64> {
    if let Some(id) = known.get(name) {
        return Ok(*id);
    }
    let hash = name_hash(name);
    let found = transaction
        .prepare_cached("SELECT id FROM source WHERE hash = ?2 AND name = ?1")?
        .query_row(params![name, hash], |row| row.get(0))
        .optional()?;
    let id = match found {
        Some(id) => {
            // What is written is not what the stamp was noted for.
            transaction
                .prepare_cached(
                    "UPDATE source SET stamp = NULL WHERE id = ?1 AND stamp IS NOT NULL",
                )?
                .execute([id])?;
            id
        }
        None => transaction
            .prepare_cached("INSERT INTO source (name, hash) VALUES (?1, ?2)")?
            .insert(params![name, hash])?,
    };
    known.insert(name.to_owned(), id);
    Ok(id)
}

fn role_id(
    transaction: &Transaction<'_>,
    name: &str,
    known: &mut HashMap<String, i64>,
) -> rusqlite::Result<i64> {
    if known.is_empty() {
        let mut statement = transaction.prepare_cached("SELECT name, id FROM role")?;
        let all = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        *known = all.collect::<rusqlite::Result<_>>()?;
    }
    if let Some(id) = known.get(name) {
        return Ok(*id);
    }
    let id = transaction
        .prepare_cached("INSERT INTO role (name) VALUES (?1)")?
        .insert([name])?;
    known.insert(name.to_owned(), id);
    Ok(id)
}

/// Takes a record out; says where its text was.
fn drop_record(
    transaction: &Transaction<'_>,
    source: i64,
    entry: &str,
) -> rusqlite::Result<Option<Stretch>> {
    let found = transaction
        .prepare_cached(
            "SELECT id, bytes, chunk, chunks FROM record WHERE source = ?1 AND entry = ?2",
        )?
        .query_row(params![source, entry], |row| {
            let chunk: i64 = row.get(2)?;
            let chunks = (chunk, chunk.saturating_add(row.get(3)?));
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, chunks))
        })
        .optional()?;
    let Some((id, bytes, (first, behind))) = found else {
        return Ok(None);
    };
    for sql in [
        "DELETE FROM words WHERE rowid IN (SELECT id FROM chunk WHERE id >= ?1 AND id < ?2)",
        "DELETE FROM pairs WHERE rowid IN (SELECT id FROM chunk WHERE id >= ?1 AND id < ?2)",
        "DELETE FROM chunk WHERE id >= ?1 AND id < ?2",
    ] {
        transaction.prepare_cached(sql)?.execute([first, behind])?;
    }
    transaction
        .prepare_cached("DELETE FROM record WHERE id = ?1")?
        .execute([id])?;
    Ok(Some(texts::taken_by(id, bytes)))
}

fn insert(
    transaction: &Transaction<'_>,
    source: i64,
    role: Option<i64>,
    begin: u64,
    first: i64,
    prepared: &Prepared,
) -> rusqlite::Result<()> {
    let record = &prepared.record;
    let id = (begin + prepared.at) as i64;
    transaction
        .prepare_cached(
            "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            id,
            source,
            record.entry,
            record.kind as u8,
            role,
            record.time.map(|time| time.0),
            i64::try_from(record.position).unwrap_or(i64::MAX),
            prepared.tongue as u8,
            prepared.bytes as i64,
            first,
            prepared.chunks.len() as i64,
            prepared.hash,
        ])?;
    for (chunk_id, chunk) in (first..).zip(&prepared.chunks) {
        transaction
            .prepare_cached("INSERT INTO chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
            .execute(params![
                chunk_id,
                id.saturating_add(chunk.start as i64),
                chunk.length as i64,
                chunk.lines.0,
                chunk.lines.1 - chunk.lines.0,
                chunk.tokens.count,
                chunk.hash,
            ])?;
        if !chunk.tokens.words.is_empty() {
            transaction
                .prepare_cached("INSERT INTO words (rowid, tokens) VALUES (?1, ?2)")?
                .execute(params![chunk_id, chunk.tokens.words])?;
        }
        if !chunk.tokens.pairs.is_empty() {
            transaction
                .prepare_cached("INSERT INTO pairs (rowid, tokens) VALUES (?1, ?2)")?
                .execute(params![chunk_id, chunk.tokens.pairs])?;
        }
    }
    Ok(())
}

/// Tells every process that what it remembers of the index is out of date.
fn changed(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction
        .execute(
            "UPDATE meta SET value = value + 1 WHERE name = 'changes'",
            [],
        )
        .map(drop)
}
