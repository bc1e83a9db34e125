//! Indexing and searching at 50,000 chunks, beside plain FTS5 and beside
//! vectors compared one by one. `cargo bench -p longhaul-memory --bench search`.
//!
//! Percentiles matter here, so this counts its own times.

use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_memory::{
    Budget, Encoder, EncoderKind, IndexError, IndexSettings, MemoryIndex, Mode, Query, Record,
    RecordKind, SqliteIndex,
};
use longhaul_transcript::Millis;

const CHUNKS: u64 = 50_000;
const QUERIES: usize = 300;
const DIMENSIONS: usize = 384;

/// A generator whose numbers are the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    /// Words are as unevenly frequent as in a language: the square of a
    /// uniform number favours the first ones.
    fn word(&mut self) -> String {
        const PARTS: [&str; 24] = [
            "ta", "ren", "mo", "li", "dar", "ves", "ko", "ni", "sha", "bel", "or", "uth", "pra",
            "gim", "se", "lo", "fen", "cra", "wi", "ja", "hus", "ter", "mal", "qui",
        ];
        let uniform = self.roll(30_000) as u64;
        let mut rank = uniform * uniform / 30_000;
        let mut word = String::new();
        loop {
            word.push_str(PARTS[(rank % 24) as usize]);
            rank /= 24;
            if rank == 0 {
                return word;
            }
        }
    }

    fn text(&mut self, words: usize) -> String {
        (0..words)
            .map(|_| self.word())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Vectors without a model: what is measured is their comparison.
struct Noise;

impl Encoder for Noise {
    fn id(&self) -> &str {
        "noise@1"
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let vector = |text: &&str| {
            let seed = text.bytes().fold(7u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
            let mut dice = Dice(seed);
            (0..DIMENSIONS)
                .map(|_| dice.roll(2_001) as f32 / 1_000.0 - 1.0)
                .collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn percentiles(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1_000.0;
    println!(
        "{name:<34} p50 {:>7.2} ms   p95 {:>7.2} ms",
        at(0.5),
        at(0.95)
    );
}

fn timed(queries: &[String], mut search: impl FnMut(&str)) -> Vec<Duration> {
    search(&queries[0]);
    let one = |query: &String| {
        let start = Instant::now();
        search(query);
        start.elapsed()
    };
    queries.iter().map(one).collect()
}

fn main() {
    let mut dice = Dice(42);
    let records: Vec<Record> = (0..CHUNKS)
        .map(|at| Record {
            kind: RecordKind::Transcript,
            source: format!("session-{}", at / 200),
            entry: format!("{at:08x}"),
            role: Some(String::from(if at % 2 == 0 { "user" } else { "assistant" })),
            time: Some(Millis(1_700_000_000_000 + at as i64 * 60_000)),
            position: at,
            text: dice.text(120),
        })
        .collect();
    let queries: Vec<String> = (0..QUERIES).map(|_| dice.text(6)).collect();
    let bytes: usize = records.iter().map(|record| record.text.len()).sum();

    let folder = tempfile::TempDir::new().expect("a folder for the benchmark");
    let path = folder.path().join("main.sqlite");
    let mut index = SqliteIndex::open(&path, IndexSettings::default()).expect("an index");
    let start = Instant::now();
    index
        .update(&mut records.iter().cloned(), Budget::default(), &mut |_| {})
        .expect("an update");
    let took = start.elapsed().as_secs_f64();
    let status = index.status().expect("a status");
    println!(
        "indexing: {:.1} MB in {took:.1} s, {:.1} MB/s; {} chunks; on disk {:.2} x the text",
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / took,
        status.chunks,
        status.disk_bytes as f64 / bytes as f64
    );
    let search = |index: &mut SqliteIndex, mode: Mode, text: &str| {
        let query = Query {
            mode,
            k: 6,
            ..Query::new(text)
        };
        let hits = index.search(&query).expect("hits");
        assert!(!hits.hits.is_empty());
    };
    percentiles(
        "words",
        timed(&queries, |text| search(&mut index, Mode::Words, text)),
    );

    index.use_encoder(Some(Arc::new(Noise)));
    let start = Instant::now();
    index.embed(u64::MAX, &mut |_, _| {}).expect("vectors");
    println!(
        "storing 50,000 vectors: {:.1} s",
        start.elapsed().as_secs_f64()
    );
    percentiles(
        "words and vectors",
        timed(&queries, |text| search(&mut index, Mode::Hybrid, text)),
    );
    percentiles(
        "vectors",
        timed(&queries, |text| search(&mut index, Mode::Vectors, text)),
    );

    let plain = rusqlite::Connection::open(folder.path().join("plain.sqlite")).expect("a database");
    plain
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = normal;
             CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61'); BEGIN",
        )
        .expect("a table");
    let start = Instant::now();
    for record in &records {
        plain
            .execute("INSERT INTO t VALUES (?1)", [&record.text])
            .expect("a row");
    }
    plain.execute_batch("COMMIT").expect("a commit");
    println!(
        "plain FTS5 indexing: {:.1} MB/s",
        bytes as f64 / 1e6 / start.elapsed().as_secs_f64()
    );
    let plain_search = |text: &str| {
        let any = text
            .split(' ')
            .map(|word| format!("\"{word}\""))
            .collect::<Vec<_>>()
            .join(" OR ");
        let mut statement = plain
            .prepare_cached("SELECT text FROM t WHERE t MATCH ?1 ORDER BY rank LIMIT 6")
            .expect("a statement");
        let found = statement
            .query_map([any], |row| row.get::<_, String>(0))
            .expect("rows");
        assert!(found.count() > 0);
    };
    percentiles("plain FTS5", timed(&queries, plain_search));

    let vectors: Vec<Vec<f32>> = records
        .iter()
        .flat_map(|record| Noise.encode(&[&record.text]).expect("a vector"))
        .collect();
    let brute = |text: &str| {
        let query = &Noise.encode(&[text]).expect("a vector")[0];
        let best = vectors
            .iter()
            .map(|vector| vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>())
            .fold(f32::MIN, f32::max);
        std::hint::black_box(best);
    };
    percentiles("brute force, 32-bit floats", timed(&queries, brute));
}
