//! `cargo xtask e2e model`: multi-turn chats with a real model.
//!
//! Real tokens, real usage, real streams, real refusals. The models are small:
//! what they say is of no interest, only what the machinery makes of it. Each
//! chat runs over one protocol at one window until it was compacted several
//! times; a second one is told a window that is too large, and has to learn
//! better.

mod chat;
mod check;
mod heard;
mod program;
mod record;
mod report;
mod words;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_model::{Known, Limits, Model, ModelSpec, Protocol, Provider, connect};

use self::check::Findings;
use self::record::Recorded;
use self::report::{Report, Row};
use super::install::{self, Weights};
use super::server::{Server, Size};
use crate::Result;
use crate::{paths, shell};

/// What an answer may take: the chats are to be long in turns, not in waiting.
const ANSWER: u32 = 40;
/// And a summary.
const SUMMARY: u32 = 120;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Chat with Qwen2.5-Coder-1.5B too: 1.1 GB to install, ten times slower
    #[arg(long)]
    large: bool,
    /// Only this protocol; can be given several times
    #[arg(long, value_name = "NAME", value_parser = ["chat", "responses", "messages"])]
    protocol: Vec<String>,
    /// Only this window; can be given several times
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(2048..=8192))]
    window: Vec<u32>,
    /// Threads of the server; fewer than cores are faster on a busy machine
    /// [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// The longhaul program to use [default: one is built]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// One chat: with whom, how, and where its files are.
struct Cell<'a> {
    protocol: Protocol,
    window: u32,
    weights: Weights,
    server: &'a Server,
    /// The `longhaul` program.
    program: &'a Path,
    folder: PathBuf,
}

impl Cell<'_> {
    /// The model.
    fn spec(&self) -> ModelSpec {
        let name = match self.weights {
            Weights::Small => "smollm2-135m",
            Weights::Large => "qwen2.5-coder-1.5b",
        };
        ModelSpec::new(Provider::LlamaCpp, name)
            .at(format!("{}/v1", self.server.address))
            .speaking(self.protocol)
    }

    /// Connects to the model, which is said to have a window of this size. What
    /// is sent to it is kept in the folder.
    fn connect(&self, window: u32, folder: &Path) -> Result<Arc<dyn Model>> {
        let mut spec = self.spec();
        spec.known = Known {
            window: Some(window),
            max_output: Some(ANSWER),
            ..Known::default()
        };
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        // A busy machine makes it ten times slower, and that is no error.
        let limits = Limits {
            first_byte: hours(1),
            idle: hours(1),
            request: hours(2),
            total: hours(3),
            ..Limits::default()
        };
        let model = connect(&spec, &|_| None, limits)?;
        Ok(Arc::new(Recorded::new(model, folder)?))
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let scratch = paths::scratch("e2e-model")?;
    let program = match &args.program {
        Some(program) => program.clone(),
        None => shell::program()?,
    };
    let windows = match args.window.as_slice() {
        [] => vec![2048, 4096],
        chosen => chosen.to_vec(),
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.threads.map_or(cores, usize::from);
    let mut all = vec![Weights::Small];
    if args.large {
        all.push(Weights::Large);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut report = Report::default();
    for weights in all {
        let installed = install::install(weights)?;
        for &window in &windows {
            let folder = scratch.join(format!("{weights:?}-{window}").to_lowercase());
            std::fs::create_dir_all(&folder)?;
            let size = Size {
                window,
                answer: ANSWER,
                threads,
            };
            let server = Server::start(&installed, size, &folder)?;
            for protocol in Protocol::ALL {
                let wanted = args.protocol.iter().any(|name| name == protocol.name());
                if !args.protocol.is_empty() && !wanted {
                    continue;
                }
                let cell = Cell {
                    protocol,
                    window,
                    weights,
                    server: &server,
                    program: &program,
                    folder: folder.join(protocol.name()),
                };
                let row = runtime
                    .block_on(one(&cell))
                    .map_err(|error| format!("{error}\n{}", server.last_words()))?;
                row.say();
                report.rows.push(row);
            }
        }
    }
    report.print(begun.elapsed())
}

/// Runs both chats of a cell.
async fn one(cell: &Cell<'_>) -> Result<Row> {
    let begun = Instant::now();
    println!(
        "\n{:?} over {} at {}",
        cell.weights,
        cell.protocol.name(),
        cell.window
    );
    let mut findings = Findings::default();
    let long = chat::long(cell).await?;
    check::long(cell, &long, &mut findings)?;
    let surprised = chat::surprised(cell).await?;
    check::surprised(cell, &surprised, &mut findings)?;
    Ok(Row {
        model: format!("{:?}", cell.weights).to_lowercase(),
        protocol: cell.protocol,
        window: cell.window,
        heard: long.heard,
        surprise: surprised.heard,
        findings,
        took: begun.elapsed(),
    })
}
