//! A process beside a command that outlives us when we are killed.
//!
//! Whoever is killed can end nothing any more. The guard holds the other end of a
//! pipe: when that closes without a last word, it ends the command and whatever it
//! started. It is our own program under another name, so that nothing has to run
//! between the fork and the start of a command.

use std::ffi::OsString;
use std::io::{PipeWriter, Read, Write};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::end::Family;

/// What is said when a command has ended by itself.
const ENDED: &str = ".";
/// Time for the guard to go, once it was told that all is done.
const PATIENCE: Duration = Duration::from_secs(2);

/// The guard's own work: reads until the other side is gone, and ends the
/// processes with this mark unless it was told that they have ended.
pub fn guard_commands(mark: &str, input: &mut dyn Read) {
    let mut said = Vec::new();
    // A pipe that breaks is one whose other side is gone.
    let _ = input.take(64).read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    let mut words = said.split_whitespace();
    let leader = words.next().and_then(|word| word.parse().ok());
    if words.next() != Some(ENDED) {
        Family::of(mark, leader).kill();
    }
}

/// A guard at work.
pub(super) struct Guard {
    child: Child,
    /// Never full: a few bytes go through it.
    pipe: PipeWriter,
}

impl Guard {
    /// Starts one, if there is a program for it. Without it a command still runs.
    pub(super) fn start(program: &[OsString], mark: &str) -> Option<Guard> {
        let (name, arguments) = program.split_first()?;
        let (reader, pipe) = std::io::pipe().ok()?;
        let mut command = Command::new(name);
        command
            .args(arguments)
            .arg(mark)
            .env_clear()
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // What a terminal sends to us is not meant for it.
        command.process_group(0);
        let child = command.spawn().ok()?;
        Some(Guard { child, pipe })
    }

    /// Names the process that leads the command's group.
    pub(super) fn lead(&mut self, process: Option<u32>) {
        if let Some(process) = process {
            let _ = self.pipe.write_all(format!("{process} ").as_bytes());
        }
    }

    /// The command has ended, with everything it started.
    pub(super) async fn dismiss(self) {
        let Guard {
            mut child,
            mut pipe,
        } = self;
        let _ = pipe.write_all(ENDED.as_bytes());
        drop(pipe);
        let _ = tokio::time::timeout(PATIENCE, child.wait()).await;
    }
}
