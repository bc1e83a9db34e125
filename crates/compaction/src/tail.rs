//! The tail: recent messages stay, and one that is larger than the whole tail is
//! shortened rather than taking the others with it.
//!
//! A tool's result becomes its two ends around a stub that names it, a text its
//! two ends, a call keeps its name, its id and the ends of its long arguments, so
//! that it stays paired with its result.

use std::collections::HashMap;

use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{ContextMessage, Conversation, EntryId, Role};

use crate::summary::{abbreviated, within};

/// A message of the tail with a content that fits.
#[derive(Debug, Clone)]
pub struct Shortened {
    /// Its index in the conversation.
    pub at: usize,
    /// Its entry.
    pub entry: EntryId,
    /// The new content, as JSON; `None` where it leaves, because a transcript has no
    /// entry that changes what the user ran.
    pub content: Option<String>,
    /// The message with it.
    pub message: Option<ContextMessage>,
}

/// Shortens what is larger than `tail` tokens at the end of a conversation, as far
/// back as `tail` tokens of what then stays reach: a message, or a call with all
/// its results, since these leave only together. `size` counts a message.
pub fn shorten(
    messages: &[ContextMessage],
    tail: Tokens,
    counter: &dyn Counter,
    size: &mut dyn FnMut(&ContextMessage) -> Tokens,
) -> Vec<Shortened> {
    let places: HashMap<&EntryId, usize> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| (&message.entry, at))
        .collect();
    let conversation = Conversation::new(messages.to_vec());
    let mut shortened = Vec::new();
    let mut kept = Tokens::ZERO;
    for piece in conversation.pieces().iter().rev() {
        let piece = piece.messages();
        let is_summary = |message: &ContextMessage| message.role == Role::CompactionSummary;
        if kept >= tail || piece.iter().any(is_summary) {
            break;
        }
        let whole: Tokens = piece.iter().map(&mut *size).sum();
        let mut tokens = whole;
        if whole > tail {
            let large = Tokens(tail.0 / (2 * piece.len() as u32));
            let large: Vec<&ContextMessage> =
                piece.iter().filter(|one| size(one) > large).collect();
            let mut cap = tail.0 / (3 * large.len().max(1) as u32);
            let mut made = Vec::new();
            // A message of many parts may need more than one try.
            while tokens > tail && cap > 0 {
                made = cut_all(&large, &places, Tokens(cap), counter, size);
                let freed: Tokens = made.iter().map(|(_, freed)| *freed).sum();
                tokens = whole - freed;
                cap /= 4;
            }
            shortened.extend(made.into_iter().map(|(short, _)| short));
        }
        kept += tokens;
    }
    shortened.sort_by_key(|short| short.at);
    shortened
}

/// Those that become smaller when every text in them is cut to `cap` tokens, and by
/// how much.
fn cut_all(
    large: &[&ContextMessage],
    places: &HashMap<&EntryId, usize>,
    cap: Tokens,
    counter: &dyn Counter,
    size: &mut dyn FnMut(&ContextMessage) -> Tokens,
) -> Vec<(Shortened, Tokens)> {
    let mut made = Vec::new();
    for message in large {
        let Some(at) = places.get(&message.entry).copied() else {
            continue;
        };
        let content = cut(message, cap, counter);
        let fitting = content.as_ref().and_then(|it| with_content(message, it));
        if fitting.is_none() && message.role != Role::BashExecution {
            continue;
        }
        let (before, after) = (
            size(message),
            fitting.as_ref().map_or(Tokens::ZERO, &mut *size),
        );
        if after < before {
            let short = Shortened {
                at,
                entry: message.entry.clone(),
                content,
                message: fitting,
            };
            made.push((short, before - after));
        }
    }
    made
}

fn with_content(message: &ContextMessage, content: &str) -> Option<ContextMessage> {
    let object = Object::of(message.json())?;
    let json = json::with_field(&object, "content", content);
    let mut fitting = ContextMessage::new(message.entry.clone(), json);
    fitting.edited = true;
    Some(fitting)
}

/// The content of a message with every text in it cut to `cap` tokens.
fn cut(message: &ContextMessage, cap: Tokens, counter: &dyn Counter) -> Option<String> {
    let object = Object::of(message.json())?;
    let raw = object.raw("content")?;
    let stub = format!(
        "[shortened: recall {} brings it back whole]",
        abbreviated(message.entry.as_str())
    );
    let ends = |text: &str| match counter.count(text, ContentKind::Code) > cap {
        true => {
            let text = within(text, cap, counter).unwrap_or_default();
            format!("{text}\n{stub}")
        }
        false => text.to_owned(),
    };
    let block = |text: &str| format!("[{{\"type\":\"text\",\"text\":{}}}]", json::quote(text));
    if let Some(text) = json::string(raw) {
        return Some(block(&ends(&text)));
    }
    let mut blocks: Vec<String> = Vec::new();
    for raw in json::array(raw)? {
        let Some(object) = Object::of(raw.get()) else {
            blocks.push(raw.get().to_owned());
            continue;
        };
        blocks.push(match object.str("type").as_deref() {
            Some("text") => {
                let text = object.str("text").unwrap_or_default();
                json::with_field(&object, "text", &json::quote(&ends(&text)))
            }
            Some("toolCall") => {
                let arguments = object.raw("arguments").unwrap_or("{}");
                let short = arguments_cut(arguments, &ends);
                json::with_field(&object, "arguments", &short)
            }
            _ => raw.get().to_owned(),
        });
    }
    Some(format!("[{}]", blocks.join(",")))
}

