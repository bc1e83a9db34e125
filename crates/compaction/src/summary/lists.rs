//! The lines of each section of the ledger's part, most important first.

use std::cmp::Reverse;

use longhaul_ledger::{
    Anchor, AnchorKind, Decision, FileChange, FileRecord, Item, ItemState, Ledger, Rule, RuleKind,
    Speaker,
};
use longhaul_transcript::EntryId;

use super::paths::PathNames;
use super::requests::OldValues;
use super::text::{fenced, is_one_line, mark_if_short, one_line, shortened};

pub(super) type Line = (String, Option<EntryId>);

/// No single line of a list is longer, so that one cannot take a whole section.
const LINE_CHARS: usize = 600;

/// Rules in force, word for word: constraints first, then preferences; of each
/// the newest first, as the oldest would be the first to find no room.
pub(super) fn rules(ledger: &Ledger) -> Vec<Line> {
    rules_that(ledger, |rule| !rule.pasted)
}

/// What was handed over: who gave it, the task, and the rules that hold.
pub(super) fn handed(ledger: &Ledger) -> Vec<Line> {
    let Some(handed) = &ledger.handed else {
        return Vec::new();
    };
    let id = mark_if_short(Some(&handed.entry));
    let (agent, session) = (one_line(&handed.agent), one_line(&handed.session));
    let from = format!("- from agent {agent}, session {session}{id}");
    let item = |label: &str, text: &str| match is_one_line(text) {
        true => format!("- {label}: {}", one_line(text)),
        false => format!("- {label}:\n{}", fenced(text)),
    };
    let task = (!handed.task.is_empty()).then(|| item("task", &handed.task));
    let rules = handed.live_rules().map(|rule| item("rule", &rule.text));
    let lines = [from].into_iter().chain(task).chain(rules);
    lines
        .map(|line| (line, Some(handed.entry.clone())))
        .collect()
}

/// What reads like a rule in a message of the user, and may be another's words:
/// it was pasted, quoted or told.
pub(super) fn passed_on(ledger: &Ledger) -> Vec<Line> {
    rules_that(ledger, |rule| rule.pasted)
}

fn rules_that(ledger: &Ledger, chosen: fn(&Rule) -> bool) -> Vec<Line> {
    let live = |kind: RuleKind| {
        ledger
            .rules
            .iter()
            .rev()
            .filter(move |rule| rule.revoked.is_none() && rule.kind == kind && chosen(rule))
    };
    live(RuleKind::Constraint)
        .chain(live(RuleKind::Preference))
        .map(|rule| {
            let said = rule.provenance.last();
            let kind = match rule.kind {
                RuleKind::Constraint => "",
                RuleKind::Preference => " (preference)",
            };
            let id = mark_if_short(said);
            let text = rule.in_frame();
            let line = if is_one_line(&text) {
                format!("- {}{kind}{id}", one_line(&text))
            } else {
                format!("-{kind}{id}\n{}", fenced(&text))
            };
            (line, said.cloned())
        })
        .collect()
}

/// One line a file, with what happened to it.
pub(super) fn changed_lines(files: &[&FileRecord], names: &PathNames<'_>) -> Vec<Line> {
    files
        .iter()
        .map(|file| {
            let line = format!("- {} ({})", names.show(&file.path), happened(file, names));
            (line, file.provenance.last().cloned())
        })
        .collect()
}

/// One line a file and nothing but its path.
pub(super) fn changed_paths(files: &[&FileRecord], names: &PathNames<'_>) -> Vec<Line> {
    files
        .iter()
        .map(|file| {
            let gone = match file.last {
                FileChange::Deleted => " (deleted)",
                FileChange::Moved => " (moved)",
                FileChange::Read | FileChange::Created | FileChange::Edited => "",
            };
            let line = format!("- {}{gone}", names.show(&file.path));
            (line, file.provenance.last().cloned())
        })
        .collect()
}

