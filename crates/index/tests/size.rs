//! How large an index is beside the texts in it: at most one and a half times
//! without vectors, of which each takes a byte a dimension.
//!
//! Words here are drawn, and nothing of them is repeated but as often as words
//! of a language are.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use longhaul_index::{
    Budget, Encoder, EncoderKind, IndexError, IndexSettings, MemoryIndex, Query, Record,
    RecordKind, Redaction, SqliteIndex, Status,
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

/// A language of which nothing is chosen but how unevenly frequent its words are.
struct Language(Vec<String>);

impl Language {
    /// Words of letters, each as frequent as in English; frequent words are short.
    fn of_letters(dice: &mut Dice, words: usize) -> Language {
        const LETTERS: &str = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhh\
                               rrrrrrddddllllcccuuummmwwffggyyppbbvkjxqz";
        let word = |rank: usize| -> String {
            let length = 2 + (rank + 1).ilog2() as usize / 3 + dice.roll(4);
            let letters = (0..length).map(|_| dice.roll(LETTERS.len()));
            letters.map(|at| &LETTERS[at..=at]).collect()
        };
        Language((0..words).map(word).collect())
    }

    /// Words of a character or two.
    fn of_characters(dice: &mut Dice, words: usize) -> Language {
        let characters: Vec<char> = (0..3_000)
            .map(|_| char::from_u32(0x4e00 + dice.roll(20_900) as u32).unwrap())
            .collect();
        let word = |rank: usize| -> String {
            let length = if rank < 100 { 1 } else { 2 };
            (0..length)
                .map(|_| characters[dice.rank(characters.len())])
                .collect()
        };
        Language((0..words).map(word).collect())
    }

    fn word(&self, dice: &mut Dice) -> &str {
        &self.0[dice.rank(self.0.len())]
    }

    fn sentence(&self, dice: &mut Dice) -> String {
        let words: Vec<&str> = (0..dice.between(8, 24)).map(|_| self.word(dice)).collect();
        let text = words.join(" ");
        text[..1].to_uppercase() + &text[1..] + ". "
    }

    /// So many characters without a space, a mark after every few words.
    fn unspaced(&self, dice: &mut Dice, characters: usize) -> String {
        let mut text = String::new();
        let mut words = 0;
        while text.chars().count() < characters {
            text.push_str(self.word(dice));
            words += 1;
            if words % 5 == 0 {
                text.push('，');
            }
        }
        text.push('。');
        text
    }
}

/// Daily notes: headings, paragraphs, lists.
fn notes(dice: &mut Dice) -> Vec<Record> {
    let language = Language::of_letters(dice, 20_000);
    let file = |at: usize, dice: &mut Dice| {
        let mut text = format!("# 2026-03-{:02}\n\n", at % 28 + 1);
        for _ in 0..dice.between(8, 24) {
            text.push_str(&format!("## {}\n\n", language.sentence(dice).trim()));
            for _ in 0..dice.between(2, 7) {
                text.push_str(&language.sentence(dice));
            }
            text.push_str("\n\n");
            for _ in 0..dice.roll(6) {
                text.push_str(&format!("- {}\n", language.sentence(dice).trim()));
            }
            text.push('\n');
        }
        Record::file(RecordKind::Daily, format!("memory/2026-{at:04}.md"), text)
    };
    (0..160).map(|at| file(at, dice)).collect()
}

