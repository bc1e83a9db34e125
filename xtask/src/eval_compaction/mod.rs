//! `cargo xtask eval compaction`: what survives compaction, in figures.
//!
//! Sessions are replayed through the engine at several windows and then
//! compacted again and again. What must survive is known: from the truth beside
//! a recorded session, from the generator, and from what is planted here. No
//! model and no judge takes part.

mod checks;
mod pairing;
mod run;
mod score;
mod source;

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::run::Effort;
use self::score::{Row, Scores};
use self::source::Source;
use crate::Result;
use crate::paths;
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Fewer sessions and fewer look-ups, for continuous integration
    #[arg(long)]
    short: bool,
    /// Measure this session instead, of any supported agent
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What must survive of it
    #[arg(long, value_name = "FILE", requires = "file")]
    truth: Option<PathBuf>,
    /// Generated sessions only
    #[arg(long)]
    generated: bool,
    /// Seeds of the generated sessions
    #[arg(long, value_delimiter = ',', default_values_t = SEEDS)]
    seeds: Vec<u64>,
    /// Turns of each generated session
    #[arg(long)]
    turns: Option<u32>,
    /// Windows in tokens
    #[arg(long, value_delimiter = ',', default_values_t = [200_000, 60_000, 24_000])]
    windows: Vec<u32>,
    /// Write every figure, case and miss as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print one table for the book instead
    #[arg(long)]
    markdown: bool,
    /// Keep the session files below target/xtask
    #[arg(long)]
    keep: bool,
    /// Show so many misses of each row that failed
    #[arg(long, default_value_t = 3)]
    misses: usize,
}

/// Seeds of generated sessions: one of each kind of project.
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];
const TURNS: u32 = 120;
const SHORT_TURNS: u32 = 60;

pub(crate) fn run(args: &Args) -> Result<()> {
    // Two runs at a time must not clear each other's files.
    let scratch = paths::scratch(&format!("eval-compaction-{}", std::process::id()))?;
    let sources = sources(args, &scratch)?;
    let effort = Effort {
        quotes: if args.short { 40 } else { 200 },
        keep: args.keep,
    };
    let scores = measure_all(&sources, &args.windows, effort, &scratch)?;
    if !args.keep {
        fs::remove_dir_all(&scratch)?;
    }
    if args.markdown {
        print_markdown(&scores, sources.len());
    } else {
        print(&scores, args.misses);
    }
    if let Some(path) = &args.json {
        fs::write(path, serde_json::to_string_pretty(&scores.json())?)?;
    }
    let failed = scores.failed();
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = failed
        .iter()
        .map(|(window, row, share)| {
            format!(
                "{} at {window} ({:.2} %)",
                row.name(),
                share.value() * 100.0
            )
        })
        .collect();
    Err(format!(
        "{} figures below what they must reach: {}",
        names.len(),
        names.join(", ")
    )
    .into())
}

fn sources(args: &Args, scratch: &std::path::Path) -> Result<Vec<Source>> {
    if let Some(file) = &args.file {
        return Ok(vec![source::recorded(
            file,
            args.truth.as_deref(),
            scratch,
        )?]);
    }
    let mut sources = Vec::new();
    match paths::corpus().filter(|_| !args.generated) {
        Some(folder) => {
            let most = if args.short { 2 } else { usize::MAX };
            sources.extend(source::corpus(&folder, scratch, most)?);
        }
        None => println!("generated sessions only: the corpus is not there or not wanted"),
    }
    let (seeds, turns) = if args.short {
        (2, SHORT_TURNS)
    } else {
        (usize::MAX, TURNS)
    };
    let turns = args.turns.unwrap_or(turns);
    for seed in args.seeds.iter().take(seeds) {
        sources.push(source::generated(*seed, turns, scratch)?);
    }
    Ok(sources)
}

