//! `cargo xtask eval recall`: is what was said found again, from a question that is
//! asked weeks later, and from five of its words?
//!
//! The questions stand in `questions.tsv`, each with the session and the entries
//! that answer it. They were written before anything was tuned, in other words
//! than the entries have, and are not changed by what is found.
//!
//! Quotes are taken from all over the recorded sessions, and looked for as they
//! stand there and with their words in another order. A quote that more entries
//! have than hits are asked for cannot tell one, and is counted apart, and so is
//! what a model only thought.
//!
//! They are looked for from another session, for which all of it is past: of its
//! own, recall brings by meaning only what left the context.

use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_engine::library::{Library, Scope, put_in, redaction};
use longhaul_engine::recall::{Hit, message_text};
use longhaul_engine::survey::Keep;
use longhaul_engine::tools::Recall;
use longhaul_index::IndexSettings;
use longhaul_transcript::{EntryId, Session};

use crate::table::Table;
use crate::{Result, paths};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Sessions in this folder instead (`.jsonl.gz`)
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Quotes taken from one session, spread over it
    #[arg(long, value_name = "N", default_value_t = 20)]
    quotes: usize,
    /// Print each question whose answer is not the first hit
    #[arg(long)]
    misses: bool,
    /// Fail when quotes that can tell an entry are found less often than this, in percent
    #[arg(long, value_name = "PERCENT")]
    least: Option<f64>,
}

/// Questions: a session, the entries that answer it, and the words, with tabs between.
const QUESTIONS: &str = include_str!("questions.tsv");
/// The least share of questions whose answer is the first hit, and among the first
/// five.
const REQUIRED: [f64; 2] = [60.0, 85.0];

/// Among how many hits the entry is to be.
const HITS: usize = 5;
/// A session that has nothing but a beginning.
const ASKING: &str = concat!(
    r#"{"type":"session","version":3,"id":"asking","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#,
    "\n"
);
/// Words of a quote.
const WORDS: usize = 5;

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

    fn is_below(&self, least: f64) -> bool {
        self.asked > 0 && self.percent() < least
    }

    fn percent(&self) -> f64 {
        100.0 * self.found as f64 / self.asked.max(1) as f64
    }
}

#[derive(Default)]
struct Figures {
    sessions: usize,
    all: Tally,
    /// Quotes that few enough entries have.
    telling: Tally,
    /// The same, with their words turned round.
    turned: Tally,
    /// Quotes of what was only thought that few enough entries have.
    thought: Tally,
    /// Questions whose answer is the first hit.
    first: Tally,
    /// Questions whose answer is among the hits.
    among: Tally,
}

/// A question, and the entries that answer it.
struct Question {
    gold: Vec<EntryId>,
    text: &'static str,
}

/// The questions about a session of this name.
fn questions_of(session: &str) -> Vec<Question> {
    let lines = QUESTIONS.lines().map(|line| line.split('\t'));
    let questions = lines.filter_map(|mut fields| {
        let is_of = fields.next()? == session;
        let (gold, text) = (fields.next()?, fields.next()?);
        let gold = gold.split(' ').map(EntryId::from).collect();
        is_of.then_some(Question { gold, text })
    });
    questions.collect()
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = match (&args.folder, paths::corpus()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(corpus)) => corpus.join("transcripts"),
        (None, None) => {
            println!("skipped: no corpus beside the workspace");
            return Ok(());
        }
    };
    let figures = measure(&folder, args)?;
    let mut natural = Table::new(["questions", "found", "of", "share", "to reach"]);
    for (what, tally, least) in [
        ("the first hit answers", &figures.first, REQUIRED[0]),
        ("one of the first five does", &figures.among, REQUIRED[1]),
    ] {
        let reached = match tally.is_below(least) {
            true => "not reached",
            false => "reached",
        };
        natural.row([
            what.to_owned(),
            tally.found.to_string(),
            tally.asked.to_string(),
            format!("{:.1} %", tally.percent()),
            format!("{least:.0} %, {reached}"),
        ]);
    }
    println!("{natural}");
    let mut table = Table::new(["quotes of five words", "found", "of", "share"]);
    for (what, tally) in [
        ("as they stand there, all", &figures.all),
        ("those that can tell an entry", &figures.telling),
        ("the same, words turned round", &figures.turned),
        ("of what was only thought", &figures.thought),
    ] {
        table.row([
            what.to_owned(),
            tally.found.to_string(),
            tally.asked.to_string(),
            format!("{:.2} %", tally.percent()),
        ]);
    }
    print!("{table}");
    println!("\n{} sessions, the first {HITS} hits", figures.sessions);
    match args.least {
        Some(least) if figures.telling.is_below(least) || figures.thought.is_below(least) => {
            Err(format!("fewer than {least} % were found").into())
        }
        _ => Ok(()),
    }
}

