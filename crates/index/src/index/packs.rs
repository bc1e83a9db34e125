//! The vectors of an index on disk: as many in a row as go on a page, each known
//! by the hash of its text, a sketch by a part of it.
//!
//! A row for each, and an index of them, would take a seventh more. Whoever wants
//! vectors wants all of a model, so that nothing need tell where one is.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::bits::SKETCH;
use super::leaf::HASH;
use super::room::Form;

/// What a row may have, so that a page has room for it beside what SQLite notes
/// of it.
const ROW: usize = 4_000;

/// How many bytes of a hash a sketch is known by. Of a million texts, one in four
/// thousand has that of another.
const PART: usize = 4;

/// The bits of a row that holds no vectors, only the hashes of texts that the model
/// refused. To a longhaul that does not know it, it is as good as none.
pub(super) const REFUSED: u8 = u8::MAX;

/// How many bytes of a hash a vector of so many bits a dimension is known by.
fn key_bytes(bits: u8) -> usize {
    if bits == SKETCH { PART } else { HASH }
}

/// What a text's vector of so many bits is known by.
pub(super) fn key(hash: u64, bits: u8) -> u64 {
    hash & ((1 << (8 * key_bytes(bits))) - 1)
}

/// How many vectors of this length a row takes.
fn in_a_row(bits: u8, length: usize) -> usize {
    (ROW / (key_bytes(bits) + length)).max(1)
}

/// Which texts have a vector.
#[derive(Debug, Default)]
pub(super) struct Known {
    whole: HashSet<u64>,
    sketches: HashSet<u64>,
    refused: HashSet<u64>,
}

impl Known {
    /// Whether the model refused a text, so that it has no vector.
    pub(super) fn is_refused(&self, hash: u64, form: Form) -> bool {
        self.refused.contains(&hash) && !self.has(hash, form)
    }

    /// Whether a text has no vector and is still to have one.
    pub(super) fn lacks(&self, hash: u64, form: Form) -> bool {
        !self.refused.contains(&hash) && !self.has(hash, form)
    }

    /// Whether a text has what it should have.
    pub(super) fn has(&self, hash: u64, form: Form) -> bool {
        match form {
            Form::Whole => self.whole.contains(&hash),
            Form::Sketch => {
                self.whole.contains(&hash) || self.sketches.contains(&key(hash, SKETCH))
            }
            Form::Bare => true,
        }
    }

    /// Adds one; says whether it is new.
    pub(super) fn insert(&mut self, hash: u64, bits: u8) -> bool {
        match bits {
            SKETCH => self.sketches.insert(key(hash, SKETCH)),
            REFUSED => self.refused.insert(hash),
            _ => self.whole.insert(hash),
        }
    }

    /// How many there are, and how many of them are not used.
    pub(super) fn unused(&self, used: &Known) -> (usize, usize) {
        let whole = self.whole.difference(&used.whole).count();
        let sketches = self.sketches.difference(&used.sketches).count();
        (self.whole.len() + self.sketches.len(), whole + sketches)
    }

    /// Whether the vector of this key is one of these.
    pub(super) fn has_key(&self, key: u64, bits: u8) -> bool {
        match bits {
            SKETCH => self.sketches.contains(&key),
            REFUSED => self.refused.contains(&key),
            _ => self.whole.contains(&key),
        }
    }
}

/// How many bytes a vector of this length takes on disk with what it is known by.
pub(super) fn taken(bits: u8, length: usize) -> u64 {
    with_pages((key_bytes(bits) + length) as u64)
}

/// How many bytes the vectors of a model take on disk.
pub(super) fn bytes(connection: &Connection, model: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(sum(length(hashes) + length(vectors)), 0) FROM vector
               WHERE model = ?1";
    let bytes: i64 = connection.query_row(sql, [model], |row| row.get(0))?;
    Ok(with_pages(bytes.max(0) as u64))
}

/// With what SQLite notes of rows and leaves empty behind them, which is less than
/// a twentieth.
fn with_pages(bytes: u64) -> u64 {
    bytes + bytes / 20
}

/// Vectors of one model and one precision, by the hashes of their texts.
pub(super) type Vectors = Vec<(u64, Vec<u8>)>;

/// The number of a model; none where it has no vectors.
pub(super) fn model(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM model WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// How many bytes a vector of so many bits a dimension takes; none where there
/// are no such vectors.
pub(super) type Length<'a> = &'a dyn Fn(u8) -> Option<usize>;

/// The length of the vectors in a row of so many, where it is as long as it
/// should be.
fn whole(count: usize, bytes: i64, bits: i64, length: Length<'_>) -> Option<usize> {
    let length = length(u8::try_from(bits).ok()?)?;
    (bytes == (count * length) as i64).then_some(length)
}

/// The hashes of all texts that have a vector of a model, or were refused one. Rows that are not as
/// long as they should be are as good as none.
pub(super) fn known(
    connection: &Connection,
    model: i64,
    length: Length<'_>,
) -> rusqlite::Result<Known> {
    let mut known = Known::default();
    // The vectors themselves are not read for this.
    let mut statement = connection
        .prepare_cached("SELECT hashes, length(vectors), bits FROM vector WHERE model = ?1")?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let bits: i64 = row.get(2)?;
        let all = hashes(row.get_ref(0)?.as_blob()?, bits);
        let is_refused = bits == i64::from(REFUSED);
        if is_refused || whole(all.len(), row.get(1)?, bits, length).is_some() {
            for hash in all {
                known.insert(hash, bits as u8);
            }
        }
    }
    Ok(known)
}

