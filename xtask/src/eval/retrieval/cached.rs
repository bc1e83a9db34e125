//! A model whose vectors are remembered below `target`: making them for a
//! whole corpus takes many minutes, and they never change.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_index::{Encoder, EncoderKind, IndexError};

use crate::{Result, paths};

type Key = [u8; 16];

pub(in crate::eval) struct Cached {
    inner: Arc<dyn Encoder>,
    known: Mutex<(HashMap<Key, Vec<f32>>, File)>,
    made: Mutex<(u64, Duration)>,
}

impl Cached {
    pub(in crate::eval) fn new(inner: Arc<dyn Encoder>) -> Result<Cached> {
        let folder = paths::target().join("xtask/vectors");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.bin", inner.id().replace(['/', '@', ':'], "-")));
        let mut known = HashMap::new();
        let bytes = fs::read(&path).unwrap_or_default();
        let size = 16 + inner.dimensions() * 4;
        for record in bytes.chunks_exact(size) {
            let (key, vector) = record.split_at(16);
            let numbers = vector.chunks_exact(4);
            let vector = numbers.filter_map(|four| Some(f32::from_le_bytes(four.try_into().ok()?)));
            known.insert(key.try_into()?, vector.collect());
        }
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        // What a killed run left of its last vector would shift all others.
        file.set_len((bytes.len() - bytes.len() % size) as u64)?;
        Ok(Cached {
            inner,
            known: Mutex::new((known, file)),
            made: Mutex::default(),
        })
    }

    /// How many vectors were made in this run, and in what time.
    pub(super) fn made(&self) -> (u64, Duration) {
        self.made.lock().map(|made| *made).unwrap_or_default()
    }
}

fn key(text: &str) -> Key {
    let mut key = [0; 16];
    key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    key
}

impl Encoder for Cached {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn kind(&self) -> EncoderKind {
        self.inner.kind()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let failed = |reason: String| IndexError::Encoder {
            model: self.inner.id().to_owned(),
            reason,
        };
        let mut known = self
            .known
            .lock()
            .map_err(|error| failed(error.to_string()))?;
        let missing: Vec<&str> = texts
            .iter()
            .filter(|text| !known.0.contains_key(&key(text)))
            .copied()
            .collect();
        if !missing.is_empty() {
            let start = Instant::now();
            let vectors = self.inner.encode(&missing)?;
            if let Ok(mut made) = self.made.lock() {
                made.0 += missing.len() as u64;
                made.1 += start.elapsed();
            }
            let mut bytes = Vec::new();
            for (text, vector) in missing.iter().zip(vectors) {
                bytes.extend(key(text));
                bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
                known.0.insert(key(text), vector);
            }
            known
                .1
                .write_all(&bytes)
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(texts
            .iter()
            .map(|text| known.0[&key(text)].clone())
            .collect())
    }
}