fn happened(file: &FileRecord, names: &PathNames<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if file.created {
        parts.push("created".to_owned());
    }
    let edits = file.changes.saturating_sub(u32::from(file.created));
    match edits {
        0 => {}
        1 => parts.push("edited".to_owned()),
        _ => parts.push(format!("edited ×{edits}")),
    }
    match file.last {
        FileChange::Deleted => parts.push("then deleted".to_owned()),
        FileChange::Moved => match &file.moved_to {
            Some(to) => parts.push(format!("moved to {}", names.show(to))),
            None => parts.push("moved away".to_owned()),
        },
        FileChange::Read | FileChange::Created | FileChange::Edited => {}
    }
    match parts.as_slice() {
        [] => "changed".to_owned(),
        [one] => one.strip_prefix("then ").unwrap_or(one).to_owned(),
        _ => parts.join(", "),
    }
}

/// Files that were only read, most relevant first.
pub(super) fn read_files(ledger: &Ledger, names: &PathNames<'_>) -> Vec<Line> {
    ledger
        .read_files()
        .iter()
        .map(|file| {
            (
                format!("- {}", names.show(&file.path)),
                file.provenance.last().cloned(),
            )
        })
        .collect()
}

/// Decisions that stand, with their reason: what was corrected first, then
/// what was decided in words, then what a short reply agreed to; of each the
/// newest first.
pub(super) fn decisions(ledger: &Ledger) -> Vec<Line> {
    let old = OldValues::new(ledger);
    let standing = || {
        let decisions = ledger.decisions.iter().rev();
        decisions.filter(|decision| decision.superseded.is_none())
    };
    let is_reply =
        |decision: &&Decision| decision.reason.is_none() && decision.what.contains(" ← ");
    let in_words = standing().filter(|decision| !is_reply(decision));
    let replies = standing().filter(is_reply);
    let mut lines = corrections(ledger, &old);
    lines.extend(in_words.chain(replies).map(|decision| {
        (
            decision_line(decision, &old),
            decision.provenance.first().cloned(),
        )
    }));
    lines
}

/// Values that replaced others, as they were told, the newest first: what
/// somebody took the trouble to correct is what will be asked for.
fn corrections(ledger: &Ledger, old: &OldValues<'_>) -> Vec<Line> {
    const MOST: usize = 12;
    let replacing = Replacing::new(ledger);
    let told = |anchor: &Anchor| {
        let rules = ledger.rules.iter().filter(|rule| rule.revoked.is_none());
        let decisions = ledger.decisions.iter();
        let decisions = decisions.filter(|decision| decision.superseded.is_none());
        rules
            .map(|rule| rule.text.as_str())
            .chain(decisions.map(|decision| decision.what.as_str()))
            .any(|text| text.contains(anchor.text.as_str()))
    };
    let mut anchors: Vec<&Anchor> = ledger
        .anchors
        .values()
        .filter(|anchor| anchor.superseded.is_none() && replacing.has(anchor) && !told(anchor))
        // A measurement that a tool repeats is a newer one, not a correction.
        .filter(|anchor| anchor.by != Speaker::Tool || anchor.kind != AnchorKind::Number)
        .collect();
    anchors.sort_by_key(|anchor| (Reverse(voice(anchor)), Reverse(anchor.rank)));
    anchors.truncate(MOST);
    anchors
        .into_iter()
        .map(|anchor| {
            let by = match anchor.by {
                Speaker::User => "user: ",
                Speaker::Agent => "",
                Speaker::Tool => "a tool printed: ",
            };
            let said = anchor.provenance.last();
            // Without the id: room is short here, and the value finds the entry.
            let line = anchor_line(anchor);
            let remark = old.remark(&line, said);
            (format!("- {by}{line}{remark}"), said.cloned())
        })
        .collect()
}

/// Which entries replaced a value of which kind.
struct Replacing<'a>(Vec<(AnchorKind, &'a EntryId)>);

