//! `hook`: for agents that have no place for an engine, but call programs around
//! their own compactions, as Claude Code does.
//!
//! A hook must never hurt the agent that runs it. Exit code 2 would block it, so
//! whatever goes wrong is said on standard error and the code is 0; what takes
//! too long is given up.

mod settings;

use std::io::{IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use longhaul_server::hook::{self, Error, Happened, Machine};

use super::memory;
use crate::args::{HookArgs, HookCommand};
use crate::prelude::*;

pub(crate) fn run(app: App, args: &HookArgs) -> Result {
    let happened = match &args.command {
        HookCommand::Install(place) => return settings::install(&app, place),
        HookCommand::Uninstall(place) => return settings::uninstall(&app, place),
        HookCommand::PreCompact => Happened::PreCompact,
        HookCommand::PostCompact => Happened::PostCompact,
        HookCommand::SessionStart => Happened::SessionStart,
        HookCommand::Stop => Happened::Stop,
        HookCommand::Unknown(words) => {
            let name = words
                .first()
                .map(|word| word.to_string_lossy())
                .unwrap_or_default();
            told(&format!(
                "nothing is done on {name:?}; there are pre-compact, post-compact, session-start \
                 and stop"
            ));
            return Ok(());
        }
    };
    if let Some(failure) = &app.config_failure {
        told(&format!("{failure}; the hook goes on with the defaults"));
    }
    let patience = Duration::from_secs(args.give_up_after);
    let (done, heard) = channel();
    // Reading the input may hang as well, so all of it happens over there.
    let started = std::thread::Builder::new()
        .name("longhaul-hook".into())
        .spawn(move || {
            let _ = done.send(answer(&app, happened));
        });
    if let Err(error) = started {
        told(&format!("the hook did nothing: {error}"));
        return Ok(());
    }
    match heard.recv_timeout(patience) {
        Ok(Ok(Some(answer))) => {
            // An agent that has gone needs no answer.
            let _ = out::whole(&format!("{answer}\n"));
        }
        Ok(Ok(None)) => {}
        Ok(Err(failure)) => {
            told(&format!("the hook did nothing: {failure}"));
            if let Some(help) = failure.remedy() {
                told(&help);
            }
        }
        Err(RecvTimeoutError::Timeout) => {
            let seconds = patience.as_secs();
            let help = "`longhaul hook --give-up-after` sets that";
            told(&format!("the hook was given up after {seconds} s; {help}"));
        }
        Err(RecvTimeoutError::Disconnected) => {
            told("the hook broke off; please report what is above");
        }
    }
    Ok(())
}

/// The most bytes of input that are read. A last answer may be part of it.
const MOST_BYTES: u64 = 8 << 20;

fn answer(app: &App, happened: Happened) -> Result<Option<Value>, Error> {
    let input = std::io::stdin();
    if input.is_terminal() {
        let why = "an agent runs this and says on standard input what happened";
        let help = "`longhaul hook install --claude-code` tells Claude Code to";
        return Err(Error::new(why, Some(help.into())));
    }
    let mut said = Vec::new();
    let read = input.lock().take(MOST_BYTES).read_to_end(&mut said);
    read.map_err(|error| Error::new(error.to_string(), None))?;
    let machine = Machine {
        config: &app.config,
        state_dir: &app.state_dir,
        home: app.home.as_deref(),
        workspace: app.workspace_flag.as_deref(),
        index: &|folder| memory::index_of(app, folder.unwrap_or(&app.workspace)),
        window: &|session, reading| {
            let window = app.window_in(session, reading);
            window.map_err(|failure| failure.to_string())
        },
        now: app.now(),
        tell: &told,
    };
    hook::answer(&machine, happened, &said)
}

/// Says something on standard error, which the agent keeps in its log: without
/// secrets, like whatever else is written.
fn told(text: &str) {
    out::remark(out::redacted(&format!("longhaul: {text}")));
}
