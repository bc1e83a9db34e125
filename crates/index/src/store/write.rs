//! Taking records in and out.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::hash::{chunk_hash, text_hash};
use super::{SqliteIndex, schema};
use crate::chunk::{Chunk, chunks};
use crate::error::IndexError;
use crate::record::{Budget, Progress, Record};
use crate::settings::IndexSettings;
use crate::text::{self, Stems, Stored};

/// A transaction takes this much text at most, so that others get their turn.
const BATCH_BYTES: u64 = 4 << 20;
/// Or so many records.
const BATCH_RECORDS: usize = 4_000;

/// A record with everything that costs time done, so that the lock is held
/// for the writing only.
struct Prepared {
    record: Record,
    hash: i64,
    /// None where the text is there already and only what is known of it has
    /// changed.
    text: Option<PreparedText>,
}

struct PreparedText {
    text: String,
    chunks: Vec<(Chunk, Stored)>,
    redacted: u64,
}

/// A record that is to be written, and the hash of its text.
type Wanted = (Record, i64, Standing);

/// How a record stands to what is stored under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    New,
    /// The text is another.
    Changed,
    /// The text is the same, and what is known of it is not.
    Moved,
    Same,
}

impl SqliteIndex {
    pub(crate) fn write(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError> {
        let sqlite = self.sqlite();
        let mut done = Progress::default();
        let mut batch: Vec<Prepared> = Vec::new();
        let mut stems = std::mem::take(&mut self.stems);
        let settings = self.settings.clone();
        let mut records = records.fuse();
        loop {
            let waiting = batch.iter().filter(|one| one.text.is_some());
            let waiting = waiting.map(|one| one.record.text.len() as u64).sum();
            let lot = self.gather(&mut records, budget, waiting, &mut done)?;
            if lot.is_empty() {
                break;
            }
            // While one lot is written, the next is prepared.
            let next = std::thread::scope(|scope| {
                let next = scope.spawn(|| {
                    let lot = lot.into_iter();
                    lot.map(|wanted| prepare(wanted, &settings, &mut stems))
                        .collect()
                });
                let written = self.commit(&batch, &mut done);
                let next = next
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                written.map(|()| next)
            });
            batch = next.map_err(&sqlite)?;
            progress(&done);
        }
        self.stems = stems;
        self.commit(&batch, &mut done).map_err(&sqlite)?;
        if done.written > 0 {
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
    /// is new or was taken out: it is smaller and quicker so. Otherwise FTS5 does it
    /// bit by bit.
    fn put_together(&self, changed: u64) -> rusqlite::Result<()> {
        let sql = "SELECT coalesce(sum(bytes), 0) FROM record";
        let all: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        if changed.saturating_mul(2) < all.max(0) as u64 {
            return Ok(());
        }
        self.connection.execute_batch(
            "INSERT INTO words (words) VALUES ('optimize');
             INSERT INTO pairs (pairs) VALUES ('optimize')",
        )
    }

    /// The next records that are new or have changed, as many as go into one
    /// transaction.
    fn gather(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        waiting: u64,
        done: &mut Progress,
    ) -> Result<Vec<Wanted>, IndexError> {
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
            let hash = text_hash(&record.text, self.settings.chunks);
            let standing = standing(&self.connection, &record, hash).map_err(self.sqlite())?;
            match standing {
                Standing::Same => {
                    done.unchanged += 1;
                    continue;
                }
                Standing::Moved => {}
                Standing::New | Standing::Changed => {
                    let before = done.bytes + waiting + bytes;
                    bytes += record.text.len() as u64;
                    // One is always taken, so that every call gets on.
                    if before > 0 && done.bytes + waiting + bytes > budget.bytes {
                        done.exhausted = true;
                        break;
                    }
                }
            }
            lot.push((record, hash, standing));
        }
        Ok(lot)
    }

    /// Whether what is stored under a record's name is this one; none where
    /// nothing is.
    pub(crate) fn has(&self, record: &Record) -> rusqlite::Result<Option<bool>> {
        let hash = text_hash(&record.text, self.settings.chunks);
        Ok(match standing(&self.connection, record, hash)? {
            Standing::New => None,
            standing => Some(standing == Standing::Same),
        })
    }

    fn commit(&mut self, batch: &[Prepared], done: &mut Progress) -> rusqlite::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut next = *done;
        let mut languages = 0i64;
        for Prepared { record, hash, text } in batch {
            let source = source_to_write(&transaction, &record.source)?;
            let Some(prepared) = text else {
                // Whoever has written another text meanwhile knows it better.
                let sql = "UPDATE record SET kind = ?4, role = ?5, time = ?6, position = ?7
                           WHERE source = ?1 AND entry = ?2 AND hash = ?3";
                let changed = transaction.prepare_cached(sql)?.execute(params![
                    source,
                    record.entry,
                    hash,
                    record.kind as u8,
                    record.role,
                    record.time.map(|time| time.0),
                    record.position as i64
                ])?;
                next.written += changed as u64;
                continue;
            };
            take_out(&transaction, source, &record.entry)?;
            let first = put_chunks(&transaction, prepared)?;
            let sql = "INSERT INTO record (source, entry, hash, kind, role, time, position,
                       bytes, first, chunks) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
            transaction.prepare_cached(sql)?.execute(params![
                source,
                record.entry,
                hash,
                record.kind as u8,
                record.role,
                record.time.map(|time| time.0),
                record.position as i64,
                prepared.text.len() as i64,
                first,
                prepared.chunks.len() as i64
            ])?;
            let spoken = prepared.chunks.iter().map(|(_, stored)| stored.language);
            languages = spoken.fold(languages, |all, language| all | 1 << language as u8);
            next.written += 1;
            next.chunks += prepared.chunks.len() as u64;
            next.bytes += record.text.len() as u64;
            next.redacted += prepared.redacted;
        }
        transaction.execute(
            "UPDATE meta SET value = value | ?1 WHERE name = 'languages'",
            [languages],
        )?;
        changed(&transaction)?;
        transaction.commit()?;
        *done = next;
        Ok(())
    }

