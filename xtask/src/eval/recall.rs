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
//! They are looked for as an agent does: from within the session, after a
//! compaction took nearly all of it out of the context. What is still there need
//! not be recalled, and its questions are not asked.
//!
//! Whoever works on the ranking looks at one half of the questions, `--misses`;
//! both are printed.
use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_engine::library::{Library, Recollection, Scope, redaction};
use longhaul_engine::recall::{Hit, message_text};
use longhaul_engine::tools::Recall;
use longhaul_index::{Encoder, IndexSettings, MemoryIndex, open_model};
use longhaul_testkit::recorded;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Entry, EntryId, Session};

use super::retrieval::{Cached, install_models, weighed};
use crate::eval_compaction::drive::{Outcome, Running, Setup};
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
    /// Print each question of the half to work with whose answer is not the first hit
    #[arg(long)]
    misses: bool,
    /// Measure with embedding models as well, which are installed below
    /// `target/tools` if they are not there
    #[arg(long)]
    models: bool,
    /// Folders of embedding models to measure with as well
    #[arg(long = "model", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Other weights than the default ones, such as `beside=0.3`
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    weights: Vec<String>,
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
/// The window in which a session is compacted: a small one keeps little.
const WINDOW: u32 = 24_000;
/// Threads on which vectors are made.
const THREADS: usize = 2;
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

    fn with(&self, other: &Tally) -> Tally {
        Tally {
            asked: self.asked + other.asked,
            found: self.found + other.found,
        }
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
    /// Of each half of the questions, those whose answer is the first hit.
    first: [Tally; 2],
    /// The same of those whose answer is among the hits.
    among: [Tally; 2],
    /// Questions whose answer is still in the context.
    in_sight: usize,
}

/// A question, and the entries that answer it.
struct Question {
    gold: Vec<EntryId>,
    text: &'static str,
}

impl Question {
    /// The half it is of: the first one is looked at by whoever works on the ranking.
    fn half(&self) -> usize {
        usize::from(blake3::hash(self.text.as_bytes()).as_bytes()[0] & 1)
    }
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
    let folder = match (&args.folder, recorded::corpus()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(corpus)) => corpus.join("transcripts"),
        (None, None) => {
            println!("skipped: no corpus beside the workspace");
            return Ok(());
        }
    };
    let mut folders = args.folders.clone();
    if args.models {
        folders.extend(install_models()?);
    }
    let mut models: Vec<Option<Arc<dyn Encoder>>> = vec![None];
    for folder in &folders {
        models.push(Some(Arc::new(Cached::new(open_model(folder, THREADS)?)?)));
    }
    let mut unreached = Vec::new();
    for model in models {
        let by = model
            .as_ref()
            .map_or("words alone", |model| model.id())
            .to_owned();
        let figures = measure(&folder, args, model)?;
        println!("by {by}");
        print(&figures);
        let all = |halves: &[Tally; 2]| halves[0].with(&halves[1]);
        if all(&figures.first).is_below(REQUIRED[0]) || all(&figures.among).is_below(REQUIRED[1]) {
            unreached.push(format!(
                "the questions are not answered often enough by {by}"
            ));
        }
        let quotes = [&figures.telling, &figures.thought];
        if let Some(least) = args.least
            && quotes.iter().any(|tally| tally.is_below(least))
        {
            unreached.push(format!(
                "fewer than {least} % of the quotes were found by {by}"
            ));
        }
    }
    match unreached.is_empty() {
        true => Ok(()),
        false => Err(unreached.join("; ").into()),
    }
}

