//! `cargo xtask conformance`: longhaul beside the real pi and OpenClaw.
//!
//! Three questions: do the programs still make the golden files that the tests
//! compare with; does longhaul read those as they do; do they read what
//! longhaul writes as longhaul does.

mod cases;
mod compare;
mod copies;
mod golden;
mod written;
use std::path::{Path, PathBuf};

use longhaul_testkit::recorded;

use crate::Result;
use crate::peers::Peers;
use crate::{paths, shell};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare with OpenClaw too (a large download)
    #[arg(long)]
    openclaw: bool,
    /// Succeed where npm is missing and nothing can be compared
    #[arg(long)]
    if_possible: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if !Peers::can_be_installed() && args.if_possible {
        println!("skipped: conformance (npm is not installed, so the real pi cannot be had)");
        return Ok(());
    }
    let peers = Peers::install()?;
    let scratch = paths::scratch("conformance")?;
    let golden = paths::root().join("crates/transcript/tests/golden");

    let made = scratch.join("golden");
    peers.script("make.mjs", &[Path::new("--out"), &made])?;
    if args.openclaw {
        let package = peers.openclaw()?;
        peers.script(
            "make-openclaw.mjs",
            &[Path::new("--openclaw"), &package, Path::new("--out"), &made],
        )?;
    } else {
        println!("left out without --openclaw: making OpenClaw's golden files again");
    }
    let mut wrong = golden::compare(&made, &golden, args.openclaw)?;

    println!();
    if let Err(error) = shell::run(shell::cargo().args([
        "test",
        "--quiet",
        "--package",
        "longhaul-transcript",
        "--test",
        "golden",
    ])) {
        wrong.push(error.to_string());
    }

    println!("\nfiles written by longhaul, read by longhaul and by pi");
    let cases = written_files(&scratch.join("written"), &golden)?;
    wrong.extend(compare::all(&peers, &cases)?);

    if wrong.is_empty() {
        println!("\nno difference");
        return Ok(());
    }
    println!();
    for difference in &wrong {
        println!("{difference}");
    }
    Err(format!("{} differences", wrong.len()).into())
}

fn written_files(folder: &Path, golden: &Path) -> Result<Vec<cases::Case>> {
    let mut cases = cases::Cases::new(folder)?;
    written::drafts(&mut cases)?;
    written::after_pi(&mut cases, golden)?;
    copies::forks(&mut cases, golden)?;
    copies::imports(&mut cases, &sources(golden)?)?;
    written::samples(&mut cases)?;
    copies::archives(&mut cases)?;
    Ok(cases.finish())
}

/// Sessions of every format: those of the golden files that are not pi's own,
/// and the corpus where it is there.
fn sources(golden: &Path) -> Result<Vec<PathBuf>> {
    let mut files = paths::files(golden, |name| {
        name.ends_with(".jsonl") && (name.starts_with("openclaw-") || name.starts_with("version-"))
    })?;
    match recorded::corpus() {
        Some(corpus) => {
            files.extend(paths::files(&corpus.join("transcripts"), |name| {
                name.ends_with(".jsonl.gz")
            })?);
            files.extend(paths::files(&corpus.join("pi"), |name| {
                name.ends_with(".jsonl") || name.ends_with(".sqlite")
            })?);
        }
        None => println!("skipped: imports of recorded sessions (no corpus beside the project)"),
    }
    Ok(files)
}
