//! Remarks: the lines of logs, and of what a flush would write about an old session,
//! that may become candidates.
//!
//! Which lines those are, and of what kind, follows from who said them and under
//! which of our titles they stand; what they say is for whoever decides.

use std::collections::HashMap;

use jiff::civil::Date;

use super::candidate::{Evidence, Topic};
use super::marks::without_marks;
use super::similar::size;
use crate::Source;
use crate::files::{Body, CUT, LogLine};
use crate::flush::{LEFT_OUT, SAID};
use crate::provenance::one_line;

/// Something that was said and may be worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) topic: Topic,
    /// What, in one line.
    pub(super) text: String,
    /// Where it was said.
    pub(super) evidence: Evidence,
}

/// The remarks of some text, and how many lines were not taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Remarks {
    /// In the order of the text.
    pub(super) remarks: Vec<Remark>,
    /// Lines too short to say something, or too long for a line of memory.
    pub(super) left_out: usize,
}

/// Longer lines are stories.
const MOST_CHARS: usize = 400;
/// Lines of fewer words that mean something say nothing on another day.
const FEWEST_WORDS: usize = 2;

/// The titles that our flushes write, and what stands below them; of what is true
/// for a day nothing.
const TITLES: [(&str, Option<Topic>); 7] = [
    (SAID, Some(Topic::Said)),
    ("User Preferences", Some(Topic::Preference)),
    ("Decisions", Some(Topic::Decision)),
    ("Important Decisions", Some(Topic::Decision)),
    ("Facts", Some(Topic::Fact)),
    ("Issues Found", Some(Topic::Lesson)),
    ("Task Progress", None),
];

/// What a line under a title is about; nothing where it is of its day.
fn topic(title: Option<&str>) -> Option<Topic> {
    let known = TITLES.iter().find(|(name, _)| title == Some(*name));
    known.map_or(Some(Topic::Note), |(_, topic)| *topic)
}

/// The remarks of a day's log.
pub(super) fn of_log(date: Date, lines: &[LogLine]) -> Remarks {
    let mut all = Remarks::default();
    // What we say of a cut entry is no note.
    let is_note = |line: &&LogLine| !line.text.ends_with(CUT) && !line.text.ends_with(LEFT_OUT);
    let lines: Vec<&LogLine> = lines.iter().filter(is_note).collect();
    let mut alike: HashMap<(Option<String>, String), usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(topic) = topic(line.section.as_deref()) else {
            continue;
        };
        // A part of a paragraph may say the opposite of the whole.
        let wraps = |other: Option<&&LogLine>| {
            other.is_some_and(|other| !other.item && other.line.abs_diff(line.line) == 1)
        };
        let before = at.checked_sub(1).and_then(|at| lines.get(at));
        if wraps(lines.get(at + 1)) || (!line.item && wraps(before)) {
            all.left_out += 1;
            continue;
        }
        let mut evidence = Evidence::of_line(date, line, one_line(&line.text));
        let same = (evidence.entry.clone(), evidence.quote.clone());
        let above = alike.entry(same).or_default();
        evidence.ordinal = *above;
        *above += 1;
        all.take(topic, evidence);
    }
    all
}

/// The remarks of what a flush would write about an old session, dated by
/// `date_of` the entry. `user` is who has the user's part in it.
pub(super) fn of_session(
    file: &str,
    session: Option<&str>,
    body: &Body,
    date_of: &dyn Fn(&str) -> Date,
    user: Source,
) -> Remarks {
    let mut all = Remarks::default();
    let Body::Sections(sections) = body else {
        return all;
    };
    for list in sections {
        let Some(topic) = topic(Some(&list.title)) else {
            continue;
        };
        for note in list
            .notes
            .iter()
            .filter(|note| !note.text.ends_with(LEFT_OUT))
        {
            let entry = note.entry.as_ref().map(|entry| entry.as_str().to_owned());
            let source = match note.source {
                Source::User => user,
                other => other,
            };
            let evidence = Evidence {
                date: date_of(entry.as_deref().unwrap_or_default()),
                file: file.to_owned(),
                line: None,
                ordinal: 0,
                // Of the rest, we or the agent chose the words.
                noted: topic != Topic::Said,
                entry,
                session: session.map(str::to_owned),
                source,
                quote: one_line(&note.text),
            };
            all.take(topic, evidence);
        }
    }
    all
}

impl Remarks {
    fn take(&mut self, topic: Topic, mut evidence: Evidence) {
        let quote = evidence.quote.as_str();
        let unmarked = without_marks(quote);
        let text = unmarked.as_deref().unwrap_or(quote).to_owned();
        // Nobody types our marks.
        if unmarked.is_some() {
            evidence.source = evidence.source.min(Source::Unknown);
        }
        if text.chars().count() > MOST_CHARS || size(&text) < FEWEST_WORDS {
            self.left_out += 1;
            return;
        }
        self.remarks.push(Remark {
            topic,
            text,
            evidence,
        });
    }
}
