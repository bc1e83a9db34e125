//! The texts of an index: one behind the other, as if they were one long text,
//! which is packed in blocks.
//!
//! Packed alone, a note of a few words stays as long as it is; packed with those
//! around it, a fourth of it is left. A text keeps its place for as long as it is
//! not moved, and no place is ever given twice, so what was unpacked once stays
//! true. A text that is taken out leaves a hole: its block is packed again with
//! blanks in its place, since a text that is gone must not lie on in a block of
//! others. A block of holes alone goes; where holes are more than a third of
//! all, what is left of their blocks is put at the end, and the blocks go.

use std::collections::{BTreeMap, VecDeque};

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::leaf::Entry;
use super::register::{Everything, Place};

/// How much text a block holds at most. Twice as much would be packed a tenth
/// smaller, and take twice as long to read.
pub(super) const BLOCK: usize = 32 * 1024;

/// How many blocks are kept unpacked: those of a few searches.
const KEPT: usize = 256;

/// How hard texts are packed. Beside the words of a text that costs little.
const LEVEL: i32 = 6;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// What stands behind each text, so that also an empty one has a place.
const END: char = '\n';

/// What stands where a text was.
const BLANK: u8 = b' ';

/// A part of all texts, from one place to another.
pub(super) type Stretch = std::ops::Range<u64>;

/// A stretch of so many bytes. In a damaged file they may be any numbers.
fn stretch_of(start: i64, bytes: i64) -> Stretch {
    let start = start.max(0) as u64;
    start..start + bytes.max(0) as u64
}

/// The stretch that a text of this length takes.
pub(super) fn taken_by(start: u64, bytes: u64) -> Stretch {
    start
        ..start
            .saturating_add(bytes)
            .saturating_add(END.len_utf8() as u64)
}

/// Texts that are packed but not written yet. Their places are reckoned from
/// where they will begin, which is known only once the lock is held.
pub(super) struct Packed {
    blocks: Vec<Block>,
    length: u64,
}

struct Block {
    start: u64,
    bytes: usize,
    blob: Vec<u8>,
}

/// Packs texts.
pub(super) struct Packer {
    /// None only where memory is out; texts are kept plain then.
    zstd: Option<zstd::bulk::Compressor<'static>>,
    open: String,
    start: u64,
    blocks: Vec<Block>,
}

impl Packer {
    pub(super) fn new() -> Packer {
        Packer {
            zstd: compressor(),
            open: String::with_capacity(BLOCK),
            start: 0,
            blocks: Vec::new(),
        }
    }

    /// Takes a text and says where it begins.
    pub(super) fn put(&mut self, text: &str) -> u64 {
        let at = self.start + self.open.len() as u64;
        let mut rest = text;
        while self.open.len() + rest.len() + END.len_utf8() > BLOCK {
            let cut = rest.floor_char_boundary(BLOCK - self.open.len());
            self.open.push_str(&rest[..cut]);
            rest = &rest[cut..];
            self.close();
        }
        self.open.push_str(rest);
        self.open.push(END);
        at
    }

    fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        self.blocks.push(Block {
            start: self.start,
            bytes: self.open.len(),
            blob: packed(&self.open, &mut self.zstd),
        });
        self.start += self.open.len() as u64;
        self.open.clear();
    }

    pub(super) fn finish(mut self) -> Packed {
        self.close();
        Packed {
            blocks: self.blocks,
            length: self.start,
        }
    }
}

/// What packs. What was packed is known to be whole when it is unpacked: one bit
/// that a disk lost would otherwise be another text.
fn compressor() -> Option<zstd::bulk::Compressor<'static>> {
    let mut zstd = zstd::bulk::Compressor::new(LEVEL).ok()?;
    zstd.include_checksum(true).ok()?;
    Some(zstd)
}

/// Packed where that makes it smaller.
fn packed(text: &str, zstd: &mut Option<zstd::bulk::Compressor<'_>>) -> Vec<u8> {
    let mut blob = vec![ZSTD];
    if text.len() > 64
        && let Some(zstd) = zstd
        && let Ok(small) = zstd.compress(text.as_bytes())
        && small.len() < text.len()
    {
        blob.extend(small);
        return blob;
    }
    blob[0] = PLAIN;
    blob.extend(text.as_bytes());
    blob
}

