//! Records as they lie on disk: those of one source one behind the other, some
//! hundred in a row, and small sources together in one.
//!
//! A row for each, with an index of their names, takes a hundred bytes, which is
//! more than many a message has. Here a record is what it differs in from the
//! one before it: an id of eight digits, a minute, a length and the hash of the
//! text are less than twenty bytes.

use std::borrow::Cow;

use super::texts::damaged;

/// A record, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Entry {
    /// The id of the entry in its session; empty for a file.
    pub(super) name: String,
    pub(super) kind: u8,
    pub(super) role: Option<u32>,
    pub(super) time: Option<i64>,
    pub(super) position: u64,
    pub(super) tongue: u8,
    /// Where among all texts its own begins.
    pub(super) at: u64,
    pub(super) bytes: u64,
    /// The hash of the text as it was given.
    pub(super) hash: u64,
    /// The number of its first chunk; the others follow.
    pub(super) first: u64,
    pub(super) chunks: Vec<Piece>,
}

/// A chunk of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Piece {
    /// Where in the text it begins.
    pub(super) start: u64,
    pub(super) length: u64,
    /// Its first line, from 1, and how many follow.
    pub(super) line: u32,
    pub(super) lines: u32,
    /// How many tokens it has.
    pub(super) words: u32,
    pub(super) hash: u64,
}

/// Records of one source that lie in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) source: i64,
    pub(super) entries: Vec<Entry>,
}

impl Entry {
    /// The numbers of its chunks.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (u64, &Piece)> {
        (self.first..).zip(&self.chunks)
    }

    /// Its role and its language.
    fn who(&self) -> u64 {
        let role = self.role.map_or(0, |role| u64::from(role) + 1);
        role << 4 | u64::from(self.tongue & 15)
    }

    /// Whether one chunk is all of its text, which nothing was taken from.
    fn is_whole(&self) -> bool {
        matches!(&self.chunks[..], [only] if only.start == 0
            && only.length == self.bytes
            && only.line == 1
            && only.hash == self.hash)
    }
}

/// What stands behind each text, so that the next begins there.
const BEHIND: u64 = 1;

const KIND: u8 = 0b111;
const TIMED: u8 = 1 << 3;
/// Its place, its text and its chunks follow those of the record before.
const FOLLOWS: u8 = 1 << 4;
const WHOLE: u8 = 1 << 5;
const ONE_LINE: u8 = 1 << 6;

/// A hash takes so many bytes. Of a million texts two may have the same, which
/// makes them share a vector; that a text is changed into one of the same hash and
/// the change goes unseen happens once in a million million times.
pub(super) const HASH: usize = 5;

/// How the name of an entry is written.
const PLAIN: u64 = 0;
const HEX: u64 = 1;
const UUID: u64 = 2;

/// What records of a session have in common, a few with each other: one is told
/// where it is met first, and then by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    flags: u8,
    /// Role and language.
    who: u64,
    /// How the name is written and how long it is.
    name: u64,
}

/// The shapes of a row. More than have a number of one byte are not kept.
#[derive(Debug, Default)]
struct Shapes(Vec<Shape>);

impl Shapes {
    const MOST: usize = 126;

    fn put(&mut self, shape: Shape, out: &mut Vec<u8>) {
        if let Some(number) = self.0.iter().position(|known| *known == shape) {
            put(number as u64 + 1, out);
            return;
        }
        out.extend([0, shape.flags]);
        put(shape.who, out);
        put(shape.name, out);
        self.keep(shape);
    }

    fn keep(&mut self, shape: Shape) {
        if self.0.len() < Self::MOST {
            self.0.push(shape);
        }
    }
}

/// What the next record is told by.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    position: u64,
    at: u64,
    chunk: u64,
    time: i64,
}

impl Before {
    fn next(&mut self, entry: &Entry) {
        self.position = entry.position.wrapping_add(1);
        self.at = entry.at.wrapping_add(entry.bytes).wrapping_add(BEHIND);
        self.chunk = entry.first.wrapping_add(entry.chunks.len() as u64);
        self.time = entry.time.unwrap_or(self.time);
    }
}

/// How many bytes tell whether a row is as it was written.
const CHECK: usize = 4;

fn check(records: &[u8]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    check.copy_from_slice(&blake3::hash(records).as_bytes()[..CHECK]);
    check
}

