//! Indexing and searching at 50,000 chunks, beside plain FTS5 and beside
//! vectors compared one by one. `cargo bench -p longhaul-index --bench search`.
//!
//! With `--features encoder`, and once `cargo xtask eval retrieval --models` has
//! installed it, also how long all-MiniLM-L6-v2 takes for a query.
//!
//! Percentiles matter here, so this counts its own times: by the clock, and
//! what the processor worked, which other programs on the machine change less.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_index::{
    Budget, Encoder, EncoderKind, IndexError, IndexSettings, MemoryIndex, Mode, Query, Record,
    RecordKind, Redaction, SqliteIndex, open_model,
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

/// What the processor has worked on this thread; none where the system does not
/// say it.
fn worked() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// What the processor has worked on all threads, to a hundredth of a second.
fn worked_in_all() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name comes first and may hold anything but the last bracket.
    let (_, fields) = text.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 10))
}

/// The time of one search by the clock, and of the processor.
type Took = (Duration, Option<Duration>);

fn percentiles(name: &str, times: &[Took]) {
    let at = |mut times: Vec<Duration>, part: f64| {
        times.sort_unstable();
        let place = (times.len().saturating_sub(1) as f64 * part) as usize;
        let time = times.get(place).copied().unwrap_or_default();
        time.as_secs_f64() * 1_000.0
    };
    let clock: Vec<Duration> = times.iter().map(|(clock, _)| *clock).collect();
    let work: Vec<Duration> = times.iter().filter_map(|(_, work)| *work).collect();
    print!(
        "{name:<34} p50 {:>7.2} ms   p95 {:>7.2} ms",
        at(clock.clone(), 0.5),
        at(clock, 0.95)
    );
    if work.is_empty() {
        println!();
    } else {
        println!(
            "   processor p50 {:>7.2} ms   p95 {:>7.2} ms",
            at(work.clone(), 0.5),
            at(work, 0.95)
        );
    }
}

fn timed(queries: &[String], mut search: impl FnMut(&str)) -> Vec<Took> {
    search(&queries[0]);
    let one = |query: &String| {
        let (start, before) = (Instant::now(), worked());
        search(query);
        let work = worked().zip(before).map(|(after, before)| after - before);
        (start.elapsed(), work)
    };
    queries.iter().map(one).collect()
}

/// How long an encoder takes for a question as people ask them.
fn encoding() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/models/all-MiniLM-L6-v2");
    if !folder.is_dir() {
        println!("SKIPPED: all-MiniLM-L6-v2 is not in target/tools/models");
        return;
    }
    let model = match open_model(&folder, 2) {
        Ok(model) => model,
        Err(error) => {
            println!("SKIPPED: {error}");
            return;
        }
    };
    let questions: Vec<String> = (0..QUERIES / 3)
        .map(|number| {
            format!(
                "Which library did we choose for the parser in week {number}, and why was the \
                 other one too slow for the files of the second customer?"
            )
        })
        .collect();
    let times = timed(&questions, |text| {
        std::hint::black_box(model.encode(&[text]).expect("a vector"));
    });
    percentiles("encoding a query, all-MiniLM-L6-v2", &times);
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
    let mut index =
        SqliteIndex::open(&path, IndexSettings::new(Redaction::none())).expect("an index");
    let (start, before) = (Instant::now(), worked_in_all());
    index
        .update(&mut records.iter().cloned(), Budget::default(), &mut |_| {})
        .expect("an update");
    let took = start.elapsed().as_secs_f64();
    let work = worked_in_all().zip(before);
    let work = work.map_or(0.0, |(after, before)| (after - before).as_secs_f64());
    let status = index.status().expect("a status");
    println!(
        "indexing: {:.1} MB in {took:.1} s ({work:.1} s of the processor, on two threads), {:.1} MB/s; {} chunks; on disk {:.2} x the text",
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
        &timed(&queries, |text| search(&mut index, Mode::Words, text)),
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
        &timed(&queries, |text| search(&mut index, Mode::Hybrid, text)),
    );
    percentiles(
        "vectors",
        &timed(&queries, |text| search(&mut index, Mode::Vectors, text)),
    );

    let plain = rusqlite::Connection::open(folder.path().join("plain.sqlite")).expect("a database");
    plain
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = normal;
             CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61'); BEGIN",
        )
        .expect("a table");
    let (start, before) = (Instant::now(), worked_in_all());
    for record in &records {
        plain
            .execute("INSERT INTO t VALUES (?1)", [&record.text])
            .expect("a row");
    }
    plain.execute_batch("COMMIT").expect("a commit");
    let work = worked_in_all().zip(before);
    println!(
        "plain FTS5 indexing: {:.1} MB/s ({:.1} s of the processor)",
        bytes as f64 / 1e6 / start.elapsed().as_secs_f64(),
        work.map_or(0.0, |(after, before)| (after - before).as_secs_f64())
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
    percentiles("plain FTS5", &timed(&queries, plain_search));

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
    percentiles("brute force, 32-bit floats", &timed(&queries, brute));
    encoding();
}
