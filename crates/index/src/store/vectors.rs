//! Vectors: made in the background, kept by the hash of their text and the
//! model that made them, compared by brute force.
//!
//! One byte a dimension, on disk and in memory. At 100,000 chunks a search
//! reads 38 MB, which takes a few milliseconds; an approximate index would take minutes
//! to build and be worth it past a million.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{Shape, SqliteIndex, schema};
use crate::embed::Encoder;
use crate::error::IndexError;

/// From so many chunks on they are compared by several threads, which else take
/// longer to begin than the work does.
const WORTH_THREADS: usize = 8_000;
const THREADS: usize = 4;

/// How many chunks are encoded before their vectors are stored.
const BATCH: usize = 32;

/// A vector in whole numbers, and what makes their products cosines again; 0 where
/// it has no direction.
fn quantised(vector: &[f32]) -> (Vec<i8>, f32) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let most = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    if !(length.is_finite() && length > 0.0) {
        return (vec![0; vector.len()], 0.0);
    }
    let values = vector.iter().map(|x| (x / most * 127.0).round() as i8);
    (values.collect(), most / 127.0 / length)
}

/// What the vectors of a model are kept under. Those of another length or with
/// other settings belong to another model, whatever it calls itself.
pub(super) fn model_key(encoder: &dyn Encoder) -> String {
    let key = format!("{} ({})", encoder.id(), encoder.dimensions());
    match encoder.fingerprint() {
        Some(fingerprint) => format!("{key} {fingerprint}"),
        None => key,
    }
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
    /// How many will have none, because the model refused them.
    pub(crate) refused: usize,
}

