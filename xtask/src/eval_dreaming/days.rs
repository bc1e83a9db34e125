//! Conversations by person and day.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::Result;
use crate::sets::{self, Group};

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
        let groups = sets::load(file)?.into_iter();
        let people = groups.map(|group| {
            let name = group.name.clone();
            Person::of(group).ok_or_else(|| format!("{}: {name} has no days", file.display()))
        });
        Ok(People(people.collect::<Result<_, _>>()?))
    }
}

impl Person {
    fn of(group: Group) -> Option<Person> {
        let mut days: BTreeMap<Date, Vec<Talk>> = BTreeMap::new();
        for record in group.records {
            let time = Timestamp::from_millisecond(record.time?.0).ok()?;
            let talks = days.entry(time.to_zoned(TimeZone::UTC).date()).or_default();
            let by = match record.role?.eq_ignore_ascii_case("user") {
                true => Voice::User,
                false => Voice::Agent,
            };
            let message = Message {
                by,
                text: record.text,
            };
            match talks.iter_mut().find(|talk| talk.session == record.source) {
                Some(talk) => talk.messages.push(message),
                None => talks.push(Talk {
                    order: group.order.get(&record.source).copied().unwrap_or_default(),
                    session: record.source,
                    messages: vec![message],
                }),
            }
        }
        let questions = group.questions.into_iter();
        let questions = questions.map(|question| Question {
            text: question.text,
            sessions: match question.by_session {
                true => question.gold,
                false => Vec::new(),
            },
            as_of: question.as_of.unwrap_or(u64::MAX),
        });
        Some(Person {
            name: group.name,
            days,
            questions: questions.collect(),
            is_planted: true,
        })
    }
}
