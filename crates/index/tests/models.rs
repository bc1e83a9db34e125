//! Models at their public seam: installed, refused, used.

#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use longhaul_index::{EncoderKind, IndexError, Models};
#[cfg(feature = "encoder")]
use longhaul_index::{
    IndexSettings, MemoryIndex, Query, Record, RecordKind, Redaction, SqliteIndex,
};
use longhaul_testkit::encoder;
use serde_json::{Value, json};
use tempfile::TempDir;

const STEP: usize = 7919;

fn weights(name: &str, rows: usize, columns: usize) -> Vec<u8> {
    encoder::weights(name, rows, columns, STEP)
}

fn model(folder: &Path, rows: usize) {
    encoder::put(folder, rows, STEP);
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
            encoder::tokenizer().into_bytes(),
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
    // As many numbers, but rows of half the length.
    let reshaped = folder.path().join("reshaped");
    model(&reshaped, 18);
    assert!(refused(&reshaped).contains("its table has 18 vectors for a vocabulary of 9"));
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
fn weights_that_are_no_numbers_are_refused_when_added_and_when_used() {
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38] {
        let folder = TempDir::new().unwrap();
        let models = Models::new(folder.path().join("models"), 1);
        let from = folder.path().join("broken");
        model(&from, 9);
        let path = from.join("model.safetensors");
        let mut bytes = fs::read(&path).unwrap();
        // Of the last word, which the texts of the trial have not.
        let at = bytes.len() - 4;
        bytes[at..].copy_from_slice(&wrong.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let said = models.add(&from, None).unwrap_err().to_string();
        assert!(
            said.contains("number 72 of its tensor embeddings is"),
            "{said}"
        );
        assert_eq!(models.list().unwrap().0.len(), 0);

        // One that an earlier version took in.
        model(&from, 9);
        models.add(&from, None).unwrap();
        let installed = folder.path().join("models/broken");
        fs::write(installed.join("model.safetensors"), &bytes).unwrap();
        let Err(error) = models.open("broken") else {
            panic!("a model of {wrong} is used");
        };
        assert!(error.to_string().contains("which no weight is"), "{error}");
    }
}

#[test]
fn a_name_that_is_not_plain_is_refused_and_replaces_nothing() {
    let folder = TempDir::new().unwrap();
    let models = Models::new(folder.path().join("models"), 1);
    let from = folder.path().join("evil");
    model(&from, 9);
    let first = models.add(&from, Some("evil")).unwrap();
    model(&from, 12);
    for name in [
        "../../evil",
        "/evil",
        ".evil",
        "evil/",
        "e vil",
        "evil\n",
        "..",
        "",
    ] {
        let error = models.add(&from, Some(name)).unwrap_err();
        assert!(error.to_string().contains("is no plain name"), "{error}");
        assert!(!models.remove(name).unwrap(), "{name}");
    }
    assert_eq!(models.list().unwrap().0, [first]);
    assert_eq!(
        models.add(&from, Some("evil_2.v-1")).unwrap().name,
        "evil_2.v-1"
    );
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

/// An encoder of BERT's form with two layers of eight dimensions.
#[cfg(feature = "encoder")]
fn encoder(folder: &Path) {
    let mut shapes = vec![
        (
            String::from("embeddings.word_embeddings.weight"),
            vec![9, 8],
        ),
        (
            String::from("embeddings.position_embeddings.weight"),
            vec![16, 8],
        ),
        (
            String::from("embeddings.token_type_embeddings.weight"),
            vec![2, 8],
        ),
        (String::from("embeddings.LayerNorm.weight"), vec![8]),
        (String::from("embeddings.LayerNorm.bias"), vec![8]),
    ];
    for layer in 0..2 {
        for (part, to, from) in [
            ("attention.self.query", 8, 8),
            ("attention.self.key", 8, 8),
            ("attention.self.value", 8, 8),
            ("attention.output.dense", 8, 8),
            ("intermediate.dense", 16, 8),
            ("output.dense", 8, 16),
        ] {
            let name = format!("encoder.layer.{layer}.{part}");
            shapes.push((format!("{name}.weight"), vec![to, from]));
            shapes.push((format!("{name}.bias"), vec![to]));
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            let name = format!("encoder.layer.{layer}.{part}");
            shapes.push((format!("{name}.weight"), vec![8]));
            shapes.push((format!("{name}.bias"), vec![8]));
        }
    }
    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in shapes {
        let begin = numbers.len();
        for at in 0..shape.iter().product::<usize>() {
            let number = (((at + begin) * 7919) % 101) as f32 / 50.0 - 1.0;
            numbers.extend(number.to_le_bytes());
        }
        let place =
            json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, numbers.len()] });
        header.insert(name, place);
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(numbers);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.safetensors"), file).unwrap();
    fs::write(folder.join("tokenizer.json"), encoder::tokenizer()).unwrap();
    configure(folder, "num_hidden_layers", json!(2));
}

/// Gives the encoder its `config.json` with one field set.
#[cfg(feature = "encoder")]
fn configure(folder: &Path, name: &str, value: Value) {
    let mut config = json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": 8,
        "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
        "max_position_embeddings": 16, "type_vocab_size": 2, "vocab_size": 9,
    });
    config[name] = value;
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

#[cfg(feature = "encoder")]
#[test]
fn a_config_with_other_layers_than_the_weights_is_refused() {
    let folder = TempDir::new().unwrap();
    let toy = folder.path().join("toy");
    encoder(&toy);
    let models = Models::new(folder.path().join("models"), 1);
    for layers in [0, 1, 3] {
        configure(&toy, "num_hidden_layers", json!(layers));
        let said = models.add(&toy, None).unwrap_err().to_string();
        assert!(
            said.contains(&format!(
                "its config.json says {layers} layers (num_hidden_layers) and its weights have 2"
            )),
            "{said}"
        );
    }
    configure(&toy, "num_hidden_layers", json!(2));
    models.add(&toy, None).unwrap();
}

#[cfg(feature = "encoder")]
#[test]
fn vectors_made_with_another_config_are_not_used() {
    let folder = TempDir::new().unwrap();
    let toy = folder.path().join("toy");
    encoder(&toy);
    let models = Models::new(folder.path().join("models"), 1);
    let first = models.add(&toy, None).unwrap();
    let before = models.open("toy").unwrap();
    let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
    let text = String::from("an answer that is something else");
    let record = Record::file(RecordKind::Memory, "memory/a.md", text);
    index
        .update(
            &mut std::iter::once(record),
            Default::default(),
            &mut |_| {},
        )
        .unwrap();
    index.use_encoder(Some(before.clone()));
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    let query = Query::new("a question");
    let mut model = |encoder| {
        index.use_encoder(Some(encoder));
        index.search(&query).unwrap().model
    };
    // Written otherwise, the same is the same.
    configure(&toy, "transformers_version", json!("4.8.2"));
    models.add(&toy, None).unwrap();
    assert_eq!(model(models.open("toy").unwrap()), Some(first.id.clone()));
    for (name, value) in [
        ("num_attention_heads", json!(4)),
        ("layer_norm_eps", json!(0.5)),
    ] {
        configure(&toy, name, value);
        assert_eq!(models.add(&toy, None).unwrap().id, first.id);
        let after = models.open("toy").unwrap();
        let question = ["a question"];
        assert_ne!(
            before.encode(&question).unwrap(),
            after.encode(&question).unwrap()
        );
        assert_eq!(model(after), None, "{name}");
    }
    assert_eq!(model(before), Some(first.id));
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
    let encoder = longhaul_index::open_model(Path::new(&folder), 2).unwrap();
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