/// Unpacks texts. To make one takes half as long as to unpack a block.
#[derive(Default)]
struct Unpacker(Option<zstd::bulk::Decompressor<'static>>);

impl Unpacker {
    fn text(&mut self, blob: &[u8]) -> rusqlite::Result<String> {
        let bytes = match blob.split_first() {
            Some((&PLAIN, text)) => text.to_vec(),
            Some((&ZSTD, packed)) => self
                .bytes(packed)
                .map_err(|error| damaged(&error.to_string()))?,
            _ => return Err(damaged("a text of unknown form")),
        };
        String::from_utf8(bytes).map_err(|error| damaged(&error.to_string()))
    }

    fn bytes(&mut self, packed: &[u8]) -> std::io::Result<Vec<u8>> {
        let zstd = match &mut self.0 {
            Some(zstd) => zstd,
            none => none.insert(zstd::bulk::Decompressor::new()?),
        };
        zstd.decompress(packed, BLOCK)
    }
}

pub(super) fn damaged(reason: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
        Some(reason.to_owned()),
    )
}

/// Blocks that were unpacked.
#[derive(Default)]
pub(super) struct Unpacked {
    /// The last used at the end.
    blocks: VecDeque<(u64, String)>,
    unpacker: Unpacker,
}

impl Unpacked {
    /// A stretch of all texts, as they are in the open transaction.
    pub(super) fn read(
        &mut self,
        connection: &Connection,
        stretch: Stretch,
    ) -> rusqlite::Result<String> {
        let length = stretch.end.saturating_sub(stretch.start);
        // In a damaged file it may be any number.
        let mut text = String::with_capacity(length.min(1 << 20) as usize);
        let mut from = stretch.start;
        while from < stretch.end {
            let (start, block) = self.block(connection, from)?;
            let left = (from - start) as usize;
            let right = block.len().min((stretch.end - start) as usize);
            let part = block.get(left..right).filter(|part| !part.is_empty());
            text.push_str(part.ok_or_else(|| damaged("a text is not where it should be"))?);
            from = start + right as u64;
        }
        Ok(text)
    }

    /// The block that has a place.
    fn block(&mut self, connection: &Connection, at: u64) -> rusqlite::Result<&(u64, String)> {
        let has = |(start, text): &(u64, String)| *start <= at && at - start < text.len() as u64;
        let block = match self.blocks.iter().rposition(has) {
            Some(known) => self.blocks.remove(known),
            None => {
                let mut statement = connection.prepare_cached(
                    "SELECT id, text FROM block WHERE id <= ?1 ORDER BY id DESC LIMIT 1",
                )?;
                let found = statement.query_row([at as i64], |row| {
                    let start = row.get::<_, i64>(0)? as u64;
                    Ok((start, self.unpacker.text(row.get_ref(1)?.as_blob()?)?))
                });
                let block = found
                    .optional()?
                    .ok_or_else(|| damaged("a text is not where it should be"))?;
                // It may have been shorter when it was last read.
                self.blocks.retain(|(start, _)| *start != block.0);
                if self.blocks.len() >= KEPT {
                    self.blocks.pop_front();
                }
                Some(block)
            }
        };
        self.blocks.extend(block);
        self.blocks
            .back()
            .ok_or_else(|| damaged("no block was read"))
    }
}

/// Where the texts end, and so the next ones begin.
pub(super) fn end(connection: &Connection) -> rusqlite::Result<u64> {
    counted(connection, "end")
}

/// How much was taken out since FTS5 last put its words together.
pub(super) fn left(connection: &Connection) -> rusqlite::Result<u64> {
    counted(connection, "left")
}

fn counted(connection: &Connection, name: &str) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE name = ?1")?
        .query_row([name], |row| row.get::<_, i64>(0))
        .map(|value| value.max(0) as u64)
}

fn count(transaction: &Transaction<'_>, name: &str, more: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE meta SET value = value + ?2 WHERE name = ?1")?
        .execute(params![name, more])
        .map(drop)
}

