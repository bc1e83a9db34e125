//! Entries of a daily log, as they are written and read back.
//!
//! ```markdown
//! ## 14:23 — Memory flush
//! <!-- longhaul by=mixed session="agent:main:main" epoch=2 bytes=61 seal=… -->
//! **Decisions:**
//! - RS256 rather than HS256 <!-- agent 4f2a91c0 -->
//! ```
//!
//! The mark counts for exactly the bytes it names, and only if the seal fits.
//! Whatever else stands in the file has an unknown source, unless it says of
//! itself that a tool said it: without a seal a mark can only take trust away.

use jiff::civil::{Date, DateTime, Time};
use longhaul_redact::Redactor;
use longhaul_transcript::EntryId;

use super::{Appended, MOST_ENTRY_BYTES, MOST_SECTION_BYTES, MemoryFolder, Origin, clipped};
use crate::provenance::{one_line, plain};
use crate::{Seal, Source};

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Free text of one source.
    Text {
        /// Who wrote it.
        source: Source,
        /// The text, as Markdown.
        text: String,
    },
    /// Lists of notes, each with its own source.
    Sections(Vec<Section>),
}

impl Body {
    /// Its texts, to be changed.
    pub(crate) fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Body::Text { text, .. } => vec![text],
            Body::Sections(sections) => sections
                .iter_mut()
                .flat_map(|section| {
                    let notes = section.notes.iter_mut().map(|note| &mut note.text);
                    std::iter::once(&mut section.title).chain(notes)
                })
                .collect(),
        }
    }
}

/// A list of notes under a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The title, such as `Decisions`.
    pub title: String,
    /// The notes.
    pub notes: Vec<Note>,
}

/// One thing worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What, in one line.
    pub text: String,
    /// Who said it.
    pub source: Source,
    /// Where in the transcript.
    pub entry: Option<EntryId>,
    /// The day on which it was said there, where that may be another than the
    /// log's.
    pub said: Option<Date>,
}

/// How the line ends that says how much of an entry was cut.
pub(crate) const CUT: &str = " bytes more are in the transcript]";

/// An entry ready to be appended, and what is told of it.
pub(super) fn entry(
    redactor: &Redactor,
    seal: Option<&Seal>,
    at: DateTime,
    heading: &str,
    origin: Origin<'_>,
    body: &Body,
) -> (String, Appended) {
    let mut document = redactor.document();
    let (mut heading, mut body) = (heading.to_owned(), body.clone());
    // Redacted as a whole, so that a secret over two lines is found.
    document.texts(std::iter::once(&mut heading).chain(body.texts()));
    let heading = one_line(&heading);
    let (by, whole) = match &body {
        Body::Text { source, text } => (source.to_string(), plain(text.trim())),
        Body::Sections(sections) => {
            let mut out = String::new();
            for section in sections {
                out.push_str(&format!("**{}:**\n", one_line(&section.title)));
                for note in &section.notes {
                    let text = one_line(&note.text);
                    out.push_str(&format!("- {text} <!-- {}", note.source));
                    if let Some(entry) = &note.entry {
                        out.push_str(&format!(" {}", word(entry.as_str())));
                        if let Some(day) = note.said.filter(|day| *day < at.date()) {
                            out.push_str(&format!(" {day}"));
                        }
                    }
                    out.push_str(" -->\n");
                }
            }
            ("mixed".to_owned(), out.trim_end().to_owned())
        }
    };
    let most = match &body {
        Body::Text { .. } => MOST_ENTRY_BYTES,
        Body::Sections(_) => MOST_SECTION_BYTES,
    };
    let (kept, left_out) = clipped(&whole, most);
    // It is cut between its lines, so that no mark and no number is cut.
    let (kept, left_out) = match (left_out, kept.rfind('\n')) {
        (1.., Some(end)) => (&kept[..end], whole.len() - end),
        _ => (kept, left_out),
    };
    let mut text = kept.to_owned();
    if left_out > 0 {
        text.push_str(&format!("\n[{left_out}{CUT}"));
    }
    text.push('\n');
    let time = at.strftime("%H:%M");
    let mut mark = format!("<!-- longhaul by={by}");
    if let Some(session) = origin.session {
        mark.push_str(&format!(" session=\"{}\"", word(session)));
    }
    if let Some(epoch) = origin.epoch {
        mark.push_str(&format!(" epoch={epoch}"));
    }
    mark.push_str(&format!(" bytes={}", text.len()));
    if let Some(seal) = seal {
        let day = at.date().to_string();
        let seal = seal.of(&[&day, &mark, &text]);
        mark.push_str(&format!(" seal={seal}"));
    }
    mark.push_str(" -->\n");
    let text = format!("\n## {time} — {heading}\n{mark}{text}");
    let appended = Appended {
        file: MemoryFolder::log_name(at.date()),
        bytes: text.len(),
        redacted: document.tally().total() as usize,
        left_out,
    };
    (text, appended)
}

