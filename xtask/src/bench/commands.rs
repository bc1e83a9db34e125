//! `cargo xtask bench commands`: what the commands people run read and take, on
//! short and long sessions that end alike, beside pi's own loader.
//!
//! Bytes are what `strace` saw the system calls return, all files together; the
//! processor's time and the memory are those of a second run without it. The
//! first run of a command finds an empty state folder, the second what the first
//! one left there.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use longhaul_testkit::sample::alike;
use serde_json::{Value, json};

use super::MEGABYTE;
use crate::Result;
use crate::peers::Peers;
use crate::table::{Table, grouped};
use crate::{paths, shell};

#[derive(clap::Args)]
pub(crate) struct CommandsArgs {
    /// Sizes of the sessions in megabytes
    #[arg(
        long,
        value_name = "MB",
        value_delimiter = ',',
        default_value = "1,100,1000"
    )]
    sizes: Vec<u64>,
    /// Only commands with these words in their line
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Leave pi's loader out
    #[arg(long)]
    without_peer: bool,
}

/// What stands in for the session's file in a command line.
const FILE: &str = "FILE";

/// The commands that are measured. `hook stop` is told its session on standard
/// input.
const COMMANDS: [&[&str]; 8] = [
    &["context", "status", FILE],
    &["context", "show", FILE],
    &["context", "inspect", FILE],
    &["context", "history", FILE],
    &["compact", FILE, "--dry-run"],
    &["recall", "--session", FILE, "failing test in the parser"],
    &["hook", "stop"],
    &["session", "verify", FILE],
];

/// What one run of a command took.
struct Run {
    bytes: u64,
    seconds: f64,
    peak: u64,
}

pub(super) fn commands(args: &CommandsArgs) -> Result<()> {
    if !shell::works(Command::new("strace").arg("--version")) {
        return Err(
            "strace is not installed; it counts the bytes: `apt-get install -y strace`".into(),
        );
    }
    let program = super::built()?;
    let peers = match args.without_peer {
        true => None,
        false => Some(Peers::install()?),
    };
    let mut table = Table::new([
        "command",
        "session MB",
        "first MB",
        "first s",
        "first RSS MB",
        "again MB",
        "again s",
        "again RSS MB",
    ]);
    for &size in &args.sizes {
        let file = alike(&paths::target().join("bench-data"), size)?;
        for command in COMMANDS {
            let line = command.join(" ");
            if args.only.as_ref().is_some_and(|only| !line.contains(only)) {
                continue;
            }
            let [first, again] = measured(&program, command, &file)?;
            let [read, took, peak] = first.cells();
            let [read_again, took_again, peak_again] = again.cells();
            table.row([
                line,
                grouped(size),
                read,
                took,
                peak,
                read_again,
                took_again,
                peak_again,
            ]);
        }
        if let Some(peers) = &peers {
            let [took, peak] = loaded_by_pi(peers, &file);
            let none = || String::from("-");
            let name = String::from("pi's loader");
            table.row([
                name,
                grouped(size),
                none(),
                took,
                peak,
                none(),
                none(),
                none(),
            ]);
        }
    }
    println!("all bytes read, seconds of the processor, peak resident memory");
    print!("{table}");
    Ok(())
}

impl Run {
    fn cells(&self) -> [String; 3] {
        let megabytes = |bytes: u64| bytes as f64 / MEGABYTE as f64;
        [
            format!("{:.1}", megabytes(self.bytes)),
            format!("{:.2}", self.seconds),
            format!("{:.0}", megabytes(self.peak)),
        ]
    }
}

/// The first run of a command in an empty state folder, and the next one.
fn measured(program: &Path, command: &[&str], file: &Path) -> Result<[Run; 2]> {
    let folder = paths::target().join("bench-data");
    let states = ["traced", "timed"].map(|name| folder.join(name));
    for state in &states {
        if state.exists() {
            fs::remove_dir_all(state)?;
        }
        fs::create_dir_all(state)?;
    }
    let once = || -> Result<Run> {
        let bytes = traced(program, command, file, &states[0])?;
        let (seconds, peak) = timed(program, command, file, &states[1])?;
        Ok(Run {
            bytes,
            seconds,
            peak,
        })
    };
    let runs = [once()?, once()?];
    for state in &states {
        fs::remove_dir_all(state)?;
    }
    Ok(runs)
}

