//! Search by meaning.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use longhaul_index::{Encoder, EncoderKind, IndexError, Mode, Patience, RemoteEncoder, Unmade};

use super::*;

/// A model that knows three things.
struct Toy(&'static str);

impl Encoder for Toy {
    fn id(&self) -> &str {
        self.0
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        3
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let about =
            |text: &str, words: &[&str]| f32::from(words.iter().any(|word| text.contains(word)));
        let vector = |text: &&str| {
            vec![
                about(text, &["dog", "puppy"]),
                about(text, &["car", "engine"]),
                0.1,
            ]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn meaning_finds_what_words_do_not_and_models_are_not_mixed() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "the puppy sleeps"),
            said("t", "b", 1, "the engine hums"),
            said("u", "c", 1, "the rain falls"),
        ],
    );
    assert!(keys(&mut index, &Query::new("dog")).is_empty());
    index.use_encoder(Some(Arc::new(Toy("toy@1"))));
    let hits = index.search(&Query::new("dog")).unwrap();
    assert_eq!(hits.model, None);
    assert_eq!(
        hits.notes,
        ["no chunk has a vector of toy@1 yet: words alone"]
    );
    assert_eq!(index.embed(1, &mut |_, _| {}).unwrap(), 2);
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    let hits = index.search(&Query::new("dog")).unwrap();
    assert_eq!(
        (hits.hits[0].key().as_str(), hits.model.as_deref()),
        ("s#a", Some("toy@1"))
    );
    assert!(hits.hits[0].why.vector > Some(0.99));
    index.use_encoder(Some(Arc::new(Toy("toy@2"))));
    assert_eq!(index.status().unwrap().vectors, 0);
    assert_eq!(index.search(&Query::new("dog")).unwrap().model, None);
}

/// The vector of a text.
type Vector = fn(&str) -> Vec<f32>;

/// An endpoint that answers each text with the vector that `of` gives.
fn remote(of: Vector) -> Result<RemoteEncoder, IndexError> {
    let embed = move |texts: &[&str], _| Ok(texts.iter().map(|text| of(text)).collect());
    RemoteEncoder::connect("http://there", "toy", Patience::Short, Box::new(embed))
}

#[test]
fn an_endpoint_that_fails_is_asked_for_fewer_and_fewer_questions() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let is_well = Arc::new(AtomicBool::new(true));
    let (seen, well) = (Arc::clone(&asked), Arc::clone(&is_well));
    let embed = move |texts: &[&str], patience| {
        seen.lock().unwrap().push(patience);
        match well.load(Ordering::SeqCst) {
            true => Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect()),
            false => Err(Unmade::Failed(String::from("it hangs"))),
        }
    };
    let encoder =
        RemoteEncoder::connect("http://there", "toy", Patience::Short, Box::new(embed)).unwrap();
    is_well.store(false, Ordering::SeqCst);
    asked.lock().unwrap().clear();
    let told: Vec<String> = (0..100)
        .map(|_| encoder.encode_question("why?").unwrap_err().to_string())
        .collect();
    // After 1, 2, 4, 8, 16, 32 that were spared.
    assert_eq!(*asked.lock().unwrap(), [Patience::Short; 7]);
    assert!(told[0].contains("it hangs"), "{}", told[0]);
    assert!(told[1].contains("asked again"), "{}", told[1]);
    // Texts that are indexed are not questions.
    assert!(encoder.encode(&["a text"]).is_err());
    assert_eq!(asked.lock().unwrap().last(), Some(&Patience::Long));
    is_well.store(true, Ordering::SeqCst);
    let again = (0..32).find_map(|_| encoder.encode_question("why?").ok());
    assert_eq!(again, Some(Some(vec![1.0, 0.0])));
    assert!(encoder.encode_question("why?").is_ok());
}

#[test]
fn vectors_of_another_length_under_the_same_name_are_made_anew() {
    let mut index = memory();
    let texts = ["one", "two", "three"];
    fill(&mut index, &texts.map(|text| said(text, "a", 1, text)));
    index.use_encoder(Some(Arc::new(remote(|_| vec![0.5; 8]).unwrap())));
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    index.use_encoder(Some(Arc::new(remote(|_| vec![0.5; 4]).unwrap())));
    assert_eq!(index.status().unwrap().vectors, 0);
    assert_eq!(index.embed(1, &mut |_, _| {}).unwrap(), 2);
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    assert_eq!(index.status().unwrap().vectors, 3);
    let hits = index.search(&Query::new("one")).unwrap();
    assert_eq!(hits.notes, [""; 0]);
    assert_eq!(hits.model.as_deref(), Some("toy@http://there"));
}

