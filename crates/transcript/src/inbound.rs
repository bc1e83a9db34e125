//! What OpenClaw puts around the messages that its channels bring in.
//!
//! Its context blocks are headed by a line with its marker (in older files
//! with the word `untrusted`), and what waited while the agent was busy may
//! come as one message.

use std::borrow::Cow;

use crate::user_text::{Channel, UserText};

const MARKER: &str = "⟦openclaw:ctx⟧";
const COLLECTED: &str = "[Queued messages while agent was busy]";
const NEXT: &str = "\n\n---\nQueued #";
const RESET: &str = "A new session was started via /new or /reset";

/// The words in a user message's text, without what surrounds them.
pub(crate) fn words(text: String) -> Vec<UserText<'static>> {
    let start = text.trim_start();
    if start.starts_with(RESET) {
        return Vec::new();
    }
    if start.starts_with(COLLECTED) {
        return start
            .split(NEXT)
            .skip(1)
            .filter_map(|item| item.split_once('\n'))
            .map(|(_, said)| UserText::new(Channel::Queued, without_context(said).into_owned()))
            .filter(|said| !said.text.trim().is_empty())
            .collect();
    }
    let text = match without_context(&text) {
        Cow::Owned(rest) => rest,
        Cow::Borrowed(_) => text,
    };
    if text.trim().is_empty() {
        return Vec::new();
    }
    vec![UserText::new(Channel::Prompt, text)]
}

fn without_context(text: &str) -> Cow<'_, str> {
    if !text.contains(MARKER) && !text.contains(" (untrusted") {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match block_end(&lines[at..], kept.is_empty()) {
            Some(len) => {
                at += len;
                while lines.get(at).is_some_and(|line| line.trim().is_empty()) {
                    at += 1;
                }
            }
            None => {
                kept.push(lines[at]);
                at += 1;
            }
        }
    }
    if kept.len() == lines.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(kept.join("\n").trim_end_matches('\n').to_owned())
}

/// How many lines the block has that the first line heads. The older heads
/// hold only before the words, and only with JSON under them.
fn block_end(lines: &[&str], leading: bool) -> Option<usize> {
    let head = lines[0].trim();
    let json = lines.get(1).is_some_and(|line| line.trim() == "```json");
    let marked = head.ends_with(MARKER) && head.len() > MARKER.len();
    let older = leading && json && head.contains(" (untrusted") && head.ends_with("):");
    if !marked && !older {
        return None;
    }
    let end = if json { "```" } else { "" };
    let from = if json { 2 } else { 1 };
    let len = lines[from.min(lines.len())..]
        .iter()
        .position(|line| line.trim() == end);
    Some(len.map_or(lines.len(), |len| from + len + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(Channel, String)> {
        words(text.to_owned())
            .into_iter()
            .map(|said| (said.channel, said.text.into_owned()))
            .collect()
    }

    #[test]
    fn context_blocks_around_a_message_are_not_typed() {
        let now = "Conversation info: ⟦openclaw:ctx⟧\n```json\n{\"id\": 1}\n```\n\nSender: ⟦openclaw:ctx⟧\n```json\n{}\n```\n\nhello\n\nyou\n\nContext: ⟦openclaw:ctx⟧\nseen before\n";
        let before = "Conversation info (untrusted metadata):\n```json\n{\n  \"id\": 1\n}\n```\n\nhello\n\nyou";
        for text in [now, before] {
            assert_eq!(said(text), [(Channel::Prompt, "hello\n\nyou".into())]);
        }
        assert_eq!(
            said("A new session was started via /new or /reset. Go."),
            []
        );
    }

    #[test]
    fn words_that_only_speak_of_the_blocks_stay_whole() {
        for text in [
            "what is ⟦openclaw:ctx⟧ for?",
            "Sender (untrusted metadata):\nwhat does that mean?",
            "see:\nSender (untrusted metadata):\n```json\n{}\n```\n",
            "  [Queued up] \n",
        ] {
            assert_eq!(said(text), [(Channel::Prompt, text.to_owned())]);
        }
    }

    #[test]
    fn collected_messages_are_queued_texts_one_by_one() {
        let text = "[Queued messages while agent was busy]\n\n---\nQueued #1 (from Ann)\nfirst\n\nmore\n\n---\nQueued #2\nsecond";
        assert_eq!(
            said(text),
            [
                (Channel::Queued, "first\n\nmore".into()),
                (Channel::Queued, "second".into())
            ]
        );
    }
}