impl<'a> Replacing<'a> {
    fn new(ledger: &'a Ledger) -> Replacing<'a> {
        let anchors = ledger.anchors.values();
        Replacing(
            anchors
                .filter_map(|anchor| Some((anchor.kind, anchor.superseded.as_ref()?)))
                .collect(),
        )
    }

    /// Whether a value was told where another of its kind was replaced.
    fn has(&self, anchor: &Anchor) -> bool {
        let mut said = anchor.provenance.entries.iter();
        said.any(|entry| self.0.contains(&(anchor.kind, entry)))
    }
}

fn decision_line(decision: &Decision, old: &OldValues<'_>) -> String {
    let by = match decision.by {
        Speaker::User if decision.pasted => "passed on by the user, not binding: ",
        Speaker::User => "user: ",
        Speaker::Agent => "",
        Speaker::Tool => "tool: ",
    };
    let what = shortened(&decision.what, LINE_CHARS);
    let reason = decision
        .reason
        .as_deref()
        .map(|reason| shortened(reason, LINE_CHARS))
        .filter(|reason| !what.contains(reason.as_str()));
    let mut id = mark_if_short(decision.provenance.first());
    id.push_str(&old.remark(&what, decision.provenance.first()));
    match reason {
        Some(reason) => format!("- {by}{what} (why: {reason}){id}"),
        None => format!("- {by}{what}{id}"),
    }
}

/// Items still to be done: those begun first, then in the order of the list.
pub(super) fn open_items(ledger: &Ledger) -> Vec<Line> {
    let old = OldValues::new(ledger);
    let with = |state: ItemState| ledger.items.iter().filter(move |item| item.state == state);
    let line = |item: &Item, state: &str| {
        let id = mark_if_short(item.provenance.last());
        let remark = old.remark(&item.text, item.provenance.last());
        (
            format!("- {state}{}{id}{remark}", shortened(&item.text, LINE_CHARS)),
            item.provenance.last().cloned(),
        )
    };
    with(ItemState::InProgress)
        .map(|item| line(item, "(in progress) "))
        .chain(with(ItemState::Open).map(|item| line(item, "")))
        .collect()
}

/// Finished items, latest first, short.
pub(super) fn done_items(ledger: &Ledger) -> Vec<Line> {
    let old = OldValues::new(ledger);
    ledger
        .items
        .iter()
        .rev()
        .filter(|item| item.state == ItemState::Done)
        .map(|item| {
            let text = shortened(&item.text, 120);
            let remark = old.remark(&text, item.provenance.last());
            (format!("- {text}{remark}"), item.provenance.last().cloned())
        })
        .collect()
}

/// Questions nobody has answered, newest first.
pub(super) fn questions(ledger: &Ledger) -> Vec<Line> {
    let old = OldValues::new(ledger);
    ledger
        .questions
        .iter()
        .rev()
        .filter(|question| question.answered.is_none())
        .map(|question| {
            let by = match question.by {
                Speaker::User => "user",
                Speaker::Agent => "agent",
                Speaker::Tool => "tool",
            };
            let entry = question.provenance.last();
            let id = mark_if_short(entry);
            let text = shortened(&question.text, LINE_CHARS);
            let remark = old.remark(&text, entry);
            (format!("- {by}: {text}{id}{remark}"), entry.cloned())
        })
        .collect()
}

/// Errors that are still there, latest first, with what gave them.
pub(super) fn unresolved(ledger: &Ledger) -> Vec<Line> {
    ledger
        .unresolved()
        .map(|trouble| {
            let entry = trouble.provenance.last();
            let id = mark_if_short(entry);
            let line = shortened(&trouble.line, LINE_CHARS);
            let cause = shortened(&trouble.cause, LINE_CHARS);
            (format!("- {line} ← `{cause}`{id}"), entry.cloned())
        })
        .collect()
}

/// Errors that are gone, latest first, short.
pub(super) fn resolved(ledger: &Ledger) -> Vec<Line> {
    ledger
        .troubles
        .iter()
        .rev()
        .filter(|trouble| trouble.resolved.is_some())
        .map(|trouble| {
            (
                format!("- {}", shortened(&trouble.line, 120)),
                trouble.provenance.last().cloned(),
            )
        })
        .collect()
}

/// Exact values that stand, by use and recency; those that `seen` has already
/// are left out.
pub(super) fn anchors(ledger: &Ledger, seen: &str) -> Vec<Line> {
    let newest = ledger.anchors.values().map(|anchor| anchor.rank).max();
    let newest = newest.unwrap_or_default();
    let old = OldValues::new(ledger);
    let replacing = Replacing::new(ledger);
    let mut anchors: Vec<&Anchor> = ledger
        .anchors
        .values()
        .filter(|anchor| anchor.superseded.is_none())
        .collect();
    anchors.sort_by_cached_key(|anchor| {
        let weight = weight(anchor, newest);
        Reverse(if replacing.has(anchor) {
            weight * 16
        } else {
            weight
        })
    });
    // No summary has room for more; the search below is quadratic.
    const MOST: usize = 250;
    let mut lines: Vec<Line> = Vec::new();
    for anchor in anchors {
        if lines.len() == MOST {
            break;
        }
        if seen.contains(anchor.text.as_str()) {
            continue;
        }
        let text = shortened(&anchor.text, 300);
        // One sentence often holds several values; it is quoted once.
        if lines.iter().any(|(line, _)| line.contains(&text)) {
            continue;
        }
        // What an import nobody vouches for said is not said by the user here.
        let whose = anchor.provenance.first();
        let whose = whose.map_or("", |entry| ledger.brought(entry));
        let line = format!("- {whose}{}", anchor_line(anchor));
        let remark = old.remark(&line, anchor.provenance.first());
        lines.push((format!("{line}{remark}"), anchor.provenance.last().cloned()));
    }
    lines
}

/// A value with the words around it.
fn anchor_line(anchor: &Anchor) -> String {
    let text = shortened(&anchor.text, 300);
    let about = anchor
        .about
        .trim_start_matches(|c: char| "-*#•>".contains(c) || c.is_whitespace());
    let about = shortened(about, 100);
    if about.is_empty() || about == text {
        text
    } else if about.contains(&text) {
        about
    } else {
        format!("{text} — {about}")
    }
}

/// What people said weighs more than what the model said, and that more than
/// what a tool printed; use counts, and wears off with age.
fn weight(anchor: &Anchor, newest: u64) -> u64 {
    let voice = voice(anchor);
    let uses = u64::from(anchor.provenance.seen.clamp(1, 64));
    let age = newest.saturating_sub(anchor.rank);
    voice * uses * 1_000_000 / (200 + age)
}

fn voice(anchor: &Anchor) -> u64 {
    match anchor.by {
        Speaker::User => 6,
        Speaker::Agent => 3,
        Speaker::Tool => 1,
    }
}

/// What was in flight.
pub(super) fn re_entry(ledger: &Ledger, names: &PathNames<'_>) -> Vec<Line> {
    let flight = &ledger.in_flight;
    let named = |name: &str, value: Option<String>| {
        value
            .filter(|value| !value.is_empty())
            .map(|value| (format!("- {name}: {value}"), None))
    };
    let text = |value: &Option<String>| value.as_deref().map(|value| shortened(value, LINE_CHARS));
    let code = |value: &Option<String>| text(value).map(|value| format!("`{value}`"));
    [
        named("next step", text(&flight.next_step)),
        named("failing", text(&flight.failing)),
        named(
            "file in hand",
            flight.file.as_deref().map(|path| names.show(path)),
        ),
        named("last command", code(&flight.command)),
        named("question waiting for the user", text(&flight.question)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