impl Matrix {
    /// The cosine of a vector with that of each slot; none without one.
    pub(crate) fn cosines(&self, vector: &[f32]) -> Vec<Option<f32>> {
        let (query, scale) = quantised(vector);
        // Widened once, not for each chunk.
        let query: Vec<i16> = query.into_iter().map(i16::from).collect();
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

    /// The cosine of two slots' vectors, where both have one.
    pub(crate) fn alike(&self, a: usize, b: usize) -> Option<f32> {
        let scale = self.scales[a] * self.scales[b];
        (scale > 0.0).then(|| (self.dot(a, self.row(b)) * scale).clamp(-1.0, 1.0))
    }

    fn row(&self, slot: usize) -> &[i8] {
        &self.values[slot * self.dimensions..(slot + 1) * self.dimensions]
    }

    fn dot(&self, slot: usize, other: &[impl Copy + Into<i32>]) -> f32 {
        let sum: i32 = self
            .row(slot)
            .iter()
            .zip(other)
            .map(|(a, b)| i32::from(*a) * (*b).into())
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
            refused: 0,
        };
        let mut slots: HashMap<i64, Vec<usize>> = HashMap::new();
        for (slot, extent) in shape.extents.iter().enumerate() {
            slots.entry(extent.hash).or_default().push(slot);
        }
        let sql = "SELECT hash, scale, vector FROM vector JOIN model ON model.id = model
                   WHERE name = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([model])?;
        while let Some(row) = rows.next()? {
            let (hash, scale): (i64, f64) = (row.get(0)?, row.get(1)?);
            let vector = row.get_ref(2)?.as_blob()?;
            for &slot in slots.get(&hash).into_iter().flatten() {
                if vector.len() != dimensions {
                    matrix.refused += 1;
                    continue;
                }
                let row = &mut matrix.values[slot * dimensions..(slot + 1) * dimensions];
                for (value, byte) in row.iter_mut().zip(vector) {
                    *value = i8::from_le_bytes([*byte]);
                }
                matrix.scales[slot] = scale as f32;
                matrix.known += 1;
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
            &model_key(&*encoder),
            encoder.dimensions(),
            vectors,
        )
        .map_err(&sqlite)?;
        let matrix = Arc::new(matrix);
        self.matrix = Some(matrix.clone());
        Ok(Some(matrix))
    }

    pub(crate) fn make_vectors(
        &mut self,
        limit: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, IndexError> {
        let Some(encoder) = self.encoder.clone() else {
            return Ok(0);
        };
        let sqlite = self.sqlite();
        let name = model_key(&*encoder);
        let dimensions = encoder.dimensions();
        let missing = self.missing(&name).map_err(&sqlite)?;
        let total = missing.len() as u64;
        let mut done = 0;
        progress(0, total);
        let now = missing
            .len()
            .min(usize::try_from(limit).unwrap_or(usize::MAX));
        for batch in missing[..now].chunks(BATCH) {
            let texts = self.texts_of(batch).map_err(&sqlite)?;
            let said: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            let vectors = encoder.encode_each(&said)?;
            let made = vectors.iter().flatten();
            if vectors.len() != said.len() || made.into_iter().any(|one| one.len() != dimensions) {
                return Err(IndexError::Encoder {
                    model: encoder.id().to_owned(),
                    reason: format!(
                        "it gave vectors of another number or length than the {} of {dimensions} \
                         it says",
                        said.len(),
                    ),
                });
            }
            let hashes = texts.iter().map(|(hash, _)| *hash);
            self.store(&name, hashes.zip(vectors)).map_err(&sqlite)?;
            done += batch.len() as u64;
            progress(done, total);
        }
        if done == total {
            self.drop_unused(encoder.id(), &name).map_err(&sqlite)?;
        }
        let left: HashSet<i64> = missing[now..].iter().map(|(hash, _)| *hash).collect();
        let left = |extent: &&super::shape::Extent| left.contains(&extent.hash);
        Ok(self.shape_now()?.extents.iter().filter(left).count() as u64)
    }

    /// The texts without a vector of a model: the hash of each, and the first chunk
    /// that says it.
    fn missing(&self, model: &str) -> rusqlite::Result<Vec<(i64, i64)>> {
        let sql = "SELECT hash, min(id) FROM chunk WHERE hash NOT IN
                   (SELECT hash FROM vector JOIN model ON model.id = model WHERE name = ?1)
                   GROUP BY hash ORDER BY 2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let missing = statement.query_map([model], |row| Ok((row.get(0)?, row.get(1)?)))?;
        missing.collect()
    }

    /// The texts of chunks, each with its hash; without those that are gone.
    fn texts_of(&self, chunks: &[(i64, i64)]) -> rusqlite::Result<Vec<(i64, String)>> {
        let _view = self.connection.unchecked_transaction()?;
        let mut texts = Vec::new();
        for (hash, id) in chunks {
            let sql = "SELECT 1 FROM chunk WHERE id = ?1 AND hash = ?2";
            if self.connection.prepare_cached(sql)?.exists([id, hash])? {
                texts.push((*hash, self.text_at(*id)?));
            }
        }
        Ok(texts)
    }

    /// Writes vectors of a model; none for a text that it refused.
    fn store(
        &mut self,
        model: &str,
        vectors: impl Iterator<Item = (i64, Option<Vec<f32>>)>,
    ) -> rusqlite::Result<()> {
        self.change_vectors(|transaction| {
            transaction.execute("INSERT OR IGNORE INTO model (name) VALUES (?1)", [model])?;
            let sql = "SELECT id FROM model WHERE name = ?1";
            let model: i64 = transaction.query_row(sql, [model], |row| row.get(0))?;
            for (hash, vector) in vectors {
                let (values, scale) = vector.as_deref().map_or_else(Default::default, quantised);
                let bytes: Vec<u8> = values.iter().map(|value| value.to_le_bytes()[0]).collect();
                // Another process may have made some of them meanwhile.
                let sql = "INSERT OR IGNORE INTO vector VALUES (?1, ?2, ?3, ?4)";
                let values = params![model, hash, f64::from(scale), bytes];
                transaction.prepare_cached(sql)?.execute(values)?;
            }
            Ok(())
        })
    }

    /// Changes vectors as a whole or not at all, and counts that they changed.
    fn change_vectors(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        const COUNT: &str = "INSERT INTO meta VALUES ('vectors', 1)
                             ON CONFLICT (name) DO UPDATE SET value = value + 1";
        let connection = &mut self.connection;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        change(&transaction)?;
        transaction.execute(COUNT, [])?;
        transaction.commit()
    }

    /// Sends one of the texts again that the model refused, and forgets that it
    /// refused any where that one is taken: the model may have been set up anew.
    pub fn try_refused(&mut self) -> Result<(), IndexError> {
        let Some(encoder) = self.encoder.clone() else {
            return Ok(());
        };
        let sqlite = self.sqlite();
        let name = model_key(&*encoder);
        let refused = "vector = x'' AND model = (SELECT id FROM model WHERE name = ?1)";
        let first = || -> rusqlite::Result<Option<String>> {
            let _view = self.connection.unchecked_transaction()?;
            let sql = format!(
                "SELECT chunk.id FROM vector JOIN chunk ON chunk.hash = vector.hash
                 WHERE {refused} LIMIT 1"
            );
            let id = self.connection.query_row(&sql, [&name], |row| row.get(0));
            id.optional()?.map(|id| self.text_at(id)).transpose()
        };
        let Some(text) = first().map_err(&sqlite)? else {
            return Ok(());
        };
        if encoder.encode_each(&[&text])?.iter().any(Option::is_none) {
            return Ok(());
        }
        let forget = format!("DELETE FROM vector WHERE {refused}");
        self.change_vectors(|transaction| transaction.execute(&forget, [&name]).map(drop))
            .map_err(&sqlite)
    }

    /// Takes out, now that every text has a vector, what a model of this id made in
    /// another form, and vectors whose texts are gone, where they are many. Those of
    /// other models stay: who goes back to one need not make them again.
    fn drop_unused(&mut self, id: &str, name: &str) -> rusqlite::Result<()> {
        let unused = "hash NOT IN (SELECT hash FROM chunk)";
        let count = |sql: &str| -> rusqlite::Result<i64> {
            self.connection.query_row(sql, [], |row| row.get(0))
        };
        let gone = count(&format!("SELECT count(*) FROM vector WHERE {unused}"))?;
        let many = gone >= FEW_UNUSED && gone * 8 >= count("SELECT count(*) FROM vector")?;
        let sql = "SELECT id FROM model WHERE name <> ?1 AND substr(name, 1, length(?2)) = ?2";
        let outdated: Vec<i64> = self
            .connection
            .prepare_cached(sql)?
            .query_map([name, &format!("{id} (")], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        if outdated.is_empty() && !many {
            return Ok(());
        }
        self.change_vectors(|transaction| {
            for model in outdated {
                transaction.execute("DELETE FROM vector WHERE model = ?1", [model])?;
                transaction.execute("DELETE FROM model WHERE id = ?1", [model])?;
            }
            if many {
                transaction.execute(&format!("DELETE FROM vector WHERE {unused}"), [])?;
            }
            Ok(())
        })?;
        schema::give_back(&self.connection)
    }
}

/// So few vectors of no text may stay.
const FEW_UNUSED: i64 = 64;

fn vector_changes(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT coalesce(max(value), 0) FROM meta WHERE name = 'vectors'")?
        .query_row([], |row| row.get(0))
}
