//! Remarks: the lines of logs and the notes of ledgers that might be worth
//! keeping.

use jiff::civil::Date;

use super::candidate::{Candidate, Evidence, Review, Topic};
use super::likeness::Features;
use super::marks::without_marks;
use super::noise::{is_cut_off, is_noise, is_of_the_moment, is_reminder};
use super::passing::is_chatter;
use super::prose::{self, paragraphs, sentences};
use crate::Source;
use crate::files::{Body, LogLine, Mention};
use crate::flush::{REPLY, SAID};
use crate::provenance::one_line;

/// Something that was said and may be worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What it is about.
    pub topic: Topic,
    /// What, in one line.
    pub text: String,
    /// It takes back what it says.
    pub ends: bool,
    /// It is what the user said, of which nobody has judged whether it lasts.
    pub leans: bool,
    /// Where it was said.
    pub evidence: Evidence,
}

/// The remarks of some text, and how many lines were not taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    /// In the order of the text.
    pub remarks: Vec<Remark>,
    /// Lines of tools under a title for rules; they are not even staged.
    pub refused: usize,
    /// Lines that say nothing lasting: questions, tasks, what a program printed.
    pub left_out: usize,
}

/// What stands before lines of logs, and what they are then about; of one that
/// takes something back nothing.
const LABELS: &[(&str, Option<Topic>)] = &[
    ("Constraint: ", Some(Topic::Constraint)),
    ("Preference: ", Some(Topic::Preference)),
    ("Lesson: ", Some(Topic::Lesson)),
    ("No longer: ", None),
];

/// Stood in logs of earlier versions before leave that was given, and what took a
/// rule back.
const CHANGE: &str = "Change: ";

/// Stood in logs of earlier versions, in the note of a failure that was followed
/// by a success.
const PASSED: &str = "failed (passed later)";

/// Longer lines are stories.
const MOST_CHARS: usize = 400;

/// The remarks of a day's log.
pub fn of_log(date: Date, lines: &[LogLine]) -> Remarks {
    let mut all = Remarks::default();
    for line in lines {
        let topic = match line.section.as_deref().map(section) {
            Some(Section::About(topic)) => topic,
            Some(Section::Said) => Topic::Preference,
            Some(Section::Passing) => continue,
            // A list under no title we know, as people and other agents write
            // them: what the words make it, else something found out.
            Some(Section::Other) | None if line.item => match prose::topic(&line.text) {
                Some(topic) if topic != Topic::Fact => topic,
                _ => Topic::Fact,
            },
            Some(Section::Other) | None => continue,
        };
        // The log is the witness here: its line, as it stands there.
        let evidence = Evidence::of_line(date, line, one_line(&line.text));
        let text = evidence.quote.clone();
        if is_said(line.section.as_deref()) {
            all.keep(topic, &text, evidence, Manner::Said);
            continue;
        }
        let first = line.first.as_ref().and_then(|first| evidence.at(first));
        all.take_from(topic, &text, evidence, first);
    }
    let untitled = |line: &LogLine| match line.section.as_deref().map(section) {
        Some(Section::Other) | None => true,
        Some(Section::About(_) | Section::Said | Section::Passing) => false,
    };
    for paragraph in paragraphs(lines, &untitled) {
        let line = paragraph.first;
        for sentence in sentences(&paragraph.text) {
            let Some(topic) = prose::topic(sentence) else {
                continue;
            };
            let text = one_line(sentence);
            let evidence = Evidence::of_line(date, line, text.clone());
            all.take(topic, &text, evidence);
        }
    }
    all
}

/// The remarks of what a flush would write about an old session, dated by
/// `date_of` the entry. What was not `typed` by the user, though it stands in an
/// entry of theirs, is nobody's word. `said` tells whether words stand in an entry:
/// others are a note about it.
pub fn of_session(
    file: &str,
    session: Option<&str>,
    body: &Body,
    date_of: &dyn Fn(&str) -> Date,
    typed: &dyn Fn(&str) -> bool,
    said: &dyn Fn(&str, &str) -> bool,
) -> Remarks {
    let mut all = Remarks::default();
    let Body::Sections(sections) = body else {
        return all;
    };
    for list in sections {
        let topic = match section(&list.title) {
            Section::About(topic) => topic,
            Section::Said => Topic::Preference,
            Section::Passing | Section::Other => continue,
        };
        for note in &list.notes {
            let entry = note.entry.as_ref().map(|entry| entry.as_str().to_owned());
            let text = one_line(&note.text);
            let quote = &text;
            let source = match entry.as_deref().is_none_or(typed) {
                true => note.source,
                false => note.source.min(Source::Unknown),
            };
            let evidence = Evidence {
                date: date_of(entry.as_deref().unwrap_or_default()),
                file: file.to_owned(),
                line: None,
                noted: entry.as_deref().is_some_and(|entry| !said(entry, quote)),
                entry,
                session: session.map(str::to_owned),
                source,
                quote: quote.clone(),
            };
            if is_said(Some(&list.title)) {
                all.keep(topic, &text, evidence, Manner::Said);
                continue;
            }
            let first = note.first.as_ref().and_then(|first| {
                let day = date_of(first.entry.as_str());
                let is_typed = typed(first.entry.as_str());
                let first = Mention {
                    entry: first.entry.clone(),
                    day: is_typed.then_some(day),
                };
                evidence.at(&first)
            });
            all.take_from(topic, &text, evidence, first);
        }
    }
    all
}

/// The text without the number that it had in a list: said again with another
/// one it is the same.
pub(super) fn unnumbered(text: &str) -> &str {
    match text.split_once(['.', ')']) {
        Some((number, rest))
            if (1..=2).contains(&number.len())
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && rest.starts_with(' ') =>
        {
            rest.trim_start()
        }
        _ => text,
    }
}