/// The command with nothing of this machine but its state folder.
fn arranged(mut line: Command, command: &[&str], file: &Path, state: &Path) -> Command {
    for word in command {
        match *word {
            FILE => line.arg(file),
            word => line.arg(word),
        };
    }
    line.current_dir(state)
        .env_clear()
        .env("HOME", state)
        .env("LONGHAUL_STATE_DIR", state.join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    line
}

/// Runs it to its end, with what a hook is told on standard input.
fn run(line: &mut Command, file: &Path, mut watch: impl FnMut(u32)) -> Result<()> {
    let mut child = line.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        let told = json!({ "session_id": "bench", "transcript_path": file });
        // Most commands read nothing, and may have ended by now.
        let _ = input.write_all(told.to_string().as_bytes());
    }
    let status = loop {
        watch(child.id());
        match child.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    // 1 is nothing found, 3 nothing to do.
    match status.code() {
        Some(0 | 1 | 3) => Ok(()),
        _ => Err(format!("{:?} ended with {status}", line.get_program()).into()),
    }
}

/// The bytes that the command's system calls returned.
fn traced(program: &Path, command: &[&str], file: &Path, state: &Path) -> Result<u64> {
    let log = state.join("trace");
    let strace = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("strace"))
        .find(|path| path.is_file())
        .ok_or("strace is not in the path")?;
    let mut line = Command::new(strace);
    line.args(["-f", "-qq", "-s", "0"])
        .args([
            "-e",
            "trace=read,pread64,readv,preadv,preadv2,copy_file_range",
        ])
        .arg("-o")
        .arg(&log)
        .arg(program);
    run(&mut arranged(line, command, file, state), file, |_| {})?;
    let mut bytes = 0;
    for call in BufReader::new(fs::File::open(&log)?).lines() {
        bytes += returned(&call?);
    }
    fs::remove_file(&log)?;
    Ok(bytes)
}

/// What a traced call returned; nothing for one that failed or goes on.
fn returned(call: &str) -> u64 {
    let result = call.rsplit_once(" = ").map(|(_, result)| result);
    let number = result.and_then(|result| result.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The seconds of the processor that the command took, and its peak memory.
fn timed(program: &Path, command: &[&str], file: &Path, state: &Path) -> Result<(f64, u64)> {
    let before = ticks_of_children()?;
    let mut peak = 0;
    let line = Command::new(program);
    run(&mut arranged(line, command, file, state), file, |id| {
        let status = Path::new("/proc").join(id.to_string()).join("status");
        peak = super::peak_of(&status).unwrap_or(0).max(peak);
    })?;
    let ticks = ticks_of_children()? - before;
    Ok((ticks as f64 / TICKS_A_SECOND, peak))
}

/// `USER_HZ`, which Linux has fixed for programs.
const TICKS_A_SECOND: f64 = 100.0;

/// What all processes took that we started and that ended (`man 5 proc`).
fn ticks_of_children() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, after) = stat
        .rsplit_once(") ")
        .ok_or("/proc/self/stat has no name")?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok(user + system),
        _ => Err("/proc/self/stat does not tell the children's time".into()),
    }
}

fn loaded_by_pi(peers: &Peers, file: &Path) -> [String; 2] {
    let printed = peers.script(
        "bench-load.mjs",
        &[file, Path::new("--runs"), Path::new("3")],
    );
    let said = printed.and_then(|text| Ok(serde_json::from_str::<Value>(&text)?));
    match said {
        Ok(said) => {
            let number = |key: &str| said[key].as_f64().unwrap_or(f64::NAN);
            [
                format!("{:.2}", number("medianMs") / 1000.0),
                format!("{:.0}", number("maxRssBytes") / MEGABYTE as f64),
            ]
        }
        Err(_) => [String::from("cannot"), String::from("-")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_traced_call_are_what_it_returned() {
        assert_eq!(returned("12 read(3, \"\"..., 65536) = 65536"), 65536);
        assert_eq!(returned("12 <... read resumed>\"\"..., 8) = 8"), 8);
        assert_eq!(
            returned("12 read(3, 0x1, 8) = -1 EAGAIN (Resource temporarily unavailable)"),
            0
        );
        assert_eq!(returned("12 read(3,  <unfinished ...>"), 0);
    }
}
