//! `cargo xtask e2e openclaw`: a real gateway with our plugin in its slot.
//!
//! A conversation is driven through many windows of a small model on loopback.
//! Nothing but the model is played: OpenClaw is the pinned release, the plugin
//! is installed with its own command, the program is the one that is built here.
//! Whether our engine served a turn is read from the gateway's log; what it made
//! of the context, from the requests that reached the model.

mod gateway;
mod http;
mod model;
mod report;
mod story;
mod trail;

use std::path::PathBuf;
use std::time::Instant;

use self::gateway::Home;
use self::model::Model;
use self::report::Report;
use self::story::Story;
use crate::Result;
use crate::peers::Peers;
use crate::{paths, shell};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many turns the long conversation has
    #[arg(long, value_name = "N", default_value_t = 36, value_parser = clap::value_parser!(u32).range(12..))]
    turns: u32,
    /// The longhaul program to use [default: one is built]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let program = match &args.program {
        Some(program) => program.canonicalize()?,
        None => shell::program()?,
    };
    let peers = Peers::install()?;
    let openclaw = peers.openclaw()?;
    let installed = begun.elapsed();
    let scratch = paths::scratch("e2e-openclaw")?;
    let model = Model::start()?;
    let home = Home::new(&scratch, peers.node(), &openclaw, &program, &model)?;
    home.install_plugin()?;
    let mut report = Report::default();
    let told = Story::new(&home, &model, &mut report).tell(args.turns);
    if let Err(error) = told {
        report.failed(format!("the story could not be told to its end: {error}"));
        println!("{}", home.last_words());
    }
    report.print(&model, begun.elapsed().saturating_sub(installed))
}
