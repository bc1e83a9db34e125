//! Vectors: made in the background, kept by the hash of their text and the
//! model that made them, compared by brute force.
//!
//! Half a byte a dimension on disk, where vectors would otherwise be a third as
//! large as their text; one byte in memory. At 100,000 chunks a search reads
//! 38 MB and takes nine milliseconds; an approximate index would take minutes
//! to build and be worth it past a million.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, TransactionBehavior};

use super::{IndexError, Shape, SqliteIndex, packs};
use crate::embed::Encoder;

/// From so many chunks on they are compared by several threads, which else take
/// longer to begin than the work does.
const WORTH_THREADS: usize = 8_000;
const THREADS: usize = 4;

/// How many chunks are encoded before their vectors are stored.
const BATCH: u64 = 32;

/// What the vectors of a model are kept under. Those of another length belong
/// to another model, whatever it calls itself.
pub(super) fn model_key(encoder: &dyn Encoder) -> String {
    format!("{} ({})", encoder.id(), encoder.dimensions())
}

/// The vectors of one model for the chunks of one shape.
pub(crate) struct Matrix {
    changes: i64,
    vectors: i64,
    dimensions: usize,
    values: Vec<i8>,
    /// What a value times its scale is; 0 for a chunk without a vector.
    scales: Vec<f32>,
    /// How many chunks have one.
    pub(crate) known: usize,
}

/// A vector in a byte a dimension, and what a step is worth.
pub(crate) fn quantised(vector: &[f32]) -> (Vec<i8>, f32) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let most = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    if !(length.is_finite() && length > 0.0) {
        return (vec![0; vector.len()], 0.0);
    }
    let values = vector
        .iter()
        .map(|x| (x / most * 127.0).round() as i8)
        .collect();
    (values, most / 127.0 / length)
}

/// Half a byte a dimension: an odd number from -15 to 15.
const LEVELS: i32 = 15;