    /// Takes records of a source out, by their entries, and the source with the
    /// last of them.
    pub(crate) fn take_out(
        &mut self,
        source: &str,
        is_out: &dyn Fn(&str) -> bool,
    ) -> Result<u64, IndexError> {
        let sqlite = self.sqlite();
        let mut take = || -> rusqlite::Result<u64> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(id) = source_id(&transaction, source)? else {
                return Ok(0);
            };
            let all = entries(&transaction, id)?;
            let out: Vec<&String> = all.iter().filter(|entry| is_out(entry)).collect();
            let mut bytes = 0;
            for entry in &out {
                bytes += take_out(&transaction, id, entry)?;
            }
            if out.len() == all.len() {
                transaction.execute("DELETE FROM source WHERE id = ?1", [id])?;
            } else if out.is_empty() {
                return Ok(0);
            } else {
                transaction.execute("UPDATE source SET stamp = NULL WHERE id = ?1", [id])?;
            }
            changed(&transaction)?;
            transaction.commit()?;
            self.put_together(bytes)?;
            schema::give_back(&self.connection)?;
            Ok(out.len() as u64)
        };
        take().map_err(sqlite)
    }

    /// Notes something of a source, and the rules by which it was taken in.
    pub(crate) fn set_note(&self, source: &str, note: &str) -> rusqlite::Result<()> {
        let note = format!("{} {note}", self.settings.rules());
        let sql = "UPDATE source SET note = ?2 WHERE name = ?1";
        self.connection.execute(sql, params![source, note])?;
        Ok(())
    }
}

fn entries(connection: &Connection, source: i64) -> rusqlite::Result<HashSet<String>> {
    let sql = "SELECT entry FROM record WHERE source = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let entries = statement.query_map([source], |row| row.get(0))?;
    entries.collect()
}

