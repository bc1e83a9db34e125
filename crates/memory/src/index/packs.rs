//! The vectors of an index on disk: as many in a row as go on a page, each known
//! by the hash of its text.
//!
//! A row for each, and an index of them, would take a seventh more. Whoever wants
//! vectors wants all of a model, so that nothing need tell where one is.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// What a row may have, so that a page has room for it beside what SQLite notes
/// of it.
const ROW: usize = 4_000;

/// The hash of a text.
const HASH: usize = 8;

/// How many vectors of this length a row takes.
fn in_a_row(length: usize) -> usize {
    (ROW / (HASH + length)).max(1)
}

/// Vectors of one model, by the hashes of their texts.
pub(super) type Vectors = Vec<(i64, Vec<u8>)>;

/// The number of a model; none where it has no vectors.
pub(super) fn model(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM model WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// The hashes of all texts that have a vector of a model. Rows that are not as
/// long as they should be are as good as none.
pub(super) fn known(
    connection: &Connection,
    model: i64,
    length: usize,
) -> rusqlite::Result<HashSet<i64>> {
    let mut known = HashSet::new();
    // The vectors themselves are not read for this.
    let mut statement =
        connection.prepare_cached("SELECT hashes, length(vectors) FROM vector WHERE model = ?1")?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let all = hashes(row.get_ref(0)?.as_blob()?);
        if row.get::<_, i64>(1)? == (all.len() * length) as i64 {
            known.extend(all);
        }
    }
    Ok(known)
}

/// Hands on every vector of a model, in the order in which they lie.
pub(super) fn each(
    connection: &Connection,
    model: i64,
    length: usize,
    mut take: impl FnMut(i64, &[u8]),
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT hashes, vectors FROM vector WHERE model = ?1")?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let all = hashes(row.get_ref(0)?.as_blob()?);
        let vectors = row.get_ref(1)?.as_blob()?;
        if vectors.len() == all.len() * length {
            for (hash, vector) in all.into_iter().zip(vectors.chunks_exact(length)) {
                take(hash, vector);
            }
        }
    }
    Ok(())
}

fn hashes(blob: &[u8]) -> Vec<i64> {
    let (hashes, _) = blob.as_chunks::<HASH>();
    hashes
        .iter()
        .map(|hash| i64::from_le_bytes(*hash))
        .collect()
}

/// Adds vectors of one length. The last row is filled first.
pub(super) fn append(
    transaction: &Transaction<'_>,
    model: i64,
    length: usize,
    vectors: &Vectors,
) -> rusqlite::Result<()> {
    let last = transaction
        .prepare_cached("SELECT id, model, hashes, vectors FROM vector ORDER BY id DESC LIMIT 1")?
        .query_row([], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Vec<u8>>(2)?,
                row.get::<_, Vec<u8>>(3)?,
            ))
        })
        .optional()?;
    let mut rest = &vectors[..];
    if let Some((id, of, mut hashes, mut values)) = last
        && of == model
        && values.len() == hashes.len() / HASH * length
    {
        let room = in_a_row(length).saturating_sub(hashes.len() / HASH);
        let (first, others) = rest.split_at(room.min(rest.len()));
        rest = others;
        if !first.is_empty() {
            put(first, &mut hashes, &mut values);
            transaction
                .prepare_cached("UPDATE vector SET hashes = ?2, vectors = ?3 WHERE id = ?1")?
                .execute(params![id, hashes, values])?;
        }
    }
    for row in rest.chunks(in_a_row(length)) {
        let (mut hashes, mut values) = (Vec::new(), Vec::new());
        put(row, &mut hashes, &mut values);
        transaction
            .prepare_cached("INSERT INTO vector (model, hashes, vectors) VALUES (?1, ?2, ?3)")?
            .execute(params![model, hashes, values])?;
    }
    Ok(())
}

fn put(vectors: &[(i64, Vec<u8>)], hashes: &mut Vec<u8>, values: &mut Vec<u8>) {
    for (hash, vector) in vectors {
        hashes.extend(hash.to_le_bytes());
        values.extend(vector);
    }
}