/// Whether an answer and its question say something beyond their day.
fn says_enough(reply: &str, answer: &str) -> bool {
    let (said, of) = (Features::of(reply), Features::of(answer));
    said.terms.len() + said.values.len() + of.terms.len() + of.values.len() >= 3
}

impl Remarks {
    /// Takes what was said on two days.
    fn take_from(&mut self, topic: Topic, text: &str, last: Evidence, first: Option<Evidence>) {
        let before = self.remarks.len();
        self.take(topic, text, last);
        if let (Some(first), [taken]) = (first, &self.remarks[before..]) {
            let source = taken.evidence.source;
            let evidence = Evidence { source, ..first };
            let earlier = Remark {
                evidence,
                ..taken.clone()
            };
            self.remarks.insert(before, earlier);
        }
    }

    fn take(&mut self, topic: Topic, text: &str, evidence: Evidence) {
        if let Some(text) = text.strip_prefix(CHANGE) {
            self.keep(topic, text, evidence, Manner::Said);
            return;
        }
        let (mut text, mut topic, mut ends) = (text, topic, false);
        for (mark, means) in LABELS {
            if let Some(rest) = text.strip_prefix(mark) {
                text = rest;
                match means {
                    Some(means) => topic = *means,
                    None => ends = true,
                }
            }
        }
        // What passed in the end taught nothing that lasts.
        if topic == Topic::Lesson && text.contains(PASSED) {
            return;
        }
        self.keep(topic, text, evidence, Manner::Noted { ends });
    }

    fn keep(&mut self, topic: Topic, text: &str, mut evidence: Evidence, manner: Manner) {
        // A tool makes no rules, whatever it calls what it prints.
        if evidence.source == Source::Tool && topic.is_rule() {
            self.refused += 1;
            return;
        }
        let unmarked = without_marks(text);
        // Nobody types our marks.
        if unmarked.is_some() {
            evidence.source = evidence.source.min(Source::Unknown);
        }
        let text = unnumbered(unmarked.as_deref().unwrap_or(text));
        let noise = match topic {
            Topic::Fact => is_noise(text),
            Topic::Decision => is_cut_off(text) || is_chatter(text),
            Topic::Constraint | Topic::Preference => {
                is_cut_off(text) || is_of_the_moment(text) || is_chatter(text)
            }
            Topic::Lesson => false,
        };
        let fits = text.chars().count() <= MOST_CHARS && !text.starts_with('(');
        let says = text
            .split_once(REPLY)
            .is_none_or(|(reply, answer)| says_enough(reply, answer));
        let features = Features::of(text);
        // A wish may be short: "Never use Redis."
        let something = match topic.is_rule() {
            true => !features.terms.is_empty() || !features.values.is_empty(),
            false => features.says_something(),
        };
        if noise || is_reminder(text) || !fits || !says || !something {
            self.left_out += 1;
            return;
        }
        self.remarks.push(Remark {
            topic,
            text: text.to_owned(),
            ends: manner == Manner::Noted { ends: true },
            leans: manner == Manner::Said,
            evidence,
        });
    }
}

/// How a line came into a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// The user said it, in these words.
    Said,
    /// It was noted, perhaps as something that no longer holds.
    Noted { ends: bool },
}

/// What a candidate was made of, from where it was said: as it was taken.
pub(super) fn said_again(candidate: &Candidate, evidence: &Evidence) -> Remark {
    let ended = candidate.ended.as_ref() == Some(evidence);
    let leans = !ended && candidate.review == Some(Review::Leaning);
    let quote = evidence.quote.as_str();
    let mut text = quote.strip_prefix(CHANGE).unwrap_or(quote);
    let mut ends = false;
    for (mark, means) in LABELS.iter().filter(|_| !leans) {
        if let Some(rest) = text.strip_prefix(mark) {
            text = rest;
            ends |= means.is_none();
        }
    }
    Remark {
        topic: candidate.topic,
        text: unnumbered(text).to_owned(),
        ends,
        leans,
        evidence: evidence.clone(),
    }
}

/// What a line under a title is about, if somebody thinks it worth keeping.
pub(super) fn topic_of(title: Option<&str>) -> Topic {
    match title.map(section) {
        Some(Section::About(topic)) => topic,
        Some(Section::Said) => Topic::Preference,
        Some(Section::Passing | Section::Other) | None => Topic::Fact,
    }
}

/// What a title says about the lines under it.
enum Section {
    About(Topic),
    /// What the user said, as it was said.
    Said,
    /// True for a day: progress, plans, what is next.
    Passing,
    Other,
}

fn is_said(title: Option<&str>) -> bool {
    title == Some(SAID)
}

fn section(title: &str) -> Section {
    if is_said(Some(title)) {
        return Section::Said;
    }
    let lower = title.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&[
        "progress",
        "task",
        "todo",
        "remaining",
        "next",
        "status",
        "fortschritt",
        "进度",
        "待办",
    ]) {
        Section::Passing
    } else if has(&["constraint", "rule", "约束", "regel"]) && !has(&["preference"]) {
        Section::About(Topic::Constraint)
    } else if has(&["preference", "constraint", "vorlieben", "偏好"]) {
        Section::About(Topic::Preference)
    } else if has(&["decision", "decided", "entscheid", "决定", "决策"]) {
        Section::About(Topic::Decision)
    } else if has(&["issue", "error", "problem", "fehler", "错误", "问题"]) {
        Section::About(Topic::Lesson)
    } else if has(&[
        "fact",
        "learn",
        "found",
        "knowledge",
        "discover",
        "note",
        "事实",
    ]) {
        Section::About(Topic::Fact)
    } else {
        Section::Other
    }
}
