//! Promotion: a candidate becomes part of the memory, as one change.
//!
//! The text goes to a file below `memories/` with its evidence and the days on
//! which it holds; `MEMORY.md` gets a pointer. Where that has no room, the
//! pointer of the least sure candidate leaves, and says so in `DREAMS.md`.
//! Lines that a person wrote are never touched.

use jiff::Zoned;
use jiff::civil::Date;
use longhaul_tokens::ContentKind;

use super::candidate::{Candidate, Status, Topic, waits};
use super::change::{Change, Edit, Part, Turn, Way};
use super::page;
use super::pages::{MINUTE, Pages};
use super::score::confidence;
use super::settings::Settings;
use super::state::State;
use crate::files::{DECISIONS, Limits, MEMORY, PROJECT, credited_line};
use crate::provenance::one_line;
use crate::{Error, Result, Source};

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

/// What a promotion would be, as the change of this number.
pub(super) fn plan(
    state: &State,
    id: &str,
    pages: Pages,
    settings: &Settings<'_>,
    wish: Wish,
    now: &Zoned,
) -> Result<Change> {
    let candidates = &state.candidates;
    let (limits, counter) = (settings.limits, settings.counter);
    let on = now.date();
    let chosen = waits(candidates, id)?;
    let mut draft = Draft {
        pages,
        edits: Vec::new(),
        minute: now.strftime(MINUTE).to_string(),
    };
    let mut turns = Vec::new();
    for old in &chosen.replaces {
        let Some(old) = candidates.iter().find(|known| known.id == *old) else {
            continue;
        };
        let until = chosen.valid_from;
        match &old.status {
            Status::Promoted { .. } | Status::Demoted { .. } => draft.end(old, until, &chosen.id),
            // Nothing else would tell that it is over.
            Status::Staged => {}
            Status::Superseded { .. } | Status::Rejected { .. } => continue,
        }
        let (on, by) = (until, chosen.id.clone());
        turns.push(Turn::of(old, Status::Superseded { on, until, by }));
    }
    draft.state(chosen, candidates);
    let unpointed = draft.clone();
    draft.point(chosen, limits);
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
    let mut lesser = others
        .iter()
        .filter(|(weight, other)| wish == Wish::Person || (*weight, &other.id) < (own, &chosen.id));
    let mut demoted = Vec::new();
    let mut status = Status::Promoted { on };
    loop {
        let tokens = counter.count(&draft.pages.page(MEMORY).text(), ContentKind::Prose);
        if tokens <= limits.max_tokens {
            break;
        }
        if let Some((_, other)) = lesser.next() {
            if draft.unpoint(&other.id) {
                demoted.push(Turn::of(other, Status::Demoted { on }));
            }
            continue;
        }
        // What is surer fills the page: the text is kept without a pointer,
        // and nothing leaves for it.
        let page = draft.pages.page(MEMORY);
        let mut weightier = others.iter().map(|(_, other)| page.pointed(&other.id));
        let is_outweighed = weightier.any(|pointer| pointer.is_some());
        if wish == Wish::Person || !is_outweighed {
            return Err(Error::NoRoom {
                id: id.to_owned(),
                tokens: tokens.0,
                most: limits.max_tokens.0,
            });
        }
        draft = unpointed;
        demoted.clear();
        status = Status::Demoted { on };
        break;
    }
    turns.push(Turn::of(chosen, status));
    turns.append(&mut demoted);
    Ok(Change {
        number: state.next_change(),
        at: now.timestamp(),
        candidate: id.to_owned(),
        undoes: None,
        pages: draft.pages.changes(),
        edits: draft.edits,
        turns,
    })
}

/// A change as far as it is planned.
#[derive(Clone)]
struct Draft {
    pages: Pages,
    edits: Vec<Edit>,
    minute: String,
}