/// The records of a row in which no source is before `first`.
pub(super) fn encoded(first: i64, groups: &[Group]) -> Vec<u8> {
    let count: usize = groups.iter().map(|group| group.entries.len()).sum();
    let mut out = Vec::with_capacity(CHECK + count * 24);
    out.extend([0; CHECK]);
    let mut before = Before::default();
    let mut shapes = Shapes::default();
    let mut source = first;
    for group in groups {
        put(group.source.wrapping_sub(source) as u64, &mut out);
        put(group.entries.len() as u64, &mut out);
        source = group.source;
        before.position = 0;
        for entry in &group.entries {
            encode(entry, &before, &mut shapes, &mut out);
            before.next(entry);
        }
    }
    let check = check(&out[CHECK..]);
    out[..CHECK].copy_from_slice(&check);
    out
}

/// How many bytes a record takes behind another, at least nearly: whether one of
/// its shape came before is only known of that one.
pub(super) fn size_behind(last: Option<&Entry>, entry: &Entry) -> usize {
    let mut before = Before::default();
    let mut shapes = Shapes::default();
    let mut out = Vec::new();
    if let Some(last) = last {
        encode(last, &before, &mut shapes, &mut out);
        before.next(last);
        out.clear();
    }
    encode(entry, &before, &mut shapes, &mut out);
    out.len()
}

fn encode(entry: &Entry, before: &Before, shapes: &mut Shapes, out: &mut Vec<u8>) {
    let follows =
        (entry.position, entry.at, entry.first) == (before.position, before.at, before.chunk);
    let whole = entry.is_whole();
    let one_line = whole && entry.chunks[0].lines == 0;
    let mut flags = entry.kind & KIND;
    for (holds, flag) in [
        (entry.time.is_some(), TIMED),
        (follows, FOLLOWS),
        (whole, WHOLE),
        (one_line, ONE_LINE),
    ] {
        flags |= if holds { flag } else { 0 };
    }
    let (name, written) = written(&entry.name);
    let who = entry.who();
    shapes.put(Shape { flags, who, name }, out);
    out.extend(written.iter());
    if let Some(time) = entry.time {
        put_signed(time.wrapping_sub(before.time), out);
    }
    if !follows {
        for (now, expected) in [
            (entry.position, before.position),
            (entry.at, before.at),
            (entry.first, before.chunk),
        ] {
            put_signed(now.wrapping_sub(expected) as i64, out);
        }
    }
    put(entry.bytes, out);
    out.extend(&entry.hash.to_le_bytes()[..HASH]);
    if whole {
        put(u64::from(entry.chunks[0].words), out);
        if !one_line {
            put(u64::from(entry.chunks[0].lines), out);
        }
        return;
    }
    put(entry.chunks.len() as u64, out);
    let (mut end, mut line) = (0u64, 0u32);
    for chunk in &entry.chunks {
        // Neighbours have a few lines in common.
        put_signed(chunk.start.wrapping_sub(end) as i64, out);
        put(chunk.length, out);
        put_signed(i64::from(chunk.line) - i64::from(line), out);
        put(u64::from(chunk.lines), out);
        put(u64::from(chunk.words), out);
        out.extend(&chunk.hash.to_le_bytes()[..HASH]);
        end = chunk.start.wrapping_add(chunk.length);
        line = chunk.line.saturating_add(chunk.lines);
    }
}

