//! `cargo xtask eval compaction`: what survives compaction, in figures.
//!
//! Sessions are replayed through the engine at several windows and then
//! compacted again and again. What must survive is counted from their sources,
//! by code that shares nothing with the code under test but the reader of
//! entries, and from what is planted here. No model and no judge takes part.

mod chats;
mod claude;
mod commands;
mod comparison;
pub(crate) mod drive;
mod event;
mod kept;
mod measures;
mod native;
mod pairing;
mod print;
mod run;
mod sample;
mod score;
mod sections;
mod source;
mod truth;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use longhaul_testkit::recorded;

use self::comparison::Comparison;
use self::run::Effort;
use self::sample::Lines;
use self::score::Scores;
use self::source::Source;
use crate::Result;
use crate::paths;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Fewer sessions and fewer look-ups, for continuous integration
    #[arg(long)]
    short: bool,
    /// Measure this session instead, of any supported agent
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What people typed in it, to compare with what is found there
    #[arg(long, value_name = "FILE", requires = "file")]
    truth: Option<PathBuf>,
    /// Generated sessions only
    #[arg(long)]
    generated: bool,
    /// Only sessions with this in their name
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Windows in tokens
    #[arg(long, value_delimiter = ',', default_values_t = [200_000, 60_000, 24_000])]
    windows: Vec<u32>,
    /// Measure nothing: print so many random lines of each section of the
    /// summaries, with their sources
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Which lines those are
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every figure, case and miss as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print tables for the book instead
    #[arg(long)]
    markdown: bool,
    /// Keep the session files below target/xtask
    #[arg(long)]
    keep: bool,
    /// Show so many misses of each row that failed
    #[arg(long, default_value_t = 3)]
    misses: usize,
}

/// Seeds of generated sessions, and their turns.
const SEEDS: [u64; 2] = [1, 2];
const TURNS: u32 = 60;

pub(crate) fn run(args: &Args) -> Result<()> {
    // Two runs at a time must not clear each other's files.
    let scratch = paths::scratch(&format!("eval-compaction-{}", std::process::id()))?;
    let mut sources = sources(args, &scratch)?;
    if let Some(only) = &args.only {
        sources.retain(|source| source.name.contains(only));
    }
    if let Some(count) = args.sample {
        let mut lines = Lines::default();
        for more in each(&sources, &args.windows, |source, window| {
            run::lines(source, window, &scratch)
        })? {
            lines.add(more);
        }
        fs::remove_dir_all(&scratch)?;
        lines.print(count, args.seed);
        return Ok(());
    }
    let effort = Effort {
        quotes: if args.short { 40 } else { 200 },
        rounds: 30,
        keep: args.keep,
    };
    let scores = &measure_all(&sources, &args.windows, effort, &scratch)?;
    let comparison = Comparison::of(&sources)?;
    if !args.keep {
        fs::remove_dir_all(&scratch)?;
    }
    if args.markdown {
        print::markdown(scores, sources.len());
    } else {
        print::tables(scores, args.misses);
    }
    if !comparison.is_empty() {
        println!("\n{}", comparison.markdown());
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
            format!("{} at {window} ({})", row.name(), row.show(share.value()))
        })
        .collect();
    Err(format!("{} figures not reached: {}", names.len(), names.join(", ")).into())
}

fn sources(args: &Args, scratch: &Path) -> Result<Vec<Source>> {
    if let Some(file) = &args.file {
        let truth = args.truth.as_deref();
        return Ok(vec![source::recorded(file, truth, scratch, 0)?]);
    }
    let Some(folder) = recorded::corpus().filter(|_| !args.generated) else {
        println!("generated sessions only: the corpus is not there or not wanted");
        let seeds = SEEDS.iter();
        return seeds
            .map(|seed| source::generated(*seed, TURNS, scratch))
            .collect();
    };
    let most = if args.short { 3 } else { usize::MAX };
    let mut sources = source::corpus(&folder, scratch, most)?;
    sources.extend(chats::chats(
        &folder,
        &args.windows,
        if args.short { 1 } else { most },
    )?);
    Ok(sources)
}

fn measure_all(
    sources: &[Source],
    windows: &[u32],
    effort: Effort,
    scratch: &Path,
) -> Result<Scores> {
    let mut sum = Scores::default();
    for scores in each(sources, windows, |source, window| {
        run::measure(source, window, effort, scratch)
    })? {
        sum.add(scores);
    }
    Ok(sum)
}

/// What comes of every source at every window it is for, in their order.
fn each<T: Send>(
    sources: &[Source],
    windows: &[u32],
    done: impl Fn(&Source, u32) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let work: Vec<(&Source, u32)> = sources
        .iter()
        .flat_map(|source| windows.iter().map(move |window| (source, *window)))
        .filter(|(source, window)| source.windows.is_empty() || source.windows.contains(window))
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
                    let made = done(source, *window)
                        .map_err(|error| format!("{} at {window}: {error}", source.name));
                    eprintln!(
                        "{} at {window}: {:.1} s",
                        source.name,
                        begun.elapsed().as_secs_f64()
                    );
                    if let Ok(mut all) = all.lock() {
                        all.push((at, made));
                    }
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, made)| Ok(made?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short form that continuous integration runs: it fails when a figure
    /// falls. A recorded session and a chat take part where there is one.
    #[test]
    fn sessions_reach_what_they_must() {
        let scratch = paths::scratch("eval-compaction-test").unwrap();
        let windows = [200_000, 60_000, 24_000];
        let sources = match recorded::corpus() {
            None => vec![source::generated(1, 30, &scratch).unwrap()],
            Some(folder) => {
                let mut sources = source::corpus(&folder, &scratch, 2).unwrap();
                sources.extend(chats::chats(&folder, &windows[2..], 1).unwrap());
                sources
            }
        };
        let effort = Effort {
            quotes: 10,
            rounds: 10,
            keep: false,
        };
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
