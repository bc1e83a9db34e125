//! Vectors: made in the background, kept by the hash of their text and the
//! model that made them, compared by brute force.
//!
//! Half a byte a dimension on disk, where vectors would otherwise be a third as
//! large as their text, and less for a short text; one byte in memory. At 100,000 chunks a search
//! reads 38 MB, which takes a few milliseconds; an approximate index would take minutes
//! to build and be worth it past a million.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::bits::{
    MOST_BITS, SKETCH, bits_for, length_in, quantised, restored, sketch_of, stored, stored_length,
};
use super::room::Form;
use super::{IndexError, Shape, SqliteIndex, packs, schema};
use crate::embed::Encoder;

/// From so many chunks on they are compared by several threads, which else take
/// longer to begin than the work does.
const WORTH_THREADS: usize = 8_000;
const THREADS: usize = 4;

/// How many chunks are encoded before their vectors are stored.
const BATCH: u64 = 32;

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
    /// How many bits a dimension each is kept in; none without one.
    bits: Vec<Option<u8>>,
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

    /// The cosine of two slots' vectors; none where one is a sketch, of which two
    /// say little of each other.
    pub(crate) fn alike(&self, a: usize, b: usize) -> Option<f32> {
        let is_known = |slot: usize| self.bits[slot].is_some_and(|bits| bits != SKETCH);
        (is_known(a) && is_known(b)).then(|| {
            let cosine = self.dot(a, self.row(b)) * self.scales[a] * self.scales[b];
            cosine.clamp(-1.0, 1.0)
        })
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
            bits: vec![None; shape.slots.len()],
            known: 0,
            refused: 0,
        };
        let Some(model) = packs::model(connection, model)? else {
            return Ok(matrix);
        };
        let by_key = |bits: u8| {
            let extents = shape.extents.iter().zip(0u32..);
            let keyed = extents.map(|(extent, slot)| (packs::key(extent.hash, bits), slot));
            let mut keyed: Vec<(u64, u32)> = keyed.collect();
            keyed.sort_unstable();
            keyed
        };
        let (whole, mut parts) = (by_key(MOST_BITS), None);
        packs::each(
            connection,
            model,
            &length_in(dimensions),
            |key, bits, blob| {
                let by_key = match bits {
                    SKETCH => parts.get_or_insert_with(|| by_key(SKETCH)),
                    _ => &whole,
                };
                let first = by_key.partition_point(|(own, _)| *own < key);
                let same = by_key[first..].iter().take_while(|(own, _)| *own == key);
                for &(_, slot) in same {
                    let slot = slot as usize;
                    // A whole vector goes before a sketch.
                    if matrix.bits[slot] < Some(bits) {
                        let row = &mut matrix.values[slot * dimensions..(slot + 1) * dimensions];
                        matrix.scales[slot] = restored(blob, bits, row);
                        matrix.bits[slot] = Some(bits);
                    }
                }
            },
        )?;
        matrix.known = matrix.bits.iter().flatten().count();
        let refused = packs::refused(connection, model)?;
        let without = shape.extents.iter().zip(&matrix.bits);
        let without = without.filter(|(extent, bits)| {
            bits.is_none() && refused.contains(&extent.hash) && shape.form(extent) != Form::Bare
        });
        matrix.refused = without.count();
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
        let dimensions = encoder.dimensions();
        let length = length_in(dimensions);
        self.make_room(&name, dimensions)?;
        let mut written = vector_changes(&self.connection).map_err(&sqlite)?;
        let mut known = self.with_vector(&*encoder).map_err(&sqlite)?;
        let mut done = 0;
        let mut cursor = Cursor::default();
        let (_, total) = self.without_vector(&known)?;
        progress(0, total);
        while done < limit {
            let batch = self.next_without(&known, &mut cursor, BATCH.min(limit - done))?;
            if batch.is_empty() {
                break;
            }
            let texts: Vec<&str> = batch.iter().map(|one| one.text.as_str()).collect();
            let vectors = encoder.encode_each(&texts)?;
            let made = vectors.iter().flatten();
            if vectors.len() != texts.len() || made.into_iter().any(|one| one.len() != dimensions) {
                return Err(IndexError::Encoder {
                    model: encoder.id().to_owned(),
                    reason: format!(
                        "it gave vectors of another number or length than the {} of {dimensions} \
                         it says",
                        texts.len(),
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
                    known = packs::known(&transaction, model, &length)?;
                }
                for bits in [SKETCH, 1, 2, MOST_BITS] {
                    let of_bits = batch
                        .iter()
                        .zip(&vectors)
                        .filter(|(one, _)| one.bits == bits);
                    let of_bits = of_bits.filter_map(|(one, made)| Some((one, made.as_ref()?)));
                    let new: packs::Vectors = of_bits
                        .filter(|(one, _)| known.insert(one.hash, bits))
                        .map(|(one, vector)| (one.hash, stored(vector, bits)))
                        .collect();
                    if !new.is_empty() {
                        let length = stored_length(dimensions, bits);
                        packs::append(&transaction, model, bits, length, &new)?;
                    }
                }
                let refused = batch
                    .iter()
                    .zip(&vectors)
                    .filter(|(_, made)| made.is_none());
                let refused = refused.map(|(one, _)| one.hash);
                let refused: Vec<u64> = refused
                    .filter(|hash| known.insert(*hash, packs::REFUSED))
                    .collect();
                if !refused.is_empty() {
                    packs::refuse(&transaction, model, &refused)?;
                }
                mark_vectors(&transaction)?;
                written = vector_changes(&transaction)?;
                transaction.commit()
            };
            write().map_err(&sqlite)?;
            done += batch.len() as u64;
            progress(done, total);
        }
        let (chunks, _) = self.without_vector(&known)?;
        if chunks == 0 {
            self.drop_outdated(encoder.id(), &name)?;
            self.drop_unused(&known, &name, dimensions)?;
        }
        Ok(chunks)
    }

    /// Sends one of the texts again that the model refused, and forgets that it
    /// refused any where that one is taken: the model may have been set up anew.
    pub fn try_refused(&mut self) -> Result<(), IndexError> {
        let Some(encoder) = self.encoder.clone() else {
            return Ok(());
        };
        let sqlite = self.sqlite();
        let known = self.with_vector(&*encoder).map_err(&sqlite)?;
        self.begin()?;
        let text = self.first_refused(&known);
        self.end();
        let Some(text) = text? else {
            return Ok(());
        };
        if encoder.encode_each(&[&text])?.iter().any(Option::is_none) {
            return Ok(());
        }
        let name = model_key(&*encoder);
        let mut forget = || -> rusqlite::Result<()> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(model) = packs::model(&transaction, &name)? {
                packs::forget_refused(&transaction, model)?;
                mark_vectors(&transaction)?;
            }
            transaction.commit()
        };
        forget().map_err(sqlite)
    }

    /// A text that was refused and is still there.
    fn first_refused(&mut self, known: &packs::Known) -> Result<Option<String>, IndexError> {
        let shape = self.shape_now()?;
        let mut extents = shape.extents.iter();
        let refused = extents.find(|extent| known.is_refused(extent.hash, shape.form(extent)));
        refused
            .map(|extent| self.text_at(extent.at, extent.length))
            .transpose()
            .map_err(self.failed())
    }

    /// Takes out what a model of this id made in another form, now that every text
    /// has a vector in this one. Those of other models stay: who goes back to one
    /// need not make them again.
    fn drop_outdated(&mut self, id: &str, name: &str) -> Result<(), IndexError> {
        let sqlite = self.sqlite();
        let outdated = |connection: &Connection| -> rusqlite::Result<Vec<i64>> {
            let mut statement = connection.prepare_cached("SELECT id, name FROM model")?;
            let all = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let all: Vec<(i64, String)> = all.collect::<rusqlite::Result<_>>()?;
            let is_outdated = |other: &str| {
                let form = other.strip_prefix(id);
                other != name && form.is_some_and(|form| form.starts_with(" ("))
            };
            let all = all.into_iter().filter(|(_, other)| is_outdated(other));
            Ok(all.map(|(model, _)| model).collect())
        };
        let mut drop = || -> rusqlite::Result<()> {
            if outdated(&self.connection)?.is_empty() {
                return Ok(());
            }
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for model in outdated(&transaction)? {
                transaction.execute("DELETE FROM vector WHERE model = ?1", [model])?;
                transaction.execute("DELETE FROM model WHERE id = ?1", [model])?;
            }
            mark_vectors(&transaction)?;
            transaction.commit()?;
            schema::give_back(&self.connection)
        };
        drop().map_err(sqlite)
    }

    /// Takes vectors out whose texts are gone, where they are many.
    fn drop_unused(
        &mut self,
        known: &packs::Known,
        model: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        let shape = self.shape_now()?;
        let mut used = packs::Known::default();
        // Of whole ones for which there is no room any more a sketch stays.
        let mut outgrown = HashSet::new();
        for extent in &shape.extents {
            match shape.form(extent) {
                Form::Whole => {
                    used.insert(extent.hash, MOST_BITS);
                }
                Form::Sketch => {
                    used.insert(extent.hash, SKETCH);
                    if !known.has_key(packs::key(extent.hash, SKETCH), SKETCH) {
                        outgrown.insert(extent.hash);
                    }
                }
                Form::Bare => {}
            }
        }
        let (all, unused) = known.unused(&used);
        if unused < FEW_UNUSED || unused * 8 < all {
            return Ok(());
        }
        let mut drop = || -> rusqlite::Result<()> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changes: i64 = transaction.query_row(
                "SELECT value FROM meta WHERE name = 'changes'",
                [],
                |row| row.get(0),
            )?;
            // What came meanwhile may need them; there will be another time.
            let model = packs::model(&transaction, model)?.filter(|_| changes == shape.changes);
            if let Some(model) = model {
                let length = length_in(dimensions);
                let mut sketches = packs::Vectors::new();
                packs::each(&transaction, model, &length, |hash, bits, blob| {
                    if bits != SKETCH && outgrown.remove(&hash) {
                        sketches.push((hash, sketch_of(blob, bits, dimensions)));
                    }
                })?;
                let sketch = stored_length(dimensions, SKETCH);
                packs::append(&transaction, model, SKETCH, sketch, &sketches)?;
                packs::retain(&transaction, model, &length, &used)?;
                mark_vectors(&transaction)?;
                transaction.commit()?;
                schema::give_back(&self.connection)?;
            }
            Ok(())
        };
        drop().map_err(self.sqlite())
    }

    /// The hashes of all texts that have a vector of a model.
    pub(super) fn with_vector(&self, encoder: &dyn Encoder) -> rusqlite::Result<packs::Known> {
        match packs::model(&self.connection, &model_key(encoder))? {
            Some(model) => packs::known(&self.connection, model, &length_in(encoder.dimensions())),
            None => Ok(packs::Known::default()),
        }
    }

    /// How many chunks have none of these and are still to have one, and how many
    /// texts they are: some say the same.
    pub(super) fn without_vector(
        &mut self,
        known: &packs::Known,
    ) -> Result<(u64, u64), IndexError> {
        let shape = self.shape_now()?;
        let mut chunks = 0;
        let mut texts = HashSet::new();
        for extent in &shape.extents {
            if known.lacks(extent.hash, shape.form(extent)) {
                chunks += 1;
                texts.insert(extent.hash);
            }
        }
        Ok((chunks, texts.len() as u64))
    }

    /// The next texts that have none of these; of those that say the same the
    /// first.
    fn next_without(
        &mut self,
        known: &packs::Known,
        cursor: &mut Cursor,
        limit: u64,
    ) -> Result<Vec<Waiting>, IndexError> {
        // One view of the chunks and their texts.
        self.begin()?;
        let found = self.waiting(known, cursor, limit);
        self.end();
        found
    }

    fn waiting(
        &mut self,
        known: &packs::Known,
        cursor: &mut Cursor,
        limit: u64,
    ) -> Result<Vec<Waiting>, IndexError> {
        let dimensions = self.encoder().map_or(0, |encoder| encoder.dimensions());
        let shape = self.shape_now()?;
        if cursor.changes != Some(shape.changes) {
            *cursor = Cursor {
                changes: Some(shape.changes),
                next: 0,
            };
        }
        let mut found = Vec::new();
        let mut taken = HashSet::new();
        while (found.len() as u64) < limit
            && let Some(extent) = shape.extents.get(cursor.next)
        {
            cursor.next += 1;
            let form = shape.form(extent);
            if !known.lacks(extent.hash, form) || !taken.insert(extent.hash) {
                continue;
            }
            found.push(Waiting {
                hash: extent.hash,
                bits: match form {
                    Form::Whole => bits_for(extent.length, dimensions),
                    Form::Sketch | Form::Bare => SKETCH,
                },
                text: self
                    .text_at(extent.at, extent.length)
                    .map_err(self.failed())?,
            });
        }
        Ok(found)
    }
}

/// A text that has no vector yet.
struct Waiting {
    hash: u64,
    bits: u8,
    text: String,
}

/// How far one has come in a state of the index.
#[derive(Default)]
struct Cursor {
    changes: Option<i64>,
    next: usize,
}

/// So few vectors of no text may stay.
const FEW_UNUSED: usize = 64;

fn mark_vectors(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction
        .execute(
            "INSERT INTO meta VALUES ('vectors', 1)
             ON CONFLICT (name) DO UPDATE SET value = value + 1",
            [],
        )
        .map(drop)
}

fn vector_changes(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT coalesce(max(value), 0) FROM meta WHERE name = 'vectors'")?
        .query_row([], |row| row.get(0))
}
