//! The `longhaul` command.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

// Their macros are used everywhere.
#[macro_use]
mod failure;
#[macro_use]
mod out;

mod answer;
mod app;
mod args;
mod commands;
mod connection;
mod limits;
mod machine;
mod paint;
mod prelude;
mod resolve;
mod sizes;
mod style;
mod table;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::app::App;
use crate::args::{Cli, Command, MemoryCommand};
use crate::failure::{Outcome, Result};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    limits::outlive();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            out::failure(&failure);
            failure.outcome.code()
        }
    }
}

/// Help and versions as they are; what is wrong with the arguments without the
/// secrets among them, since a terminal's output ends up in logs.
fn refused(error: &clap::Error) -> ExitCode {
    let told = error.render().to_string();
    let redacted = out::redacted(&told);
    let is_event = error.use_stderr() && is_hook_event(std::env::args().skip(1));
    if !is_event && (!error.use_stderr() || redacted == told) {
        error.exit();
    }
    out::remark(redacted.trim_end());
    match is_event {
        true => ExitCode::SUCCESS,
        false => Outcome::Usage.code(),
    }
}

/// Whether an agent runs a hook, which must not hurt it whatever is wrong with the
/// arguments in its settings.
fn is_hook_event(args: impl Iterator<Item = String>) -> bool {
    const EVENTS: [&str; 4] = ["pre-compact", "post-compact", "session-start", "stop"];
    let args: Vec<String> = args.collect();
    let hook = args.iter().position(|arg| arg == "hook");
    hook.is_some_and(|at| args[at..].iter().any(|arg| EVENTS.contains(&arg.as_str())))
}

fn run(cli: &Cli) -> Result {
    if let Command::Completions { .. } | Command::Man { .. } = &cli.command {
        app::require_known_variables()?;
    }
    if let Command::Completions { shell } = &cli.command {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "longhaul", &mut script);
        return out::whole(&script);
    }
    if let Command::Man { dir } = &cli.command {
        return commands::man::run(Cli::command(), dir.as_deref());
    }
    if let Command::Guard { mark } = &cli.command {
        longhaul_engine::tools::guard_commands(mark, &mut std::io::stdin());
        return Ok(());
    }
    let app = match (App::new(&cli.global, cli.command.needs()), &cli.command) {
        (Ok(app), _) => app,
        (Err(failure), Command::Hook(args)) if args.command.is_event() => {
            out::failure(&failure);
            return Ok(());
        }
        (Err(failure), _) => return Err(failure),
    };
    match &cli.command {
        Command::Chat(args) => commands::chat::run(&app, args),
        Command::Session(command) => commands::session::run(&app, command),
        Command::Context(command) => commands::context::run(&app, command),
        Command::Replay(args) => commands::replay::run(&app, args),
        Command::Compact(args) => commands::compact::run(&app, args),
        Command::Checkpoint(command) => commands::checkpoint::run(&app, command),
        Command::Recall(args) => commands::recall::run(&app, args),
        Command::Redact(args) => commands::redact::run(&app, args),
        Command::Memory(MemoryCommand::Files(command)) => {
            commands::memory_files::run(&app, command)
        }
        Command::Memory(MemoryCommand::Index(command)) => commands::memory::run(&app, command),
        Command::Dream(command) => commands::dream::run(&app, command),
        Command::Rpc(args) => commands::rpc::run(app, &cli.global, args),
        Command::Mcp(args) => commands::mcp::run(app, args),
        Command::Serve(args) => commands::serve::run(app, args),
        Command::Hook(args) => commands::hook::run(app, args),
        Command::Config(command) => commands::config::run(&app, command),
        Command::Doctor => commands::doctor::run(&app),
        Command::Sample(args) => commands::sample::run(&app, args),
        Command::Completions { .. } | Command::Man { .. } | Command::Guard { .. } => Ok(()),
    }
}
