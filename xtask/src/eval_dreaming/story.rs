//! A story of eight days, written for this: what a person and an agent say and note,
//! each with what should become of it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::ToSpan;
use jiff::civil::date;
use longhaul_memory::dream::{Candidate, waiting};
use serde::Deserialize;

use super::Args;
use super::days::{Message, Person, Question, Talk, Voice};
use super::person::{Figures, live};
use crate::Result;
use crate::table::Table;

const STORY: &str = include_str!("story.jsonl");
/// The first so many of what waits, which a person reads.
const FIRST: usize = 20;

/// A line of the story.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Said(Statement),
    Asked {
        query: String,
        sessions: Vec<String>,
    },
}

/// What was said or noted, and what should become of it.
#[derive(Deserialize)]
struct Statement {
    day: i64,
    session: String,
    id: String,
    /// `user`, `answer`, or the kind of a note of the agent's.
    by: String,
    text: String,
    question: Option<String>,
    /// Whether it is worth keeping.
    keep: bool,
    /// The statement that says the same.
    same: Option<String>,
    /// The statement that cannot hold beside it.
    against: Option<String>,
}

impl Statement {
    fn message(&self) -> Message {
        let by = match (self.by.as_str(), &self.question) {
            ("user", _) => Voice::User,
            (_, Some(question)) => Voice::Answered(question.clone()),
            (kind, None) => Voice::Noted(kind.replace("open", "open_item")),
        };
        Message {
            by,
            text: self.text.clone(),
        }
    }

    /// How the flush writes it.
    fn logged(&self) -> String {
        match &self.question {
            Some(question) => format!("{} ← {question}", self.text),
            None => self.text.clone(),
        }
    }
}

struct Story {
    statements: Vec<Statement>,
    person: Person,
}

impl Story {
    fn read() -> Result<Story> {
        let (mut statements, mut questions) = (Vec::new(), Vec::new());
        for line in STORY.lines() {
            match serde_json::from_str(line)? {
                Line::Said(statement) => statements.push(statement),
                Line::Asked { query, sessions } => questions.push(Question {
                    text: query,
                    sessions,
                    as_of: u64::MAX,
                }),
            }
        }
        let mut days: BTreeMap<_, Vec<Talk>> = BTreeMap::new();
        for (order, statement) in (0..).zip(&statements) {
            let day = date(2026, 3, 1).saturating_add(statement.day.days());
            let talks = days.entry(day).or_default();
            match talks
                .iter_mut()
                .find(|talk| talk.session == statement.session)
            {
                Some(talk) => talk.messages.push(statement.message()),
                None => talks.push(Talk {
                    session: statement.session.clone(),
                    order,
                    messages: vec![statement.message()],
                }),
            }
        }
        Ok(Story {
            statements,
            person: Person {
                name: "story".into(),
                days,
                questions,
                is_planted: false,
            },
        })
    }
}

/// What became of the statements.
pub(super) struct Outcome {
    recall: (usize, usize),
    precision: (usize, usize),
    first: (usize, usize),
    merged: (usize, usize),
    same_together: usize,
    together: (usize, usize),
    /// Pairs shown together that are labelled neither.
    beside: usize,
    /// Pairs taken for one that are labelled otherwise.
    wrongly_merged: usize,
}