fn print(figures: &Figures) {
    let mut natural = Table::new(["questions", "found", "of", "share", "to reach"]);
    for (what, halves, least) in [
        ("the first hit answers", &figures.first, REQUIRED[0]),
        ("one of the first five does", &figures.among, REQUIRED[1]),
    ] {
        let all = halves[0].with(&halves[1]);
        let reached = match all.is_below(least) {
            true => "not reached",
            false => "reached",
        };
        for (of, tally, told) in [
            ("", &all, format!("{least:.0} %, {reached}")),
            (", half to work with", &halves[0], String::new()),
            (", the other half", &halves[1], String::new()),
        ] {
            natural.row([
                format!("{what}{of}"),
                tally.found.to_string(),
                tally.asked.to_string(),
                format!("{:.1} %", tally.percent()),
                told,
            ]);
        }
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
    println!(
        "\n{} sessions, the first {HITS} hits; {} questions whose answer is still in the context",
        figures.sessions, figures.in_sight
    );
}

fn measure(folder: &Path, args: &Args, model: Option<Arc<dyn Encoder>>) -> Result<Figures> {
    let setup = Setup::new(WINDOW)?;
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
            of_session(&session, &file, args, (&setup, &model), &mut figures)?;
        }
    }
    fs::remove_dir_all(&scratch)?;
    Ok(figures)
}

/// A session after a compaction, and the ids that its context shows.
fn compacted(
    setup: &Setup,
    session: &Session,
    entries: Vec<Entry>,
    file: &Path,
) -> Result<HashSet<EntryId>> {
    let mut running = Running::new(session.header(), Tokens(0));
    entries.into_iter().for_each(|entry| running.push(entry));
    let outcome = setup.force(&mut running, &mut setup.counters(), 1);
    if outcome == Outcome::Failed {
        return Err(format!("{} is not compacted", paths::name(file)).into());
    }
    running.store(file)?;
    let shown = running.messages().into_iter();
    Ok(shown.map(|message| message.entry).collect())
}

fn of_session(
    session: &Session,
    file: &Path,
    args: &Args,
    (setup, model): (&Setup, &Option<Arc<dyn Encoder>>),
    figures: &mut Figures,
) -> Result<()> {
    let mut said: Vec<(EntryId, String)> = Vec::new();
    let mut thought: Vec<(EntryId, String)> = Vec::new();
    let mut entries = Vec::new();
    let read = session.each(&mut |entry| {
        // A summary says again what others said; those are to be found.
        if let Some(message) = entry.message() {
            said.push((entry.id.clone(), message_text(&message)));
            thought.push((entry.id.clone(), message.thinking()));
        }
        entries.push(entry);
        ControlFlow::Continue(())
    });
    if read.is_err() || entries.is_empty() {
        return Ok(());
    }
    let within = file.with_extension("within.jsonl");
    let shown = compacted(setup, session, entries, &within)?;
    let texts = said.iter().chain(&thought).map(|(_, text)| plain(text));
    let texts: Vec<String> = texts.collect();
    let has_left = |one: &(EntryId, String)| {
        one.1.split_whitespace().count() >= WORDS && !shown.contains(&one.0)
    };
    said.retain(has_left);
    thought.retain(has_left);
    if said.is_empty() {
        return Ok(());
    }
    figures.sessions += 1;
    let library = Library::new(
        file.with_extension("sqlite"),
        IndexSettings {
            search: weighed(&args.weights)?,
            ..IndexSettings::new(redaction())
        },
        model.clone(),
    );
    let past: Recollection = library.recollection(&within, Scope::Session);
    past.find("one", 1)?;
    if model.is_some() {
        library.reading(|index| index.embed(u64::MAX, &mut |_, _| {}))?;
    }
    let found = |words: &str, id: &EntryId| -> Result<bool> {
        let hits = past.find(words, HITS)?.hits;
        Ok(hits.iter().any(|hit| hit.names(id)))
    };
    let name = paths::name(file);
    for question in questions_of(name.trim_end_matches(".jsonl")) {
        if question.gold.iter().any(|id| shown.contains(id)) {
            figures.in_sight += 1;
            continue;
        }
        let hits = past.find(question.text, HITS)?.hits;
        let answers = |hit: &Hit| question.gold.iter().any(|id| hit.names(id));
        let place = hits.iter().position(answers);
        let half = question.half();
        figures.first[half].note(place == Some(0));
        figures.among[half].note(place.is_some());
        if args.misses && half == 0 && place != Some(0) {
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
