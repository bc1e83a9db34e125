//! `cargo xtask eval retrieval`: what search finds, beside what it should.
//!
//! Every group of a set is an index of its own. Recall is the share of what
//! should be found among the first hits, averaged over the questions that have
//! something to find.

mod cached;
mod models;
mod plain;
mod precision;
mod score;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use longhaul_engine::library::redaction;
use longhaul_index::{
    Budget, Encoder, Filters, IndexSettings, MemoryIndex, Mode, Query, SearchSettings, SqliteIndex,
    open_model,
};

pub(super) use self::cached::Cached;
pub(super) use self::models::install as install_models;
use self::precision::Counts;
use self::score::{Scores, Sums};
use crate::sets::{self, Group, Question};
use crate::table::Table;
use crate::{Result, paths, shell};
use longhaul_testkit::recorded;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of questions, or the beginnings of names in the corpus
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    sets: Vec<String>,
    /// Print a table for the book
    #[arg(long)]
    markdown: bool,
    /// Other weights than the default ones, such as `beside=0.3`
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    weights: Vec<String>,
    /// Folders of embedding models to measure as well
    #[arg(long = "model", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Measure all-MiniLM-L6-v2 besides WordLlama, which takes long the first
    /// time; both are installed below `target/tools` if they are not there
    #[arg(long)]
    models: bool,
    /// Measure words alone, without a model
    #[arg(long, conflicts_with_all = ["models", "folders"])]
    words: bool,
    /// Threads on which vectors are made
    #[arg(long, value_name = "N", default_value_t = 2)]
    threads: usize,
    /// Print each question that misses something, with the places of what it
    /// should find
    #[arg(long)]
    pub(crate) misses: bool,
    /// Fail when a set does not reach what it must
    #[arg(long)]
    check: bool,
}

/// Recall at ten that words alone must reach, by the beginning of a set's name.
const REQUIRED: [(&str, f64); 5] = [
    ("locomo", 74.0),
    ("beam", 54.0),
    ("realmem", 72.0),
    ("memdaily", 96.0),
    ("lme", 94.0),
];

/// What the rows of words alone and of plain BM25 are called.
const WORDS: &str = "words";
const PLAIN: &str = "plain BM25";

/// How many hits are asked for, to have enough sessions among them.
const DEPTH: usize = 60;

pub(crate) fn run(args: &Args) -> Result<()> {
    if shell::again_in_release()? {
        return Ok(());
    }
    let files = files(args)?;
    if files.is_empty() {
        println!("SKIPPED: there is no corpus beside the workspace, and no --sets");
        return Ok(());
    }
    let settings = weighed(&args.weights)?;
    let mut models = Vec::new();
    for folder in &folders(args)? {
        models.push(Arc::new(Cached::new(open_model(folder, args.threads)?)?));
    }
    let mut rows = Vec::new();
    for file in &files {
        let name = paths::name(file);
        let name = name.trim_end_matches(".gz").trim_end_matches(".jsonl");
        let groups = sets::load(file)?;
        let mut row = |label: String, mode, model| -> Result<()> {
            let scores = measured(&groups, mode, &settings, model, args.misses)?;
            rows.push((name.to_owned(), label, scores));
            Ok(())
        };
        row(String::from(WORDS), Mode::Words, None)?;
        for model in &models {
            row(model.id().to_owned(), Mode::Vectors, Some(model))?;
            row(format!("words + {}", model.id()), Mode::Hybrid, Some(model))?;
        }
        rows.push((
            name.to_owned(),
            String::from(PLAIN),
            plain::measured(&groups)?,
        ));
    }
    let mut precisions = Vec::new();
    if args.sets.is_empty()
        && let Some(corpus) = recorded::corpus()
    {
        let corpus = corpus.join("retrieval");
        let mut row = |label: String, mode, model| -> Result<()> {
            let counts = precision::measured(&corpus, mode, &settings, model)?;
            precisions.extend(counts.map(|counts| (label, counts)));
            Ok(())
        };
        row(String::from("words"), Mode::Words, None)?;
        for model in &models {
            row(model.id().to_owned(), Mode::Vectors, Some(model))?;
            row(format!("words + {}", model.id()), Mode::Hybrid, Some(model))?;
        }
    }
    print(args, &rows, &precisions);
    for model in &models {
        let (count, time) = model.made();
        if count > 0 {
            let speed = count as f64 / time.as_secs_f64().max(1e-9);
            eprintln!("{}: {count} vectors made, {speed:.0} a second", model.id());
        }
    }
    let unreached = unreached(&rows);
    for line in &unreached {
        println!("not reached: {line}");
    }
    match args.check && !unreached.is_empty() {
        true => Err(format!("{} measures are not reached", unreached.len()).into()),
        false => Ok(()),
    }
}