/// A vector as it is stored: its length, then two dimensions a byte. Where the
/// steps end is chosen so that the angle is kept best: a few large values would
/// otherwise leave no steps for the others.
fn stored(vector: &[f32]) -> Vec<u8> {
    let most = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let mut blob = vec![0; stored_length(vector.len())];
    if !(length.is_finite() && length > 0.0) {
        return blob;
    }
    const ENDS: [f32; 10] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
    let level = |x: f32, end: f32| {
        let half = (x / end * 8.0).floor() as i32;
        (2 * half + 1).clamp(-LEVELS, LEVELS)
    };
    let likeness = |end: f32| {
        let (mut both, mut own) = (0f32, 0f32);
        for x in vector {
            let level = level(*x, end) as f32;
            both += x * level;
            own += level * level;
        }
        (both / own.sqrt(), own.sqrt())
    };
    let (end, _, own) = ENDS
        .iter()
        .map(|part| {
            let end = part * most;
            let (likeness, own) = likeness(end);
            (end, likeness, own)
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .expect("there are several ends");
    blob[..4].copy_from_slice(&own.recip().to_le_bytes());
    for (at, x) in vector.iter().enumerate() {
        let nibble = ((level(*x, end) + LEVELS) / 2) as u8;
        blob[4 + at / 2] |= nibble << (4 * (at % 2));
    }
    blob
}

fn stored_length(dimensions: usize) -> usize {
    4 + dimensions.div_ceil(2)
}

/// Puts a stored vector into a row; gives what a step of it is worth.
fn restored(blob: &[u8], row: &mut [i8]) -> f32 {
    let Some((scale, packed)) = blob.split_first_chunk::<4>() else {
        return 0.0;
    };
    for (at, value) in row.iter_mut().enumerate() {
        let nibble = (packed[at / 2] >> (4 * (at % 2))) & 15;
        *value = (2 * i32::from(nibble) - LEVELS) as i8;
    }
    f32::from_le_bytes(*scale)
}

impl Matrix {
    /// The cosine of a vector with that of each slot; none without one.
    pub(crate) fn cosines(&self, vector: &[f32]) -> Vec<Option<f32>> {
        let (query, scale) = quantised(vector);
        let mut cosines = vec![None; self.scales.len()];
        let fill = |first: usize, part: &mut [Option<f32>]| {
            for (slot, cosine) in (first..).zip(part) {
                let own = self.scales[slot];
                *cosine = (own > 0.0).then(|| self.dot(slot, &query) * own * scale);
            }
        };
        if cosines.len() < WORTH_THREADS {
            fill(0, &mut cosines);
            return cosines;
        }
        let each = cosines.len().div_ceil(THREADS);
        thread::scope(|scope| {
            for (number, part) in cosines.chunks_mut(each).enumerate() {
                scope.spawn(move || fill(number * each, part));
            }
        });
        cosines
    }

    /// The cosine of two slots' vectors.
    pub(crate) fn alike(&self, a: usize, b: usize) -> Option<f32> {
        let known = self.scales[a] > 0.0 && self.scales[b] > 0.0;
        known.then(|| self.dot(a, self.row(b)) * self.scales[a] * self.scales[b])
    }

    fn row(&self, slot: usize) -> &[i8] {
        &self.values[slot * self.dimensions..(slot + 1) * self.dimensions]
    }

    fn dot(&self, slot: usize, other: &[i8]) -> f32 {
        let sum: i32 = self
            .row(slot)
            .iter()
            .zip(other)
            .map(|(a, b)| i32::from(*a) * i32::from(*b))
            .sum();
        sum as f32
    }

    fn load(
        connection: &Connection,
        shape: &Shape,
        model: &str,
        dimensions: usize,
        vectors: i64,
    ) -> rusqlite::Result<Matrix> {
        let mut matrix = Matrix {
            changes: shape.changes,
            vectors,
            dimensions,
            values: vec![0; shape.slots.len() * dimensions],
            scales: vec![0.0; shape.slots.len()],
            known: 0,
        };
        let mut by_hash: Vec<(i64, u32)> = shape
            .slots
            .iter()
            .enumerate()
            .map(|(slot, chunk)| (chunk.hash, slot as u32))
            .collect();
        by_hash.sort_unstable();
        let Some(model) = packs::model(connection, model)? else {
            return Ok(matrix);
        };
        let mut has = vec![false; shape.slots.len()];
        packs::each(
            connection,
            model,
            stored_length(dimensions),
            |hash, blob| {
                let first = by_hash.partition_point(|(own, _)| *own < hash);
                let same = by_hash[first..].iter().take_while(|(own, _)| *own == hash);
                for &(_, slot) in same {
                    let slot = slot as usize;
                    let row = &mut matrix.values[slot * dimensions..(slot + 1) * dimensions];
                    matrix.scales[slot] = restored(blob, row);
                    has[slot] = true;
                }
            },
        )?;
        matrix.known = has.into_iter().filter(|has| *has).count();
        Ok(matrix)
    }
}

impl SqliteIndex {
    /// The vectors of the active model, as they are now.
    pub(crate) fn matrix(&mut self, shape: &Shape) -> Result<Option<Arc<Matrix>>, IndexError> {
        let Some(encoder) = self.encoder.clone() else {
            return Ok(None);
        };
        let sqlite = self.sqlite();
        let vectors = vector_changes(&self.connection).map_err(&sqlite)?;
        if let Some(matrix) = &self.matrix
            && matrix.changes == shape.changes
            && matrix.vectors == vectors
        {
            return Ok(Some(matrix.clone()));
        }
        let matrix = Matrix::load(
            &self.connection,
            shape,
            &model_key(&*encoder),
            encoder.dimensions(),
            vectors,
        )
        .map_err(&sqlite)?;
        let matrix = Arc::new(matrix);
        self.matrix = Some(matrix.clone());
        Ok(Some(matrix))
    }

    pub(super) fn make_vectors(
        &mut self,
        limit: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, IndexError> {
        let Some(encoder) = self.encoder.clone() else {
            return Ok(0);
        };
        let sqlite = self.sqlite();
        let name = model_key(&*encoder);
        let length = stored_length(encoder.dimensions());
        let mut written = vector_changes(&self.connection).map_err(&sqlite)?;
        let mut known = self.with_vector(&*encoder).map_err(&sqlite)?;
        let mut done = 0;
        let mut after = 0i64;
        let (_, total) = self.without_vector(&known).map_err(&sqlite)?;
        progress(0, total);
        while done < limit {
            let batch = self
                .next_without(&known, after, BATCH.min(limit - done))
                .map_err(&sqlite)?;
            let Some(&(last, _, _)) = batch.last() else {
                break;
            };
            let texts: Vec<&str> = batch.iter().map(|(_, _, text)| text.as_str()).collect();
            let vectors = encoder.encode(&texts)?;
            if vectors.len() != texts.len()
                || vectors
                    .iter()
                    .any(|vector| vector.len() != encoder.dimensions())
            {
                return Err(IndexError::Encoder {
                    model: encoder.id().to_owned(),
                    reason: format!(
                        "it gave vectors of another number or length than the {} of {} it says",
                        texts.len(),
                        encoder.dimensions()
                    ),
                });
            }
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(&sqlite)?;
            let write = || -> rusqlite::Result<()> {
                transaction.execute(
                    "INSERT INTO model (name) SELECT ?1
                     WHERE NOT EXISTS (SELECT 1 FROM model WHERE name = ?1)",
                    [&name],
                )?;
                let model = transaction.query_row(
                    "SELECT id FROM model WHERE name = ?1",
                    [&name],
                    |row| row.get(0),
                )?;
                // Another process may have made some of them meanwhile.
                if vector_changes(&transaction)? != written {
                    known = packs::known(&transaction, model, length)?;
                }
                let new: packs::Vectors = batch
                    .iter()
                    .zip(&vectors)
                    .filter(|((_, hash, _), _)| known.insert(*hash))
                    .map(|((_, hash, _), vector)| (*hash, stored(vector)))
                    .collect();
                packs::append(&transaction, model, length, &new)?;
                transaction.execute(
                    "INSERT INTO meta VALUES ('vectors', 1)
                     ON CONFLICT (name) DO UPDATE SET value = value + 1",
                    [],
                )?;
                written = vector_changes(&transaction)?;
                transaction.commit()
            };
            write().map_err(&sqlite)?;
            done += batch.len() as u64;
            after = last;
            progress(done, total);
        }
        let (chunks, _) = self.without_vector(&known).map_err(&sqlite)?;
        Ok(chunks)
    }

    /// The hashes of all texts that have a vector of a model.
    pub(super) fn with_vector(&self, encoder: &dyn Encoder) -> rusqlite::Result<HashSet<i64>> {
        let length = stored_length(encoder.dimensions());
        match packs::model(&self.connection, &model_key(encoder))? {
            Some(model) => packs::known(&self.connection, model, length),
            None => Ok(HashSet::new()),
        }
    }

    /// How many chunks have none of these hashes, and how many texts they are:
    /// some say the same.
    pub(super) fn without_vector(&self, known: &HashSet<i64>) -> rusqlite::Result<(u64, u64)> {
        let mut chunks = 0;
        let mut texts = HashSet::new();
        let mut statement = self.connection.prepare_cached("SELECT hash FROM chunk")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let hash = row.get(0)?;
            if !known.contains(&hash) {
                chunks += 1;
                texts.insert(hash);
            }
        }
        Ok((chunks, texts.len() as u64))
    }

    /// The next chunks that have none of these hashes, with their texts; of those
    /// that say the same the first.
    fn next_without(
        &self,
        known: &HashSet<i64>,
        after: i64,
        limit: u64,
    ) -> rusqlite::Result<Vec<(i64, i64, String)>> {
        // One view of the chunks and their texts.
        let view = self.connection.unchecked_transaction()?;
        let mut statement = view
            .prepare_cached("SELECT id, hash, at, length FROM chunk WHERE id > ?1 ORDER BY id")?;
        let mut rows = statement.query([after])?;
        let mut found = Vec::new();
        let mut taken = HashSet::new();
        while (found.len() as u64) < limit
            && let Some(row) = rows.next()?
        {
            let hash = row.get(1)?;
            if !known.contains(&hash) && taken.insert(hash) {
                let (at, length): (i64, i64) = (row.get(2)?, row.get(3)?);
                let text = self.text_at(at as u64, length as u64)?;
                found.push((row.get(0)?, hash, text));
            }
        }
        Ok(found)
    }
}

fn vector_changes(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT coalesce(max(value), 0) FROM meta WHERE name = 'vectors'")?
        .query_row([], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_a_dimension_keeps_the_angle() {
        let a = [0.3f32, -0.8, 0.52, 0.01];
        let b = [0.1f32, -0.7, 0.9, -0.2];
        let exact: f32 = {
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            a.iter().zip(&b).map(|(x, y)| x * y).sum::<f32>() / length(&a) / length(&b)
        };
        let (left, one) = quantised(&a);
        let (right, two) = quantised(&b);
        let sum: i32 = left
            .iter()
            .zip(&right)
            .map(|(x, y)| i32::from(*x) * i32::from(*y))
            .sum();
        assert!((sum as f32 * one * two - exact).abs() < 0.01);
    }

    #[test]
    fn nothing_has_no_direction() {
        assert_eq!(quantised(&[0.0, 0.0]).1, 0.0);
        assert_eq!(quantised(&[f32::NAN, 1.0]).1, 0.0);
        let mut row = [0; 2];
        assert_eq!(restored(&stored(&[0.0, 0.0]), &mut row), 0.0);
        assert_eq!(restored(&stored(&[f32::NAN, 1.0]), &mut row), 0.0);
    }

    /// A vector of some length, spread as those of models are.
    fn drawn(seed: u64, dimensions: usize) -> Vec<f32> {
        let mut state = seed | 1;
        let mut roll = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        };
        (0..dimensions)
            .map(|_| roll() + roll() + roll() + roll())
            .collect()
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() / length(a) / length(b)
    }

    #[test]
    fn half_a_byte_a_dimension_keeps_the_angle() {
        for (seed, dimensions) in [(1, 256), (2, 384), (3, 383), (4, 1_024)] {
            let (mut a, b) = (drawn(seed, dimensions), drawn(seed + 100, dimensions));
            // Near, but not the same; and a few values are far larger.
            for (x, y) in a.iter_mut().zip(&b) {
                *x += 0.5 * y;
            }
            a[7] *= 3.0;
            let mut row = vec![0; dimensions];
            let blob = stored(&a);
            assert_eq!(blob.len(), 4 + dimensions.div_ceil(2));
            let scale = restored(&blob, &mut row);
            let back: Vec<f32> = row.iter().map(|x| f32::from(*x) * scale).collect();
            let length: f32 = back.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-3, "{length}");
            assert!(cosine(&a, &back) > 0.985, "{}", cosine(&a, &back));
            let off = cosine(&a, &b) - cosine(&back, &b);
            assert!(off.abs() < 0.02, "{off}");
        }
    }
}
