//! Static models: one vector a token, averaged. Model2vec and WordLlama.

use std::path::Path;

use super::safetensors::Tensors;
use super::tokenizer::Tokenizer;
use super::{Encoder, EncoderKind};
use crate::error::IndexError;

/// Names under which the two layouts keep their table.
const TABLES: [&str; 2] = ["embeddings", "embedding.weight"];

/// More tokens than this of one text are not looked at.
const MOST_TOKENS: usize = 2_048;

/// A static model.
pub(super) struct Table {
    id: String,
    dimensions: usize,
    rows: Vec<f32>,
    /// What a token counts, where the model says.
    weights: Option<Vec<f32>>,
    tokenizer: Tokenizer,
}

impl Table {
    /// Whether these weights are a table.
    pub(super) fn fits(tensors: &Tensors) -> bool {
        TABLES.iter().any(|name| tensors.shape(name).is_some())
    }

    pub(super) fn open(
        id: String,
        folder: &Path,
        tensors: &Tensors,
        tokenizer: Tokenizer,
    ) -> Result<Table, IndexError> {
        const REMEDY: &str = "its weights and its tokenizer must come from the same model";
        let bad = |reason: String| IndexError::model(folder, reason, REMEDY);
        let found = TABLES
            .iter()
            .find_map(|name| Some((*name, tensors.shape(name)?)));
        let Some((name, &[size, dimensions])) = found else {
            return Err(bad(String::from("it has no table of vectors")));
        };
        // A few rows more are ordinary: tables are filled up to an even number.
        if size < tokenizer.size() || size / 2 >= tokenizer.size() {
            return Err(bad(format!(
                "its table has {size} vectors for a vocabulary of {}",
                tokenizer.size()
            )));
        }
        let weights = match tensors.shape("weights") {
            Some(&[count]) if count >= tokenizer.size() => Some(tensors.get("weights", &[count])?),
            _ => None,
        };
        Ok(Table {
            id,
            dimensions,
            rows: tensors.get(name, &[size, dimensions])?,
            weights,
            tokenizer,
        })
    }
}

impl Encoder for Table {
    fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Static
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let vectors = texts.iter().map(|text| {
            let mut sum = vec![0f32; self.dimensions];
            for id in self.tokenizer.tokens(text, MOST_TOKENS) {
                if self.tokenizer.is_unknown(id) {
                    continue;
                }
                let at = id as usize;
                let weight = self.weights.as_ref().map_or(1.0, |weights| weights[at]);
                let row = &self.rows[at * self.dimensions..(at + 1) * self.dimensions];
                for (sum, value) in sum.iter_mut().zip(row) {
                    *sum += weight * value;
                }
            }
            sum
        });
        Ok(vectors.collect())
    }
}
