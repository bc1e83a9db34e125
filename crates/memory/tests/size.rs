//! How large an index is beside the texts in it: at most one and a half times,
//! vectors included.
//!
//! How often the texts here repeat their words was matched to real notes,
//! sessions and Chinese, and errs on the side of too little. Short texts in
//! Chinese, and text that repeats nothing, take more; the book has figures.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use longhaul_memory::{
    Budget, Encoder, EncoderKind, IndexError, IndexSettings, MemoryIndex, Query, Record,
    RecordKind, SqliteIndex,
};
use longhaul_transcript::Millis;
use tempfile::TempDir;

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

    /// The rank of a word of so many, as unevenly frequent as in a language.
    fn rank(&mut self, words: usize) -> usize {
        // Uniform in the logarithm of the rank, which is Zipf's law.
        let part = self.roll(1 << 20) as f64 / f64::from(1 << 20);
        ((words as f64).powf(part) - 1.0) as usize
    }

    /// Between two numbers, both included.
    fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.roll(most - least + 1)
    }
}

/// The word of a rank: frequent words are short.
fn word(rank: usize) -> String {
    const PARTS: [&str; 32] = [
        "a", "to", "in", "re", "on", "er", "al", "en", "ta", "mo", "li", "dar", "ves", "ko", "ni",
        "sha", "bel", "or", "uth", "pra", "gim", "se", "lo", "fen", "cra", "wi", "ja", "hus",
        "ter", "mal", "qui", "ing",
    ];
    let mut rank = rank + 1;
    let mut word = String::new();
    while rank > 0 {
        word.push_str(PARTS[rank % PARTS.len()]);
        rank /= PARTS.len();
    }
    word
}

/// Four words in ten are grammar, as in English.
fn sentence(dice: &mut Dice) -> String {
    const GRAMMAR: [&str; 12] = [
        "the", "of", "and", "to", "a", "in", "is", "that", "for", "it", "with", "was",
    ];
    let words: Vec<String> = (0..dice.between(8, 24))
        .map(|_| match dice.roll(10) {
            0..4 => GRAMMAR[dice.rank(GRAMMAR.len())].to_owned(),
            _ => word(dice.rank(20_000)),
        })
        .collect();
    let text = words.join(" ");
    text[..1].to_uppercase() + &text[1..] + ". "
}

/// Daily notes: headings, paragraphs, lists.
fn notes(dice: &mut Dice) -> Vec<Record> {
    let file = |at: usize, dice: &mut Dice| {
        let mut text = format!("# 2026-03-{:02}\n\n", at % 28 + 1);
        for _ in 0..dice.between(8, 24) {
            text.push_str(&format!("## {}\n\n", sentence(dice).trim()));
            for _ in 0..dice.between(2, 7) {
                text.push_str(&sentence(dice));
            }
            text.push_str("\n\n");
            for _ in 0..dice.roll(6) {
                text.push_str(&format!("- {}\n", sentence(dice).trim()));
            }
            text.push('\n');
        }
        Record::file(RecordKind::Daily, format!("memory/2026-{at:04}.md"), text)
    };
    (0..160).map(|at| file(at, dice)).collect()
}

/// The names of a program, in several styles.
fn names(dice: &mut Dice) -> Vec<String> {
    let mut name = |_| {
        let (a, b) = (word(dice.rank(5_000)), word(dice.rank(5_000)));
        match dice.roll(3) {
            0 => format!("{a}_{b}"),
            1 => format!("{a}{}{}", b[..1].to_uppercase(), &b[1..]),
            _ => a,
        }
    };
    (0..300).map(&mut name).collect()
}

/// A few lines of a program.
fn code(dice: &mut Dice, names: &[String], lines: usize) -> String {
    let mut text = String::new();
    for at in 0..lines {
        let mut name = || &names[dice.rank(names.len())];
        let (one, two, three) = (name(), name(), name());
        let line = match dice.roll(5) {
            0 => format!("pub fn {one}({two}: &str) -> Result<{three}, Error> {{"),
            1 => format!("    let {one} = self.{two}.{three}(&{one})?;"),
            2 => format!(
                "        return Err(Error::{one} {{ {two}: {} }});",
                dice.roll(9_999)
            ),
            3 => format!("src/{one}/{two}.rs:{}: {three}", dice.roll(900)),
            _ => "        }\n    }".to_owned(),
        };
        text.push_str(&format!("{:>4}  {line}\n", at + 1));
    }
    text
}