fn measure(folder: &Path, args: &Args) -> Result<Figures> {
    let scratch = paths::scratch(&format!("eval-recall-{}", std::process::id()))?;
    let mut figures = Figures::default();
    for path in paths::files(folder, |name| name.ends_with(".jsonl.gz"))? {
        let name = paths::name(&path);
        let file = scratch.join(name.trim_end_matches(".gz"));
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(fs::File::open(&path)?).read_to_end(&mut bytes)?;
        fs::write(&file, bytes)?;
        // Some of them are broken on purpose, or of formats that are not read.
        if let Ok(session) = Session::open(&file) {
            of_session(&session, &file, args, &mut figures)?;
        }
    }
    fs::remove_dir_all(&scratch)?;
    Ok(figures)
}

fn of_session(session: &Session, file: &Path, args: &Args, figures: &mut Figures) -> Result<()> {
    let mut said: Vec<(EntryId, String)> = Vec::new();
    let mut thought: Vec<(EntryId, String)> = Vec::new();
    let read = session.each(&mut |entry| {
        // A summary says again what others said; those are to be found.
        if let Some(message) = entry.message() {
            said.push((entry.id.clone(), message_text(&message)));
            thought.push((entry.id.clone(), message.thinking()));
        }
        ControlFlow::Continue(())
    });
    if read.is_err() {
        return Ok(());
    }
    let texts = said.iter().chain(&thought).map(|(_, text)| plain(text));
    let texts: Vec<String> = texts.collect();
    let is_long = |one: &(EntryId, String)| one.1.split_whitespace().count() >= WORDS;
    said.retain(is_long);
    thought.retain(is_long);
    if said.is_empty() {
        return Ok(());
    }
    figures.sessions += 1;
    let library = Library::new(
        file.with_extension("sqlite"),
        IndexSettings::new(redaction()),
        None,
    );
    library.reading(|index| Ok(put_in(index, session, &Keep::nowhere(), &mut |_| {})))??;
    let asking = file.with_extension("asking.jsonl");
    fs::write(&asking, ASKING)?;
    let past = library
        .recollection(&asking, Scope::All)
        .with_others(vec![session.reference().clone()]);
    let found = |words: &str, id: &EntryId| -> Result<bool> {
        let hits = past.search(words, HITS)?;
        Ok(hits.iter().any(|hit| hit.names(id)))
    };
    let name = paths::name(file);
    for question in questions_of(name.trim_end_matches(".jsonl")) {
        let hits = past.search(question.text, HITS)?;
        let answers = |hit: &Hit| question.gold.iter().any(|id| hit.names(id));
        let place = hits.iter().position(answers);
        figures.first.note(place == Some(0));
        figures.among.note(place.is_some());
        if args.misses && place != Some(0) {
            let place = place.map_or(String::from("-"), |at| (at + 1).to_string());
            println!("{place}\t{name}\t{}", question.text);
            for hit in &hits {
                let (id, who) = (&hit.entry.id, hit.who());
                let said: String = hit.excerpt.chars().take(90).collect();
                println!("\t{id} {who}: {}", said.replace('\n', " "));
            }
        }
    }
    let tells = |quote: &str| {
        let lower = quote.to_lowercase();
        texts.iter().filter(|text| text.contains(&lower)).count() <= HITS
    };
    for (id, text) in spread(&said, args.quotes) {
        let quote = quote_of(text);
        let as_said = quote.join(" ");
        let is_found = found(&as_said, id)?;
        figures.all.note(is_found);
        if !tells(&as_said) {
            continue;
        }
        figures.telling.note(is_found);
        if !is_found {
            println!("not found: {} {id}: {as_said}", paths::name(file));
        }
        let turned: Vec<&str> = quote.iter().rev().copied().collect();
        figures.turned.note(found(&turned.join(" "), id)?);
    }
    for (id, text) in spread(&thought, args.quotes) {
        let quote = quote_of(text).join(" ");
        if tells(&quote) {
            let is_found = found(&quote, id)?;
            figures.thought.note(is_found);
            if !is_found {
                println!("not found: {} {id}: {quote}", paths::name(file));
            }
        }
    }
    Ok(())
}

/// So many of them, from all over.
fn spread<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(most.max(1)).max(1))
}

/// Five words from the middle.
fn quote_of(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let from = (words.len() / 2).saturating_sub(2);
    let from = from.min(words.len().saturating_sub(WORDS));
    words[from..words.len().min(from + WORDS)].to_vec()
}

fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
