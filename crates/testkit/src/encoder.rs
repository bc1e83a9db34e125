//! A static model of a few words, as its maker would hand it over.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

const WORDS: [&str; 9] = [
    "[UNK]",
    "a",
    "an",
    "question",
    "answer",
    "that",
    "is",
    "something",
    "else",
];

/// A file of one table of numbers; another `step` gives other numbers.
pub fn weights(name: &str, rows: usize, columns: usize, step: usize) -> Vec<u8> {
    let number = |at: usize| ((at * step) % 101) as f32 / 50.0 - 1.0;
    let numbers = (0..rows * columns).flat_map(|at| number(at).to_le_bytes());
    let header = json!({ name: {
        "dtype": "F32", "shape": [rows, columns], "data_offsets": [0, rows * columns * 4],
    } })
    .to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(numbers);
    file
}

/// The tokenizer of those words.
pub fn tokenizer() -> String {
    let words = WORDS.iter().zip(0..);
    let vocabulary: Map<String, Value> = words
        .map(|(word, id)| ((*word).to_owned(), json!(id)))
        .collect();
    json!({ "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary } })
        .to_string()
}

/// Puts such a model into a folder.
pub fn put(folder: &Path, rows: usize, step: usize) {
    fs::create_dir_all(folder).unwrap();
    let weights = weights("embeddings", rows, 8, step);
    fs::write(folder.join("model.safetensors"), weights).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer()).unwrap();
}
