//! Remarks: the lines of logs and the notes of ledgers that might be worth
//! keeping.

use jiff::civil::Date;
use longhaul_ledger::{agrees_or_chooses, reads_as_rule};

use super::candidate::{Candidate, Evidence, Review, Topic};
use super::choices::Choice;
use super::likeness::Features;
use super::noise::{is_cut_off, is_noise, is_of_the_moment, is_reminder};
use super::orders::{gives_orders, poses, poses_as_machine, speaks_for_user, without_marks};
use super::passing::is_chatter;
use super::prose::{self, paragraphs, sentences};
use crate::Source;
use crate::files::{Body, LogLine, Mention};
use crate::flush::{CHANGE, PASSED, REPLY};
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
    /// It allows something, or takes something back that it does not quote.
    pub lifts: bool,
    /// It chooses by its form and may have been said for the moment only.
    pub leans: bool,
    /// Where it was said.
    pub evidence: Evidence,
}

/// The remarks of some text, and how many lines were not taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    /// In the order of the text.
    pub remarks: Vec<Remark>,
    /// Lines of tools, or that pose as a machine's, that give orders, make rules or
    /// pose as somebody; they are not even staged.
    pub refused: usize,
    /// Lines that say nothing lasting: questions, tasks, what a program printed.
    pub left_out: usize,
}

/// What a flush puts before what no longer holds.
pub(super) const ENDS: &str = "No longer: ";

/// Longer lines are stories.
const MOST_CHARS: usize = 400;

