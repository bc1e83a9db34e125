//! Sets of texts and questions: one JSON object a line, packed or not.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use longhaul_index::{Record, RecordKind};
use longhaul_transcript::Millis;
use serde_json::Value;

use crate::{Result, paths};

/// One conversation, or all of one user, with its questions.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) records: Vec<Record>,
    pub(crate) questions: Vec<Question>,
    /// By session: how many sessions were before it.
    pub(crate) order: HashMap<String, u64>,
}

pub(crate) struct Question {
    pub(crate) text: String,
    /// What should be found: entries, or sessions.
    pub(crate) gold: Vec<String>,
    pub(crate) by_session: bool,
    /// Only sessions before this one were there when it was asked.
    pub(crate) as_of: Option<u64>,
}

impl Group {
    /// The questions that have something to find.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Question> {
        let questions = self.questions.iter();
        questions.filter(|question| !question.gold.is_empty())
    }
}

impl Question {
    /// The name by which it knows a text: that of the session, or of the entry.
    pub(crate) fn name_of<'a>(&self, session: &'a str, entry: &'a str) -> &'a str {
        if self.by_session { session } else { entry }
    }
}

/// A file of groups.
pub(crate) fn load(path: &Path) -> Result<Vec<Group>> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let reader: Box<dyn Read> = if paths::name(path).ends_with(".gz") {
        Box::new(flate2::read::GzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut groups = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(reader).lines()) {
        let line = line.map_err(|error| format!("{}: {error}", path.display()))?;
        if line.trim().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_str(&line)
            .map_err(|error| format!("{}, line {number}: {error}", path.display()))?;
        groups.push(group(&value).ok_or_else(|| {
            format!(
                "{}, line {number}: no docs or no queries in it",
                path.display()
            )
        })?);
    }
    Ok(groups)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn names(value: &Value) -> Vec<String> {
    value
        .as_array()
        .map(|list| list.iter().map(text).collect())
        .unwrap_or_default()
}

fn group(value: &Value) -> Option<Group> {
    let mut order = HashMap::new();
    let records = (0u64..)
        .zip(value.get("docs")?.as_array()?)
        .map(|(position, doc)| {
            let session = text(&doc["session"]);
            if let Some(place) = doc["order"].as_u64() {
                order.insert(session.clone(), place);
            }
            Record {
                kind: RecordKind::Transcript,
                source: session,
                entry: text(&doc["id"]),
                role: doc["role"].as_str().map(str::to_owned),
                time: doc["ts"].as_str().and_then(time),
                position,
                text: text(&doc["text"]),
            }
        })
        .collect();
    let questions = value
        .get("queries")?
        .as_array()?
        .iter()
        .map(|query| {
            let sessions = names(&query["gold_sessions"]);
            let by_session = !sessions.is_empty();
            Question {
                text: text(&query["query"]),
                gold: if by_session {
                    sessions
                } else {
                    names(&query["gold"])
                },
                by_session,
                as_of: query["as_of"].as_u64(),
            }
        })
        .collect();
    Some(Group {
        name: text(&value["group"]),
        records,
        questions,
        order,
    })
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The time of `1:56 pm on 8 May, 2023`, `2024年04月01日 周一 08:12`,
/// `March-15-2024`, `2025-12-15 (Monday)`.
fn time(stamp: &str) -> Option<Millis> {
    let stamp = stamp.to_lowercase();
    let mut numbers: Vec<u32> = Vec::new();
    let (mut year, mut month, mut clock) = (None, None, None);
    let parts = stamp.split(|c: char| c.is_whitespace() || ",-年月日()".contains(c));
    for part in parts.filter(|part| !part.is_empty()) {
        if let Some((hour, minute)) = part.split_once(':') {
            clock = Some((
                hour.parse::<i64>().ok()?,
                minute.get(..2)?.parse::<i64>().ok()?,
            ));
        } else if let Ok(number) = part.parse::<u32>() {
            if number > 1900 {
                year = Some(number);
            } else {
                numbers.push(number);
            }
        } else if part == "pm" {
            clock = clock.map(|(hour, minute)| (hour % 12 + 12, minute));
        } else if let Some(at) = MONTHS.iter().position(|name| part.starts_with(name)) {
            month = Some(at as u32 + 1);
        }
    }
    let mut numbers = numbers.into_iter();
    let month = month.or_else(|| numbers.next())?;
    let day = numbers.next()?;
    let (hour, minute) = clock.unwrap_or((0, 0));
    let date = jiff::civil::Date::new(
        i16::try_from(year?).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()?;
    let start = date
        .to_zoned(jiff::tz::TimeZone::UTC)
        .ok()?
        .timestamp()
        .as_millisecond();
    Some(Millis(start + (hour * 60 + minute) * 60_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_set_are_read() {
        let at = |text| {
            time(text).map(|Millis(ms)| jiff::Timestamp::from_millisecond(ms).unwrap().to_string())
        };
        assert_eq!(
            at("1:56 pm on 8 May, 2023").as_deref(),
            Some("2023-05-08T13:56:00Z")
        );
        assert_eq!(
            at("2024年04月01日 周一 08:12").as_deref(),
            Some("2024-04-01T08:12:00Z")
        );
        assert_eq!(at("March-15-2024").as_deref(), Some("2024-03-15T00:00:00Z"));
        assert_eq!(
            at("2025-12-15 (Monday)").as_deref(),
            Some("2025-12-15T00:00:00Z")
        );
        assert_eq!(at("soon"), None);
    }
}
