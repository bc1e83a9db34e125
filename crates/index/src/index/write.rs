//! Taking records in and out.

use std::collections::{HashMap, HashSet};

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::hash::{chunk_hash, name_hash, text_hash};
use super::leaf::{Entry, Piece};
use super::open::{Open, Standing, version};
use super::record::{Budget, Progress, Record};
use super::register::Register;
use super::texts::{self, Packed, Packer};
use super::words::{PUT_IN, Taker, tell};
use super::{IndexError, IndexSettings, SqliteIndex, schema};
use crate::chunk::chunks;
use crate::text::{self, Stems, Stored, Tongue};

/// A transaction takes this much text at most, so that others get their turn.
const BATCH_BYTES: u64 = 4 << 20;
/// How often holes are closed at one time.
const MOST_PASSES: u32 = 8;
/// Or so many records.
const BATCH_RECORDS: usize = 4_000;

/// A record with everything that costs time done, so that the lock is held
/// for the writing only.
struct Prepared {
    record: Record,
    hash: u64,
    /// None where the text is there already and only what is known of it has
    /// changed.
    text: Option<PreparedText>,
}

struct PreparedText {
    tongue: Tongue,
    /// Where it begins among those of its batch.
    at: u64,
    bytes: u64,
    chunks: Vec<(Piece, Stored)>,
    redacted: u64,
}

/// What is written in one transaction.
struct Batch {
    records: Vec<Prepared>,
    texts: Packed,
}

/// A record that is to be written.
struct Wanted {
    record: Record,
    hash: u64,
    standing: Standing,
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
                .filter(|one| one.text.is_some())
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
                    .map(|wanted| prepare(wanted, &settings, stems, &mut packer))
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
        self.open = None;
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
    /// is new or much was taken out: it is smaller and quicker so. Otherwise FTS5
    /// does it bit by bit.
    fn put_together(&self, written: u64) -> rusqlite::Result<()> {
        let all: i64 =
            self.connection
                .query_row("SELECT coalesce(sum(bytes), 0) FROM leaf", [], |row| {
                    row.get(0)
                })?;
        let all = all.max(0) as u64;
        let left = texts::left(&self.connection)?;
        let much = left > BATCH_BYTES / 64 && left.saturating_mul(3) > all;
        if written.saturating_mul(2) < all && !much {
            return Ok(());
        }
        for table in ["words", "pairs"] {
            self.connection.execute(
                &format!("INSERT INTO {table} ({table}) VALUES ('optimize')"),
                [],
            )?;
        }
        self.connection
            .execute("UPDATE meta SET value = 0 WHERE name = 'left'", [])
            .map(drop)
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
            let standing = self.standing(&record, hash).map_err(self.sqlite())?;
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
            lot.push(Wanted {
                record,
                hash,
                standing,
            });
        }
        Ok(lot)
    }

    /// How a record stands to what is stored.
    fn standing(&mut self, record: &Record, hash: u64) -> rusqlite::Result<Standing> {
        let version = version(&self.connection)?;
        let known = |open: &&Open| open.name == record.source && open.version == version;
        if self.open.as_ref().filter(known).is_none() {
            self.open = None;
        }
        let open = match &mut self.open {
            Some(open) => open,
            none => none.insert(Open::load(&self.connection, &record.source, version)?),
        };
        open.standing(&self.connection, record, hash)
    }

    /// Whether what is stored under a record's name is this one; none where
    /// nothing is.
    pub(super) fn stored_as(&self, record: &Record) -> rusqlite::Result<Option<bool>> {
        let hash = text_hash(&record.text, self.settings.chunks);
        let open = Open::load(&self.connection, &record.source, 0)?;
        Ok(match open.standing(&self.connection, record, hash)? {
            Standing::New => None,
            standing => Some(standing == Standing::Same),
        })
    }

    fn commit(&mut self, batch: &Batch, done: &mut Progress) -> rusqlite::Result<()> {
        // What is known of the source is ahead of the file until all is written.
        let mut open = self.open.take();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version = version(&transaction)?;
        let mut roles: HashMap<String, i64> = HashMap::new();
        let mut tongues = 0i64;
        let mut next = *done;
        let begin = texts::end(&transaction)?;
        texts::append(&transaction, &batch.texts)?;
        let mut chunk = next_chunk(&transaction)?;
        let mut taker = Taker::new(&mut self.texts);
        for prepared in &batch.records {
            let record = &prepared.record;
            let known = |open: &Open| open.name == record.source && open.version == version;
            if !open.as_ref().is_some_and(known) {
                if let Some(mut last) = open.take() {
                    last.register.save(&transaction)?;
                }
                open = Some(Open::load(&transaction, &record.source, version)?);
            }
            let open = open.as_mut().expect("one was opened");
            let register = open.begin(&transaction)?;
            let role = match &record.role {
                Some(role) => Some(role_id(&transaction, role, &mut roles)?),
                None => None,
            };
            let Some(text) = &prepared.text else {
                // Whoever has written another text meanwhile knows it better.
                let entry = register.change(&record.entry);
                if let Some(entry) = entry.filter(|entry| entry.hash == prepared.hash) {
                    describe(entry, record, role);
                    next.written += 1;
                }
                continue;
            };
            if let Some(old) = register.take(&record.entry) {
                taker.take_out(&transaction, &old)?;
            }
            let mut entry = Entry {
                name: record.entry.clone(),
                tongue: text.tongue as u8,
                at: begin + text.at,
                bytes: text.bytes,
                hash: prepared.hash,
                first: chunk,
                chunks: text.chunks.iter().map(|(piece, _)| *piece).collect(),
                ..Entry::default()
            };
            describe(&mut entry, record, role);
            for ((id, _), (_, tokens)) in entry.numbered().zip(&text.chunks) {
                tongues |= i64::from(tokens.tongues);
                tell(&transaction, PUT_IN, id, tokens)?;
            }
            chunk += entry.chunks.len() as u64;
            register.put(entry);
            tongues |= 1 << (text.tongue as u8);
            next.written += 1;
            next.chunks += text.chunks.len() as u64;
            next.bytes += record.text.len() as u64;
            next.redacted += text.redacted;
        }
        if let Some(open) = &mut open {
            open.register.save(&transaction)?;
        }
        texts::bury(&transaction, taker.holes)?;
        transaction.execute(
            "UPDATE meta SET value = value | ?1 WHERE name = 'tongues'",
            [tongues],
        )?;
        transaction.execute(
            "UPDATE meta SET value = ?1 WHERE name = 'chunk'",
            [chunk as i64],
        )?;
        changed(&transaction)?;
        transaction.commit()?;
        self.open = open;
        *done = next;
        Ok(())
    }

    /// Closes the holes that texts left which were taken out, where there are
    /// many. A text that goes over two blocks leaves a hole in the one before when
    /// it is moved out of the one with holes, so once may not be enough.
    fn close_holes(&mut self) -> rusqlite::Result<()> {
        for _ in 0..MOST_PASSES {
            if !texts::is_hollow(&self.connection)? {
                break;
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
        }
        Ok(())
    }

    /// Takes records of a source out, by their entries, and the source with the
    /// last of them.
    pub(super) fn take_out(
        &mut self,
        source: &str,
        is_out: &dyn Fn(&str) -> bool,
    ) -> Result<u64, IndexError> {
        let sqlite = self.sqlite();
        self.open = None;
        let mut take = || -> rusqlite::Result<u64> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(id) = source_id(&transaction, source)? else {
                return Ok(0);
            };
            let mut register = Register::load(&transaction, id)?;
            let names = register.entries().map(|entry| entry.name.clone());
            let names: Vec<String> = names.filter(|name| is_out(name)).collect();
            let mut taker = Taker::new(&mut self.texts);
            for name in &names {
                if let Some(entry) = register.take(name) {
                    taker.take_out(&transaction, &entry)?;
                }
            }
            let is_empty = register.entries().next().is_none();
            if names.is_empty() && !is_empty {
                return Ok(0);
            }
            texts::bury(&transaction, taker.holes)?;
            register.save(&transaction)?;
            if is_empty {
                transaction.execute("DELETE FROM source WHERE id = ?1", [id])?;
            } else {
                transaction.execute("UPDATE source SET stamp = NULL WHERE id = ?1", [id])?;
            }
            changed(&transaction)?;
            transaction.commit()?;
            self.close_holes()?;
            self.put_together(0)?;
            schema::give_back(&self.connection)?;
            Ok(names.len() as u64)
        };
        take().map_err(sqlite)
    }

    /// The entries of a source.
    pub(super) fn entries_of(&self, source: &str) -> rusqlite::Result<HashSet<String>> {
        let view = self.connection.unchecked_transaction()?;
        let Some(id) = source_id(&view, source)? else {
            return Ok(HashSet::new());
        };
        let register = Register::load(&view, id)?;
        Ok(register.entries().map(|entry| entry.name.clone()).collect())
    }
}

