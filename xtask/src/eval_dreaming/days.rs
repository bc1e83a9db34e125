//! Conversations by person and day.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use jiff::civil::Date;
use serde_json::Value;

use crate::Result;

/// Everybody of a set.
pub(super) struct People(pub(super) Vec<Person>);

/// One person's conversations and what is asked about them.
pub(super) struct Person {
    pub(super) name: String,
    pub(super) days: BTreeMap<Date, Vec<Talk>>,
    pub(super) questions: Vec<Question>,
    /// Whether changes of mind are planted among what they say.
    pub(super) is_planted: bool,
}

/// A session's messages of one day.
pub(super) struct Talk {
    pub(super) session: String,
    /// The number of the session in time.
    pub(super) order: u64,
    pub(super) messages: Vec<Message>,
}

/// What stands in a session.
#[derive(Clone)]
pub(super) struct Message {
    pub(super) by: Voice,
    pub(super) text: String,
}

/// Whose words they are.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Voice {
    User,
    Agent,
    /// The agent noted it, as of this kind.
    Noted(String),
    /// The user chose it when the agent asked this.
    Answered(String),
}

/// What is asked, and which sessions hold the answer.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) sessions: Vec<String>,
    /// Only sessions before this number count.
    pub(super) as_of: u64,
}

impl People {
    pub(super) fn read(file: &Path) -> Result<People> {
        let packed =
            std::fs::File::open(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let lines = BufReader::new(flate2::read::GzDecoder::new(packed)).lines();
        let mut people = Vec::new();
        for (at, line) in lines.enumerate() {
            let value: Value = serde_json::from_str(&line?)
                .map_err(|error| format!("{} line {}: {error}", file.display(), at + 1))?;
            let person = Person::of(&value)
                .ok_or_else(|| format!("{} line {}: another shape", file.display(), at + 1))?;
            people.push(person);
        }
        Ok(People(people))
    }
}

impl Person {
    fn of(value: &Value) -> Option<Person> {
        let mut days: BTreeMap<Date, Vec<Talk>> = BTreeMap::new();
        for doc in value["docs"].as_array()? {
            let date: Date = doc["ts"].as_str()?.get(..10)?.parse().ok()?;
            let session = doc["session"].as_str()?;
            let talks = days.entry(date).or_default();
            let by = match doc["role"].as_str()?.eq_ignore_ascii_case("user") {
                true => Voice::User,
                false => Voice::Agent,
            };
            let text = doc["text"].as_str()?.to_owned();
            let message = Message { by, text };
            match talks.iter_mut().find(|talk| talk.session == session) {
                Some(talk) => talk.messages.push(message),
                None => talks.push(Talk {
                    session: session.to_owned(),
                    order: doc["order"].as_u64().unwrap_or_default(),
                    messages: vec![message],
                }),
            }
        }
        let mut questions = Vec::new();
        for query in value["queries"].as_array()? {
            let sessions = query["gold_sessions"].as_array()?;
            questions.push(Question {
                text: query["query"].as_str()?.to_owned(),
                sessions: sessions
                    .iter()
                    .filter_map(|session| session.as_str().map(str::to_owned))
                    .collect(),
                as_of: query["as_of"].as_u64().unwrap_or(u64::MAX),
            });
        }
        Some(Person {
            name: value["group"].as_str()?.to_owned(),
            days,
            questions,
            is_planted: true,
        })
    }
}