/// How a name is written, and what is. One of digits from 0 to f takes half as
/// much, one like those of most agents less than half.
fn written(name: &str) -> (u64, Cow<'_, [u8]>) {
    let digits: Vec<u8> = name.bytes().filter(|byte| *byte != b'-').collect();
    let is_hex = digits
        .iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let packed = || {
        let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
        let (pairs, _) = digits.as_chunks::<2>();
        let pairs = pairs.iter();
        Cow::Owned(
            pairs
                .map(|[high, low]| value(*high) << 4 | value(*low))
                .collect(),
        )
    };
    let uuid_hyphens = name.len() == 36
        && digits.len() == 32
        && [8, 13, 18, 23]
            .iter()
            .all(|at| name.as_bytes()[*at] == b'-');
    let even = digits.len() == name.len() && name.len().is_multiple_of(2);
    if is_hex && uuid_hyphens {
        (UUID, packed())
    } else if is_hex && even && !name.is_empty() {
        ((name.len() as u64 / 2) << 2 | HEX, packed())
    } else {
        let length = name.len() as u64;
        (length << 2 | PLAIN, Cow::Borrowed(name.as_bytes()))
    }
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Small numbers of either sign take little.
fn put_signed(number: i64, out: &mut Vec<u8>) {
    put((number << 1 ^ number >> 63) as u64, out);
}

/// Reads the records of a row, in which a damaged file may have anything.
pub(super) fn decoded(first: i64, blob: &[u8]) -> rusqlite::Result<Vec<Group>> {
    let records = blob.split_first_chunk::<CHECK>();
    let (_, records) = records
        .filter(|(written, records)| **written == check(records))
        .ok_or_else(|| damaged("records are not as they were written"))?;
    read(first, records)
}

fn read(first: i64, records: &[u8]) -> rusqlite::Result<Vec<Group>> {
    let mut reader = Reader(records);
    let mut before = Before::default();
    let mut shapes = Shapes::default();
    let mut groups = Vec::new();
    let mut source = first;
    while !reader.0.is_empty() {
        let group = reader
            .group(source, &mut before, &mut shapes)
            .ok_or_else(|| damaged("a record is not whole"))?;
        source = group.source;
        groups.push(group);
    }
    Ok(groups)
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn group(&mut self, source: i64, before: &mut Before, shapes: &mut Shapes) -> Option<Group> {
        let source = source.checked_add(i64::try_from(self.number()?).ok()?)?;
        let mut entries = Vec::new();
        before.position = 0;
        for _ in 0..self.number()? {
            let entry = self.entry(before, shapes)?;
            before.next(&entry);
            entries.push(entry);
        }
        Some(Group { source, entries })
    }

    fn shape(&mut self, shapes: &mut Shapes) -> Option<Shape> {
        let number = usize::from(self.byte()?);
        if let Some(known) = number.checked_sub(1) {
            return shapes.0.get(known).copied();
        }
        let shape = Shape {
            flags: self.byte()?,
            who: self.number()?,
            name: self.number()?,
        };
        shapes.keep(shape);
        Some(shape)
    }

    fn entry(&mut self, before: &Before, shapes: &mut Shapes) -> Option<Entry> {
        let Shape { flags, who, name } = self.shape(shapes)?;
        let name = self.name(name)?;
        let time = match flags & TIMED {
            0 => None,
            _ => Some(before.time.wrapping_add(self.signed()?)),
        };
        let mut place = [before.position, before.at, before.chunk];
        if flags & FOLLOWS == 0 {
            for number in &mut place {
                *number = number.wrapping_add(self.signed()? as u64);
            }
        }
        let [position, at, first] = place;
        // Numbers that no file could have would overflow wherever they are used.
        let most = i64::MAX as u64 / 4;
        let bytes = self.number()?;
        if at > most || bytes > most || first > most {
            return None;
        }
        let mut entry = Entry {
            name,
            kind: flags & KIND,
            role: match who >> 4 {
                0 => None,
                role => Some(u32::try_from(role - 1).ok()?),
            },
            time,
            position,
            tongue: (who & 15) as u8,
            at,
            bytes,
            hash: self.hash()?,
            first,
            chunks: Vec::new(),
        };
        if flags & WHOLE != 0 {
            let words = self.small()?;
            let lines = match flags & ONE_LINE {
                0 => self.small()?,
                _ => 0,
            };
            entry.chunks.push(Piece {
                start: 0,
                length: bytes,
                line: 1,
                lines,
                words,
                hash: entry.hash,
            });
            return Some(entry);
        }
        let (mut end, mut line) = (0u64, 0u32);
        for _ in 0..self.number()? {
            let start = end.wrapping_add(self.signed()? as u64);
            let length = self.number()?;
            if start.checked_add(length)? > bytes {
                return None;
            }
            let chunk = Piece {
                start,
                length,
                line: u32::try_from(i64::from(line).checked_add(self.signed()?)?).ok()?,
                lines: self.small()?,
                words: self.small()?,
                hash: self.hash()?,
            };
            end = start + length;
            line = chunk.line.saturating_add(chunk.lines);
            entry.chunks.push(chunk);
        }
        Some(entry)
    }

    fn name(&mut self, head: u64) -> Option<String> {
        let length = usize::try_from(head >> 2).ok()?;
        match head & 3 {
            PLAIN => String::from_utf8(self.bytes(length)?.to_vec()).ok(),
            HEX => Some(digits(self.bytes(length)?)),
            UUID => {
                let mut name = digits(self.bytes(16)?);
                for at in [8, 13, 18, 23] {
                    name.insert(at, '-');
                }
                Some(name)
            }
            _ => None,
        }
    }

    fn bytes(&mut self, count: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn hash(&mut self) -> Option<u64> {
        let mut hash = [0; 8];
        hash[..HASH].copy_from_slice(self.bytes(HASH)?);
        Some(u64::from_le_bytes(hash))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

fn digits(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2 + 4);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(half)]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            "[0-9a-f]{1,9}",
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "[0-9a-f-]{36}",
            "[0-9A-Fa-f]{8}",
            "\\PC{0,40}",
        ]
    }

    const MOST: u64 = i64::MAX as u64 / 4;

    prop_compose! {
        fn entry()(
            name in name(),
            kind in 0u8..8,
            role in prop::option::of(any::<u32>()),
            time in prop::option::of(any::<i64>()),
            position in any::<u64>(),
            tongue in 0u8..16,
            at in 0..=MOST,
            bytes in prop_oneof![0u64..400, 0..=MOST],
            hash in 0u64..1 << 40,
            first in 0..=MOST,
            parts in prop::collection::vec((any::<(u64, u64)>(), any::<u32>(), any::<u32>(), any::<u32>(), 0u64..1 << 40), 0..4),
            whole in any::<bool>(),
        ) -> Entry {
            let mut chunks: Vec<Piece> = parts
                .into_iter()
                .map(|((start, length), line, lines, words, hash)| {
                    let start = start % (bytes + 1);
                    let length = length % (bytes - start + 1);
                    Piece { start, length, line, lines, words, hash }
                })
                .collect();
            if whole {
                chunks = vec![Piece { start: 0, length: bytes, line: 1, lines: tongue.into(), words: 7, hash }];
            }
            Entry { name, kind, role, time, position, tongue, at, bytes, hash, first, chunks }
        }
    }

    /// Records by how far their source is behind that of the group before.
    fn groups(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(i64, Vec<Entry>)>> {
        let entries = prop::collection::vec(entry(), 0..4);
        prop::collection::vec((0i64..300, entries), count)
    }

    fn behind(first: i64, groups: Vec<(i64, Vec<Entry>)>) -> Vec<Group> {
        let mut source = first;
        let group = |(further, entries)| {
            source += further;
            Group { source, entries }
        };
        groups.into_iter().map(group).collect()
    }

    proptest! {
        #[test]
        fn records_come_back_as_they_were(first in 0i64..1 << 39, groups in groups(0..4)) {
            let groups = behind(first, groups);
            let blob = encoded(first, &groups);
            prop_assert_eq!(decoded(first, &blob).unwrap(), groups);
        }

        #[test]
        fn no_bytes_break_the_reader(blob in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decoded(1, &blob);
            let _ = read(1, &blob);
            let _ = read(i64::MAX, &blob);
        }

        #[test]
        fn a_row_that_was_cut_is_damage(
            groups in groups(1..3),
            part in 0.0..1.0f64,
        ) {
            let groups = behind(1, groups);
            let blob = encoded(1, &groups);
            let cut = (blob.len() as f64 * part) as usize;
            prop_assert!(decoded(1, &blob[..cut]).is_err());
            // Also without its check it would only be shorter.
            if let Ok(read) = read(1, &blob[CHECK.min(cut)..cut]) {
                prop_assert_eq!(&read[..], &groups[..read.len()]);
            }
        }
    }

    #[test]
    fn a_short_message_takes_less_than_twenty_bytes() {
        let said = |number: u64| Entry {
            name: format!("{:08x}", number.wrapping_mul(2_654_435_761) as u32),
            kind: 3,
            role: Some(0),
            time: Some(1_772_000_000_000 + number as i64 * 60_000),
            position: number,
            at: number * 101,
            bytes: 100,
            hash: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24,
            first: number,
            chunks: vec![Piece {
                length: 100,
                line: 1,
                words: 12,
                hash: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24,
                ..Piece::default()
            }],
            ..Entry::default()
        };
        let entries: Vec<Entry> = (0..100).map(said).collect();
        let group = Group { source: 1, entries };
        let length = encoded(1, &[group]).len();
        assert!(length < 1_650, "{length}");
    }
}
