//! S2's scan: lines of the latest messages with one of its five words.

use longhaul_ledger::ItemState;
use longhaul_transcript::{ContextMessage, Role};

use super::material::Material;
use super::text::{one_line, open_lines, shortened};

/// The five words of the source, and no others.
const WORDS: [&str; 5] = ["todo", "next", "pending", "follow up", "remaining"];

/// How far back is recent.
const RECENT_MESSAGES: usize = 12;
const MOST: usize = 3;
const CHARS: usize = 160;

/// Such lines of people and the model that leave the context, newest first, each
/// with its speaker. What a to-do tool says is done is left out, so that no
/// summary resurrects it.
pub(super) fn pending(material: &Material<'_>) -> Vec<String> {
    let spoken = |message: &&ContextMessage| matches!(message.role, Role::User | Role::Assistant);
    let recent = RECENT_MESSAGES.saturating_sub(material.kept.iter().filter(spoken).count());
    let settled = |state: ItemState| matches!(state, ItemState::Done | ItemState::Dropped);
    let items = material.ledger.items.iter();
    let done: Vec<String> = items
        .filter(|item| settled(item.state))
        .map(|item| one_line(&item.text).to_lowercase())
        .filter(|text| !text.is_empty())
        .collect();
    let mut found: Vec<String> = Vec::new();
    for message in material.removed.iter().rev().filter(spoken).take(recent) {
        // The user's words stand above, the agent's last ones below.
        let last = material.ledger.in_flight.words_entry.as_ref();
        if message.role == Role::User || last == Some(&message.entry) {
            continue;
        }
        let text = message.view().text();
        for (_, line) in open_lines(&text) {
            let lower = line.to_lowercase();
            let has = WORDS.iter().any(|word| has_word(&lower, word));
            if !has || done.iter().any(|item| lower.contains(item.as_str())) {
                continue;
            }
            let line = format!("- agent: {}", shortened(line, CHARS));
            if !found.contains(&line) {
                found.push(line);
            }
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// Whether the word stands by itself; `Next.js` is not about what comes next.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + word.len()..].chars();
        let (next, then) = (after.next(), after.next());
        let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let dotted = matches!(next, Some('.' | '-' | '/')) && joined(then);
        let code = dotted || next == Some('(') || before == Some('.');
        !joined(before) && !joined(next) && !code
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_by_themselves() {
        let says = |text: &str| WORDS.iter().any(|word| has_word(text, word));
        for yes in ["next: tests", "what is pending?", "todo", "one remaining."] {
            assert!(says(yes), "{yes}");
        }
        for no in ["next.js", "nextval(1)", "contextual", "iter.next()"] {
            assert!(!says(no), "{no}");
        }
    }
}
