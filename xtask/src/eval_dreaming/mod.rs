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
use crate::shell;
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
    /// Print each question of which search finds less with what was promoted,
    /// with the hits of both
    #[arg(long)]
    misses: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if shell::again_in_release()? {
        return Ok(());
    }
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
        "followed",
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
         of the sessions that a question is about of which a log among the first ten hits speaks, \
         with the daily logs alone and with the promoted memory beside them; followed: the same \
         where a page of the memory brings the sessions it names as evidence"
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

#[cfg(test)]
mod tests {
    use jiff::ToSpan;
    use jiff::civil::date;

    use super::days::{Person, Question, Talk};
    use super::*;

    /// Somebody who says on each day where something listens, and in the end asks
    /// for all of it.
    fn somebody() -> Person {
        let things = [
            "heron", "plover", "dunlin", "avocet", "curlew", "godwit", "knot", "ruff", "snipe",
            "whimbrel", "lapwing", "stint",
        ];
        let mut person = Person {
            name: "somebody".into(),
            days: Default::default(),
            questions: Vec::new(),
        };
        for (at, thing) in (0..).zip(things) {
            let talk = Talk {
                session: format!("session-{at}"),
                order: at,
                messages: vec![
                    (
                        true,
                        format!(
                            "We decided that the {thing} service listens on port {}.",
                            7000 + at
                        ),
                    ),
                    (false, "Noted.".into()),
                ],
            };
            let day = date(2026, 3, 1).saturating_add((3 * at as i64).days());
            person.days.insert(day, vec![talk]);
        }
        person.questions.push(Question {
            text: "Which service listens on which port?".into(),
            sessions: (2..12).map(|at| format!("session-{at}")).collect(),
            as_of: 100,
        });
        person
    }

    #[test]
    fn what_was_said_waits_for_a_person_and_takes_no_place_from_what_was_found() {
        let args = Args {
            file: None,
            confidence: 0.55,
            days: None,
            show: 0,
            misses: false,
        };
        let scratch = paths::scratch(&format!("dreaming-{}", std::process::id())).unwrap();
        let figures = live(&somebody(), &args, &scratch).unwrap();
        std::fs::remove_dir_all(&scratch).unwrap();
        let row = figures.row("somebody");
        assert!(figures.waits() >= 12, "{row:?}");
        assert!(figures.is_sound(), "{row:?}");
        assert!(figures.finds_as_much(), "{row:?}");
        assert!(figures.finds_with_logs() > 50.0, "{row:?}");
    }
}
