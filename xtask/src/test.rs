//! `cargo xtask test`: every test, on a machine that has only Rust.

use crate::Result;
use crate::tally::Tally;
use crate::{fuzz, nextest, node, python, shell, tmux};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave out documentation tests
    #[arg(long)]
    fast: bool,
    /// Also run the fuzz targets under libFuzzer for a moment each; building
    /// them takes longer than all other tests together
    #[arg(long)]
    fuzz: bool,
}

/// Seconds for each fuzz target in a test run.
const FUZZ_SECONDS: u32 = 5;

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut runs = vec![unit_and_integration()?];
    let mut stood = true;
    if args.fast {
        println!("left out by --fast: documentation tests");
    } else {
        runs.push(shell::tee(shell::cargo().args([
            "test",
            "--doc",
            "--workspace",
            "--no-fail-fast",
        ]))?);
    }
    // The tests above have fed every target its seeds and mutations of them.
    if args.fuzz {
        stood = fuzz::short(FUZZ_SECONDS)?;
    }
    let (shims, mut tally) = node::test()?;
    for (_, output) in &runs {
        tally += Tally::of(output);
    }
    println!("{tally}");
    if !stood {
        return Err("a fuzz target failed".into());
    }
    if shims && runs.iter().all(|(content, _)| *content) && tally.failed == 0 {
        Ok(())
    } else {
        Err("not all tests passed".into())
    }
}

fn unit_and_integration() -> Result<(bool, String)> {
    let mut tests = match nextest::command()? {
        Some(mut nextest) => {
            nextest.args(["run", "--workspace", "--no-fail-fast"]);
            nextest
        }
        None => {
            let mut cargo = shell::cargo();
            cargo.args([
                "test",
                "--workspace",
                "--lib",
                "--bins",
                "--tests",
                "--no-fail-fast",
            ]);
            cargo
        }
    };
    if let Some(python) = python::with_yaml() {
        tests.env(python::VARIABLE, python);
    }
    tmux::provide();
    shell::tee(&mut tests)
}