#[test]
fn vectors_without_a_direction_are_refused_from_an_endpoint() {
    let refused = |of: Vector| match remote(of) {
        Err(error) => error.to_string(),
        Ok(encoder) => {
            let mut index = memory();
            fill(&mut index, &[said("s", "a", 1, "the rain falls")]);
            index.use_encoder(Some(Arc::new(encoder)));
            let error = index.embed(u64::MAX, &mut |_, _| {}).unwrap_err();
            assert_eq!(index.status().unwrap().vectors, 0);
            error.to_string()
        }
    };
    let cases: [(Vector, &str); 4] = [
        (|_| vec![0.0, 0.0], "all zeros"),
        (|_| vec![1.0, f32::NAN], "no number"),
        (|_| vec![3e38, 3e38], "too large"),
        (
            |text| match text.contains("rain") {
                true => vec![0.0, 0.0],
                false => vec![1.0, 0.0],
            },
            "all zeros",
        ),
    ];
    for (of, why) in cases {
        let said = refused(of);
        assert!(
            said.starts_with("the model toy@http://there failed: "),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
    }
}

/// A model to which one text is as good as none more than the next.
struct Faint;

impl Encoder for Faint {
    fn id(&self) -> &str {
        "faint@1"
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let vector = |text: &&str| match *text {
            "the query" | "the answer" => vec![1.0, 0.0],
            // Two steps of a byte apart in direction, which is nothing in
            // what they have of the query.
            "something" => vec![-1.0, 0.008],
            _ => vec![-1.0, 0.024],
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn a_hit_that_has_nothing_is_left_out() {
    let mut index = memory();
    index.use_encoder(Some(Arc::new(Faint)));
    let texts = ["the answer", "something", "anything"];
    let records = texts.map(|text| said(text, "a", 1, text));
    fill(&mut index, &records);
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    let query = Query {
        mode: Mode::Vectors,
        ..Query::new("the query")
    };
    assert_eq!(keys(&mut index, &query), ["the answer#a"]);
}

#[test]
fn one_text_alone_is_found_by_its_meaning_and_nonsense_scores_little() {
    let mut index = memory();
    index.use_encoder(Some(Arc::new(Toy("toy@1"))));
    fill(&mut index, &[said("s", "a", 1, "the puppy sleeps")]);
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    let query = |text: &str, mode| Query {
        mode,
        ..Query::new(text)
    };
    let found = index.search(&query("a dog", Mode::Vectors)).unwrap();
    assert_eq!(found.hits.len(), 1);
    let score = found.hits[0].score;
    // Neither other texts nor their number change what one is worth.
    fill(&mut index, &[said("t", "b", 1, "taxes are due in May")]);
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    let found = index.search(&query("a dog", Mode::Vectors)).unwrap();
    assert_eq!(found.hits[0].score, score);
    for mode in [Mode::Hybrid, Mode::Words] {
        let nonsense = "zzyx qwomp sleeps blorf vrindle";
        let found = index.search(&query(nonsense, mode)).unwrap();
        assert!(found.hits[0].score < 0.5, "{found:?}");
    }
}

#[test]
fn the_same_text_is_encoded_once() {
    let mut index = memory();
    index.use_encoder(Some(Arc::new(Toy("toy@1"))));
    fill(&mut index, &[said("s", "a", 1, "the puppy sleeps")]);
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    fill(&mut index, &[said("t", "b", 1, "the puppy sleeps")]);
    let mut of = None;
    index
        .embed(u64::MAX, &mut |_, total| of = Some(total))
        .unwrap();
    assert_eq!((of, index.status().unwrap().vectors), (Some(0), 2));
}

/// A model whose vectors are drawn from the text, and that counts them.
struct Drawn {
    id: &'static str,
    dimensions: usize,
    made: AtomicU64,
}

impl Drawn {
    fn new(id: &'static str, dimensions: usize) -> Arc<Drawn> {
        Arc::new(Drawn {
            id,
            dimensions,
            made: AtomicU64::new(0),
        })
    }
}

impl Encoder for Drawn {
    fn id(&self) -> &str {
        self.id
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        self.made.fetch_add(texts.len() as u64, Ordering::Relaxed);
        let vector = |text: &&str| {
            let bytes = [self.id, text].concat().into_bytes();
            let mut state = bytes.into_iter().fold(7u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f32 / (1u64 << 31) as f32 - 0.5
            };
            (0..self.dimensions).map(|_| next()).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn each_text_has_its_own_vector_of_each_model_however_they_were_made() {
    let folder = TempDir::new().unwrap();
    let (mut one, mut two) = (on_disk(&folder), on_disk(&folder));
    let texts: Vec<String> = (0..90).map(|at| format!("text {at}")).collect();
    let records = texts.iter().map(|text| said(text, "a", 1, text));
    fill(&mut one, &records.collect::<Vec<_>>());
    let (short, long) = (Drawn::new("short", 64), Drawn::new("long", 384));
    // Two at once, a few at a time, so that rows of both lie between each other.
    for round in 0..40 {
        let encoder: Arc<Drawn> = if round % 3 == 0 { &short } else { &long }.clone();
        one.use_encoder(Some(encoder.clone()));
        two.use_encoder(Some(encoder));
        one.embed(5, &mut |_, _| {}).unwrap();
        two.embed(2, &mut |_, _| {}).unwrap();
    }
    for encoder in [short, long] {
        one.use_encoder(Some(encoder.clone()));
        assert_eq!(one.status().unwrap().vectors, 90);
        assert_eq!(encoder.made.load(Ordering::Relaxed), 90);
        for text in &texts {
            let query = Query {
                mode: Mode::Vectors,
                k: 1,
                ..Query::new(text)
            };
            assert_eq!(keys(&mut one, &query), [format!("{text}#a")]);
            assert_eq!(encoder.made.swap(90, Ordering::Relaxed), 91);
        }
    }
}

#[test]
fn texts_that_say_the_same_are_encoded_once_also_in_one_go() {
    let mut index = memory();
    let encoder = Drawn::new("drawn", 8);
    index.use_encoder(Some(encoder.clone()));
    let records: Vec<Record> = (0..100)
        .map(|at| {
            said(
                "s",
                &at.to_string(),
                at,
                &["good morning ", "good night "][at as usize % 2].repeat(12),
            )
        })
        .collect();
    fill(&mut index, &records);
    let mut told = Vec::new();
    let left = index
        .embed(u64::MAX, &mut |done, of| told.push((done, of)))
        .unwrap();
    assert_eq!((left, index.status().unwrap().vectors), (0, 100));
    assert_eq!(encoder.made.load(Ordering::Relaxed), 2);
    assert_eq!(told, [(0, 2), (2, 2)]);
}

#[test]
fn vectors_of_texts_that_are_gone_go_once_they_are_many() {
    let folder = TempDir::new().unwrap();
    let mut index = on_disk(&folder);
    index.use_encoder(Some(Drawn::new("drawn", 256)));
    let stored = || -> i64 {
        let connection = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
        let sql = "SELECT count(*) FROM vector";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let of = |source: &str, count: u64| -> Vec<Record> {
        (0..count)
            .map(|at| {
                let text = format!("{source} says {at} and more. ").repeat(6 << (at % 3));
                said(source, &at.to_string(), at, &text)
            })
            .collect()
    };
    fill(&mut index, &of("kept", 200));
    fill(&mut index, &of("gone", 100));
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    assert_eq!(stored(), 300);
    index.remove("gone").unwrap();
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    assert_eq!(stored(), 200);
    assert_eq!(index.status().unwrap().vectors, 200);
    for record in of("kept", 200).iter().step_by(17) {
        let query = Query {
            mode: Mode::Vectors,
            k: 1,
            ..Query::new(&record.text)
        };
        assert_eq!(keys(&mut index, &query), [record.key()]);
    }
}

#[test]
fn vectors_of_an_older_form_of_a_model_go_once_all_are_made_in_the_new_one() {
    let folder = TempDir::new().unwrap();
    let mut index = on_disk(&folder);
    let models = || -> Vec<String> {
        let connection = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
        let sql = "SELECT name FROM model WHERE id IN (SELECT model FROM vector) ORDER BY name";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let records: Vec<Record> = (0..40)
        .map(|at| said("s", &at.to_string(), at, &format!("text number {at}")))
        .collect();
    fill(&mut index, &records);
    for (id, dimensions) in [("other", 64), ("drawn-large", 64), ("drawn", 64)] {
        index.use_encoder(Some(Drawn::new(id, dimensions)));
        index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    }
    index.use_encoder(Some(Drawn::new("drawn", 128)));
    assert_ne!(index.embed(32, &mut |_, _| {}).unwrap(), 0);
    let before = [
        "drawn (128)",
        "drawn (64)",
        "drawn-large (64)",
        "other (64)",
    ];
    assert_eq!(models(), before);
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    assert_eq!(models(), ["drawn (128)", "drawn-large (64)", "other (64)"]);
}