/// Writes texts behind all others. The first is put into the last block where it
/// has room, so that texts that come one by one are packed together as well.
pub(super) fn append(transaction: &Transaction<'_>, texts: &Packed) -> rusqlite::Result<()> {
    let end = end(transaction)?;
    count(transaction, "end", texts.length as i64)?;
    count(transaction, "stored", texts.length as i64)?;
    if let [block] = &texts.blocks[..]
        && join(transaction, end, block)?
    {
        return Ok(());
    }
    let mut statement = transaction.prepare_cached("INSERT INTO block VALUES (?1, ?2, ?2, ?3)")?;
    for block in &texts.blocks {
        let id = (end + block.start) as i64;
        statement.execute(params![id, block.bytes as i64, block.blob])?;
    }
    Ok(())
}

fn join(transaction: &Transaction<'_>, end: u64, block: &Block) -> rusqlite::Result<bool> {
    let last = transaction
        .prepare_cached("SELECT id, bytes FROM block ORDER BY id DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    let fits = |&(id, bytes): &(i64, i64)| {
        stretch_of(id, bytes).end == end
            && (0..=BLOCK as i64).contains(&(bytes + block.bytes as i64))
    };
    let Some((id, _)) = last.filter(fits) else {
        return Ok(false);
    };
    let mut unpacker = Unpacker::default();
    let mut text = transaction
        .prepare_cached("SELECT text FROM block WHERE id = ?1")?
        .query_row([id], |row| unpacker.text(row.get_ref(0)?.as_blob()?))?;
    text.push_str(&unpacker.text(&block.blob)?);
    let blob = packed(&text, &mut compressor());
    transaction
        .prepare_cached(
            "UPDATE block SET bytes = bytes + ?2, used = used + ?2, text = ?3 WHERE id = ?1",
        )?
        .execute(params![id, block.bytes as i64, blob])?;
    Ok(true)
}

/// Makes holes of texts that were taken out, and takes out the blocks that have
/// nothing else. What was written in their place must be there already.
pub(super) fn bury(transaction: &Transaction<'_>, mut holes: Vec<Stretch>) -> rusqlite::Result<()> {
    holes.sort_unstable_by_key(|hole| hole.start);
    // A session taken out is one hole, not one for each entry.
    let mut joined: Vec<Stretch> = Vec::new();
    for hole in holes {
        match joined.last_mut() {
            Some(last) if last.end == hole.start => last.end = hole.end,
            _ => joined.push(hole),
        }
    }
    let mut dead = 0i64;
    let mut gone = 0i64;
    let mut touched: BTreeMap<u64, (Stretch, Vec<Stretch>)> = BTreeMap::new();
    for hole in joined {
        dead = dead.saturating_add((hole.end - hole.start) as i64);
        for block in blocks(transaction, &hole)? {
            let (_, holes) = touched
                .entry(block.start)
                .or_insert_with(|| (block, Vec::new()));
            holes.push(hole.clone());
        }
    }
    for (block, holes) in touched.into_values() {
        let id = block.start as i64;
        let within = |hole: &Stretch| hole.end.min(block.end) - hole.start.max(block.start);
        let less: u64 = holes.iter().map(within).sum();
        transaction
            .prepare_cached("UPDATE block SET used = max(used - ?2, 0) WHERE id = ?1")?
            .execute([id, less as i64])?;
        let emptied = transaction
            .prepare_cached("DELETE FROM block WHERE id = ?1 AND used = 0")?
            .execute([id])?;
        match emptied {
            0 => blank(transaction, &block, &holes)?,
            _ => gone = gone.saturating_add((block.end - block.start) as i64),
        }
    }
    count(transaction, "left", dead)?;
    count(transaction, "dead", dead.saturating_sub(gone))?;
    count(transaction, "stored", -gone)
}

/// Puts blanks in place of the parts of a block that are in holes.
fn blank(
    transaction: &Transaction<'_>,
    block: &Stretch,
    holes: &[Stretch],
) -> rusqlite::Result<()> {
    let id = block.start as i64;
    let mut bytes = transaction
        .prepare_cached("SELECT text FROM block WHERE id = ?1")?
        .query_row([id], |row| {
            Unpacker::default().text(row.get_ref(0)?.as_blob()?)
        })?
        .into_bytes();
    for hole in holes {
        let start = hole.start.max(block.start) - block.start;
        let end = hole.end.min(block.end) - block.start;
        let part = bytes.get_mut(start as usize..end as usize);
        part.ok_or_else(|| damaged("a text is not where it should be"))?
            .fill(BLANK);
    }
    let text = String::from_utf8(bytes).map_err(|error| damaged(&error.to_string()))?;
    let blob = packed(&text, &mut compressor());
    transaction
        .prepare_cached("UPDATE block SET text = ?2 WHERE id = ?1")?
        .execute(params![id, blob])
        .map(drop)
}

