//! Models at their public seam: installed, refused, used.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use longhaul_memory::{EncoderKind, IndexError, Models};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A file of one table of numbers.
fn weights(name: &str, rows: usize, columns: usize) -> Vec<u8> {
    let numbers: Vec<u8> = (0..rows * columns)
        .flat_map(|at| (((at * 7919) % 101) as f32 / 50.0 - 1.0).to_le_bytes())
        .collect();
    let header = json!({ name: { "dtype": "F32", "shape": [rows, columns], "data_offsets": [0, numbers.len()] } }).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(numbers);
    file
}

fn tokenizer() -> String {
    let words = [
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
    let vocabulary: serde_json::Map<String, Value> = words
        .iter()
        .zip(0..)
        .map(|(word, id)| ((*word).to_owned(), json!(id)))
        .collect();
    json!({ "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary } })
        .to_string()
}

fn model(folder: &Path, rows: usize) {
    fs::create_dir_all(folder).unwrap();
    fs::write(
        folder.join("model.safetensors"),
        weights("embeddings", rows, 8),
    )
    .unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer()).unwrap();
}

#[test]
fn a_static_model_is_installed_used_and_removed() {
    let folder = TempDir::new().unwrap();
    model(&folder.path().join("my model"), 9);
    let models = Models::new(folder.path().join("models"), 1);
    assert!(models.best().unwrap().encoder.is_none());
    let added = models.add(&folder.path().join("my model"), None).unwrap();
    assert_eq!(
        (added.name.as_str(), added.kind.as_str(), added.dimensions),
        ("my-model", "static", 8)
    );
    assert_eq!(models.list().unwrap().0, std::slice::from_ref(&added));
    let encoder = models.best().unwrap().encoder.unwrap();
    assert_eq!(
        (encoder.id(), encoder.kind()),
        (added.id.as_str(), EncoderKind::Static)
    );
    let vectors = encoder
        .encode(&["a question", "question a", "answer"])
        .unwrap();
    assert_eq!(vectors[0], vectors[1]);
    assert_ne!(vectors[0], vectors[2]);
    assert!(models.remove("my-model").unwrap());
    assert!(!models.remove("my-model").unwrap());
}

#[test]
fn a_wheel_is_unpacked_to_our_own_names_only() {
    let folder = TempDir::new().unwrap();
    let wheel = folder.path().join("toyllama-1.0-py3-none-any.whl");
    let mut zip = zip::ZipWriter::new(File::create(&wheel).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in [
        (
            "toyllama/weights/l2.safetensors",
            weights("embedding.weight", 9, 8),
        ),
        (
            "toyllama/tokenizers/l2_tokenizer_config.json",
            tokenizer().into_bytes(),
        ),
        ("../../escape.txt", b"no".to_vec()),
    ] {
        zip.start_file(name, options).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
    let models = Models::new(folder.path().join("models"), 1);
    let added = models.add(&wheel, None).unwrap();
    assert_eq!((added.name.as_str(), added.dimensions), ("toyllama", 8));
    let mut names: Vec<_> = fs::read_dir(folder.path().join("models/toyllama"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["longhaul-model.json", "model.safetensors", "tokenizer.json"]
    );
    assert!(!folder.path().join("escape.txt").exists());
}

#[test]
fn a_model_that_does_not_fit_is_refused_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let models = Models::new(folder.path().join("models"), 1);
    let refused = |from: &Path| {
        let error = models.add(from, None).unwrap_err();
        assert!(matches!(error, IndexError::Model { .. }), "{error}");
        assert_eq!(
            fs::read_dir(folder.path().join("models")).unwrap().count(),
            0
        );
        error.to_string()
    };
    let small = folder.path().join("small");
    model(&small, 4);
    assert!(refused(&small).contains("its table has 4 vectors for a vocabulary of 9"));
    let empty = folder.path().join("empty");
    fs::create_dir_all(&empty).unwrap();
    assert!(refused(&empty).contains("there is no .safetensors file in it"));
    let torn = folder.path().join("torn");
    model(&torn, 9);
    fs::write(
        torn.join("model.safetensors"),
        &weights("embeddings", 9, 8)[..100],
    )
    .unwrap();
    let said = refused(&torn);
    assert!(said.contains("torn") && !said.contains(".new-"), "{said}");
    let text = folder.path().join("notes.txt");
    fs::write(&text, "no wheel").unwrap();
    assert!(refused(&text).contains("it is no wheel"));
}

#[test]
fn a_model_changed_after_it_was_installed_is_not_used() {
    let folder = TempDir::new().unwrap();
    model(&folder.path().join("toy"), 9);
    let models = Models::new(folder.path().join("models"), 1);
    models.add(&folder.path().join("toy"), None).unwrap();
    fs::write(
        folder.path().join("models/toy/model.safetensors"),
        weights("embeddings", 12, 8),
    )
    .unwrap();
    let best = models.best().unwrap();
    assert!(best.encoder.is_none());
    assert!(
        best.notes[0].contains("not those that were installed"),
        "{:?}",
        best.notes
    );
}

/// With `LONGHAUL_MINILM` naming a folder of all-MiniLM-L6-v2, its vectors are
/// those its makers published: near for near meanings, far for others.
#[cfg(feature = "encoder")]
#[test]
fn a_real_encoder_puts_like_things_together() {
    let Some(folder) = std::env::var_os("LONGHAUL_MINILM") else {
        eprintln!("SKIPPED: LONGHAUL_MINILM names no model");
        return;
    };
    let encoder = longhaul_memory::open_model(Path::new(&folder), 2).unwrap();
    let texts = [
        "That is a happy person",
        "That is a very happy person",
        "Today is a sunny day",
    ];
    let vectors = encoder.encode(&texts).unwrap();
    let cosine = |a: usize, b: usize| {
        vectors[a]
            .iter()
            .zip(&vectors[b])
            .map(|(x, y)| x * y)
            .sum::<f32>()
    };
    // The figures of the model's card: 0.943 and 0.257.
    assert!((cosine(0, 1) - 0.943).abs() < 0.01, "{}", cosine(0, 1));
    assert!((cosine(0, 2) - 0.257).abs() < 0.01, "{}", cosine(0, 2));
}
