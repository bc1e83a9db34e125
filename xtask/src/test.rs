//! `cargo xtask test`: every test, on a machine that has only Rust.

use crate::Result;
use crate::tally::Tally;
use crate::{fuzz, nextest, node, python, shell, system};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave out documentation tests
    #[arg(long)]
    fast: bool,
    /// Also run the fuzz targets under libFuzzer for a moment each; building
    /// them takes longer than all other tests together
    #[arg(long)]
    fuzz: bool,
    /// Run tests that have a long form in it: thousands of turns, every trap at
    /// every name
    #[arg(long)]
    long: bool,
}

/// Seconds for each fuzz target in a test run.
const FUZZ_SECONDS: u32 = 5;

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut runs = vec![unit_and_integration(args)?];
    slowest(&runs[0].1);
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

fn unit_and_integration(args: &Args) -> Result<(bool, String)> {
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
    if args.long {
        tests.env("LONGHAUL_LONG", "1");
    }
    system::provide_tmux();
    system::provide_browser()?;
    shell::tee(&mut tests)
}

/// Prints the tests that took longest, so that they are looked at.
fn slowest(output: &str) {
    const SHOWN: usize = 10;
    let mut timed: Vec<(f64, &str)> = output.lines().filter_map(timed).collect();
    timed.sort_by(|a, b| b.0.total_cmp(&a.0));
    if !timed.is_empty() {
        println!("the slowest tests:");
    }
    for (seconds, name) in timed.iter().take(SHOWN) {
        println!("{seconds:9.1} s  {name}");
    }
}

/// What nextest says of a test that ended: `PASS [   0.093s] (214/1903) crate name`.
fn timed(line: &str) -> Option<(f64, &str)> {
    let line = line.trim_start();
    let rest = ["PASS [", "FAIL [", "TIMEOUT ["]
        .iter()
        .find_map(|how| line.strip_prefix(how))?;
    let (seconds, name) = rest.split_once("s] ")?;
    let name = name.split_once(") ").map_or(name, |(_, name)| name);
    Some((seconds.trim().parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::timed;

    #[test]
    fn the_time_of_a_test_is_read_from_the_line_that_ends_it() {
        let line = "        PASS [   8.755s] ( 215/1903) longhaul::cli hooking::a_session";
        assert_eq!(
            timed(line),
            Some((8.755, "longhaul::cli hooking::a_session"))
        );
        assert_eq!(timed("        SLOW [> 60.000s] (──) longhaul::cli x"), None);
        assert_eq!(timed("PASS of the exam"), None);
    }
}