/// The blocks that have a part of a stretch.
fn blocks(connection: &Connection, stretch: &Stretch) -> rusqlite::Result<Vec<Stretch>> {
    connection
        .prepare_cached(
            "SELECT id, bytes FROM block WHERE id < ?2 AND id >= coalesce(
                 (SELECT max(id) FROM block WHERE id <= ?1), ?1)
             ORDER BY id",
        )?
        .query_map([stretch.start as i64, stretch.end as i64], |row| {
            Ok(stretch_of(row.get(0)?, row.get(1)?))
        })?
        .filter(|block| !matches!(block, Ok(block) if block.end <= stretch.start))
        .collect()
}

/// Whether holes are worth the work of closing them.
pub(super) fn is_hollow(connection: &Connection) -> rusqlite::Result<bool> {
    let dead = counted(connection, "dead")?;
    Ok(dead > BLOCK as u64 && dead > counted(connection, "stored")? / 3)
}

/// Moves texts out of blocks with holes, from the block at `from` on and not
/// beyond `to`, to the end; at most about so many bytes. Says where to go on.
pub(super) fn close_holes(
    transaction: &Transaction<'_>,
    from: u64,
    to: u64,
    most: u64,
) -> rusqlite::Result<Option<u64>> {
    let mut hollow: Vec<Stretch> = Vec::new();
    let mut bytes = 0i64;
    let mut next = from;
    while next < to && bytes < most as i64 {
        let Some((block, used)) = transaction
            .prepare_cached(
                "SELECT id, bytes, used FROM block
                 WHERE id >= ?1 AND id < ?2 AND used < bytes LIMIT 1",
            )?
            .query_row([next as i64, to as i64], |row| {
                let block = stretch_of(row.get(0)?, row.get(1)?);
                Ok((block, row.get::<_, i64>(2)?))
            })
            .optional()?
        else {
            next = to;
            break;
        };
        next = block.end.max(block.start + 1);
        bytes = bytes.saturating_add(used);
        hollow.push(block);
    }
    if !hollow.is_empty() {
        relocate(transaction, &hollow)?;
    }
    Ok((next < to).then_some(next))
}

/// Every text with all it takes, in the order in which they lie.
fn all_texts(records: &Everything) -> Vec<(Stretch, Place)> {
    let taken = |(place, entry): (Place, &Entry)| (taken_by(entry.at, entry.bytes), place);
    let mut all: Vec<_> = records.entries().map(taken).collect();
    all.sort_unstable_by_key(|(text, _)| text.start);
    all
}

/// Those that have a part in a block.
fn within<'a>(
    texts: &'a [(Stretch, Place)],
    block: &Stretch,
) -> impl Iterator<Item = &'a (Stretch, Place)> {
    let first = texts.partition_point(|(text, _)| text.end <= block.start);
    let end = block.end;
    let rest = texts[first..].iter();
    rest.take_while(move |(text, _)| text.start < end)
}

