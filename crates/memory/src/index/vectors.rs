//! Vectors: made in the background, kept by the hash of their text and the
//! model that made them, compared by brute force.
//!
//! One byte a dimension. At 100,000 chunks a search reads 38 MB and takes nine
//! milliseconds; an approximate index would take minutes to build and be worth
//! it past a million.

use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior, params};

use super::{IndexError, Shape, SqliteIndex};

/// How many chunks are encoded before their vectors are stored.
const BATCH: u64 = 32;

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

impl Matrix {
    /// The cosine of a vector with that of each slot; none without one.
    pub(crate) fn cosines(&self, vector: &[f32]) -> Vec<Option<f32>> {
        let (query, scale) = quantised(vector);
        self.scales
            .iter()
            .enumerate()
            .map(|(slot, own)| (*own > 0.0).then(|| self.dot(slot, &query) * own * scale))
            .collect()
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
        let mut statement = connection.prepare_cached(
            "SELECT v.hash, v.value FROM vector v JOIN model m ON m.id = v.model
             WHERE m.name = ?1 ORDER BY v.hash",
        )?;
        let mut rows = statement.query([model])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let hash: i64 = row.get(0)?;
            while by_hash.get(at).is_some_and(|(own, _)| *own < hash) {
                at += 1;
            }
            let blob = row.get_ref(1)?.as_blob()?;
            // A vector of another length is as good as none: it is made anew.
            let Some((scale, values)) = blob.split_first_chunk::<4>() else {
                continue;
            };
            if values.len() != dimensions {
                continue;
            }
            while let Some(&(own, slot)) = by_hash.get(at).filter(|(own, _)| *own == hash) {
                debug_assert_eq!(own, hash);
                let slot = slot as usize;
                matrix.scales[slot] = f32::from_le_bytes(*scale);
                let row = &mut matrix.values[slot * dimensions..(slot + 1) * dimensions];
                for (to, from) in row.iter_mut().zip(values) {
                    *to = i8::from_le_bytes([*from]);
                }
                matrix.known += 1;
                at += 1;
            }
        }
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
            encoder.id(),
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
        let name = encoder.id().to_owned();
        self.connection
            .execute(
                "INSERT INTO model (name) VALUES (?1) ON CONFLICT DO NOTHING",
                [&name],
            )
            .map_err(&sqlite)?;
        let model: i64 = self
            .connection
            .query_row("SELECT id FROM model WHERE name = ?1", [&name], |row| {
                row.get(0)
            })
            .map_err(&sqlite)?;
        let mut done = 0;
        let mut after = 0i64;
        let total = self.without_vector(model).map_err(&sqlite)?;
        progress(0, total);
        while done < limit {
            let batch = self
                .next_without(model, after, BATCH.min(limit - done))
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
                    model: name,
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
            for ((_, hash, _), vector) in batch.iter().zip(&vectors) {
                let (values, scale) = quantised(vector);
                let mut blob = scale.to_le_bytes().to_vec();
                blob.extend(values.iter().map(|value| value.to_le_bytes()[0]));
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO vector VALUES (?1, ?2, ?3)")
                    .and_then(|mut insert| insert.execute(params![model, hash, blob]))
                    .map_err(&sqlite)?;
            }
            transaction
                .execute(
                    "INSERT INTO meta VALUES ('vectors', 1)
                     ON CONFLICT (name) DO UPDATE SET value = value + 1",
                    [],
                )
                .map_err(&sqlite)?;
            transaction.commit().map_err(&sqlite)?;
            done += batch.len() as u64;
            after = last;
            progress(done, total);
        }
        self.without_vector(model).map_err(&sqlite)
    }

    fn without_vector(&self, model: i64) -> rusqlite::Result<u64> {
        self.connection
            .query_row(
                "SELECT count(*) FROM chunk c WHERE NOT EXISTS
                 (SELECT 1 FROM vector v WHERE v.model = ?1 AND v.hash = c.hash)",
                [model],
                |row| row.get::<_, i64>(0),
            )
            .map(|count| count as u64)
    }

    fn next_without(
        &self,
        model: i64,
        after: i64,
        limit: u64,
    ) -> rusqlite::Result<Vec<(i64, i64, String)>> {
        let found: Vec<(i64, i64, i64, i64, i64)> = self
            .connection
            .prepare_cached(
                "SELECT c.id, c.hash, c.record, c.start, c.length FROM chunk c
                 WHERE c.id > ?2 AND NOT EXISTS
                 (SELECT 1 FROM vector v WHERE v.model = ?1 AND v.hash = c.hash)
                 ORDER BY c.id LIMIT ?3",
            )?
            .query_map(params![model, after, limit as i64], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })?
            .collect::<rusqlite::Result<_>>()?;
        found
            .into_iter()
            .map(|(id, hash, record, start, length)| {
                let text = self.chunk_text(record, start as u64, length as u64)?;
                Ok((id, hash, text))
            })
            .collect()
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
    }
}
