//! The lines of each section, from the ledger.

use longhaul_ledger::{
    Agreement, FileChange, FileRecord, Item, ItemState, Ledger, Outcome, TurnWork,
};
use longhaul_tokens::{Counter, Tokens};
use longhaul_transcript::EntryId;

use super::block::Candidate;
use super::material::{Kept, Material};
use super::paths::PathNames;
use super::text::{fenced, is_one_line, mark, one_line, shortened, within};

pub(super) type Line = (String, Option<EntryId>);

/// No single line of a list is longer, so that one cannot take a whole section.
const LINE_CHARS: usize = 600;

/// What was agreed, newest first, to be shown in the order of time.
pub(super) fn agreed(ledger: &Ledger, cap: Tokens, counter: &dyn Counter) -> Vec<Candidate> {
    let newest_plan = ledger
        .agreements
        .iter()
        .rposition(|agreement| matches!(agreement, Agreement::Plan { .. }));
    let agreements = ledger.agreements.iter().enumerate().map(|(at, agreement)| {
        let id = mark(agreement.entry());
        let text = match agreement {
            Agreement::Answer {
                question,
                answer,
                option,
                ..
            } => {
                let question = shortened(question, LINE_CHARS);
                let more = option.as_deref().map(|says| shortened(says, LINE_CHARS));
                let more = more.map(|says| format!(" ({says})")).unwrap_or_default();
                match is_one_line(answer) {
                    true => format!("- “{question}” → “{}”{more}{id}", one_line(answer)),
                    false => format!("- “{question}” →{id}\n{}", fenced(answer)),
                }
            }
            // The plan in force is worth its words, an older one its beginning.
            Agreement::Plan { text, .. } if Some(at) == newest_plan => {
                let plan = within(text, Tokens(cap.0 / 2), counter).unwrap_or_default();
                format!("- plan approved{id}\n{}", fenced(&plan))
            }
            Agreement::Plan { text, .. } => {
                format!("- plan approved: {}{id}", shortened(text, 200))
            }
        };
        (agreement.time(), agreement.entry().clone(), text)
    });
    let notes = ledger.notes.iter().map(|note| {
        let id = mark(&note.entry);
        let kind = note.kind.as_str();
        let text = match is_one_line(&note.text) {
            true => format!("- {kind}: {}{id}", one_line(&note.text)),
            false => format!("- {kind}:{id}\n{}", fenced(&note.text)),
        };
        (note.time, note.entry.clone(), text)
    });
    let mut all: Vec<_> = agreements.chain(notes).collect();
    all.sort_by_key(|(time, ..)| *time);
    all.into_iter()
        .enumerate()
        .map(|(order, (_, entry, text))| Candidate {
            order,
            text,
            entry: Some(entry),
        })
        .rev()
        .collect()
}

/// One line a turn whose request left the context, newest first, to be shown in
/// the order of time.
pub(super) fn turns(
    material: &Material<'_>,
    kept: &Kept<'_>,
    names: &PathNames<'_>,
) -> Vec<Candidate> {
    let turns = &material.ledger.turns;
    let told = |turn: &&TurnWork| turn.entry.as_ref().is_none_or(|entry| !kept.has(entry));
    let last = turns.iter().rposition(|turn| turn.closing.is_some());
    let lines = turns.iter().enumerate().filter(|(_, turn)| told(turn));
    let mut lines: Vec<Candidate> = lines
        .filter_map(|(order, turn)| {
            // The agent's very last words stand by themselves, or are kept.
            let closing = turn.closing.as_deref().filter(|_| Some(order) != last);
            let mut text = turn_line(turn, closing, names)?;
            if turn.entry.is_some() && turn.entry.as_ref() == material.split.request() {
                text.push_str(" [interrupted: goes on below]");
            }
            Some(Candidate {
                order,
                text,
                entry: turn.entry.clone(),
            })
        })
        .collect();
    lines.reverse();
    lines
}

fn turn_line(turn: &TurnWork, closing: Option<&str>, names: &PathNames<'_>) -> Option<String> {
    const FILES: usize = 5;
    const COMMANDS: usize = 3;
    let mut done: Vec<String> = Vec::new();
    if !turn.changed.is_empty() {
        let files = turn.changed.iter().take(FILES);
        let mut files: Vec<String> = files.map(|path| names.show(path)).collect();
        let more = turn.changed.len().saturating_sub(FILES) + turn.changed_left as usize;
        files.extend((more > 0).then(|| format!("+{more}")));
        done.push(format!("changed {}", files.join(", ")));
    }
    let failed = |(_, outcome): &&(String, Outcome)| *outcome == Outcome::Failed;
    let mut runs: Vec<&(String, Outcome)> = turn.commands.iter().rev().filter(failed).collect();
    runs.extend(turn.commands.iter().rev().filter(|run| !failed(run)));
    runs.truncate(COMMANDS);
    let ran: Vec<String> = runs
        .into_iter()
        .map(|(command, outcome)| format!("`{}` {}", shortened(command, 80), ended(*outcome)))
        .collect();
    done.extend((!ran.is_empty()).then(|| ran.join(", ")));
    done.extend(closing.map(|words| format!("“{}”", one_line(words))));
    (!done.is_empty()).then(|| match turn.number {
        0 => format!("- {}", done.join("; ")),
        number => format!("- #{number} {}", done.join("; ")),
    })
}

