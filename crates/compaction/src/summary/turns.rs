//! One line a turn: what was asked, what was done, how it ended.

use longhaul_ledger::{Ledger, ToolUse, classify};
use longhaul_tokens::Tokens;
use longhaul_transcript::{ContextMessage, EntryId, MessageView, Role, ToolCall};

use super::material::{Kept, Material};
use super::paths::PathNames;
use super::previous::TurnLine;
use super::requests::{OldValues, replaced};
use super::text::{is_short, mark, one_line, sentences, shortened, without_analysis};
use super::voices::Voices;

/// Begins the line that stands for turns no longer told.
pub(super) const BEFORE: &str = "- earlier: ";

/// How much is said about a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Full,
    Short,
}

impl Detail {
    /// What a prose of this size can afford.
    pub(super) fn within(budget: Tokens) -> Detail {
        const ROOMY: Tokens = Tokens(600);
        if budget >= ROOMY {
            Detail::Full
        } else {
            Detail::Short
        }
    }

    fn pick(self, full: usize, short: usize) -> usize {
        match self {
            Detail::Full => full,
            Detail::Short => short,
        }
    }
}

/// What happened in a turn.
#[derive(Debug, Default)]
struct Turn {
    entry: Option<EntryId>,
    request: Option<String>,
    /// Full paths, in the order they were first changed.
    changed: Vec<String>,
    commands: Vec<Command>,
    /// The agent's last words.
    said: Option<String>,
}

#[derive(Debug)]
struct Command {
    call: String,
    line: String,
    failed: bool,
}

/// The turns of what leaves the context, oldest first.
pub(super) fn turns(
    material: &Material<'_>,
    names: &PathNames<'_>,
    voices: &Voices<'_>,
    detail: Detail,
) -> Vec<TurnLine> {
    let ledger = material.ledger;
    let replaced = replaced(ledger);
    let mut all = Vec::new();
    let mut turn = Turn::default();
    for message in material.removed {
        let view = message.view();
        if let Some(request) = voices.request(message) {
            all.push(std::mem::take(&mut turn));
            turn.request = Some(request);
        }
        observe(&mut turn, message, &view, ledger, names);
    }
    all.push(turn);
    all.into_iter()
        .filter_map(|turn| {
            let entry = turn.entry.clone()?;
            let mut remarks = String::new();
            if replaced.contains_key(&entry) {
                remarks.push_str(SINCE_REPLACED);
            }
            if material.split.request() == Some(&entry) {
                remarks.push_str(" [interrupted: goes on below]");
            }
            let told = line(&turn, names, detail)?;
            Some(TurnLine {
                text: format!("- {told}{remarks}{}", mark(&entry)),
                entry: Some(entry),
            })
        })
        .collect()
}

const SINCE_REPLACED: &str = " (since replaced in part)";

/// Lines tell what was said at the time; where that holds a value which
/// another has taken the place of since, they have to say so.
pub(super) fn remark_old_values(lines: &mut [TurnLine], ledger: &Ledger) {
    let old = OldValues::new(ledger);
    for line in lines {
        if !line.text.contains(SINCE_REPLACED) && old.held_by(&line.text).is_some() {
            let id = line.text.rfind(" ·").unwrap_or(line.text.len());
            line.text.insert_str(id, SINCE_REPLACED);
        }
    }
}

fn observe(
    turn: &mut Turn,
    message: &ContextMessage,
    view: &MessageView<'_>,
    ledger: &Ledger,
    names: &PathNames<'_>,
) {
    match message.role {
        Role::Assistant => {
            let text = without_analysis(&view.text());
            if !text.trim().is_empty() {
                turn.said = Some(text);
            }
            for call in view.tool_calls() {
                observe_call(turn, &call, ledger, names);
            }
        }
        Role::ToolResult if view.is_error() => {
            if let Some(id) = view.tool_call_id()
                && let Some(command) = turn.commands.iter_mut().find(|run| run.call == id)
            {
                command.failed = true;
            }
        }
        // These are summaries or notes of programs, not part of a turn.
        Role::CompactionSummary | Role::BranchSummary | Role::System | Role::Custom => return,
        Role::User if turn.request.is_none() => return,
        _ => {}
    }
    turn.entry.get_or_insert_with(|| message.entry.clone());
}

