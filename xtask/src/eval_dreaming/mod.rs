//! `cargo xtask eval dreaming`: what dreaming makes of many days of conversations, in
//! figures.
//!
//! Every day of a person becomes a daily log, as the flush without a model writes it
//! from that day's sessions, and every evening is dreamt. The story of eight days has
//! a label on every statement; on RealMem's days changes of mind are planted. No model
//! and no judge takes part; a person in a hurry keeps the first few each evening.

mod days;
mod growth;
mod person;
mod planted;
mod retrieval;
mod story;
use std::path::PathBuf;

use longhaul_testkit::recorded;

use self::days::People;
use self::person::{Figures, live};
use crate::Result;
use crate::paths;
use crate::shell;
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure this set instead of RealMem's, of the same shape (gzip)
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// How many candidates a person keeps each evening
    #[arg(long, default_value_t = 2, value_name = "N")]
    keep: usize,
    /// Only so many days of each person
    #[arg(long, value_name = "N")]
    days: Option<usize>,
    /// Only the story, in whatever build this is
    #[arg(long)]
    story: bool,
    /// Print each question of which search finds less with what was promoted,
    /// with the hits of both
    #[arg(long)]
    misses: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if !args.story && shell::again_in_release()? {
        return Ok(());
    }
    let scratch = paths::scratch(&format!("eval-dreaming-{}", std::process::id()))?;
    let (outcome, of_story) = story::tell(args, &scratch.join("story"))?;
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
        "together",
        "stale",
        "unseen",
        "false",
        "again",
        "R@10 logs",
        "R@10 both",
        "followed",
        "s",
    ]);
    table.row(of_story.row("story"));
    let mut all = Figures::default();
    let file = match (&args.file, recorded::corpus()) {
        _ if args.story => None,
        (Some(file), _) => Some(file.clone()),
        (None, corpus) => corpus.map(|corpus| corpus.join("retrieval/realmem_p0-3.jsonl.gz")),
    };
    if let Some(file) = &file {
        for (at, person) in People::read(file)?.0.iter().enumerate() {
            let folder = scratch.join(at.to_string());
            let (figures, _) = live(person, args, args.keep, &folder)?;
            table.row(figures.row(&person.name));
            all.add(&figures);
        }
        table.row(all.row("all but the story"));
    } else if !args.story {
        println!("skipped: no corpus beside the workspace");
    }
    print!("\n{table}");
    println!(
        "\nin logs, kept/waits, kept: share of the sessions that questions are about of which \
         something stands there when it is asked\ntwice: pairs of kept candidates that say the \
         same; changes: planted changes of mind, together: those whose two sides are shown together; \
         stale: older sides that stayed in the memory beside what took their place\nunseen: \
         promoted by policy though neither a model nor a person looked; false: kept candidates whose \
         words were not said; again: files that a second dream changed\nR@10: share of the sessions \
         that a question is about of which a log among the first ten hits speaks, with the daily \
         logs alone and with the promoted memory beside them; followed: the same where a page of \
         the memory brings the sessions it names as evidence\n"
    );
    let is_linear = args.story || growth::measure(&scratch.join("growth"))?;
    std::fs::remove_dir_all(&scratch)?;
    let mut missed = Vec::new();
    for (is_reached, what) in [
        (outcome.is_reached(), "the story is not reached"),
        (
            all.is_sound() && of_story.is_sound(),
            "something was kept that was not said, is stale or unseen, or did not stay the same",
        ),
        (
            all.finds_as_much() && of_story.finds_as_much(),
            "search finds less with what was promoted than without it",
        ),
        (is_linear, "a night of many lines takes too long"),
    ] {
        if !is_reached {
            missed.push(what);
        }
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(missed.join("; ").into()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;
    use jiff::civil::date;

    use super::days::{Message, Person, Question, Talk, Voice};
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
            is_planted: true,
        };
        for (at, thing) in (0..).zip(things) {
            let talk = Talk {
                session: format!("session-{at}"),
                order: at,
                messages: vec![Message {
                    by: Voice::User,
                    text: format!(
                        "We decided that the {thing} service listens on port {}.",
                        7000 + at
                    ),
                }],
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
            keep: 0,
            days: None,
            story: false,
            misses: false,
        };
        let scratch = paths::scratch(&format!("dreaming-{}", std::process::id())).unwrap();
        let (figures, _) = live(&somebody(), &args, 0, &scratch).unwrap();
        std::fs::remove_dir_all(&scratch).unwrap();
        let row = figures.row("somebody");
        assert!(figures.waits() >= 12, "{row:?}");
        assert!(figures.is_sound(), "{row:?}");
        assert!(figures.finds_as_much(), "{row:?}");
        assert!(figures.finds_with_logs() > 50.0, "{row:?}");
    }
}