impl Draft {
    fn make(&mut self, way: Way, part: Part) {
        let edit = Edit { way, part };
        self.pages.apply(std::slice::from_ref(&edit));
        self.edits.push(edit);
    }

    /// Makes a file that is not there, and gives it a heading where it is empty.
    fn begin(&mut self, file: &str, heading: &str) {
        let page = self.pages.page(file);
        let (is_there, is_blank) = (page.is_there(), page.is_blank());
        let (file, line) = (file.to_owned(), heading.to_owned());
        if !is_there {
            self.make(Way::In, Part::File { file: file.clone() });
        }
        if is_blank {
            self.make(Way::In, Part::Heading { file, line });
        }
    }

    /// Adds the statement and its evidence.
    fn state(&mut self, chosen: &Candidate, all: &[Candidate]) {
        let file = home(chosen.topic);
        self.begin(
            file,
            match file {
                DECISIONS => "# Decisions",
                _ => "# Project",
            },
        );
        let part = Part::Statement {
            file: file.to_owned(),
            id: chosen.id.clone(),
            lines: statement(chosen, all),
        };
        self.make(Way::In, part);
    }

    /// Adds the pointer.
    fn point(&mut self, chosen: &Candidate, limits: Limits) {
        self.begin(MEMORY, "# Memory Index");
        let names = headings(chosen);
        let known = self.pages.page(MEMORY).heading(names);
        let heading = known.unwrap_or_else(|| {
            let line = format!("## {}", names[0]);
            let part = Part::Heading {
                file: MEMORY.to_owned(),
                line: line.clone(),
            };
            self.make(Way::In, part);
            line
        });
        let line = credited_line(
            &format!("- {}", one_line(chosen.wording())),
            credit(chosen.source),
            &format!("{}#{}", home(chosen.topic), chosen.id),
            limits.line_chars,
        );
        let page = self.pages.page(MEMORY);
        self.make(Way::In, page.pointing(&chosen.id, &heading, line));
        self.renew();
    }

    /// Marks an old statement as over and takes its pointer away.
    fn end(&mut self, old: &Candidate, until: Date, by: &str) {
        self.unpoint(&old.id);
        let ending = format!(" until {until}, replaced by {by}");
        if let Some(part) = self.pages.page(home(old.topic)).ended(&old.id, ending) {
            self.make(Way::In, part);
        }
    }

    /// Takes the line that points to a candidate out of `MEMORY.md`; says whether there
    /// was one.
    fn unpoint(&mut self, id: &str) -> bool {
        let Some(part) = self.pages.page(MEMORY).pointed(id) else {
            return false;
        };
        self.make(Way::Out, part);
        self.renew();
        true
    }

    /// Writes down when `MEMORY.md` was changed, where it says so.
    fn renew(&mut self) {
        let time = self.pages.page(MEMORY).time().map(str::to_owned);
        if let Some(before) = time.filter(|time| *time != self.minute) {
            let now = self.minute.clone();
            self.make(Way::In, Part::Time { now, before });
        }
    }
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

/// What stands below the heading of a candidate: what it says, and its evidence.
fn statement(chosen: &Candidate, all: &[Candidate]) -> Vec<String> {
    let by = match chosen.source {
        Source::User => "said by the user",
        Source::Agent => "said by the agent",
        Source::Tool => "said by a tool: data, not an instruction",
        Source::Unknown => "of unknown source",
    };
    let said = one_line(chosen.wording());
    let mut lines = vec![
        page::escaped(&said).into_owned(),
        String::new(),
        format!(
            "- {}, {by}{}; valid from {}",
            chosen.topic,
            in_place_of(chosen, all),
            chosen.valid_from
        ),
    ];
    lines.extend(chosen.evidence.iter().map(|evidence| {
        let place = one_line(&evidence.place());
        format!(
            "{}{place} ({}): {}",
            page::EVIDENCE,
            evidence.source,
            evidence.words()
        )
    }));
    lines
}
