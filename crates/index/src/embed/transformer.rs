//! A small transformer encoder of BERT's form, such as all-MiniLM-L6-v2, run
//! here: six layers of plain matrix products.
//!
//! A runtime for any network would be forty times the code and a dynamic
//! library or two hundred crates; the form of these models has not changed
//! since 2018.

use std::path::Path;
use std::thread;

use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};
use serde::{Deserialize, Serialize};

use super::safetensors::Tensors;
use super::tokenizer::Tokenizer;
use super::{Encoder, EncoderKind};
use crate::error::IndexError;

/// The fields of `config.json` that matter: each changes what comes out, so all
/// are in the fingerprint.
#[derive(Deserialize, Serialize)]
struct Config {
    model_type: String,
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    vocab_size: usize,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: String,
}

fn epsilon() -> f32 {
    1e-12
}

impl Config {
    /// The same for files that say the same, however they are written.
    fn fingerprint(&self) -> String {
        let fields = serde_json::to_vec(self).expect("a config is plain data");
        blake3::hash(&fields).to_hex()[..8].to_owned()
    }
}

/// `x W + b`, with W turned so that rows of x stay rows.
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    fn apply(&self, x: &ArrayView2<'_, f32>) -> Array2<f32> {
        x.dot(&self.weight.t()) + &self.bias
    }
}

struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Norm {
    fn apply(&self, mut x: Array2<f32>) -> Array2<f32> {
        for mut row in x.rows_mut() {
            let count = row.len() as f32;
            let mean = row.sum() / count;
            let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            row.iter_mut()
                .zip(&self.weight)
                .zip(&self.bias)
                .for_each(|((value, weight), bias)| {
                    *value = (*value - mean) * scale * weight + bias
                });
        }
        x
    }
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    output_norm: Norm,
    up: Linear,
    down: Linear,
    down_norm: Norm,
}

/// A transformer encoder.
pub(super) struct Transformer {
    id: String,
    fingerprint: String,
    dimensions: usize,
    heads: usize,
    longest: usize,
    words: Array2<f32>,
    /// Positions with the vector of the only segment added.
    positions: Array2<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    tokenizer: Tokenizer,
    threads: usize,
}

/// Reads tensors under whatever prefix a file puts before their names.
struct Reader<'a> {
    tensors: &'a Tensors,
    prefix: String,
    epsilon: f32,
}

impl Reader<'_> {
    fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, IndexError> {
        let name = format!("{}{name}", self.prefix);
        Ok(Array1::from_vec(self.tensors.get(&name, &[length])?))
    }

    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, IndexError> {
        let name = format!("{}{name}", self.prefix);
        let values = self.tensors.get(&name, &[rows, columns])?;
        Ok(Array2::from_shape_vec((rows, columns), values).expect("the shape was checked"))
    }

    fn linear(&self, name: &str, to: usize, from: usize) -> Result<Linear, IndexError> {
        Ok(Linear {
            weight: self.matrix(&format!("{name}.weight"), to, from)?,
            bias: self.vector(&format!("{name}.bias"), to)?,
        })
    }

    fn norm(&self, name: &str, length: usize) -> Result<Norm, IndexError> {
        Ok(Norm {
            weight: self.vector(&format!("{name}.weight"), length)?,
            bias: self.vector(&format!("{name}.bias"), length)?,
            epsilon: self.epsilon,
        })
    }

    fn layer(&self, number: usize, config: &Config) -> Result<Layer, IndexError> {
        let size = config.hidden_size;
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"), size, size)?,
            key: self.linear(&name("attention.self.key"), size, size)?,
            value: self.linear(&name("attention.self.value"), size, size)?,
            output: self.linear(&name("attention.output.dense"), size, size)?,
            output_norm: self.norm(&name("attention.output.LayerNorm"), size)?,
            up: self.linear(&name("intermediate.dense"), config.intermediate_size, size)?,
            down: self.linear(&name("output.dense"), size, config.intermediate_size)?,
            down_norm: self.norm(&name("output.LayerNorm"), size)?,
        })
    }
}