/// A value of a mark: no quote, no space, no end of a comment.
fn word(text: &str) -> String {
    one_line(text).replace(['"', '<', '>', ' '], "_")
}

/// A line of a log that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The line, from 1.
    pub line: usize,
    /// Its text, without list and source marks.
    pub text: String,
    /// Whether it is an item of a list.
    pub item: bool,
    /// The title it stands under, such as `Decisions`.
    pub section: Option<String>,
    /// Who said it; unknown where no seal vouches for a source.
    pub source: Source,
    /// The session it was written in.
    pub session: Option<String>,
    /// The entry of the transcript it comes from.
    pub entry: Option<EntryId>,
    /// When it was written, as the heading says.
    pub time: Option<Time>,
    /// The day on which it was said, where that is before the log's.
    pub said: Option<Date>,
}

/// What the mark of an entry says.
struct Mark {
    /// The source of all lines; each line has its own where it is mixed.
    by: Option<Source>,
    session: Option<String>,
    /// The mark without its seal, as it was sealed.
    sealed: String,
    seal: Option<String>,
    bytes: usize,
}

/// The lines of a day's log. Without a seal, or where it does not fit, the
/// source is unknown; what is marked as a tool's stays a tool's. Code, block
/// quotes, tables and things to do are left out: they are shown, not said.
pub fn read_log(text: &str, date: Date, seal: Option<&Seal>) -> Vec<LogLine> {
    let mut lines = Vec::new();
    let (mut time, mut section) = (None, None);
    let mut trusted: Option<(Mark, usize)> = None;
    // What an entry without a fitting seal says of itself, at most.
    let mut most = Source::Unknown;
    let mut fence = Fence::default();
    let mut start = 0;
    for (at, whole) in text.split_inclusive('\n').enumerate() {
        let end = start + whole.len();
        let line = whole.trim();
        let inside = trusted.as_ref().is_some_and(|(_, until)| start < *until);
        if !inside {
            trusted = None;
        }
        let heading = whole.strip_prefix("## ").filter(|_| !inside);
        let clock = heading.and_then(|rest| rest.split_whitespace().next());
        let is_ours = clock.is_some_and(|clock| format!("{clock}:00").parse::<Time>().is_ok())
            || (!inside && whole.starts_with("<!-- longhaul "));
        if is_ours {
            // What a hand left open does not hide the entries below it.
            fence = Fence::default();
        }
        if fence.holds(line) {
            // Code is shown, not said.
        } else if let Some(rest) = heading {
            let clock = rest.split_whitespace().next().unwrap_or_default();
            time = format!("{clock}:00").parse().ok();
            most = Source::Unknown;
            // Ours begin with the time; a person's say what follows.
            section = match time {
                Some(_) => None,
                None => Some(rest.trim().to_owned()).filter(|title| title.len() <= 80),
            };
        } else if !inside && whole.starts_with("<!-- longhaul ") {
            let found = mark(line);
            let by = found.as_ref().and_then(|mark| mark.by);
            most = by.unwrap_or(Source::Unknown).min(Source::Unknown);
            trusted = found.and_then(|mark| {
                let body = text.get(end..end.checked_add(mark.bytes)?)?;
                let expected = seal?.of(&[&date.to_string(), &mark.sealed, body]);
                let until = end + mark.bytes;
                (mark.seal.as_deref() == Some(expected.as_str())).then_some((mark, until))
            });
            if trusted.is_some() {
                most = Source::Unknown;
            }
        } else if let Some(title) = title(line) {
            section = Some(title);
        } else if !line.is_empty() && !line.starts_with("# ") && !line.starts_with("<!--") {
            let mark = trusted.as_ref().map(|(mark, _)| mark);
            let said = attributed(line, mark, most);
            let (item, text) = listed(said.text);
            if !text.is_empty() && !is_shown(line, text) {
                lines.push(LogLine {
                    line: at + 1,
                    text: text.to_owned(),
                    item,
                    section: section.clone(),
                    source: said.source,
                    session: mark.and_then(|mark| mark.session.clone()),
                    entry: said.entry,
                    time,
                    said: said.day.filter(|day| *day < date),
                });
            }
        }
        start = end;
    }
    lines
}