/// Moves the texts that have a part in these blocks to the end.
fn relocate(transaction: &Transaction<'_>, blocks: &[Stretch]) -> rusqlite::Result<()> {
    let mut records = Everything::load(transaction)?;
    let texts = all_texts(&records);
    let mut moving: Vec<(Stretch, Place)> = Vec::new();
    for block in blocks {
        for text in within(&texts, block) {
            // One that goes over several blocks is met in each.
            if moving.last() != Some(text) {
                moving.push(text.clone());
            }
        }
    }
    let mut packer = Packer::new();
    let mut unpacked = Unpacked::default();
    let base = end(transaction)?;
    for (text, place) in &moving {
        let words = text.start..text.end - END.len_utf8() as u64;
        let words = unpacked.read(transaction, words)?;
        records.move_to(*place, base + packer.put(&words));
    }
    records.save(transaction)?;
    append(transaction, &packer.finish())?;
    let moved: Vec<Stretch> = moving.into_iter().map(|(text, _)| text).collect();
    let bytes: u64 = moved.iter().map(|text| text.end - text.start).sum();
    bury(transaction, moved)?;
    // They are elsewhere, and their words are as they were.
    count(transaction, "left", -(bytes as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::index::{
        Budget, IndexSettings, MemoryIndex, Query, Record, RecordKind, Redaction, SqliteIndex,
    };

    #[derive(Debug, Clone)]
    enum Step {
        /// Texts under their names, in one update.
        Write(BTreeMap<u8, String>),
        TakeOut(u8),
        Rebuild,
    }

    fn step() -> impl Strategy<Value = Step> {
        let text = prop_oneof![
            Just(String::new()),
            "[a-zé本\n ]{1,80}",
            ("[a-zé本日\n ]{20,40}", 1usize..600).prop_map(|(text, times)| text.repeat(times)),
        ];
        let texts = prop::collection::btree_map(0u8..12, text, 1..12);
        prop_oneof![
            8 => texts.prop_map(Step::Write),
            3 => (0u8..4).prop_map(Step::TakeOut),
            1 => Just(Step::Rebuild),
        ]
    }

    /// Four sources with three entries each.
    fn record(name: u8, text: &str) -> Record {
        Record {
            source: format!("s{}", name / 3),
            entry: format!("e{}", name % 3),
            ..Record::file(RecordKind::Transcript, "", text)
        }
    }

    /// What is counted is what there is, and no more than a third are holes.
    fn check(connection: &Connection) -> std::result::Result<(), TestCaseError> {
        let sum = |sql: &str| -> u64 {
            let sum: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
            sum as u64
        };
        let stored = sum("SELECT coalesce(sum(bytes), 0) FROM block");
        let used = sum("SELECT coalesce(sum(used), 0) FROM block");
        let texts = all_texts(&Everything::load(connection).unwrap());
        let taken: u64 = texts.iter().map(|(text, _)| text.end - text.start).sum();
        prop_assert_eq!(used, taken);
        prop_assert_eq!(counted(connection, "stored").unwrap(), stored);
        prop_assert_eq!(counted(connection, "dead").unwrap(), stored - used);
        prop_assert!(!is_hollow(connection).unwrap());
        let longest = sum("SELECT coalesce(max(bytes), 0) FROM block");
        prop_assert!(longest <= BLOCK as u64);
        // Nothing is left of what was taken out.
        for block in blocks(connection, &(0..u64::MAX >> 1)).unwrap() {
            let all = Unpacked::default().read(connection, block.clone()).unwrap();
            let mut rest = all.into_bytes();
            for (text, _) in within(&texts, &block) {
                let start = text.start.max(block.start) - block.start;
                let end = text.end.min(block.end) - block.start;
                rest[start as usize..end as usize].fill(BLANK);
            }
            prop_assert!(rest.iter().all(|byte| *byte == BLANK));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Also for one who keeps the index open and remembers what it read.
        #[test]
        fn texts_come_back_whole_whatever_was_changed_or_taken_out(
            steps in prop::collection::vec(step(), 1..12)
        ) {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("main.sqlite");
            let open = || SqliteIndex::open(&path, IndexSettings::new(Redaction::none())).unwrap();
            let (mut writer, mut reader) = (open(), open());
            let mut texts: BTreeMap<u8, String> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Write(new) => {
                        let mut records = new.iter().map(|(name, text)| record(*name, text));
                        writer.update(&mut records, Budget::default(), &mut |_| {}).unwrap();
                        texts.extend(new);
                    }
                    Step::TakeOut(source) => {
                        writer.remove(&format!("s{source}")).unwrap();
                        texts.retain(|name, _| name / 3 != source);
                    }
                    Step::Rebuild => {
                        writer = SqliteIndex::rebuild(&path, IndexSettings::new(Redaction::none())).unwrap();
                        texts.clear();
                    }
                }
                for name in 0..12 {
                    let found = reader.get(&record(name, "").key(), None).unwrap();
                    prop_assert_eq!(found.map(|found| found.text), texts.get(&name).cloned());
                }
                let shape = writer.shape_now().unwrap();
                for extent in &shape.extents {
                    let text = writer.text_at(extent.at, extent.length).unwrap();
                    let hash = crate::index::hash::chunk_hash(&text);
                    prop_assert_eq!(hash, extent.hash);
                }
                check(&writer.connection)?;
            }
        }
    }

    #[test]
    fn of_two_texts_of_one_name_in_one_update_the_last_stays() {
        let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
        let texts = ["本".repeat(20_000), String::from("a"), String::from("b")];
        let mut records = texts.iter().map(|text| record(0, text));
        index
            .update(&mut records, Budget::default(), &mut |_| {})
            .unwrap();
        let found = index.get("s0#e0", None).unwrap().unwrap();
        assert_eq!(found.text, "b");
        check(&index.connection).unwrap();
    }

    #[test]
    fn texts_that_come_one_by_one_share_a_block() {
        let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
        for name in 0..12 {
            let one = record(name, "我的上司是银行的行长。");
            index
                .update(&mut std::iter::once(one), Budget::default(), &mut |_| {})
                .unwrap();
        }
        let blocks: i64 = index
            .connection
            .query_row("SELECT count(*) FROM block", [], |row| row.get(0))
            .unwrap();
        assert_eq!(blocks, 1);
    }

    #[test]
    fn whatever_numbers_a_damaged_file_holds_nothing_breaks() {
        for (column, table) in [
            ("bytes", "leaf"),
            ("count", "leaf"),
            ("chunks", "leaf"),
            ("bytes", "block"),
            ("used", "block"),
            ("kinds", "source"),
            ("value", "meta"),
        ] {
            for number in [i64::MIN, -1, 0, 1, 1 << 40, i64::MAX] {
                let mut index =
                    SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
                let write = |index: &mut SqliteIndex, words: &str| {
                    let text = words.repeat(2_400);
                    let mut records = (2..4).map(|name| record(name, &text));
                    let _ = index.update(&mut records, Budget::default(), &mut |_| {});
                };
                write(&mut index, "a text ");
                let sql = format!("UPDATE {table} SET {column} = ?1");
                index.connection.execute(&sql, [number]).unwrap();
                let _ = index.get("s0#e2", None);
                let _ = index.search(&Query::new("text"));
                write(&mut index, "another text ");
                let _ = index.remove("s0");
                let _ = index.remove("s1");
            }
        }
    }

    #[test]
    fn a_bit_that_was_lost_is_damage_and_no_other_text() {
        let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
        let text: String = (0..200).map(|at| format!("line {at} of it\n")).collect();
        let mut records = std::iter::once(record(0, &text));
        index
            .update(&mut records, Budget::default(), &mut |_| {})
            .unwrap();
        let blobs = [("block", "text"), ("leaf", "records")];
        for (table, column) in blobs {
            let sql = format!("SELECT {column} FROM {table}");
            let whole: Vec<u8> = index
                .connection
                .query_row(&sql, [], |row| row.get(0))
                .unwrap();
            for at in 0..whole.len() * 8 {
                let mut spoilt = whole.clone();
                spoilt[at / 8] ^= 1 << (at % 8);
                let sql = format!("UPDATE {table} SET {column} = ?1");
                index.connection.execute(&sql, [&spoilt]).unwrap();
                index.texts.take();
                let found = index.passage("s0#e0", None);
                assert!(
                    found.is_err() || found.unwrap().is_some_and(|found| found.text == text),
                    "{table} {at}"
                );
            }
            let sql = format!("UPDATE {table} SET {column} = ?1");
            index.connection.execute(&sql, [&whole]).unwrap();
        }
    }

    #[test]
    fn a_text_that_is_not_where_it_should_be_is_damage() {
        let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
        let mut records = (0..3).map(|name| record(name, "a text"));
        index
            .update(&mut records, Budget::default(), &mut |_| {})
            .unwrap();
        for sql in ["UPDATE block SET text = x'0200'", "DELETE FROM block"] {
            index.connection.execute(sql, []).unwrap();
            index.texts.take();
            let error = index.text_at(14, 90).unwrap_err();
            let code = error.sqlite_error_code();
            assert_eq!(code, Some(rusqlite::ErrorCode::DatabaseCorrupt), "{sql}");
        }
    }
}