/// Hands on every vector of a model with its bits, in the order in which they
/// lie.
pub(super) fn each(
    connection: &Connection,
    model: i64,
    length: Length<'_>,
    mut take: impl FnMut(u64, u8, &[u8]),
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT hashes, vectors, bits FROM vector WHERE model = ?1")?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let bits: i64 = row.get(2)?;
        let all = hashes(row.get_ref(0)?.as_blob()?, bits);
        let vectors = row.get_ref(1)?.as_blob()?;
        if let Some(length) = whole(all.len(), vectors.len() as i64, bits, length) {
            for (hash, vector) in all.into_iter().zip(vectors.chunks_exact(length)) {
                take(hash, bits as u8, vector);
            }
        }
    }
    Ok(())
}

fn hashes(blob: &[u8], bits: i64) -> Vec<u64> {
    let length = key_bytes(u8::try_from(bits).unwrap_or(u8::MAX));
    let number = |hash: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(hash);
        u64::from_le_bytes(bytes)
    };
    blob.chunks_exact(length).map(number).collect()
}

/// Adds vectors of one precision. The last row of it is filled first.
pub(super) fn append(
    transaction: &Transaction<'_>,
    model: i64,
    bits: u8,
    length: usize,
    vectors: &Vectors,
) -> rusqlite::Result<()> {
    let last = transaction
        .prepare_cached(
            "SELECT id, hashes, vectors FROM vector WHERE model = ?1 AND bits = ?2
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![model, bits], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Vec<u8>>(1)?,
                row.get::<_, Vec<u8>>(2)?,
            ))
        })
        .optional()?;
    let mut rest = &vectors[..];
    if let Some((id, mut hashes, mut values)) = last
        && values.len() == hashes.len() / key_bytes(bits) * length
    {
        let room = in_a_row(bits, length).saturating_sub(hashes.len() / key_bytes(bits));
        let (first, others) = rest.split_at(room.min(rest.len()));
        rest = others;
        if !first.is_empty() {
            put(first, bits, &mut hashes, &mut values);
            transaction
                .prepare_cached("UPDATE vector SET hashes = ?2, vectors = ?3 WHERE id = ?1")?
                .execute(params![id, hashes, values])?;
        }
    }
    for row in rest.chunks(in_a_row(bits, length)) {
        let (mut hashes, mut values) = (Vec::new(), Vec::new());
        put(row, bits, &mut hashes, &mut values);
        transaction
            .prepare_cached(
                "INSERT INTO vector (model, bits, hashes, vectors) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![model, bits, hashes, values])?;
    }
    Ok(())
}

/// Notes texts that a model refused.
pub(super) fn refuse(
    transaction: &Transaction<'_>,
    model: i64,
    hashes: &[u64],
) -> rusqlite::Result<()> {
    let bare: Vectors = hashes.iter().map(|hash| (*hash, Vec::new())).collect();
    append(transaction, model, REFUSED, 0, &bare)
}

/// The hashes of the texts that a model refused.
pub(super) fn refused(connection: &Connection, model: i64) -> rusqlite::Result<HashSet<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT hashes FROM vector WHERE model = ?1 AND bits = ?2")?;
    let mut rows = statement.query(params![model, REFUSED])?;
    let mut refused = HashSet::new();
    while let Some(row) = rows.next()? {
        refused.extend(hashes(row.get_ref(0)?.as_blob()?, i64::from(REFUSED)));
    }
    Ok(refused)
}

/// Forgets which texts a model refused.
pub(super) fn forget_refused(transaction: &Transaction<'_>, model: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM vector WHERE model = ?1 AND bits = ?2";
    transaction.execute(sql, params![model, REFUSED]).map(drop)
}

/// Takes out the vectors of a model whose texts are gone: each row that has one
/// goes, and what is left of it is put at the end.
pub(super) fn retain(
    transaction: &Transaction<'_>,
    model: i64,
    length: Length<'_>,
    used: &Known,
) -> rusqlite::Result<()> {
    let mut touched = Vec::new();
    let mut statement = transaction
        .prepare_cached("SELECT id, hashes, length(vectors), bits FROM vector WHERE model = ?1")?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let bits: i64 = row.get(3)?;
        if bits == i64::from(REFUSED) {
            continue;
        }
        let all = hashes(row.get_ref(1)?.as_blob()?, bits);
        let length = whole(all.len(), row.get(2)?, bits, length);
        let is_used = |key: u64| used.has_key(key, bits as u8);
        if length.is_none() || !all.into_iter().all(is_used) {
            touched.push((row.get::<_, i64>(0)?, length));
        }
    }
    for (id, length) in touched {
        let (bits, all, vectors) = transaction
            .prepare_cached("SELECT bits, hashes, vectors FROM vector WHERE id = ?1")?
            .query_row([id], |row| {
                let bits: i64 = row.get(0)?;
                let all = hashes(row.get_ref(1)?.as_blob()?, bits);
                Ok((bits, all, row.get::<_, Vec<u8>>(2)?))
            })?;
        transaction
            .prepare_cached("DELETE FROM vector WHERE id = ?1")?
            .execute([id])?;
        if let Some(length) = length {
            let vectors = all.into_iter().zip(vectors.chunks_exact(length));
            let left = vectors.filter(|(key, _)| used.has_key(*key, bits as u8));
            let left: Vectors = left.map(|(hash, one)| (hash, one.to_vec())).collect();
            append(transaction, model, bits as u8, length, &left)?;
        }
    }
    Ok(())
}

fn put(vectors: &[(u64, Vec<u8>)], bits: u8, hashes: &mut Vec<u8>, values: &mut Vec<u8>) {
    for (hash, vector) in vectors {
        hashes.extend(&hash.to_le_bytes()[..key_bytes(bits)]);
        values.extend(vector);
    }
}