pub(super) fn source_id(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM source WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// The source of this name, made where there is none. What is written to it is not
/// what its stamp was noted for.
fn source_to_write(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
    let Some(id) = source_id(transaction, name)? else {
        let sql = "INSERT INTO source (name) VALUES (?1)";
        return transaction.prepare_cached(sql)?.insert([name]);
    };
    let sql = "UPDATE source SET stamp = NULL WHERE id = ?1 AND stamp IS NOT NULL";
    transaction.prepare_cached(sql)?.execute([id])?;
    Ok(id)
}

fn standing(connection: &Connection, record: &Record, hash: i64) -> rusqlite::Result<Standing> {
    let sql = "SELECT hash = ?3, kind = ?4 AND role IS ?5 AND time IS ?6 AND position = ?7
               FROM record JOIN source ON source.id = source WHERE name = ?1 AND entry = ?2";
    let found: Option<(bool, bool)> = connection
        .prepare_cached(sql)?
        .query_row(
            params![
                record.source,
                record.entry,
                hash,
                record.kind as u8,
                record.role,
                record.time.map(|time| time.0),
                record.position as i64
            ],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    Ok(match found {
        None => Standing::New,
        Some((false, _)) => Standing::Changed,
        Some((true, false)) => Standing::Moved,
        Some((true, true)) => Standing::Same,
    })
}

/// Takes a record out, if it is there; says how many bytes its text had.
fn take_out(transaction: &Transaction<'_>, source: i64, entry: &str) -> rusqlite::Result<u64> {
    let sql = "DELETE FROM record WHERE source = ?1 AND entry = ?2 RETURNING first, chunks, bytes";
    let taken: Option<(i64, i64, i64)> = transaction
        .prepare_cached(sql)?
        .query_row(params![source, entry], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((first, chunks, bytes)) = taken else {
        return Ok(0);
    };
    for sql in [
        "DELETE FROM chunk WHERE id = ?1",
        "DELETE FROM text WHERE id = ?1",
        "DELETE FROM words WHERE rowid = ?1",
        "DELETE FROM pairs WHERE rowid = ?1",
    ] {
        let mut statement = transaction.prepare_cached(sql)?;
        for id in first..first.saturating_add(chunks) {
            statement.execute([id])?;
        }
    }
    Ok(bytes.max(0) as u64)
}

const WORDS: &str = "INSERT INTO words (rowid, tokens) VALUES (?1, ?2)";
const PAIRS: &str = "INSERT INTO pairs (rowid, tokens) VALUES (?1, ?2)";

/// Writes the chunks of a text; gives the number of the first.
fn put_chunks(transaction: &Transaction<'_>, prepared: &PreparedText) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) + 1 FROM chunk";
    let first: i64 = transaction
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?;
    for (id, (chunk, stored)) in (first..).zip(&prepared.chunks) {
        let text = &prepared.text[chunk.bytes.clone()];
        let sql = "INSERT INTO chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        transaction.prepare_cached(sql)?.execute(params![
            id,
            chunk.bytes.start as i64,
            chunk.bytes.len() as i64,
            chunk.lines.0,
            chunk.lines.1,
            stored.count,
            chunk_hash(text)
        ])?;
        let mut put_text = transaction.prepare_cached("INSERT INTO text VALUES (?1, ?2)")?;
        match packed(text) {
            Some(packed) => put_text.execute(params![id, packed])?,
            None => put_text.execute(params![id, text])?,
        };
        for (sql, tokens) in [(WORDS, &stored.words), (PAIRS, &stored.pairs)] {
            if !tokens.is_empty() {
                let mut put = transaction.prepare_cached(sql)?;
                put.execute(params![id, tokens])?;
            }
        }
    }
    Ok(first)
}

/// Shorter texts are hardly made smaller.
const WORTH_PACKING: usize = 200;
const LEVEL: i32 = 3;

/// A text as zstd, where that is smaller. SQLite tells by its type which it is.
fn packed(text: &str) -> Option<Vec<u8>> {
    let worth = text.len() >= WORTH_PACKING;
    let packed = worth.then(|| zstd::bulk::compress(text.as_bytes(), LEVEL).ok());
    packed.flatten().filter(|packed| packed.len() < text.len())
}

fn prepare(wanted: Wanted, settings: &IndexSettings, stems: &mut Stems) -> Prepared {
    let (record, hash, standing) = wanted;
    let text = (standing != Standing::Moved).then(|| {
        let (text, redacted) = settings.redaction.apply(&record.text);
        let chunks = chunks(&text, settings.chunks).into_iter().map(|chunk| {
            let stored = text::stored(&text[chunk.bytes.clone()], stems);
            (chunk, stored)
        });
        let chunks = chunks.collect();
        PreparedText {
            text,
            chunks,
            redacted,
        }
    });
    Prepared { record, hash, text }
}

/// Tells every process that what it remembers of the index is out of date.
pub(super) fn changed(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction
        .execute(
            "UPDATE meta SET value = value + 1 WHERE name = 'changes'",
            [],
        )
        .map(drop)
}
