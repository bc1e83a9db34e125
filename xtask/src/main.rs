//! Chores of the workspace: `cargo xtask --help` lists them.
//!
//! Everything a chore installs goes below `target/tools`, everything it
//! generates below `target`; nothing outside the workspace is written.
#![cfg_attr(test, allow(clippy::unwrap_used))]
#![allow(clippy::disallowed_methods)]

mod bench;
mod ci;
mod conformance;
mod dist;
mod e2e;
mod eval;
mod eval_compaction;
mod eval_dreaming;
mod fuzz;
mod graph;
mod nextest;
mod node;
mod paths;
mod peers;
mod python;
mod sets;
mod shell;
mod size;
mod system;
mod table;
mod tally;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What can go wrong is printed and ends the program; nobody tells kinds apart.
type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Chores of the longhaul workspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what the tests need and run them all: unit, integration and
    /// documentation tests, then a short fuzz run
    Test(test::Args),
    /// Compare with the real pi (and OpenClaw): contexts read from their
    /// files, and ours read by them
    Conformance(conformance::Args),
    /// Run the fuzz targets
    Fuzz(fuzz::Args),
    /// Measure speed against other programs
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
    /// Measure quality on recorded sessions
    Eval {
        #[command(subcommand)]
        what: eval::Eval,
    },
    /// Run the whole with real programs in place of stand-ins; alone, list what
    /// there is
    E2e(e2e::Args),
    /// Make what a release consists of: archive, checksum, npm packages
    Dist(dist::Args),
    /// Count the lines of each crate against its budget
    Size,
    /// Show which modules need which; fails where they do so in a circle
    Graph,
    /// Run what continuous integration runs
    Ci,
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Test(args) => test::run(&args),
        Chore::Conformance(args) => conformance::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Bench { what } => bench::run(&what),
        Chore::Eval { what } => eval::run(&what),
        Chore::E2e(args) => e2e::run(&args),
        Chore::Dist(args) => dist::run(&args),
        Chore::Size => size::run(),
        Chore::Graph => graph::run(),
        Chore::Ci => ci::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;
    use clap::error::ErrorKind;

    use super::{Cli, paths};

    /// Whatever stands behind `cargo xtask` in the documents, up to the end of
    /// the line, of the code span or before a remark.
    #[test]
    fn every_chore_that_is_documented_exists() {
        let root = paths::root();
        let book = fs::read_dir(root.join("docs/src")).unwrap();
        let mut pages: Vec<_> = book.map(|entry| entry.unwrap().path()).collect();
        pages.retain(|path| path.is_file());
        pages.extend(
            ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)),
        );
        let mut count = 0;
        for page in pages {
            let text = fs::read_to_string(&page).unwrap();
            for chore in text.split("cargo xtask ").skip(1) {
                let end = chore.find(['`', '\n', '#']).unwrap_or(chore.len());
                let words: Vec<&str> = chore[..end].split_whitespace().collect();
                let words: Vec<&str> = words
                    .into_iter()
                    .filter(|word| !word.starts_with('['))
                    .collect();
                let parsed = Cli::try_parse_from([&["cargo xtask"], &words[..]].concat());
                let known = match parsed {
                    Ok(_) => true,
                    Err(error) => error.kind() == ErrorKind::DisplayHelp,
                };
                assert!(known, "{}: {words:?}", page.display());
                count += 1;
            }
        }
        assert!(count > 20, "{count}");
    }
}
