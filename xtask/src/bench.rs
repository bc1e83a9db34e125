//! `cargo xtask bench`: what opening a session and running commands on it takes,
//! beside pi's own loader.

mod commands;
mod search;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use longhaul_testkit::sample::alike;
use longhaul_transcript::{Context, Session};
use serde_json::{Value, json};

use crate::Result;
use crate::peers::Peers;
use crate::table::{Table, grouped};
use crate::{paths, shell};

#[derive(clap::Subcommand)]
pub(crate) enum Bench {
    /// Open sessions up to their context, with longhaul and with the real pi
    Peers(PeersArgs),
    /// Run the commands people run on short and long sessions: bytes read, time, memory
    Commands(commands::CommandsArgs),
    /// Ask a long-lived MCP server with an index of 50,000 chunks: time of a question
    Search(search::SearchArgs),
    /// One measurement in a process of its own
    #[command(hide = true)]
    Open {
        file: PathBuf,
        #[arg(long)]
        runs: u32,
    },
}

#[derive(clap::Args)]
pub(crate) struct PeersArgs {
    /// Sizes of the sessions in megabytes
    #[arg(
        long,
        value_name = "MB",
        value_delimiter = ',',
        default_value = "1,100"
    )]
    sizes: Vec<u64>,
    /// How often each is opened; the median counts
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: u32,
}

/// The size the required ratio is for, and the ratio.
const REQUIRED: (u64, f64) = (100, 50.0);

const MEGABYTE: u64 = 1_000_000;

pub(crate) fn run(what: &Bench) -> Result<()> {
    match what {
        Bench::Open { file, runs } => open(file, *runs),
        Bench::Commands(args) => commands::commands(args),
        Bench::Search(args) => search::search(args),
        Bench::Peers(args) => match shell::again_in_release()? {
            true => Ok(()),
            false => peers(args),
        },
    }
}

fn peers(args: &PeersArgs) -> Result<()> {
    let peers = Peers::install()?;
    let mut table = Table::new([
        "session",
        "messages",
        "pi ms",
        "longhaul ms",
        "times faster",
        "pi MB",
        "longhaul MB",
    ]);
    let mut too_slow = None;
    let mut medians = Vec::new();
    for &size in &args.sizes {
        let file = alike(&paths::target().join("bench-data"), size)?;
        let ours = measured(&file, args.runs)?;
        // pi reads the whole file every time: a few runs say enough.
        let runs = args.runs.min(if size >= 500 { 3 } else { 10 }).to_string();
        let theirs = peers
            .script(
                "bench-load.mjs",
                &[&file, Path::new("--runs"), Path::new(&runs)],
            )
            .and_then(|text| Ok(serde_json::from_str::<Value>(&text)?));
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or(f64::NAN);
        let our_ms = number(&ours, "medianMs");
        medians.push((size, our_ms));
        let megabytes = |bytes: f64| format!("{:.0}", bytes / MEGABYTE as f64);
        let (their_ms, ratio, their_peak) = match &theirs {
            Ok(theirs) => {
                let ratio = number(theirs, "medianMs") / our_ms;
                if size == REQUIRED.0 && ratio < REQUIRED.1 {
                    too_slow = Some(ratio);
                }
                if theirs["messages"] != ours["messages"] {
                    return Err(format!(
                        "pi's context has {} messages, ours {}",
                        theirs["messages"], ours["messages"]
                    )
                    .into());
                }
                (
                    format!("{:.1}", number(theirs, "medianMs")),
                    format!("{ratio:.0}"),
                    megabytes(number(theirs, "maxRssBytes")),
                )
            }
            Err(error) => {
                println!("pi cannot open the {size} MB session: {error}");
                ("cannot".into(), String::new(), String::new())
            }
        };
        table.row([
            format!("{} MB", grouped(size)),
            ours["messages"].to_string(),
            their_ms,
            format!("{our_ms:.2}"),
            ratio,
            their_peak,
            megabytes(number(&ours, "peakBytes")),
        ]);
    }
    println!(
        "open to context: median of {} runs, peak resident memory of the process",
        args.runs
    );
    print!("{table}");
    if let [(small, first), .., (large, last)] = medians[..] {
        println!(
            "longhaul, {} MB against {} MB: {:.2} times the time",
            grouped(large),
            grouped(small),
            last / first
        );
    }
    match too_slow {
        Some(ratio) => Err(format!(
            "{ratio:.0} times faster than pi on {} MB; {} are required",
            REQUIRED.0, REQUIRED.1
        )
        .into()),
        None => Ok(()),
    }
}

/// Measures in a child process, so that its memory is that of one session.
fn measured(file: &Path, runs: u32) -> Result<Value> {
    let printed = shell::output(
        Command::new(env::current_exe()?)
            .args(["bench", "open", "--runs", &runs.to_string()])
            .arg(file),
    )?;
    Ok(serde_json::from_str(&printed)?)
}

fn open(file: &Path, runs: u32) -> Result<()> {
    let once = || -> Result<usize> {
        let loaded = Session::open(file)?.load()?;
        Ok(Context::build(&loaded).messages.len())
    };
    let messages = once()?;
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        once()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    let median = if times.len().is_multiple_of(2) {
        (times[middle - 1] + times[middle]) / 2.0
    } else {
        times[middle]
    };
    println!(
        "{}",
        json!({ "medianMs": median, "messages": messages, "peakBytes": peak_bytes() })
    );
    Ok(())
}

/// The most memory this process ever had, where the system tells.
fn peak_bytes() -> Option<u64> {
    peak_of(Path::new("/proc/self/status"))
}

/// The same of any process, by its status file.
fn peak_of(status: &Path) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Our own program as people have it.
fn built() -> Result<PathBuf> {
    shell::run(shell::cargo().args(["build", "--quiet", "--release", "--package", "longhaul"]))?;
    let name = format!("longhaul{}", std::env::consts::EXE_SUFFIX);
    Ok(paths::target().join("release").join(name))
}
