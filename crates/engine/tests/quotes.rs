//! Five-word quotes of real sessions, where they lie beside the project: is the
//! entry among the first five hits, as the words stand there and with the words
//! in another order?
//!
//! It takes minutes, and prints what it measured:
//! `cargo test -p longhaul-engine --test quotes -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_engine::library::{Library, Scope, put_in};
use longhaul_engine::recall::full_text;
use longhaul_engine::tools::Recall;
use longhaul_memory::IndexSettings;
use longhaul_transcript::{EntryId, Session};

/// Quotes taken from one session, spread over it.
const QUOTES: usize = 20;
/// Words that more entries have than hits are asked for cannot tell one.
const HITS: usize = 5;

#[derive(Default)]
struct Tally {
    asked: usize,
    found: usize,
}

impl Tally {
    fn note(&mut self, found: bool) {
        self.asked += 1;
        self.found += usize::from(found);
    }

    fn percent(&self) -> f64 {
        100.0 * self.found as f64 / self.asked.max(1) as f64
    }
}

fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

#[test]
#[ignore = "measures for minutes"]
fn a_quote_of_five_words_is_among_the_first_five_hits() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/transcripts");
    let Ok(files) = fs::read_dir(&corpus) else {
        eprintln!("skipped: no corpus beside the project");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut all, mut telling, mut shuffled) =
        (Tally::default(), Tally::default(), Tally::default());
    let mut sessions = 0;
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".jsonl.gz") else {
            continue;
        };
        let file = folder.path().join(format!("{stem}.jsonl"));
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(fs::File::open(&path).unwrap())
            .read_to_end(&mut bytes)
            .unwrap();
        fs::write(&file, bytes).unwrap();
        // Some of them are broken on purpose, or of formats that are not read.
        let Ok(session) = Session::open(&file) else {
            continue;
        };
        let mut entries: Vec<(EntryId, String)> = Vec::new();
        let read = session.each(&mut |entry| {
            // A summary says again what others said; those are to be found.
            if entry.message().is_some() {
                entries.push((entry.id.clone(), full_text(&entry)));
            }
            ControlFlow::Continue(())
        });
        if read.is_err() {
            continue;
        }
        let texts: Vec<String> = entries.iter().map(|(_, text)| plain(text)).collect();
        let long: Vec<usize> = (0..entries.len())
            .filter(|at| texts[*at].split(' ').count() >= 5)
            .collect();
        if long.is_empty() {
            continue;
        }
        sessions += 1;
        let library = Library::new(
            folder.path().join(format!("{stem}.sqlite")),
            IndexSettings::default(),
            None,
        );
        let ids: HashSet<EntryId> = entries.iter().map(|(id, _)| id.clone()).collect();
        library
            .reading(|index| Ok(put_in(index, &session, Some(&ids), &mut |_| {})))
            .unwrap()
            .unwrap();
        let past = library.recollection(&file, Scope::Session);
        for at in long.iter().step_by(long.len().div_ceil(QUOTES)) {
            let (id, text) = &entries[*at];
            let words: Vec<&str> = text.split_whitespace().collect();
            let middle = (words.len() / 2).saturating_sub(2).min(words.len() - 5);
            let quote = &words[middle..middle + 5];
            let found = |words: &str| {
                let hits = past.search(words, HITS).unwrap();
                hits.iter().any(|hit| hit.names(id))
            };
            let as_said = quote.join(" ");
            let is_found = found(&as_said);
            all.note(is_found);
            let lower = as_said.to_lowercase();
            let having = texts.iter().filter(|text| text.contains(&lower)).count();
            if having > HITS {
                continue;
            }
            telling.note(is_found);
            if !is_found {
                eprintln!("not found: {stem} {id}: {as_said}");
            }
            let turned: Vec<&str> = quote.iter().rev().copied().collect();
            shuffled.note(found(&turned.join(" ")));
        }
    }
    for (what, tally) in [
        ("all quotes", &all),
        ("quotes that tell", &telling),
        ("the same, words turned round", &shuffled),
    ] {
        let (found, asked) = (tally.found, tally.asked);
        eprintln!(
            "{what:<30} {found:>5} of {asked:>5}  {:>6.2} %",
            tally.percent()
        );
    }
    eprintln!("sessions: {sessions}");
    assert!(telling.asked > 100, "too few to say anything");
    assert!(telling.percent() >= 99.0);
}