/// Arguments with their long strings cut, however deep they stand.
fn arguments_cut(raw: &str, ends: &dyn Fn(&str) -> String) -> String {
    fn walk(value: &mut serde_json::Value, ends: &dyn Fn(&str) -> String) {
        match value {
            serde_json::Value::String(text) => *text = ends(text),
            serde_json::Value::Array(list) => list.iter_mut().for_each(|item| walk(item, ends)),
            serde_json::Value::Object(map) => map.values_mut().for_each(|item| walk(item, ends)),
            _ => {}
        }
    }
    match serde_json::from_str::<serde_json::Value>(raw) {
        Ok(mut value) => {
            walk(&mut value, ends);
            value.to_string()
        }
        Err(_) => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::Heuristic;

    use super::*;

    fn message(id: &str, json: serde_json::Value) -> ContextMessage {
        ContextMessage::new(EntryId::from(id), json.to_string())
    }

    #[test]
    fn only_what_is_larger_than_the_tail_is_shortened_and_pairs_stay() {
        let long = format!("BEGIN {} END", "word ".repeat(4_000));
        let messages = [
            message("u1", serde_json::json!({"role":"user","content":"go"})),
            message(
                "a1",
                serde_json::json!({"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"a.txt","content":long}}]}),
            ),
            message(
                "r1",
                serde_json::json!({"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":long}]}),
            ),
            message(
                "a2",
                serde_json::json!({"role":"assistant","content":[{"type":"text","text":"done"}]}),
            ),
        ];
        let mut size =
            |message: &ContextMessage| Heuristic.count(message.json(), ContentKind::Code);
        let tail = Tokens(1_000);
        let made = shorten(&messages, tail, &Heuristic, &mut size);
        let ids: Vec<&str> = made.iter().map(|short| short.entry.as_str()).collect();
        assert_eq!(ids, ["a1", "r1"]);
        for short in &made {
            assert!(size(short.message.as_ref().unwrap()) <= tail);
            let content = short.content.as_ref().unwrap();
            assert!(content.contains("BEGIN") && content.contains("END"));
            assert!(content.contains("recall"));
        }
        let call = made[0].content.as_ref().unwrap();
        assert!(call.contains("\"id\":\"c1\"") && call.contains("a.txt"));
        assert!(shorten(&messages, Tokens(100_000), &Heuristic, &mut size).is_empty());
    }

    #[test]
    fn a_call_of_many_results_is_shortened_as_one() {
        let text = "word ".repeat(300);
        let calls: Vec<serde_json::Value> = (0..8)
            .map(|at| serde_json::json!({"type":"toolCall","id":format!("c{at}"),"name":"read","arguments":{"path":"a"}}))
            .collect();
        let mut messages = vec![message(
            "a",
            serde_json::json!({"role":"assistant","content":calls}),
        )];
        messages.extend((0..8).map(|at| {
            let json = serde_json::json!({"role":"toolResult","toolCallId":format!("c{at}"),"toolName":"read","content":[{"type":"text","text":text}]});
            message(&format!("r{at}"), json)
        }));
        let mut size =
            |message: &ContextMessage| Heuristic.count(message.json(), ContentKind::Code);
        let tail = Tokens(2_500);
        for short in shorten(&messages, tail, &Heuristic, &mut size) {
            messages[short.at] = short.message.unwrap();
        }
        let all: Tokens = messages.iter().map(size).sum();
        assert!(all <= tail, "{all}");
    }

    #[test]
    fn a_long_prompt_keeps_its_two_ends() {
        let long = format!("BEGIN {} END", "字".repeat(9_000));
        let messages = [message(
            "u1",
            serde_json::json!({"role":"user","content":long}),
        )];
        let mut size =
            |message: &ContextMessage| Heuristic.count(message.json(), ContentKind::Prose);
        let made = shorten(&messages, Tokens(500), &Heuristic, &mut size);
        assert_eq!(made.len(), 1);
        let message = made[0].message.as_ref().unwrap();
        assert!(message.edited && size(message) <= Tokens(500));
    }

    #[test]
    fn what_the_user_ran_leaves_where_it_is_larger_than_the_tail() {
        let json = serde_json::json!({"role":"bashExecution","command":"cat log","output":"line ".repeat(4_000)});
        let mut size =
            |message: &ContextMessage| Heuristic.count(message.json(), ContentKind::Shell);
        let made = shorten(&[message("b", json)], Tokens(500), &Heuristic, &mut size);
        assert!(made.len() == 1 && made[0].content.is_none() && made[0].message.is_none());
    }
}