fn mark(line: &str) -> Option<Mark> {
    let inner = line.strip_suffix(" -->")?;
    let (sealed, seal) = match inner.split_once(" seal=") {
        Some((sealed, seal)) => (sealed, Some(seal.to_owned())),
        None => (inner, None),
    };
    let mut mark = Mark {
        by: None,
        session: None,
        sealed: sealed.to_owned(),
        seal,
        bytes: 0,
    };
    for part in sealed.strip_prefix("<!-- longhaul ")?.split(' ') {
        match part.split_once('=')? {
            ("by", value) => mark.by = value.parse().ok(),
            ("session", value) => mark.session = Some(value.trim_matches('"').to_owned()),
            ("bytes", value) => mark.bytes = value.parse().ok()?,
            _ => {}
        }
    }
    Some(mark)
}

/// A line with what its mark says.
struct Attributed<'a> {
    source: Source,
    entry: Option<EntryId>,
    day: Option<Date>,
    /// The line without its mark.
    text: &'a str,
}

/// Who said a line, where and when, and the line without that. Where no mark counts,
/// a line may only say that it is worth less.
fn attributed<'a>(line: &'a str, mark: Option<&Mark>, most: Source) -> Attributed<'a> {
    let own = line.strip_suffix(" -->");
    let own = own.and_then(|rest| {
        let (said, about) = rest.rsplit_once(" <!-- ")?;
        let mut words = about.split(' ');
        let source: Source = words.next()?.parse().ok()?;
        Some((said, source, words))
    });
    let mut found = Attributed {
        source: Source::Unknown.min(most),
        entry: None,
        day: None,
        text: line,
    };
    match (mark, own) {
        // One source for all lines: text of others has no marks of lines.
        (Some(Mark { by: Some(all), .. }), _) => found.source = *all,
        (Some(_), Some((said, source, mut words))) => {
            found.entry = words.next().map(|id| EntryId::new(id.to_owned()));
            found.day = words.next().and_then(|day| day.parse().ok());
            (found.source, found.text) = (source, said);
        }
        (None, Some((said, source, _))) => {
            (found.source, found.text) = (source.min(found.source), said);
        }
        (_, None) => {}
    }
    found
}

/// Whether a line is an item of a list, and the line without its mark.
fn listed(line: &str) -> (bool, &str) {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks = ["- ", "* ", "+ ", "• "];
    let rest = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let counted = [". ", ") "]
        .iter()
        .find_map(|mark| number.strip_prefix(mark));
    match rest.or(counted.filter(|_| number.len() < line.len())) {
        Some(rest) => (true, rest.trim()),
        None => (false, line.trim()),
    }
}

/// Whether a line shows something or lists what to do: a block quote, the row of
/// a table, a box to tick.
fn is_shown(line: &str, said: &str) -> bool {
    let boxes = ["[ ]", "[x]", "[X]", "[-]", "[~]"];
    let start = said.get(..5).unwrap_or_default().to_ascii_lowercase();
    line.starts_with(['>', '|'])
        || said.starts_with(['>', '|'])
        || boxes.iter().any(|tick| said.starts_with(tick))
        || start == "todo:"
}

/// Code between fences.
#[derive(Default)]
struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Whether a line is code, or opens or closes it.
    fn holds(&mut self, line: &str) -> bool {
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match (self.open, mark) {
            (Some((open, width)), Some(mark)) if open == mark && run >= width => {
                self.open = None;
                true
            }
            (Some(_), _) => true,
            // "```make```" is a word in code.
            (None, Some(mark)) if run >= 3 && !line[run..].contains(mark) => {
                self.open = Some((mark, run));
                true
            }
            _ => false,
        }
    }
}

/// `**Decisions:**` or `### Decisions`, and what it says.
fn title(line: &str) -> Option<String> {
    let inner = match line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"))
    {
        Some(inner) => inner.strip_suffix([':', '：']).unwrap_or(inner),
        None => {
            let rest = line.trim_start_matches('#');
            (line.len() - rest.len() >= 3).then(|| rest.strip_prefix(' '))??
        }
    };
    (!inner.is_empty() && inner.len() <= 80).then(|| inner.trim().to_owned())
}