impl Transformer {
    pub(super) fn open(
        id: String,
        folder: &Path,
        config: &str,
        tensors: &Tensors,
        tokenizer: Tokenizer,
        threads: usize,
    ) -> Result<Transformer, IndexError> {
        const REMEDY: &str = "encoders of BERT's form can be used, such as all-MiniLM-L6-v2";
        let bad = |reason: String| IndexError::model(folder, reason, REMEDY);
        let config: Config = serde_json::from_str(config).map_err(|error| {
            bad(format!(
                "its config.json does not describe an encoder ({error})"
            ))
        })?;
        if config.model_type != "bert" || !matches!(config.hidden_act.as_str(), "gelu" | "") {
            return Err(bad(format!(
                "it is of the type {} with the activation {}",
                config.model_type, config.hidden_act
            )));
        }
        let (size, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || !size.is_multiple_of(heads) || config.max_position_embeddings < 8 {
            return Err(bad(format!(
                "{size} dimensions cannot be shared by {heads} heads"
            )));
        }
        if config.vocab_size < tokenizer.size() {
            return Err(bad(format!(
                "it has vectors for {} tokens and a vocabulary of {}",
                config.vocab_size,
                tokenizer.size()
            )));
        }
        let prefix = tensors
            .names()
            .find_map(|name| Some(name.strip_suffix(WORDS)?.to_owned()))
            .ok_or_else(|| {
                bad(String::from(
                    "it has no tensor embeddings.word_embeddings.weight",
                ))
            })?;
        let layers = layers_in(tensors, &prefix);
        if config.num_hidden_layers != layers || layers == 0 {
            let reason = format!(
                "its config.json says {} layers (num_hidden_layers) and its weights have {layers}",
                config.num_hidden_layers
            );
            let remedy = "get the config.json that belongs to its weights";
            return Err(IndexError::model(folder, reason, remedy));
        }
        let reader = Reader {
            tensors,
            prefix,
            epsilon: config.layer_norm_eps,
        };
        let mut positions = reader.matrix(
            "embeddings.position_embeddings.weight",
            config.max_position_embeddings,
            size,
        )?;
        let segments = reader.matrix(
            "embeddings.token_type_embeddings.weight",
            config.type_vocab_size,
            size,
        )?;
        positions += &segments.row(0);
        Ok(Transformer {
            id,
            fingerprint: config.fingerprint(),
            dimensions: size,
            heads,
            longest: config.max_position_embeddings,
            words: reader.matrix(WORDS, config.vocab_size, size)?,
            positions,
            norm: reader.norm("embeddings.LayerNorm", size)?,
            layers: (0..config.num_hidden_layers)
                .map(|number| reader.layer(number, &config))
                .collect::<Result<_, _>>()?,
            tokenizer,
            threads: threads.max(1),
        })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut ids: Vec<u32> = self.tokenizer.first.into_iter().collect();
        ids.extend(self.tokenizer.tokens(text, self.longest - 2));
        ids.extend(self.tokenizer.last);
        if ids.is_empty() {
            return vec![0.0; self.dimensions];
        }
        let mut x = Array2::zeros((ids.len(), self.dimensions));
        for (at, (id, mut row)) in ids.iter().zip(x.rows_mut()).enumerate() {
            row.assign(&self.words.row(*id as usize));
            row += &self.positions.row(at);
        }
        let mut x = self.norm.apply(x);
        for layer in &self.layers {
            let attended = self.attention(layer, &x);
            x = layer
                .output_norm
                .apply(layer.output.apply(&attended.view()) + &x);
            let mut up = layer.up.apply(&x.view());
            up.mapv_inplace(gelu);
            x = layer.down_norm.apply(layer.down.apply(&up.view()) + &x);
        }
        let mean = x.sum_axis(Axis(0));
        let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
        mean.iter().map(|value| value / length.max(1e-12)).collect()
    }

    fn attention(&self, layer: &Layer, x: &Array2<f32>) -> Array2<f32> {
        let query = layer.query.apply(&x.view());
        let key = layer.key.apply(&x.view());
        let value = layer.value.apply(&x.view());
        let width = self.dimensions / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut out = Array2::zeros(x.dim());
        for head in 0..self.heads {
            let part = Slice::from(head * width..(head + 1) * width);
            let mut scores = query
                .slice_axis(Axis(1), part)
                .dot(&key.slice_axis(Axis(1), part).t());
            for mut row in scores.rows_mut() {
                let most = row.fold(f32::MIN, |most, value| most.max(*value));
                row.mapv_inplace(|value| ((value - most) * scale).exp());
                let sum = row.sum();
                row.mapv_inplace(|value| value / sum);
            }
            out.slice_axis_mut(Axis(1), part)
                .assign(&scores.dot(&value.slice_axis(Axis(1), part)));
        }
        out
    }
}

/// The vectors of the vocabulary.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// How many layers the weights have. A model that is run with fewer gives
/// vectors too, of no use to anyone.
fn layers_in(tensors: &Tensors, prefix: &str) -> usize {
    let number = |name: String| -> Option<usize> {
        let rest = name.strip_prefix(prefix)?.strip_prefix("encoder.layer.")?;
        rest.split_once('.')?.0.parse().ok()
    };
    tensors
        .names()
        .filter_map(number)
        .max()
        .map_or(0, |last| last.saturating_add(1))
}

/// The Gaussian error linear unit, with erf to seven digits (Abramowitz and
/// Stegun 7.1.26).
fn gelu(x: f32) -> f32 {
    let z = (x * std::f32::consts::FRAC_1_SQRT_2).abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t
        + 0.254_829_6)
        * t;
    let erf = (1.0 - series * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}

impl Encoder for Transformer {
    fn id(&self) -> &str {
        &self.id
    }

    fn fingerprint(&self) -> Option<&str> {
        Some(&self.fingerprint)
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let threads = self.threads.min(texts.len());
        if threads < 2 {
            return Ok(texts.iter().map(|text| self.vector(text)).collect());
        }
        // Dealt out in turns, so that no thread has all the long ones.
        let mut vectors = vec![Vec::new(); texts.len()];
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|first| {
                    scope.spawn(move || -> Vec<(usize, Vec<f32>)> {
                        let own = (first..texts.len()).step_by(threads);
                        own.map(|at| (at, self.vector(texts[at]))).collect()
                    })
                })
                .collect();
            for worker in workers {
                let done = worker.join().map_err(|_| IndexError::Encoder {
                    model: self.id.clone(),
                    reason: String::from("one of its threads failed"),
                })?;
                for (at, vector) in done {
                    vectors[at] = vector;
                }
            }
            Ok::<(), IndexError>(())
        })?;
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::gelu;

    #[test]
    fn gelu_is_that_of_the_paper() {
        for (x, y) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_26),
            (3.0, 2.995_950_2),
            (-0.5, -0.154_268_77),
        ] {
            assert!((gelu(x) - y).abs() < 2e-6, "{x}");
        }
    }
}
