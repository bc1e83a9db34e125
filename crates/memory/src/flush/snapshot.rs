//! The task at hand, for `memories/context.md`: a view on the ledger.
//!
//! It says what was asked last, what is open and where the work stands, each
//! from the structure of the session; whoever reads the file in the next context
//! knows what the agent was doing.

use longhaul_ledger::{ItemState, Ledger, Outcome};

use crate::provenance::one_line;

/// Open items that are listed.
const MOST_ITEMS: usize = 20;

/// Characters of a request: a paste must not push out where the work stands.
const MOST_CHARS: usize = 1_200;

/// What `memories/context.md` says of a session; nothing where nothing happened.
pub fn snapshot(ledger: &Ledger) -> Option<String> {
    let flight = &ledger.in_flight;
    let mut out = String::new();
    let mut part = |title: &str, body: &str| {
        if !body.trim().is_empty() {
            out.push_str(&format!("**{title}:**\n{}\n\n", body.trim()));
        }
    };
    if let Some(newest) = ledger.own_words().last() {
        part("Latest request", &clipped(&newest.text));
    }
    let begun = |state: ItemState| ledger.items.iter().filter(move |item| item.state == state);
    let items = begun(ItemState::InProgress).map(|item| (item, " (in progress)"));
    let items = items.chain(begun(ItemState::Open).map(|item| (item, "")));
    let mut open: Vec<String> = items
        .map(|(item, state)| format!("- {}{state}", one_line(&item.text)))
        .collect();
    let left = open.len().saturating_sub(MOST_ITEMS);
    open.truncate(MOST_ITEMS);
    if left > 0 {
        open.push(format!("- {left} more"));
    }
    let questions = ledger.open_questions();
    open.extend(questions.map(|one| format!("- question to the user: {}", one_line(&one.text))));
    part("Open", &open.join("\n"));
    let mut stands = Vec::new();
    if let Some(file) = &flight.file {
        stands.push(format!("- file in hand: {file}"));
    }
    if let Some(command) = &flight.command {
        let ended = match flight.command_outcome {
            Some(Outcome::Passed) => " (passed)",
            Some(Outcome::Failed) => " (failed)",
            _ => "",
        };
        stands.push(format!("- last command: `{}`{ended}", one_line(command)));
    }
    if let Some(failing) = &flight.failing {
        stands.push(format!("- failing: {}", one_line(failing)));
    }
    part("Where it stands", &stands.join("\n"));
    if let Some(words) = &flight.words {
        part("The agent's last words", words);
    }
    (!out.is_empty()).then_some(out)
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
