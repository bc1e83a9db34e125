//! Who writes the prose.

use std::collections::HashMap;

use longhaul_tokens::{Counter, Tokens};
use serde::Serialize;
use thiserror::Error;

use super::material::Material;

/// Changes whenever a prompt does, so that cached results of an older one are
/// not used.
pub const PROMPT_VERSION: u32 = 2;

/// What a summarizer is asked for.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What there is.
    pub material: &'a Material<'a>,
    /// How long the prose may be.
    pub budget: Tokens,
    /// How it is counted.
    pub counter: &'a dyn Counter,
}

/// Writes the prose of a summary. It cannot fail: one that depends on something
/// that can falls back to the extractive summary and says so.
pub trait Summarizer {
    /// The name by which compaction entries record it.
    fn name(&self) -> String;

    /// The prose, within the budget of the task.
    fn prose(&mut self, task: &Task<'_>) -> Outcome;
}

/// A prose and how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The prose.
    pub text: String,
    /// Who really wrote it.
    pub summarizer: String,
    /// Why it was not the one that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Calls of a model, failed ones included, cached ones not.
    pub model_calls: u32,
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRequest {
    /// The instructions.
    pub system: String,
    /// The conversation and the previous summary, as quoted data.
    pub prompt: String,
    /// The most it may answer.
    pub max_tokens: Tokens,
}

/// A model that can be asked.
pub trait TextModel {
    /// Its answer.
    fn complete(&mut self, request: &SummaryRequest) -> Result<String, ModelFailure>;

    /// Its window.
    fn window(&self) -> Tokens;

    /// Its name.
    fn name(&self) -> String;
}

/// Why a model gave no usable summary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelFailure {
    /// The call failed.
    #[error("{0}")]
    Call(String),
    /// The user or a timeout stopped it.
    #[error("the call was stopped")]
    Aborted,
    /// It said nothing.
    #[error("the answer was empty")]
    Empty,
    /// It has none of the sections it was asked for.
    #[error("the answer is no summary: {0}")]
    Unstructured(String),
    /// Its answer is no summary.
    #[error("the answer ({answer} tokens) is longer than what it should summarise ({source_size})")]
    TooLong {
        /// The size of the answer.
        answer: Tokens,
        /// The size of what was to be summarised.
        source_size: Tokens,
    },
}

/// What a chunk's summary depends on, hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkKey([u8; 32]);

impl ChunkKey {
    /// The key of one request: model, prompt version, the chunk and the summary
    /// so far (both are in the prompt).
    pub fn new(model: &str, request: &SummaryRequest) -> ChunkKey {
        let mut hash = blake3::Hasher::new();
        let max_tokens = request.max_tokens.0.to_le_bytes();
        let parts: [&[u8]; 5] = [
            &PROMPT_VERSION.to_le_bytes(),
            &max_tokens,
            model.as_bytes(),
            request.system.as_bytes(),
            request.prompt.as_bytes(),
        ];
        for part in parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        ChunkKey(*hash.finalize().as_bytes())
    }

    /// As hexadecimal text, for a file name.
    pub fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

/// Finished chunks, so that a retry after an abort does not pay twice.
pub trait ChunkCache {
    /// The summary of a chunk that was finished earlier.
    fn get(&self, key: &ChunkKey) -> Option<String>;

    /// Keeps one.
    fn put(&mut self, key: ChunkKey, summary: &str);
}

/// A cache for as long as the program runs.
#[derive(Debug, Clone, Default)]
pub struct MemoryCache(HashMap<ChunkKey, String>);

impl ChunkCache for MemoryCache {
    fn get(&self, key: &ChunkKey) -> Option<String> {
        self.0.get(key).cloned()
    }

    fn put(&mut self, key: ChunkKey, summary: &str) {
        self.0.insert(key, summary.to_owned());
    }
}
