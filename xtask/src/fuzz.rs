//! `cargo xtask fuzz`: the targets of `fuzz/` under libFuzzer.
//!
//! libFuzzer needs cargo-fuzz and a nightly compiler. Without them the same
//! targets are still fed: the tests replay the seeds and mutations of them on
//! stable Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::{paths, shell};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// One target; all of them if none is named
    target: Option<String>,
    /// How long each target runs
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut targets = targets()?;
    if let Some(name) = &args.target {
        if !targets.contains(name) {
            let known = targets.join(", ");
            return Err(format!("there is no fuzz target \"{name}\"; there are {known}").into());
        }
        targets.retain(|target| target == name);
    }
    if let Some(why) = missing() {
        skip(why);
        return Ok(());
    }
    for target in &targets {
        let found = paths::target().join("fuzz-corpus").join(target);
        fs::create_dir_all(&found)?;
        shell::run(command(target, &found).arg(format!("-max_total_time={}", args.seconds)))?;
    }
    Ok(())
}

/// A short run of every target. Starting from the seeds alone, with a fixed
/// seed of its own, it tries the same inputs every time. Returns whether all
/// targets stood.
pub(crate) fn short(seconds: u32) -> Result<bool> {
    if let Some(why) = missing() {
        skip(why);
        return Ok(true);
    }
    let mut stood = true;
    for target in targets()? {
        let found = paths::scratch("fuzz")?;
        let mut run = command(&target, &found);
        run.arg(format!("-max_total_time={seconds}"))
            .args(["-seed=1", "-print_final_stats=1"]);
        let output = run.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            let tried = said
                .lines()
                .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
                .map_or("?", str::trim);
            println!("fuzz target {target}: {tried} inputs tried");
            continue;
        }
        stood = false;
        println!("fuzz target {target} FAILED ({})", output.status);
        for line in said.lines().filter(|line| tells(line)) {
            println!("    {line}");
        }
    }
    Ok(stood)
}

/// Whether a line of libFuzzer's report helps a person: not its progress, nor
/// the frames of its own stack, nor the failing input byte by byte.
fn tells(line: &str) -> bool {
    !line.trim_start().starts_with('#') && line.len() < 400
}

fn skip(why: &str) {
    println!("skipped: fuzzing ({why}); the tests replay its seeds and mutations of them");
}

/// What libFuzzer lacks on this machine.
fn missing() -> Option<&'static str> {
    if !folder().is_dir() {
        return Some("there are no targets in fuzz/");
    }
    if !shell::works(shell::cargo().args(["fuzz", "--version"])) {
        return Some("cargo-fuzz is not installed");
    }
    if !shell::works(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        return Some("there is no nightly toolchain");
    }
    None
}

fn folder() -> PathBuf {
    paths::root().join("fuzz")
}

fn targets() -> Result<Vec<String>> {
    let folder = folder().join("fuzz_targets");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let files = paths::files(&folder, |name| name.ends_with(".rs"))?;
    Ok(files
        .iter()
        .filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned()))
        .collect())
}

/// libFuzzer on one target, its own options to follow. New inputs go to
/// `found`; the seeds in the repository are only read.
fn command(target: &str, found: &Path) -> Command {
    let seeds = folder().join("seeds").join(target);
    let golden = paths::root().join("crates/transcript/tests/golden");
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo", "fuzz", "run", target])
        .arg(found)
        // Native sessions have no seeds of their own: the golden files are many.
        .arg(if seeds.is_dir() { seeds } else { golden })
        .arg("--")
        // Set by the cargo that runs us, for its own toolchain.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .current_dir(paths::root());
    command
}