impl Outcome {
    fn of(story: &[Statement], candidates: &[Candidate]) -> Outcome {
        // Which candidate has a statement: the one that quotes it.
        let mut owners: HashMap<&str, &Candidate> = HashMap::new();
        for statement in story {
            let logged = statement.logged();
            let owner = candidates.iter().find(|one| {
                let mut quotes = one.evidence.iter().map(|evidence| &evidence.quote);
                quotes.any(|quote| *quote == logged)
            });
            if let Some(owner) = owner {
                owners.insert(&statement.id, owner);
            }
        }
        let is_kept = |one: &Candidate| {
            let mut own = story.iter();
            own.any(|said| {
                said.keep
                    && owners
                        .get(said.id.as_str())
                        .is_some_and(|it| it.id == one.id)
            })
        };
        let waits = waiting(candidates);
        let good = |some: &[&Candidate]| some.iter().filter(|one| is_kept(one)).count();
        let first = &waits[..FIRST.min(waits.len())];
        for one in first.iter().filter(|one| !is_kept(one)) {
            println!("among the first {FIRST}, not worth keeping: {}", one.text);
        }
        let wanted = story.iter().filter(|said| said.keep);
        let staged = wanted
            .clone()
            .filter(|said| owners.contains_key(said.id.as_str()));
        for said in wanted
            .clone()
            .filter(|said| !owners.contains_key(said.id.as_str()))
        {
            println!("not staged: {}", said.text);
        }
        let linked = |a: &Candidate, b: &Candidate| {
            a.contradicts.contains(&b.id) || b.contradicts.contains(&a.id)
        };
        let mut out = Outcome {
            recall: (staged.count(), wanted.count()),
            precision: (good(&waits), waits.len()),
            first: (good(first), first.len()),
            merged: (0, 0),
            same_together: 0,
            together: (0, 0),
            beside: 0,
            wrongly_merged: 0,
        };
        let mut labelled: Vec<(String, String)> = Vec::new();
        for said in story {
            for (other, is_same) in [(&said.same, true), (&said.against, false)] {
                let Some(other) = other else { continue };
                let (Some(a), Some(b)) = (owners.get(said.id.as_str()), owners.get(other.as_str()))
                else {
                    continue;
                };
                labelled.push((a.id.clone(), b.id.clone()));
                match is_same {
                    true => {
                        out.merged.1 += 1;
                        out.merged.0 += usize::from(a.id == b.id);
                        out.same_together += usize::from(linked(a, b));
                        if a.id != b.id && !linked(a, b) {
                            println!("the same, apart: {} / {}", a.text, b.text);
                        }
                    }
                    false => {
                        out.together.1 += 1;
                        out.together.0 += usize::from(linked(a, b));
                        out.wrongly_merged += usize::from(a.id == b.id);
                        if !linked(a, b) {
                            println!("contradictory, apart: {} / {}", a.text, b.text);
                        }
                    }
                }
            }
        }
        for one in &waits {
            for id in &one.contradicts {
                let other = candidates.iter().find(|other| other.id == *id);
                let is_labelled = labelled
                    .iter()
                    .any(|(a, b)| (a == &one.id && b == id) || (b == &one.id && a == id));
                if let Some(other) = other.filter(|other| other.id > one.id && !is_labelled) {
                    out.beside += 1;
                    println!("together, labelled neither: {} / {}", one.text, other.text);
                }
            }
        }
        // Two statements in one candidate that no label joins.
        let group = |said: &Statement| said.same.clone().unwrap_or_else(|| said.id.clone());
        for (at, said) in story.iter().enumerate() {
            for other in &story[at + 1..] {
                let owner = |id: &str| owners.get(id).map(|one| one.id.as_str());
                let one = owner(&said.id).is_some() && owner(&said.id) == owner(&other.id);
                let is_contradiction = other.against.as_deref() == Some(said.id.as_str());
                if one && group(said) != group(other) && !is_contradiction {
                    out.wrongly_merged += 1;
                    println!("taken for one: {} / {}", said.text, other.text);
                }
            }
        }
        out
    }

    fn print(&self) {
        let share = |(part, all): (usize, usize)| match all {
            0 => "-".to_owned(),
            all => format!(
                "{part} of {all} ({:.0} %)",
                100.0 * part as f64 / all as f64
            ),
        };
        let mut table = Table::new(["story of eight days", "", "to reach"]);
        let mut row = |name: &str, value: String, least: &str| {
            table.row([name.to_owned(), value, least.to_owned()]);
        };
        row("worth keeping, staged (recall)", share(self.recall), "");
        row(
            "staged, worth keeping (precision)",
            share(self.precision),
            "",
        );
        row(
            "of the first 20 staged, worth keeping",
            share(self.first),
            "80 %",
        );
        row("the same, merged", share(self.merged), "");
        row(
            "the same, not merged but shown together",
            self.same_together.to_string(),
            "",
        );
        row("contradictory, shown together", share(self.together), "");
        row("neither, shown together", self.beside.to_string(), "");
        row("not the same, merged", self.wrongly_merged.to_string(), "0");
        print!("{table}");
    }

    /// Whether what must be reached is.
    pub(super) fn is_reached(&self) -> bool {
        self.first.0 * 5 >= self.first.1 * 4 && self.wrongly_merged == 0
    }
}

/// Lives through the story twice: without anybody deciding, which says what is staged,
/// and with somebody who keeps the first few each evening.
pub(super) fn tell(args: &Args, scratch: &Path) -> Result<(Outcome, Figures)> {
    let story = Story::read()?;
    let (_, candidates) = live(&story.person, args, 0, &scratch.join("staged"))?;
    let outcome = Outcome::of(&story.statements, &candidates);
    outcome.print();
    let (figures, _) = live(&story.person, args, args.keep, &scratch.join("kept"))?;
    Ok((outcome, figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_names_only_statements_that_are_there() {
        let story = Story::read().unwrap();
        assert!(story.statements.len() >= 80);
        assert_eq!(story.person.days.len(), 8);
        let is_there = |id: &String| story.statements.iter().any(|one| one.id == *id);
        for said in &story.statements {
            assert!(
                said.same.iter().chain(&said.against).all(is_there),
                "{}",
                said.id
            );
        }
    }
}
