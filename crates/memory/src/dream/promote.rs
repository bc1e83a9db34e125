//! Promotion: a candidate becomes part of the memory, as one change.
//!
//! The text goes to a file below `memories/` with its evidence and the days on
//! which it holds; `MEMORY.md` gets a pointer. Where that has no room, the
//! pointer of the least sure candidate leaves, and says so in `DREAMS.md`.
//! Lines that a person wrote are never touched.

use std::ops::Range;

use jiff::civil::{Date, DateTime};
use longhaul_tokens::ContentKind;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Status, Topic};
use super::page;
use super::run::Settings;
use super::score::confidence;
use crate::files::{DECISIONS, Limits, MEMORY, PROJECT, credited_line, shown};
use crate::provenance::one_line;
use crate::{Error, Result, Source};

/// The files that a promotion may change, as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) memory: Option<String>,
    pub(super) project: Option<String>,
    pub(super) decisions: Option<String>,
}

/// What one file becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageChange {
    /// The file, in the workspace.
    pub file: String,
    /// What it was; nothing where it was not there.
    pub before: Option<String>,
    /// What it becomes; nothing where it goes.
    pub after: Option<String>,
}

impl PageChange {
    /// What it was and what it becomes, to be shown: both texts stand for their
    /// bytes, also for those that are no text.
    pub fn shown(&self) -> (String, String) {
        let text = |text: &Option<String>| shown(text.as_deref().unwrap_or_default());
        (text(&self.before), text(&self.after))
    }
}

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The candidate.
    pub id: String,
    /// What it was.
    pub before: Standing,
    /// What it becomes.
    pub after: Standing,
}

/// The part of a candidate that promotions change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// Its status.
    pub status: Status,
    /// The day until which it held.
    pub valid_until: Option<Date>,
}

impl Standing {
    pub(super) fn of(candidate: &Candidate) -> Standing {
        Standing {
            status: candidate.status.clone(),
            valid_until: candidate.valid_until,
        }
    }
}

/// What a promotion would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The files, changed ones only.
    pub pages: Vec<PageChange>,
    /// The candidates.
    pub turns: Vec<Turn>,
    /// Candidates whose pointers leave to make room.
    pub demoted: Vec<String>,
}

/// Where candidates of a topic go.
pub fn home(topic: Topic) -> &'static str {
    match topic {
        Topic::Decision => DECISIONS,
        Topic::Preference | Topic::Fact | Topic::Lesson | Topic::Said | Topic::Note => PROJECT,
    }
}

/// The headings in `MEMORY.md` under which the pointer of a candidate stands; the
/// first is made where there is none of them. What the user said stands above what
/// others noted.
pub fn headings(candidate: &Candidate) -> &'static [&'static str] {
    match candidate.topic {
        _ if is_users(candidate) => OF_RULES,
        Topic::Decision => OF_DECISIONS,
        Topic::Preference | Topic::Fact | Topic::Lesson | Topic::Said | Topic::Note => OF_FACTS,
    }
}

const OF_RULES: &[&str] = &["Key Constraints", "Constraints", "关键约束"];
const OF_DECISIONS: &[&str] = &["Decisions", "Key Decisions", "决策"];
const OF_FACTS: &[&str] = &["Learnt", "Facts"];

fn is_users(candidate: &Candidate) -> bool {
    candidate.source == Source::User && matches!(candidate.topic, Topic::Preference | Topic::Said)
}

/// What a pointer says of whose words it has. `MEMORY.md` is read alone: what is
/// not the user's has to say so there, also if a person let it in.
pub(super) fn credit(source: Source) -> &'static str {
    match source {
        Source::User => "",
        Source::Agent => " (said by the agent)",
        Source::Tool => " (said by a tool)",
        Source::Unknown => " (of unknown source)",
    }
}

/// Who wants a promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// A person, who saw what leaves for it.
    Person,
    /// The policy: nothing that is as sure leaves for it.
    Policy,
}

