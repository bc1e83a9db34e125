//! Vectors from an endpoint that is away for a while.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use longhaul_engine::config::{Config, Embedding, EmbeddingProvider};
use longhaul_engine::library::{Library, choose_encoder, index_path, redaction};
use longhaul_engine::tools::Notebook;
use longhaul_index::{
    Budget, Encoder, EncoderKind, IndexError, IndexSettings, MemoryIndex, Models, Patience, Waits,
    WorkspaceFiles,
};
use longhaul_memory::MemoryFolder;
use longhaul_testkit::loopback::{Loopback, Reply};
use longhaul_transcript::{Draft, Durability, EntryId, Header, Millis, Stamp, Writer};
use serde_json::json;

/// A model that fails as often as this, and is well then.
struct Away(AtomicUsize);

impl Encoder for Away {
    fn id(&self) -> &str {
        "away@1"
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Remote
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let left = |left: usize| left.checked_sub(1);
        match self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
        {
            Ok(_) => Err(IndexError::Encoder {
                model: String::from("away@1"),
                reason: String::from("it is away"),
            }),
            Err(_) => Ok(texts.iter().map(|_| vec![1.0, 0.5]).collect()),
        }
    }
}

/// A library that hardly waits before it tries again.
fn library(folder: &Path, encoder: Option<Arc<dyn Encoder>>) -> Library {
    let path = index_path(&folder.join("state"), "main", folder);
    let library = Library::new(path, IndexSettings::new(redaction()), encoder);
    let next = Duration::from_millis(1);
    library.use_waits(Waits {
        next,
        longest: 8 * next,
    });
    library
}

fn note(folder: &Path) -> MemoryFolder {
    std::fs::create_dir_all(folder.join("memories")).unwrap();
    std::fs::write(folder.join("memories/boats.md"), "The vessel sails.\n").unwrap();
    MemoryFolder::open(folder, None).unwrap()
}

fn until_there_are_vectors(library: &Library) {
    let made = || library.reading(|index| index.status()).unwrap().vectors;
    let waited = (0..6_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        made() == 1
    });
    assert!(waited, "{:?}", library.troubles());
}

#[test]
fn a_model_that_fails_for_a_while_is_tried_again_and_that_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let memory = note(folder.path());
    let library = library(folder.path(), Some(Arc::new(Away(AtomicUsize::new(5)))));
    library.watch(&WorkspaceFiles::new(folder.path())).unwrap();
    until_there_are_vectors(&library);
    let notebook = library.notebook(memory, &Config::default(), || Millis(0));
    let told = "[what is new is found by words alone for now: the model away@1 failed: it is away]";
    let found = notebook.search("vessel", 3).unwrap();
    assert_eq!(found.matches(told).count(), 1, "{found}");
    let found = notebook.search("vessel", 3).unwrap();
    assert!(!found.contains("words alone"), "{found}");
}

#[test]
fn vectors_that_an_earlier_process_did_not_come_to_are_made_though_nothing_changed() {
    let folder = tempfile::tempdir().unwrap();
    note(folder.path());
    let files = WorkspaceFiles::new(folder.path());
    let before = library(folder.path(), None);
    let indexed = before.reading(|index| files.sync(index, Budget::default(), &mut |_| {}));
    assert_eq!(indexed.unwrap().progress.written, 1);
    drop(before);
    let library = library(folder.path(), Some(Arc::new(Away(AtomicUsize::new(0)))));
    library.watch(&files).unwrap();
    until_there_are_vectors(&library);
}

#[test]
fn what_left_a_context_has_its_vector_once_the_model_is_well_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let time = Millis(1_790_000_000_000);
    let header = Header {
        id: "a".into(),
        version: 3,
        time: Some(time),
        cwd: Some(folder.path().to_owned()),
        parent_session: None,
    };
    let mut writer = Writer::create(&path, &header, Durability::Os).unwrap();
    let id = EntryId::from("one");
    let stamp = Stamp { id, time };
    writer.append(&Draft::user("Sail.", time), stamp).unwrap();
    let library = library(folder.path(), Some(Arc::new(Away(AtomicUsize::new(5)))));
    library.take_session(&path);
    until_there_are_vectors(&library);
    let told = "what is new is found by words alone for now: the model away@1 failed: it is away";
    assert_eq!(library.troubles(), [told]);
}

#[test]
fn an_endpoint_that_was_away_at_the_start_makes_vectors_once_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let memory = note(folder.path());
    let server = Loopback::start(|request| match request.number {
        0..5 => Reply::json(500, &json!({ "error": { "message": "out of order" } })),
        _ => {
            let texts = request.json()["input"].as_array().unwrap().len();
            let data = vec![json!({ "embedding": [1.0, 0.5] }); texts];
            Reply::json(200, &json!({ "data": data }))
        }
    })
    .unwrap();
    let settings = Embedding {
        provider: EmbeddingProvider::OpenaiCompatible,
        base_url: Some(server.url()),
        model: Some(String::from("toy")),
        ..Embedding::default()
    };
    let models = Models::new(folder.path().join("models"), 1);
    let chosen = choose_encoder(&settings, &models, 1, Patience::Short, &|_| None).unwrap();
    assert!(chosen.encoder.is_none());
    let library = library(folder.path(), None);
    library.watch(&WorkspaceFiles::new(folder.path())).unwrap();
    let notebook = library.notebook(memory, &Config::default(), || Millis(0));
    // The index is open before the model is there.
    notebook.search("vessel", 3).unwrap();
    library.await_endpoint(chosen.away.unwrap());
    let found = notebook.search("vessel", 3).unwrap();
    assert!(
        found.contains("words alone for now: the endpoint is not used: "),
        "{found}"
    );
    until_there_are_vectors(&library);
    let found = notebook.search("vessel", 3).unwrap();
    assert!(found.contains("(found by toy@"), "{found}");
}
