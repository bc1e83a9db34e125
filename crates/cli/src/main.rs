//! The `longhaul` command.

mod app;
mod args;
mod commands;
mod failure;
mod paint;
mod resolve;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::app::App;
use crate::args::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.outcome.code()
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    if let Command::Completions { shell } = &cli.command {
        clap_complete::generate(*shell, &mut Cli::command(), "longhaul", &mut std::io::stdout());
        return Ok(());
    }
    let app = App::new(&cli.global)?;
    match &cli.command {
        Command::Session(command) => commands::session::run(&app, command),
        Command::Context(command) => commands::context::run(&app, command),
        Command::Config(command) => commands::config::run(&app, command),
        Command::Doctor => commands::doctor::run(&app),
        Command::Sample(args) => commands::sample::run(&app, args),
        Command::Completions { .. } => Ok(()),
    }
}