/// Sessions: short questions, answers, long results of tools.
fn transcripts(dice: &mut Dice) -> Vec<Record> {
    let mut all = Vec::new();
    for session in 0..12 {
        let names = names(dice);
        for at in 0..240u64 {
            let (role, text) = match at % 4 {
                0 => (
                    "user",
                    (0..dice.between(1, 4)).map(|_| sentence(dice)).collect(),
                ),
                1 | 3 => {
                    let said: String = (0..dice.between(2, 8)).map(|_| sentence(dice)).collect();
                    let lines = dice.roll(8);
                    (
                        "assistant",
                        format!("{said}\n{}", code(dice, &names, lines)),
                    )
                }
                _ => {
                    let lines = dice.between(10, 120);
                    ("toolResult", code(dice, &names, lines))
                }
            };
            all.push(Record {
                kind: RecordKind::Transcript,
                source: format!("/home/ada/.pi/agent/sessions/--app--/2026-03-01_{session}.jsonl"),
                entry: format!("{:08x}", session * 1_000 + at),
                role: Some(role.to_owned()),
                time: Some(Millis(1_772_000_000_000 + at as i64 * 60_000)),
                position: at,
                text,
            });
        }
    }
    all
}

/// Notes in Chinese: words of one or two characters, half of them in phrases
/// that come again. Packed, the text is half as large, as real ones are.
fn chinese(dice: &mut Dice) -> Vec<Record> {
    const WORDS: usize = 6_000;
    let character = |at: usize| char::from_u32(0x4e00 + (at as u32 * 7) % 20_000).unwrap();
    let word = |rank: usize| -> String {
        let first = character(rank * 17 % 2_500);
        match rank < 80 {
            true => first.to_string(),
            false => format!("{first}{}", character(rank * 31 % 2_500)),
        }
    };
    let mut phrase = |_| -> String {
        let words = dice.between(3, 6);
        (0..words).map(|_| word(dice.rank(WORDS))).collect()
    };
    let phrases: Vec<String> = (0..600).map(&mut phrase).collect();
    let file = |at: usize, dice: &mut Dice| {
        let mut text = String::new();
        for _ in 0..dice.between(20, 60) {
            for _ in 0..dice.between(2, 5) {
                for _ in 0..dice.between(2, 5) {
                    text.push_str(&match dice.roll(3) {
                        0 => (0..3).map(|_| word(dice.rank(WORDS))).collect(),
                        _ => phrases[dice.rank(phrases.len())].clone(),
                    });
                }
                text.push_str(if dice.roll(3) == 0 { "。" } else { "，" });
            }
            text.push_str("\n\n");
        }
        Record::file(RecordKind::Memory, format!("memories/{at:04}.md"), text)
    };
    (0..160).map(|at| file(at, dice)).collect()
}

/// Vectors without a model, each drawn from the text; they cannot be packed
/// better than a model's.
struct Drawn {
    id: String,
    dimensions: usize,
}

impl Encoder for Drawn {
    fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let vector = |text: &&str| {
            let seed = text.bytes().fold(7u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
            let mut dice = Dice(seed);
            // Sums of a few numbers are spread as those of models are.
            (0..self.dimensions)
                .map(|_| {
                    (0..4)
                        .map(|_| dice.roll(2_001) as f32 / 1_000.0 - 1.0)
                        .sum()
                })
                .collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Bytes on disk for each byte of text.
fn ratio(records: &[Record], dimensions: usize) -> f64 {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let mut index = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
    index
        .update(&mut records.iter().cloned(), Budget::default(), &mut |_| {})
        .unwrap();
    if dimensions > 0 {
        index.use_encoder(Some(Arc::new(Drawn {
            id: format!("drawn-{dimensions}"),
            dimensions,
        })));
        assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    }
    let quote: String = records[0].text.chars().take(60).collect();
    assert!(!index.search(&Query::new(quote)).unwrap().hits.is_empty());
    let status = index.status().unwrap();
    drop(index);
    // What is left when nobody has it open any more.
    let bytes: u64 = ["main.sqlite", "main.sqlite-wal"]
        .iter()
        .filter_map(|name| folder.path().join(name).metadata().ok())
        .map(|file| file.len())
        .sum();
    let text: u64 = records.iter().map(|record| record.text.len() as u64).sum();
    println!(
        "  {dimensions:>3} dimensions: {} chunks, {text} bytes of text, {bytes} on disk, {:.3}",
        status.chunks,
        bytes as f64 / text as f64
    );
    bytes as f64 / text as f64
}

#[test]
fn an_index_is_at_most_one_and_a_half_times_its_text_with_vectors_and_without() {
    let mut dice = Dice(11);
    let shapes = [
        ("notes", notes(&mut dice)),
        ("transcripts", transcripts(&mut dice)),
        ("chinese", chinese(&mut dice)),
    ];
    let mut over = Vec::new();
    for (name, records) in &shapes {
        println!("{name}");
        for dimensions in [0, 256, 384] {
            let ratio = ratio(records, dimensions);
            if ratio > 1.5 {
                over.push(format!("{name} with {dimensions}: {ratio:.3}"));
            }
        }
    }
    assert!(over.is_empty(), "{over:?}");
}