fn measure_all(
    sources: &[Source],
    windows: &[u32],
    effort: Effort,
    scratch: &std::path::Path,
) -> Result<Scores> {
    let work: Vec<(&Source, u32)> = sources
        .iter()
        .flat_map(|source| windows.iter().map(move |window| (source, *window)))
        .collect();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((source, window)) = work.get(at) else {
                        return;
                    };
                    let begun = std::time::Instant::now();
                    let measured = run::measure(source, *window, effort, scratch)
                        .map_err(|error| format!("{} at {window}: {error}", source.name));
                    eprintln!(
                        "{} at {window}: {:.1} s",
                        source.name,
                        begun.elapsed().as_secs_f64()
                    );
                    if let Ok(mut all) = all.lock() {
                        all.push((at, measured));
                    }
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(at, _)| *at);
    let mut scores = Scores::default();
    for (_, measured) in all {
        scores.add(measured?);
    }
    Ok(scores)
}

/// One row a measure, one column a window.
fn print_markdown(scores: &Scores, sessions: usize) {
    let windows = scores.windows();
    let mut rows: Vec<Row> = windows
        .iter()
        .flat_map(|window| scores.rows(*window).map(|(row, _)| row))
        .collect();
    rows.sort();
    rows.dedup();
    let columns: Vec<String> = windows.iter().map(u32::to_string).collect();
    println!("{sessions} sessions.\n");
    println!("| measure | must reach | {} |", columns.join(" | "));
    println!("|---|---|{}", "---|".repeat(windows.len()));
    for row in rows {
        let cells: Vec<String> = windows
            .iter()
            .map(|window| {
                let figure = scores.rows(*window).find(|(of, _)| *of == row);
                figure.map_or(String::new(), |(_, figure)| {
                    format!("{:.2} %", figure.sum.value() * 100.0)
                })
            })
            .collect();
        println!("| {} | {} | {} |", row.name(), must(row), cells.join(" | "));
    }
}

/// What a row must reach, for people.
fn must(row: Row) -> String {
    match row.must() {
        None => String::new(),
        Some(must) if must < 0.01 => "> 0 %".to_owned(),
        Some(must) => format!("{:.0} %", must * 100.0),
    }
}

fn print(scores: &Scores, misses: usize) {
    for window in scores.windows() {
        let mut table = Table::new([
            &format!("window {window}"),
            "measured",
            "of",
            "must reach",
            "",
            "worst case",
        ]);
        for (row, figure) in scores.rows(window) {
            let share = figure.sum;
            let verdict = match row.must() {
                None => "",
                Some(must) if share.value() >= must => "pass",
                Some(_) => "FAIL",
            };
            table.row([
                row.name().to_owned(),
                format!("{:.2} %", share.value() * 100.0),
                share.all.to_string(),
                must(row),
                verdict.to_owned(),
                figure.worst().map_or(String::new(), |(case, share)| {
                    format!("{case}: {}/{}", share.good, share.all)
                }),
            ]);
        }
        println!("{table}");
    }
    for (window, row, _) in scores.failed() {
        let Some((_, figure)) = scores.rows(window).find(|(of, _)| *of == row) else {
            continue;
        };
        println!(
            "{} at {window}: {} missed",
            row.name(),
            figure.sum.all - figure.sum.good
        );
        for (case, what) in figure.misses.iter().take(misses) {
            println!("  {case}: {what}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short form that continuous integration runs: it fails when a figure
    /// falls. A recorded session takes part where there is one.
    #[test]
    fn sessions_reach_what_they_must() {
        let scratch = paths::scratch("eval-compaction-test").unwrap();
        let mut sources = vec![source::generated(1, 30, &scratch).unwrap()];
        if let Some(folder) = paths::corpus() {
            sources.extend(source::corpus(&folder, &scratch, 1).unwrap());
        }
        let effort = Effort {
            quotes: 10,
            keep: false,
        };
        let windows = [200_000, 60_000, 24_000];
        let scores = measure_all(&sources, &windows, effort, &scratch).unwrap();
        let failed = scores.failed();
        let missed: Vec<_> = failed
            .iter()
            .flat_map(|(window, row, _)| {
                let of = scores.rows(*window).filter(move |(of, _)| of == row);
                of.map(|(_, figure)| &figure.misses)
            })
            .collect();
        assert!(failed.is_empty(), "{failed:?}\n{missed:#?}");
    }
}