/// A command on one line; the ledger keeps the beginning of a long one.
fn command_line(command: &str) -> String {
    const KEPT: usize = 300;
    match command.chars().count() < KEPT {
        true => one_line(command),
        false => format!("{}…", one_line(command)),
    }
}

fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Running => "was running",
        Outcome::Passed => "passed",
        Outcome::Ended => "ended, its status not shown",
        Outcome::Failed => "failed",
    }
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
    let came = file.moved_from.as_ref();
    parts.extend(came.map(|from| format!("moved from {}", names.show(from))));
    // How often is not told: nobody knows what a loop of the shell changed.
    let is_gone = matches!(file.last, FileChange::Deleted | FileChange::Moved);
    let others = [file.created, came.is_some(), is_gone];
    if file.changes > others.into_iter().map(u32::from).sum() {
        parts.push("edited".to_owned());
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

/// Files that were only read, the latest first: so many by path, the rest by
/// folder with their number.
pub(super) fn read_files(ledger: &Ledger, names: &PathNames<'_>, listed: usize) -> Vec<Line> {
    let files: Vec<&FileRecord> = ledger
        .read_files()
        .into_iter()
        .filter(|file| file.reads > 0)
        .collect();
    let (by_path, by_folder) = files.split_at(files.len().min(listed));
    let mut folders: Vec<(String, usize)> = Vec::new();
    for file in by_folder {
        let folder = match file.path.rsplit_once('/') {
            Some((folder, _)) => names.show_folder(folder),
            None => ".".to_owned(),
        };
        match folders.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, count)) => *count += 1,
            None => folders.push((folder, 1)),
        }
    }
    let paths = by_path.iter().map(|file| {
        (
            format!("- {}", names.show(&file.path)),
            file.provenance.last().cloned(),
        )
    });
    let folders = folders
        .into_iter()
        .map(|(folder, count)| (format!("- {folder}/ +{count}"), None));
    paths.chain(folders).collect()
}

/// Commands whose latest run failed, the newest first, with the first line each
/// printed and the last.
pub(super) fn failing(ledger: &Ledger) -> Vec<Line> {
    ledger
        .failing()
        .map(|run| {
            let entry = run.provenance.last();
            let id = entry.map(mark).unwrap_or_default();
            let command = command_line(&run.command);
            let status = run.status.map(|code| format!(" exit {code}"));
            let said = run.error.as_deref().map(|line| shortened(line, 240));
            let said = said
                .filter(|line| !line.is_empty())
                .map(|line| format!(": {line}"));
            let turn = match run.turn {
                0 => String::new(),
                turn => format!(" (#{turn})"),
            };
            let line = format!(
                "- `{command}`{}{}{turn}{id}",
                status.unwrap_or_else(|| " failed".to_owned()),
                said.unwrap_or_default()
            );
            (line, entry.cloned())
        })
        .collect()
}

/// Items of to-do tools, those begun first; a question nobody has answered; the
/// newest request while its turn is open, by its number.
pub(super) fn open(ledger: &Ledger) -> Vec<Line> {
    let with = |state: ItemState| ledger.items.iter().filter(move |item| item.state == state);
    let line = |item: &Item, state: &str| {
        let entry = item.provenance.last();
        let text = shortened(&item.text, LINE_CHARS);
        (format!("- {state}{text}"), entry.cloned())
    };
    let begun = with(ItemState::InProgress).map(|item| line(item, "(in progress) "));
    let items = begun.chain(with(ItemState::Open).map(|item| line(item, "")));
    let questions = ledger.open_questions().map(|question| {
        let text = shortened(&question.text, LINE_CHARS);
        (
            format!("- question to the user: {text}{}", mark(&question.entry)),
            Some(question.entry.clone()),
        )
    });
    let request = ledger.open_request().map(|newest| {
        let line = format!("- request #{} of the user", newest.number);
        (line, Some(newest.entry.clone()))
    });
    items.chain(questions).chain(request).collect()
}

/// The file in hand, the last command and how it ended, the agent's last words.
pub(super) fn stands(ledger: &Ledger, kept: &Kept<'_>, names: &PathNames<'_>) -> Vec<Line> {
    let flight = &ledger.in_flight;
    let line = |name: &str, value: Option<String>| {
        let value = value.filter(|value| !value.is_empty())?;
        Some((format!("- {name}: {value}"), None))
    };
    let file = flight.file.as_deref().map(|path| names.show(path));
    let command = flight.command.as_deref().map(|command| {
        let outcome = flight.command_outcome.map(ended).unwrap_or_default();
        format!("`{}` {outcome}", command_line(command))
    });
    let is_kept = flight
        .words_entry
        .as_ref()
        .is_some_and(|entry| kept.has(entry));
    let words = flight.words.as_deref().filter(|_| !is_kept);
    let words = words.map(|words| format!("“{}”", one_line(words)));
    [
        line("file in hand", file),
        line("last command", command),
        line("the agent's last words", words),
    ]
    .into_iter()
    .flatten()
    .collect()
}
