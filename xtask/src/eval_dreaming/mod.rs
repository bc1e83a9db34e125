//! `cargo xtask eval dreaming`: what dreaming keeps of many days of
//! conversations, in figures.
//!
//! Every day of a person becomes a daily log, as the flush without a model
//! writes it from that day's sessions; every evening is dreamt, with a policy
//! that promotes. Changes of mind are planted, so that it is known which of two
//! statements must be left. No model and no judge takes part.

mod days;
mod person;
mod planted;
mod retrieval;

use std::path::PathBuf;

use self::days::People;
use self::person::{Figures, live};
use crate::Result;
use crate::paths;
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure this set instead, of the same shape as RealMem's (gzip)
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Promote from this confidence on
    #[arg(long, default_value_t = 0.55)]
    confidence: f64,
    /// Only so many days of each person
    #[arg(long, value_name = "N")]
    days: Option<usize>,
    /// Show so many of the promoted candidates
    #[arg(long, default_value_t = 0, value_name = "N")]
    show: usize,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let file = match (&args.file, paths::corpus()) {
        (Some(file), _) => file.clone(),
        (None, Some(corpus)) => corpus.join("retrieval/realmem_p0-3.jsonl.gz"),
        (None, None) => {
            println!("skipped: no corpus beside the workspace");
            return Ok(());
        }
    };
    let people = People::read(&file)?;
    let scratch = paths::scratch(&format!("eval-dreaming-{}", std::process::id()))?;
    let mut table = Table::new([
        "person",
        "days",
        "notes",
        "found",
        "kept",
        "waits",
        "in logs",
        "kept/waits",
        "kept",
        "twice",
        "changes",
        "stale",
        "false",
        "again",
        "R@10 logs",
        "R@10 both",
        "strict logs",
        "strict both",
        "s",
    ]);
    let mut all = Figures::default();
    for (at, person) in people.0.iter().enumerate() {
        let figures = live(person, args, &scratch.join(at.to_string()))?;
        table.row(figures.row(&person.name));
        all.add(&figures);
    }
    table.row(all.row("all"));
    print!("{table}");
    println!(
        "\nin logs, kept/waits, kept: share of the sessions that questions are about of which \
         something stands there when it is asked\ntwice: pairs of kept candidates that say the \
         same; stale: planted changes of mind whose old side is still pointed to\nfalse: kept \
         candidates whose words were not said; again: files that a second dream changed\nR@10: share \
         of the sessions that a question is about of which the first ten passages speak, with the \
         daily logs alone and with the promoted memory beside them; strict: among the first ten \
         sessions that passages speak of, where a page of many sessions fills the places alone"
    );
    std::fs::remove_dir_all(&scratch)?;
    if !all.is_sound() {
        return Err(
            "something was kept that was not said, is stale, or did not stay the same".into(),
        );
    }
    match all.finds_as_much() {
        true => Ok(()),
        false => Err("search finds less with what was promoted than without it".into()),
    }
}