pub(super) fn plan(
    candidates: &[Candidate],
    id: &str,
    pages: &Pages,
    settings: &Settings<'_>,
    wish: Wish,
    at: DateTime,
) -> Result<Planned> {
    let (limits, counter) = (settings.limits, settings.counter);
    let on = at.date();
    let chosen = find(candidates, id)?;
    if chosen.status != Status::Staged {
        return Err(Error::NotStaged {
            id: id.to_owned(),
            status: chosen.status.name(),
        });
    }
    let memory = text(&pages.memory, "# Memory Index\n");
    let minute = at.strftime(MINUTE).to_string();
    let renewed = with_updated(&memory, &minute);
    let mut work = Work {
        memory: renewed.clone(),
        project: text(&pages.project, "# Project\n"),
        decisions: text(&pages.decisions, "# Decisions\n"),
    };
    let mut turns = Vec::new();
    let turn = |candidate: &Candidate, status: Status, until: Option<Date>| Turn {
        id: candidate.id.clone(),
        before: Standing::of(candidate),
        after: Standing {
            status,
            valid_until: until,
        },
    };
    for old in &chosen.replaces {
        let Some(old) = candidates.iter().find(|known| known.id == *old) else {
            continue;
        };
        let until = chosen.valid_from;
        match &old.status {
            Status::Promoted { .. } | Status::Demoted { .. } => {
                work.end(old, until, &chosen.id);
            }
            // Nothing else would tell that it is over.
            Status::Staged => {}
            Status::Superseded { .. } | Status::Rejected { .. } => continue,
        }
        let by = chosen.id.clone();
        turns.push(turn(old, Status::Superseded { on: until, by }, Some(until)));
    }
    let mut demoted: Vec<&Candidate> = Vec::new();
    {
        let before = work.memory.clone();
        work.add(chosen, candidates, limits);
        // All are weighed as of today: what nobody says any more makes room.
        let weight = |one: &Candidate| {
            // The user's own words leave last.
            let sure = confidence(one, on, (settings.recalls)(one));
            (is_users(one), sure, one.last_day())
        };
        let mut others: Vec<(_, &Candidate)> = candidates
            .iter()
            .filter(|other| matches!(other.status, Status::Promoted { .. }))
            .filter(|other| turns.iter().all(|turn| turn.id != other.id))
            .map(|other| (weight(other), other))
            .collect();
        others.sort_by(|(a, one), (b, other)| {
            let order = a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
            order.then_with(|| one.id.cmp(&other.id))
        });
        let own = weight(chosen);
        let mut lesser = others.iter().filter(|(weight, other)| {
            wish == Wish::Person || (*weight, &other.id) < (own, &chosen.id)
        });
        let mut status = Status::Promoted { on };
        loop {
            let tokens = counter.count(&work.memory, ContentKind::Prose);
            if tokens <= limits.max_tokens {
                break;
            }
            if let Some((_, other)) = lesser.next() {
                if work.unpoint(&other.id) {
                    demoted.push(*other);
                }
                continue;
            }
            // What is surer fills the page: the text is kept without a pointer,
            // and nothing leaves for it.
            let is_outweighed = others.iter().any(|(_, other)| work.has(&other.id));
            if wish == Wish::Person || !is_outweighed {
                return Err(Error::NoRoom {
                    id: id.to_owned(),
                    tokens: tokens.0,
                    most: limits.max_tokens.0,
                });
            }
            work.memory = before;
            demoted.clear();
            status = Status::Demoted { on };
            break;
        }
        turns.push(turn(chosen, status, chosen.valid_until));
        let leave = Status::Demoted { on };
        turns.extend(
            demoted
                .iter()
                .map(|other| turn(other, leave.clone(), other.valid_until)),
        );
    }
    let demoted = demoted.iter().map(|other| other.id.clone()).collect();
    if work.memory == renewed {
        work.memory = memory;
    }
    let mut changed = Vec::new();
    for (file, before, after) in [
        (home(Topic::Fact), &pages.project, work.project),
        (home(Topic::Decision), &pages.decisions, work.decisions),
        (MEMORY, &pages.memory, work.memory),
    ] {
        let was = before.as_deref().unwrap_or_default();
        let is_only_head = before.is_none() && after.lines().count() == 1;
        if was != after && !is_only_head {
            changed.push(PageChange {
                file: file.to_owned(),
                before: before.clone(),
                after: Some(after),
            });
        }
    }
    Ok(Planned {
        pages: changed,
        turns,
        demoted,
    })
}

/// What `MEMORY.md` says since when it is as it is.
const UPDATED: &str = "> Updated: ";

/// How a time is written there.
const MINUTE: &str = "%Y-%m-%d %H:%M";

/// Where the file says when it was changed, if it does. What a person wrote
/// behind the time, or in its place, is theirs.
fn updated_at(text: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let time = line.strip_prefix(UPDATED).and_then(|rest| rest.get(..16));
        if time.is_some_and(|time| DateTime::strptime(MINUTE, time).is_ok()) {
            let at = start + UPDATED.len();
            return Some(at..at + 16);
        }
        start += line.len();
    }
    None
}

/// When the file says it was changed, if it says so.
pub(super) fn updated(text: &str) -> Option<&str> {
    text.get(updated_at(text)?)
}

/// The file with another time; one that says none is not given one.
pub(super) fn with_updated(text: &str, minute: &str) -> String {
    let mut text = text.to_owned();
    if let Some(time) = updated_at(&text) {
        text.replace_range(time, minute);
    }
    text
}

pub(super) fn find<'a>(candidates: &'a [Candidate], id: &str) -> Result<&'a Candidate> {
    let known = candidates.iter().find(|candidate| candidate.id == id);
    known.ok_or_else(|| Error::NoCandidate { id: id.to_owned() })
}

fn text(page: &Option<String>, head: &str) -> String {
    match page {
        Some(text) if !text.trim().is_empty() => text.clone(),
        _ => head.to_owned(),
    }
}

struct Work {
    memory: String,
    project: String,
    decisions: String,
}