fn source_id(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<Option<i64>> {
    transaction
        .prepare_cached("SELECT id FROM source WHERE hash = ?2 AND name = ?1")?
        .query_row(params![name, name_hash(name)], |row| row.get(0))
        .optional()
}

/// The number of the next chunk. None is ever given twice while FTS5 may know it.
fn next_chunk(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    transaction
        .query_row("SELECT value FROM meta WHERE name = 'chunk'", [], |row| {
            row.get::<_, i64>(0)
        })
        // In a damaged file it may be any number.
        .map(|number| number.clamp(1, i64::MAX / 8) as u64)
}

/// What is known of a record beside its text.
fn describe(entry: &mut Entry, record: &Record, role: Option<i64>) {
    entry.kind = record.kind as u8;
    entry.role = role.and_then(|role| u32::try_from(role).ok());
    entry.time = record.time.map(|time| time.0);
    entry.position = record.position;
}

fn prepare(
    wanted: Wanted,
    settings: &IndexSettings,
    stems: &mut Stems,
    packer: &mut Packer,
) -> Prepared {
    let Wanted {
        record,
        hash,
        standing,
    } = wanted;
    if standing == Standing::Moved {
        return Prepared {
            record,
            hash,
            text: None,
        };
    }
    let (text, redacted) = settings.redaction.apply(&record.text);
    let tongue = text::tongue(&text);
    let chunks = chunks(&text, settings.chunks)
        .into_iter()
        .map(|chunk| {
            let part = &text[chunk.bytes.clone()];
            let tokens = text::stored(part, tongue, stems);
            let piece = Piece {
                start: chunk.bytes.start as u64,
                length: chunk.bytes.len() as u64,
                line: chunk.lines.0,
                lines: chunk.lines.1 - chunk.lines.0,
                words: tokens.count,
                hash: chunk_hash(part),
            };
            (piece, tokens)
        })
        .collect();
    Prepared {
        hash,
        text: Some(PreparedText {
            tongue,
            at: packer.put(&text),
            bytes: text.len() as u64,
            chunks,
            redacted,
        }),
        record,
    }
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

/// Tells every process that what it remembers of the index is out of date.
pub(super) fn changed(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction
        .execute(
            "UPDATE meta SET value = value + 1 WHERE name = 'changes'",
            [],
        )
        .map(drop)
}
