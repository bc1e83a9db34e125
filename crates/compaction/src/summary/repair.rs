//! What the model dropped, put back.

use longhaul_tokens::{ContentKind, Tokens};

use super::attributed::attributed;
use super::model::Task;
use super::text::{defused, open_lines, within};
use crate::audit::{Fact, facts, present};

const CARRIED: &str = "## Carried over";
const HEADINGS: [&str; 8] = [
    "## Goal",
    "## Work done",
    "## Pending work",
    "## Key files",
    "## Current task",
    "## Earlier summary",
    "## Open questions",
    CARRIED,
];

/// The model's prose, made safe and completed by those lines of the extractive
/// prose that hold facts which neither it nor the ledger's part has; and how
/// many facts that were. It keeps to the budget: what is put back comes first,
/// the model's text is cut.
pub(super) fn repaired(written: &str, extracted: &str, task: &Task<'_>) -> (String, usize) {
    let count = |text: &str| task.counter.count(text, ContentKind::Prose);
    let written = attributed(&safe(written), task.material);
    let facts = facts(task.material.ledger);
    let has = present(&facts, &format!("{written}\n{}", task.ledger_text));
    let could = present(&facts, extracted);
    let lost: Vec<&Fact<'_>> = facts
        .iter()
        .zip(has.iter().zip(&could))
        .filter(|(_, (has, could))| !**has && **could)
        .map(|(fact, _)| fact)
        .collect();

    let mut carried = String::new();
    let mut restored = vec![false; lost.len()];
    let half = Tokens(task.budget.0 / 2);
    for (_, line) in open_lines(extracted).filter(|(_, line)| line.starts_with("- ")) {
        let owned: Vec<Fact<'_>> = lost.iter().map(|fact| (*fact).clone()).collect();
        let news: Vec<usize> = present(&owned, line)
            .into_iter()
            .enumerate()
            .filter(|(at, here)| *here && !restored[*at])
            .map(|(at, _)| at)
            .collect();
        let longer = format!("{carried}\n{line}");
        if !news.is_empty() && count(&longer) + count(CARRIED) <= half {
            carried = longer;
            for at in news {
                restored[at] = true;
            }
        }
    }
    let repaired = restored.iter().filter(|done| **done).count();
    let carried = match carried.is_empty() {
        true => carried,
        false => format!("\n{CARRIED}{carried}"),
    };
    let room = task.budget - count(&carried) - Tokens(4);
    let written = if count(&written) <= room {
        written
    } else {
        shorter(&written, room, task)
    };
    (format!("{written}{carried}"), repaired)
}

/// Whole lines from the start, as many as fit.
fn shorter(text: &str, cap: Tokens, task: &Task<'_>) -> String {
    let mut out = String::new();
    let mut size = Tokens(4);
    for line in text.lines() {
        let cost = task.counter.count(line, ContentKind::Prose) + Tokens(1);
        if size + cost > cap {
            if out.is_empty() {
                return within(text, cap, task.counter).unwrap_or_default();
            }
            out.push_str("\n[…]");
            break;
        }
        size += cost;
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

/// A model's text cannot pose as the ledger's part either: fences are opened,
/// headings that are not those of the prose become lines.
fn safe(text: &str) -> String {
    let text = defused(text);
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            // Nor as another summary of ours.
            let line = line.trim_end().replace("[longhaul ", "(longhaul ");
            if line.starts_with("```") || line.starts_with("~~~") {
                String::new()
            } else if line == "---" || (line.starts_with('#') && !HEADINGS.contains(&line.as_str()))
            {
                format!("- {}", line.trim_start_matches(['#', '-', ' ']))
            } else {
                line
            }
        })
        .filter(|line| !line.is_empty() && line != "- ")
        .collect();
    lines.join("\n")
}