/// The models that are measured. Without the quick one, words still are.
fn folders(args: &Args) -> Result<Vec<PathBuf>> {
    let mut folders = args.folders.clone();
    if args.models {
        folders.extend(models::install()?);
    } else if !args.words && folders.is_empty() {
        match models::install_quick() {
            Ok(folder) => folders.push(folder),
            Err(error) => eprintln!("measured by words alone, without a model: {error}"),
        }
    }
    Ok(folders)
}

/// What is not as it must be: words alone below what is required or, by MRR, below
/// plain BM25; words and a model below words alone.
fn unreached(rows: &[(String, String, Scores)]) -> Vec<String> {
    let mut unreached = Vec::new();
    for (set, mode, scores) in rows {
        let of = |wanted: &str| {
            let mut rows = rows.iter();
            let row = rows.find(|(name, mode, _)| name == set && mode == wanted);
            row.map(|(.., scores)| scores)
        };
        let mut below = |what: &str, found: f64, least: f64, of: &str| {
            if found < least {
                unreached.push(format!(
                    "{set}, {mode}: {what} is {found:.1}, {of} {least:.1}"
                ));
            }
        };
        let required = REQUIRED.iter().find(|(start, _)| set.starts_with(start));
        if mode == WORDS {
            if let Some((_, least)) = required {
                below("R@10", scores.recall10, *least, "required");
            }
            if let Some(plain) = of(PLAIN) {
                below("MRR", scores.mrr, plain.mrr, "of plain BM25");
            }
        } else if mode.starts_with(WORDS)
            && let Some(words) = of(WORDS)
        {
            below("R@10", scores.recall10, words.recall10, "by words alone");
        }
    }
    unreached
}

fn files(args: &Args) -> Result<Vec<PathBuf>> {
    let corpus = match recorded::corpus() {
        Some(corpus) if corpus.join("retrieval").is_dir() => {
            paths::files(&corpus.join("retrieval"), |name| name.contains(".jsonl"))?
        }
        _ => Vec::new(),
    };
    if args.sets.is_empty() {
        return Ok(corpus);
    }
    let mut files = Vec::new();
    for set in &args.sets {
        let path = PathBuf::from(set);
        if path.is_file() {
            files.push(path);
            continue;
        }
        let named: Vec<_> = corpus
            .iter()
            .filter(|file| paths::name(file).starts_with(set))
            .collect();
        if named.is_empty() {
            return Err(format!("{set} is no file and no set of the corpus begins so").into());
        }
        files.extend(named.into_iter().cloned());
    }
    Ok(files)
}

pub(super) fn weighed(weights: &[String]) -> Result<SearchSettings> {
    let mut settings = SearchSettings::default();
    for weight in weights {
        let (name, value) = weight
            .split_once('=')
            .ok_or_else(|| format!("{weight:?} is not NAME=VALUE"))?;
        let value: f32 = value
            .parse()
            .map_err(|_| format!("{value:?} is no number"))?;
        let place = match name {
            "k1" => &mut settings.k1,
            "b" => &mut settings.b,
            "beside" => &mut settings.beside,
            "exchange" => &mut settings.exchange,
            "coverage" => &mut settings.coverage,
            "topics" => &mut settings.topics,
            "feedback" => &mut settings.feedback,
            "source" => &mut settings.source,
            "sentences" => &mut settings.sentences,
            "vectors" => &mut settings.vectors,
            "static" => &mut settings.static_vectors,
            "user" => &mut settings.user,
            "tools" => &mut settings.tools,
            "lambda" => &mut settings.lambda,
            "half-life" => &mut settings.half_life_days,
            "ages" => &mut settings.ages,
            "entry-ages" => &mut settings.entry_ages,
            _ => return Err(format!("no weight is called {name:?}").into()),
        };
        *place = value;
    }
    Ok(settings)
}