/// The names of a program, in several styles.
fn names(dice: &mut Dice, language: &Language) -> Vec<String> {
    let mut name = |_| {
        let (a, b) = (language.word(dice), language.word(dice));
        match dice.roll(3) {
            0 => format!("{a}_{b}"),
            1 => format!("{a}{}{}", b[..1].to_uppercase(), &b[1..]),
            _ => a.to_owned(),
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
fn sessions(dice: &mut Dice) -> Vec<Record> {
    let language = Language::of_letters(dice, 20_000);
    let mut all = Vec::new();
    for session in 0..12 {
        let names = names(dice, &language);
        for at in 0..240u64 {
            let say = |least, most, dice: &mut Dice| -> String {
                let sentences = dice.between(least, most);
                (0..sentences).map(|_| language.sentence(dice)).collect()
            };
            let (role, text) = match at % 4 {
                0 => ("user", say(1, 4, dice)),
                1 | 3 => {
                    let (said, lines) = (say(2, 8, dice), dice.roll(8));
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
            let source = format!("/home/ada/.pi/agent/sessions/--app--/2026-03-01_{session}.jsonl");
            let entry = format!("{:08x}", dice.roll(1 << 31));
            all.push(entry_of(source, entry, role, at, text));
        }
    }
    all
}

fn entry_of(source: String, entry: String, role: &str, at: u64, text: String) -> Record {
    Record {
        kind: RecordKind::Transcript,
        source,
        entry,
        role: Some(role.to_owned()),
        time: Some(Millis(1_772_000_000_000 + at as i64 * 60_000)),
        position: at,
        text,
    }
}

/// Pages in Chinese.
fn chinese(dice: &mut Dice) -> Vec<Record> {
    let language = Language::of_characters(dice, 8_000);
    let file = |at: usize, dice: &mut Dice| {
        let mut text = String::new();
        for _ in 0..dice.between(20, 60) {
            let length = dice.between(20, 90);
            text.push_str(&language.unspaced(dice, length));
            text.push_str("\n\n");
        }
        Record::file(RecordKind::Memory, format!("memories/{at:04}.md"), text)
    };
    (0..160).map(|at| file(at, dice)).collect()
}

/// A file for each day with a dozen short notes in Chinese, each with its time
/// and a number.
fn short_chinese(dice: &mut Dice) -> Vec<Record> {
    let language = Language::of_characters(dice, 8_000);
    let file = |at: usize, dice: &mut Dice| {
        let day = format!("2024-{:02}-{:02}", at / 28 % 12 + 1, at % 28 + 1);
        let mut text = String::new();
        for number in 0..dice.between(8, 16) {
            let (hour, minute) = (dice.roll(24), dice.roll(60));
            let length = dice.between(20, 60);
            let said = language.unspaced(dice, length);
            text.push_str(&format!(
                "- {day} {hour:02}:{minute:02} [{number}] {said}\n"
            ));
        }
        Record::file(RecordKind::Daily, format!("memory/{day}-{at}.md"), text)
    };
    (0..600).map(|at| file(at, dice)).collect()
}

/// The texts of a set by conversation, where the corpus is beside the project.
fn texts_of(set: &str) -> Option<Vec<Vec<String>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus/retrieval")
        .join(format!("{set}.jsonl.gz"));
    let file = File::open(path).ok()?;
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    let group = |line: String| -> Vec<String> {
        let group: serde_json::Value = serde_json::from_str(&line).unwrap();
        let docs = group["docs"].as_array().unwrap();
        let text = |doc: &serde_json::Value| doc["text"].as_str().unwrap().to_owned();
        docs.iter().map(text).collect()
    };
    Some(lines.map(|line| group(line.unwrap())).collect())
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

/// What an index takes.
struct Size {
    text: u64,
    disk: u64,
}

impl Size {
    /// Bytes on disk for each byte of text.
    fn ratio(&self) -> f64 {
        self.disk as f64 / self.text as f64
    }
}

fn indexed(records: &[Record], dimensions: usize) -> Size {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let mut index = SqliteIndex::open(&path, IndexSettings::new(Redaction::none())).unwrap();
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
    let found = index.search(&Query::new(quote)).unwrap();
    // Nothing is told to be missing that will never be made.
    assert!(
        !found.hits.is_empty() && found.notes.is_empty(),
        "{found:?}"
    );
    let Status {
        chunks, vectors, ..
    } = index.status().unwrap();
    if dimensions > 0 {
        assert_eq!(vectors, chunks);
    }
    drop(index);
    // What is left when nobody has it open any more.
    let disk = ["main.sqlite", "main.sqlite-wal"]
        .iter()
        .filter_map(|name| folder.path().join(name).metadata().ok())
        .map(|file| file.len())
        .sum();
    let text = records.iter().map(|record| record.text.len() as u64).sum();
    let size = Size { text, disk };
    println!(
        "  {dimensions:>3} dimensions: {chunks} chunks, {text} bytes of text, {disk} on disk, {:.3}",
        size.ratio()
    );
    size
}

/// The dimensions of the models there are, and none.
const DIMENSIONS: [usize; 3] = [0, 256, 384];

/// At most so many times the text, without vectors and with them.
fn is_within(most: [f64; 3], name: &str, records: &[Record]) {
    println!("{name}");
    for (dimensions, most) in DIMENSIONS.into_iter().zip(most) {
        let ratio = indexed(records, dimensions).ratio();
        assert!(ratio <= most, "{name} with {dimensions}: {ratio:.3}");
    }
}

#[test]
fn an_index_of_notes_is_at_most_one_and_a_half_times_its_text() {
    is_within([1.5, 2.0, 2.3], "notes", &notes(&mut Dice(11)));
}

#[test]
fn an_index_of_sessions_is_at_most_one_and_a_half_times_its_text() {
    is_within([1.5, 2.0, 2.3], "sessions", &sessions(&mut Dice(12)));
}

#[test]
fn an_index_of_memdaily_is_at_most_one_and_a_half_times_its_text() {
    let Some(groups) = texts_of("memdaily_zh_a") else {
        eprintln!("skipped: no corpus beside the project");
        return;
    };
    let file = |(at, texts): (usize, &Vec<String>)| {
        let name = format!("memory/{at:04}.md");
        Record::file(RecordKind::Memory, name, texts.join("\n"))
    };
    let records: Vec<Record> = groups.iter().enumerate().map(file).collect();
    is_within([1.5, 2.0, 2.3], "MemDaily, a file a conversation", &records);
}

/// Words drawn one by one put characters side by side that no language does: the
/// pairs take twice what they take of MemDaily, and so does the text itself.
#[test]
fn chinese_in_which_no_word_follows_from_another_takes_little_more() {
    let mut dice = Dice(13);
    is_within([1.75, 2.2, 2.5], "Chinese", &chinese(&mut dice));
    let short = short_chinese(&mut dice);
    is_within([1.8, 2.2, 2.5], "short notes in Chinese", &short);
}