/// The ledger has the last word on which files were changed; the call only
/// says in which turn.
fn observe_call(turn: &mut Turn, call: &ToolCall<'_>, ledger: &Ledger, names: &PathNames<'_>) {
    let paths = match classify(&call.name, call.arguments) {
        ToolUse::Write { path, .. }
        | ToolUse::Edit { path }
        | ToolUse::MultiEdit { path, .. }
        | ToolUse::Delete { path } => vec![path],
        ToolUse::Move { from, to } => vec![from, to],
        ToolUse::Patch { files } => files.into_iter().map(|file| file.path).collect(),
        ToolUse::Shell { command, .. } => {
            if let Some(line) = command.lines().map(str::trim).find(|line| !line.is_empty()) {
                turn.commands.push(Command {
                    call: call.id.clone().into_owned(),
                    line: line.to_owned(),
                    failed: false,
                });
            }
            return;
        }
        ToolUse::Read { .. }
        | ToolUse::Search { .. }
        | ToolUse::Todo { .. }
        | ToolUse::TodoAdd { .. }
        | ToolUse::TodoSet { .. }
        | ToolUse::Ask { .. }
        | ToolUse::Other => return,
    };
    for path in paths {
        let path = names.full(&path);
        let known = ledger
            .files
            .get(&path)
            .is_some_and(|file| file.is_modified());
        if known && !turn.changed.contains(&path) {
            turn.changed.push(path);
        }
    }
}

fn line(turn: &Turn, names: &PathNames<'_>, detail: Detail) -> Option<String> {
    let mut done: Vec<String> = Vec::new();
    if !turn.changed.is_empty() {
        let named = detail.pick(4, 2);
        let mut files: Vec<String> = turn
            .changed
            .iter()
            .take(named)
            .map(|path| names.show(path))
            .collect();
        if turn.changed.len() > named {
            files.push(format!("+{}", turn.changed.len() - named));
        }
        done.push(format!("changed {}", files.join(", ")));
    }
    done.extend(commands(&turn.commands, detail));
    let said = turn.said.as_deref();
    if let Some(said) = said.and_then(|said| outcome(said, detail.pick(160, 80))) {
        done.push(format!("“{said}”"));
    }
    let asked = match &turn.request {
        Some(request) => shortened(&first_line(request), detail.pick(80, 50)),
        None if done.is_empty() => return None,
        None => "(goes on)".to_owned(),
    };
    let arrow = if done.is_empty() { "" } else { " → " };
    Some(format!("{asked}{arrow}{}", done.join("; ")))
}

fn first_line(text: &str) -> String {
    one_line(
        text.lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default(),
    )
}

/// What failed, and the last thing that passed.
fn commands(all: &[Command], detail: Detail) -> Option<String> {
    // The last run of a command is the one that counts.
    let mut last: Vec<&Command> = Vec::new();
    for command in all {
        last.retain(|known| known.line != command.line);
        last.push(command);
    }
    let short = |command: &&Command| format!("`{}`", shortened(&command.line, 60));
    let failed: Vec<String> = last
        .iter()
        .rev()
        .filter(|run| run.failed)
        .take(detail.pick(2, 1))
        .map(|run| format!("{} failed", short(run)))
        .collect();
    let passed = last
        .iter()
        .rev()
        .find(|run| !run.failed)
        .map(|run| format!("{} ran", short(run)));
    let told: Vec<String> = passed.into_iter().chain(failed).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The first sentence of the agent's last words that says something.
fn outcome(said: &str, chars: usize) -> Option<String> {
    let all = sentences(said);
    all.iter()
        .find(|sentence| sentence.chars().count() >= 12)
        .or(all.first())
        .map(|sentence| shortened(sentence, chars))
}

/// The line for the turns before those told, from what the ledger knows; kept
/// ones are not among them.
pub(super) fn before(
    lines: &[TurnLine],
    untold: usize,
    ledger: &Ledger,
    kept: &Kept<'_>,
) -> Option<String> {
    let told = lines[untold..]
        .iter()
        .filter_map(|line| line.entry.as_ref())
        .find_map(|entry| {
            ledger
                .requests
                .iter()
                .position(|known| known.entry == *entry)
        });
    let end = told.unwrap_or_else(|| {
        let first_kept = ledger
            .requests
            .iter()
            .position(|known| kept.has(&known.entry));
        first_kept.unwrap_or(ledger.requests.len())
    });
    let before = &ledger.requests[..end];
    let (first, last) = (before.first()?, before.last()?);
    let count = before.len() as u64 + ledger.requests_left;
    // Long ids would cost more than the line is worth; the frame names the span.
    let entries = if !is_short(&first.entry) || !is_short(&last.entry) {
        String::new()
    } else if first.entry == last.entry {
        format!(", entry {}", one_line(first.entry.as_str()))
    } else {
        format!(
            ", entries {}…{}",
            one_line(first.entry.as_str()),
            one_line(last.entry.as_str())
        )
    };
    Some(format!(
        "{BEFORE}+{count} turns{entries}: recall brings them back"
    ))
}