fn measured(
    groups: &[Group],
    mode: Mode,
    settings: &SearchSettings,
    model: Option<&Arc<Cached>>,
    misses: bool,
) -> Result<Scores> {
    let mut sums = Sums::default();
    for group in groups {
        let mut index = SqliteIndex::in_memory(IndexSettings {
            search: *settings,
            ..IndexSettings::new(redaction())
        })?;
        index.update(
            &mut group.records.iter().cloned(),
            Budget::default(),
            &mut |_| {},
        )?;
        if let Some(model) = model {
            index.use_encoder(Some(model.clone()));
            index.embed(u64::MAX, &mut |_, _| {})?;
        }
        for question in group.asked() {
            let query = query(group, question, mode);
            let hits = index.search(&Query {
                k: DEPTH,
                ..query.clone()
            })?;
            let start = Instant::now();
            index.search(&query)?;
            sums.took(start.elapsed());
            let hits: Vec<(&str, &str)> = hits
                .hits
                .iter()
                .map(|hit| (question.name_of(&hit.source, &hit.entry), &*hit.text))
                .collect();
            let found = distinct(hits.iter().map(|(name, _)| *name));
            if misses {
                miss(&found, question);
            }
            sums.add(&found, question, &hits);
        }
    }
    Ok(sums.finish())
}

fn query(group: &Group, question: &Question, mode: Mode) -> Query {
    let sessions: Vec<String> = question.as_of.map_or_else(Vec::new, |as_of| {
        let before = group.order.iter().filter(|(_, order)| **order < as_of);
        before.map(|(session, _)| session.clone()).collect()
    });
    let times = group
        .records
        .iter()
        .filter(|record| sessions.is_empty() || sessions.contains(&record.source))
        .filter_map(|record| record.time);
    Query {
        k: 10,
        mode,
        now: times.max(),
        filters: Filters {
            sessions,
            ..Filters::default()
        },
        ..Query::new(question.text.clone())
    }
}

/// Where the things stand that a question should find and has not among its
/// first ten.
fn miss(found: &[String], question: &Question) {
    let place = |name: &String| found.iter().position(|other| other == name);
    let places: Vec<String> = question
        .gold
        .iter()
        .map(|name| match place(name) {
            Some(at) => format!("{name} at {}", at + 1),
            None => format!("{name} not found"),
        })
        .collect();
    let all = |name: &String| place(name).is_some_and(|at| at < 10);
    if !question.gold.iter().all(all) {
        println!("{:?}: {}", question.text, places.join(", "));
    }
}

/// The names of what was found, each once, in order.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = HashSet::new();
    let new = names.filter(|name| seen.insert(*name));
    new.map(str::to_owned).collect()
}

fn print(args: &Args, rows: &[(String, String, Scores)], precisions: &[(String, Counts)]) {
    let heading = [
        "set",
        "mode",
        "questions",
        "R@5",
        "R@10",
        "any@10",
        "nDCG@10",
        "MRR",
        "P@2k tokens",
        "p50 ms",
        "p95 ms",
        "required",
    ];
    let cells = rows.iter().map(|(set, mode, scores)| {
        let required = REQUIRED.iter().find(|(start, _)| set.starts_with(start));
        [
            set.clone(),
            mode.clone(),
            scores.questions.to_string(),
            format!("{:.1}", scores.recall5),
            format!("{:.1}", scores.recall10),
            format!("{:.1}", scores.hit10),
            format!("{:.1}", scores.ndcg),
            format!("{:.1}", scores.mrr),
            format!("{:.1}", scores.precision),
            format!("{:.2}", scores.p50),
            format!("{:.2}", scores.p95),
            required.map_or_else(String::new, |(_, least)| format!("{least:.0}")),
        ]
    });
    show(args, heading, 2, cells);
    if precisions.is_empty() {
        return;
    }
    println!();
    let heading = [
        "PrecisionMemBench",
        "cases",
        "must return, at 10",
        "in as many as wanted",
        "must not, not at 10",
        "not in as many as wanted",
        "superseded at 10",
        "behind successor",
        "out of scope",
    ];
    let cells = precisions.iter().map(|(mode, counts)| {
        [
            mode.clone(),
            counts.cases.to_string(),
            format!("{} of {}", counts.returned, counts.wanted),
            format!("{} of {}", counts.exact, counts.wanted),
            format!("{} of {}", counts.kept_out, counts.unwanted),
            format!("{} of {}", counts.kept_behind, counts.unwanted),
            counts.superseded.to_string(),
            format!("{} of {}", counts.behind_successor, counts.superseded),
            counts.out_of_scope.to_string(),
        ]
    });
    show(args, heading, 1, cells);
}

/// A table, for the terminal or the book; the first `names` columns are no
/// numbers.
fn show<const N: usize>(
    args: &Args,
    heading: [&str; N],
    names: usize,
    rows: impl Iterator<Item = [String; N]>,
) {
    if args.markdown {
        println!("| {} |", heading.join(" | "));
        println!("|{}{}", "---|".repeat(names), "---:|".repeat(N - names));
        for row in rows {
            println!("| {} |", row.join(" | "));
        }
        return;
    }
    let mut table = Table::new(heading);
    for row in rows {
        table.row(row);
    }
    print!("{table}");
}