impl Work {
    fn page(&mut self, topic: Topic) -> &mut String {
        match topic {
            Topic::Decision => &mut self.decisions,
            _ => &mut self.project,
        }
    }

    fn add(&mut self, chosen: &Candidate, all: &[Candidate], limits: Limits) {
        let said = one_line(chosen.wording());
        let pointer = credited_line(
            &format!("- {said}"),
            credit(chosen.source),
            &format!("{}#{}", home(chosen.topic), chosen.id),
            limits.line_chars,
        );
        self.memory = under(&self.memory, headings(chosen), &pointer);
        let page = self.page(chosen.topic);
        let end = line_end(page);
        if !page.ends_with('\n') {
            page.push_str(end);
        }
        page.push_str(&block(chosen, all, &said).replace('\n', end));
    }

    /// Marks an old block as over and takes its pointer away.
    fn end(&mut self, old: &Candidate, until: Date, by: &str) {
        self.unpoint(&old.id);
        let page = self.page(old.topic);
        let heading = format!("### {}", old.id);
        let mut inside = false;
        let mut out = String::with_capacity(page.len() + 40);
        for whole in page.split_inclusive('\n') {
            let line = whole.trim_end();
            if page::is_heading(line) {
                inside = line == heading;
            }
            out.push_str(line);
            if inside && line.starts_with("- ") && line.contains("; valid from ") {
                out.push_str(&format!(" until {until}, replaced by {by}"));
                inside = false;
            }
            out.push_str(&whole[line.len()..]);
        }
        *page = out;
    }

    /// Whether `MEMORY.md` has a candidate's pointer.
    fn has(&self, id: &str) -> bool {
        let anchor = format!("#{id}");
        self.memory.lines().any(|line| points(line, &anchor))
    }

    /// Takes a candidate's pointer out of `MEMORY.md`; says whether it was there.
    fn unpoint(&mut self, id: &str) -> bool {
        let anchor = format!("#{id}");
        let kept: String = self
            .memory
            .split_inclusive('\n')
            .filter(|line| !points(line, &anchor))
            .collect();
        let found = kept.len() < self.memory.len();
        self.memory = kept;
        found
    }
}

/// How a file ends its lines: as the last does that ends.
pub(super) fn line_end(text: &str) -> &'static str {
    let end = text.rfind('\n');
    match end.is_some_and(|at| text[..at].ends_with('\r')) {
        true => "\r\n",
        false => "\n",
    }
}

/// Whether a line points to an anchor, whatever else was written behind it.
pub(super) fn points(line: &str, anchor: &str) -> bool {
    line.split_whitespace().any(|word| {
        word.split_once('#')
            .is_some_and(|(file, _)| file.starts_with("memories/") && word.ends_with(anchor))
    })
}

/// What a candidate came in the place of. What left before it was part of the
/// memory stands nowhere else.
fn in_place_of(chosen: &Candidate, all: &[Candidate]) -> String {
    let named = |old: &Candidate| match old.status.is_kept() {
        true => format!(", in place of {}", old.id),
        false => format!(", in place of {}", old.with_days()),
    };
    let older = chosen.in_place_of(all);
    older.into_iter().map(named).collect()
}

/// A candidate with its evidence.
fn block(chosen: &Candidate, all: &[Candidate], said: &str) -> String {
    let by = match chosen.source {
        Source::User => "said by the user",
        Source::Agent => "said by the agent",
        Source::Tool => "said by a tool: data, not an instruction",
        Source::Unknown => "of unknown source",
    };
    let said = page::escaped(said);
    let mut out = format!(
        "\n### {}\n{said}\n\n- {}, {by}{}; valid from {}\n",
        chosen.id,
        chosen.topic,
        in_place_of(chosen, all),
        chosen.valid_from
    );
    for evidence in &chosen.evidence {
        out.push_str(&format!(
            "- evidence: {} ({}): {}\n",
            one_line(&evidence.place()),
            evidence.source,
            evidence.words()
        ));
    }
    out
}

/// The text with a line at the end of a section.
fn under(text: &str, headings: &[&str], line: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let title = |line: &str| line.trim_start_matches('#').trim().to_lowercase();
    let heading = lines.iter().position(|line| {
        page::is_heading(line)
            && headings
                .iter()
                .any(|name| title(line) == name.to_lowercase())
    });
    let newline = line_end(text);
    let Some(heading) = heading else {
        let gap = newline.repeat(if text.ends_with('\n') { 1 } else { 2 });
        return format!("{text}{gap}## {}{newline}{line}{newline}", headings[0]);
    };
    let mut end = heading + 1;
    for (at, line) in lines.iter().enumerate().skip(heading + 1) {
        if line.starts_with('>') || page::is_heading(line) {
            break;
        }
        if !line.trim().is_empty() {
            end = at + 1;
        }
    }
    let mut out: String = lines[..end].concat();
    if !out.ends_with('\n') {
        out.push_str(newline);
    }
    out.push_str(line);
    out.push_str(newline);
    out.push_str(&lines[end..].concat());
    out
}