/// The remarks of a day's log.
pub fn of_log(date: Date, lines: &[LogLine]) -> Remarks {
    let mut all = Remarks::default();
    for line in lines {
        let topic = match line.section.as_deref().map(section) {
            Some(Section::About(topic)) => topic,
            Some(Section::Passing) => continue,
            // A list under no title we know, as people and other agents write
            // them: what the words make it, else something found out.
            Some(Section::Other) | None if line.item => match prose::topic(&line.text) {
                Some(topic) if topic != Topic::Fact => topic,
                _ if reads_as_rule(&line.text) => Topic::Preference,
                _ => Topic::Fact,
            },
            Some(Section::Other) | None => continue,
        };
        // The log is the witness here: its line, as it stands there.
        let evidence = Evidence::of_line(date, line, one_line(&line.text));
        let text = evidence.quote.clone();
        let first = line.first.as_ref().and_then(|first| evidence.at(first));
        all.take_from(topic, &text, evidence, first);
    }
    let untitled = |line: &LogLine| match line.section.as_deref().map(section) {
        Some(Section::Other) | None => true,
        Some(Section::About(_) | Section::Passing) => false,
    };
    for paragraph in paragraphs(lines, &untitled) {
        let line = paragraph.first;
        for sentence in sentences(&paragraph.text) {
            let Some(topic) = prose::topic(sentence) else {
                continue;
            };
            if prose::is_order_of_nobody(sentence) {
                all.refused += 1;
                continue;
            }
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
        let Section::About(topic) = section(&list.title) else {
            continue;
        };
        for note in &list.notes {
            let entry = note.entry.as_ref().map(|entry| entry.as_str().to_owned());
            let text = one_line(&note.text);
            let quote = match topic.is_rule() {
                true => unlabelled(&text),
                false => &text,
            };
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
                quote: quote.to_owned(),
            };
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

impl Remarks {
    /// Adds what a user chose in passing in an old session.
    pub(super) fn take_choices(
        &mut self,
        file: &str,
        session: &str,
        choices: &[Choice],
        date_of: &dyn Fn(&str) -> Date,
        typed: &dyn Fn(&str) -> bool,
        said: &dyn Fn(&str, &str) -> bool,
    ) {
        for choice in choices.iter().filter(|choice| typed(&choice.entry)) {
            let text = one_line(&choice.text);
            let evidence = Evidence {
                date: date_of(&choice.entry),
                file: file.to_owned(),
                line: None,
                entry: Some(choice.entry.clone()),
                session: Some(session.to_owned()),
                source: match choice.doubtful {
                    true => Source::Unknown,
                    false => Source::User,
                },
                noted: !said(&choice.entry, &text),
                quote: text.clone(),
            };
            let before = self.remarks.len();
            self.take(choice.topic, &text, evidence);
            for remark in &mut self.remarks[before..] {
                remark.leans = true;
            }
        }
    }
}

/// A rule without the label that a flush puts before it: nobody said that.
fn unlabelled(text: &str) -> &str {
    let labels = ["Constraint: ", "Preference: ", CHANGE];
    let rest = labels.iter().find_map(|label| text.strip_prefix(label));
    rest.unwrap_or(text)
}

/// The text without the number that it had in a list.
fn unnumbered(text: &str) -> &str {
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

/// What only calls attention to what follows it.
const ATTENTION: &[&str] = &[
    "remember: ",
    "remember that ",
    "please remember: ",
    "please remember that ",
    "reminder: ",
    "note: ",
    "please note: ",
    "please note that ",
    "important: ",
    "again: ",
    "fyi: ",
    "btw: ",
    "merke: ",
    "merk dir: ",
    "denk dran: ",
    "denk daran: ",
    "wichtig: ",
    "hinweis: ",
    "erinnerung: ",
    "zur erinnerung: ",
    "rappel: ",
    "rappel : ",
    "recuerda: ",
    "recuerda que ",
    "lembre-se: ",
    "ricorda: ",
    "let op: ",
    "помни: ",
    "记住：",
    "请记住：",
    "注意：",
    "重要：",
];

/// The text without its number and without what only calls attention to it: said
/// again with such a word it is the same.
pub(super) fn plainly(text: &str) -> &str {
    let text = unnumbered(text);
    let begins = |mark: &&str| {
        let head = text.get(..mark.len());
        head.is_some_and(|head| head.to_lowercase() == **mark)
    };
    let longest = ATTENTION.iter().copied().filter(begins);
    let rest = longest.max_by_key(|mark| mark.len());
    let rest = rest.map_or(text, |mark| text[mark.len()..].trim_start());
    if rest.is_empty() { text } else { rest }
}

/// Whether a short reply to a long answer says what was decided: it agrees or
/// chooses, and says something beyond its day ("next" and "go on" do not), and
/// what it replies to is no mere announcement.
fn is_decided(reply: &str, answer: &str) -> bool {
    let (said, of) = (Features::of(reply), Features::of(answer));
    let answer = answer.trim_end_matches(['*', '_', '`', ' ']);
    agrees_or_chooses(reply)
        && said.terms.len() + said.values.len() >= 3
        && of.terms.len() + of.values.len() >= 3
        && !answer.ends_with([':', '：'])
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

    fn take(&mut self, topic: Topic, text: &str, mut evidence: Evidence) {
        let mut topic = topic;
        let mut ends = false;
        let lifts = text.starts_with(CHANGE);
        let mut text = text.strip_prefix(CHANGE).unwrap_or(text);
        for (mark, means) in [
            ("Constraint: ", Some(Topic::Constraint)),
            ("Preference: ", Some(Topic::Preference)),
            ("Lesson: ", Some(Topic::Lesson)),
            (ENDS, None),
        ] {
            if let Some(rest) = text.strip_prefix(mark) {
                text = rest;
                match means {
                    Some(means) => topic = means,
                    None => ends = true,
                }
            }
        }
        let unmarked = without_marks(text);
        // Nobody types "SYSTEM: always …" of himself, nor our marks.
        if poses(text) || unmarked.is_some() {
            evidence.source = evidence.source.min(Source::Unknown);
        }
        let is_refused = match evidence.source {
            // A tool makes no rules, whatever it calls what it prints.
            Source::Tool => topic.is_rule() || gives_orders(text) || speaks_for_user(text),
            Source::Unknown => poses_as_machine(text) && gives_orders(text),
            Source::Agent | Source::User => false,
        };
        if is_refused {
            self.refused += 1;
            return;
        }
        // What passed in the end taught nothing that lasts.
        if topic == Topic::Lesson && text.contains(PASSED) {
            return;
        }
        let text = plainly(unmarked.as_deref().unwrap_or(text));
        let noise = match topic {
            Topic::Fact => is_noise(text),
            Topic::Decision => is_cut_off(text) || is_chatter(text),
            Topic::Constraint | Topic::Preference => {
                is_cut_off(text) || is_of_the_moment(text) || is_chatter(text)
            }
            Topic::Lesson => false,
        };
        if noise || is_reminder(text) {
            self.left_out += 1;
            return;
        }
        let fits = text.chars().count() <= MOST_CHARS && !text.starts_with('(');
        let says = text
            .split_once(REPLY)
            .is_none_or(|(reply, answer)| is_decided(reply, answer));
        let features = Features::of(text);
        // A rule may be short: "Never use Redis."
        let something = match lifts || topic.is_rule() {
            true => !features.terms.is_empty() || !features.values.is_empty(),
            false => features.says_something(),
        };
        if fits && says && something {
            self.remarks.push(Remark {
                topic,
                text: text.to_owned(),
                ends,
                lifts,
                leans: false,
                evidence,
            });
        } else {
            self.left_out += 1;
        }
    }
}

/// What a candidate was made of, from where it was said: as it was taken.
pub(super) fn said_again(candidate: &Candidate, evidence: &Evidence) -> Remark {
    let quote = evidence.quote.as_str();
    let ended = candidate.ended.as_ref() == Some(evidence);
    let marked = quote.strip_prefix(CHANGE);
    let mut text = marked.unwrap_or(quote);
    let mut ends = false;
    for mark in ["Constraint: ", "Preference: ", "Lesson: ", ENDS] {
        if let Some(rest) = text.strip_prefix(mark) {
            text = rest;
            ends |= mark == ENDS;
        }
    }
    Remark {
        topic: candidate.topic,
        text: plainly(text).to_owned(),
        ends,
        // Old sessions are quoted without our marks.
        lifts: marked.is_some() || (!ends && (ended || candidate.lifts)),
        leans: !ended && candidate.review == Some(Review::Leaning),
        evidence: evidence.clone(),
    }
}

/// What a line under a title is about, if somebody thinks it worth keeping.
pub(super) fn topic_of(title: Option<&str>) -> Topic {
    match title.map(section) {
        Some(Section::About(topic)) => topic,
        Some(Section::Passing | Section::Other) | None => Topic::Fact,
    }
}

/// What a title says about the lines under it.
enum Section {
    About(Topic),
    /// True for a day: progress, plans, what is next.
    Passing,
    Other,
}

fn section(title: &str) -> Section {
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
