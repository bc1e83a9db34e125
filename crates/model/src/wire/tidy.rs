//! A conversation in the form that every provider accepts.
//!
//! Speakers alternate; a turn of the user begins with the results of the calls
//! before it; every call has exactly one result and every result its call; ids
//! are unique and of harmless characters; nothing is empty. What does not fit is
//! said in words rather than dropped: the model should know what it once saw.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::request::{Content, Message, Role, SystemBlock, ToolCall, ToolResult};

/// One speaker's turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Turn {
    /// Results first, then texts and images.
    User {
        results: Vec<Piece<ToolResult>>,
        content: Vec<Piece<Content>>,
    },
    /// Thinking, texts and calls.
    Assistant { content: Vec<Piece<Content>> },
}

/// A piece of a turn, and whether a breakpoint follows it. Breakpoints belong to
/// pieces, because a turn may hold several messages of which only the first
/// stay as they are from one request to the next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece<T> {
    pub(crate) value: T,
    pub(crate) cache: bool,
}

impl<T> Piece<T> {
    fn plain(value: T) -> Self {
        Self {
            value,
            cache: false,
        }
    }
}

/// What differs between providers.
pub(crate) struct Rules<'a> {
    /// Which thinking may be sent back.
    pub(crate) keeps: &'a dyn Fn(&Content) -> bool,
    /// Whether images are understood.
    pub(crate) images: bool,
}

/// Said where a call was never answered.
pub(crate) const NO_RESULT: &str = "[no result was recorded for this call]";
const OPENING: &str = "[the conversation continues]";
const CLOSING: &str = "[continue]";

/// Tidies a conversation.
pub(crate) fn tidy(messages: &[Message], rules: &Rules<'_>) -> Vec<Turn> {
    let mut turns = Vec::new();
    for message in messages {
        take(message, rules, &mut turns);
    }
    let mut turns = pair(turns);
    if matches!(turns.first(), Some(Turn::Assistant { .. })) {
        turns.insert(0, said(OPENING));
    }
    if matches!(turns.last(), Some(Turn::Assistant { .. })) {
        turns.push(said(CLOSING));
    }
    turns
}

fn said(text: &str) -> Turn {
    Turn::User {
        results: Vec::new(),
        content: vec![Piece::plain(Content::text(text))],
    }
}

/// Adds a message to the turns, joining it to the last one of the same speaker.
fn take(message: &Message, rules: &Rules<'_>, turns: &mut Vec<Turn>) {
    let (mut results, mut content) = (Vec::new(), Vec::new());
    for piece in &message.content {
        match (message.role, piece) {
            (_, Content::Text(text)) if text.trim().is_empty() => {}
            (_, Content::Text(_)) => content.push(Piece::plain(piece.clone())),
            (Role::Assistant, Content::Image { mime, .. }) => {
                content.push(Piece::plain(Content::Text(format!("[{mime} image]"))));
            }
            (_, Content::Image { .. }) => content.push(Piece::plain(image(piece, rules))),
            (Role::Assistant, Content::Thinking { .. } | Content::RedactedThinking(_)) => {
                if (rules.keeps)(piece) {
                    content.push(Piece::plain(piece.clone()));
                }
            }
            (Role::Assistant, Content::ToolCall(_)) => content.push(Piece::plain(piece.clone())),
            (_, Content::ToolResult(result)) => {
                results.push(Piece::plain(tidy_result(result, rules)));
            }
            // Only a model thinks or calls; elsewhere this is a stray.
            (_, Content::Thinking { .. } | Content::RedactedThinking(_) | Content::ToolCall(_)) => {
            }
        }
    }
    if message.cache {
        // No provider takes a breakpoint after thinking.
        let last = content.iter_mut().rev().find(|piece| {
            !matches!(
                piece.value,
                Content::Thinking { .. } | Content::RedactedThinking(_)
            )
        });
        match (last, results.last_mut()) {
            (Some(piece), _) => piece.cache = true,
            (None, Some(piece)) => piece.cache = true,
            (None, None) => {}
        }
    }
    if message.role == Role::Assistant && !content.is_empty() {
        let own = std::mem::take(&mut content);
        match turns.last_mut() {
            Some(Turn::Assistant { content: all }) => all.extend(own),
            _ => turns.push(Turn::Assistant { content: own }),
        }
    }
    if results.is_empty() && content.is_empty() {
        return;
    }
    match turns.last_mut() {
        Some(Turn::User {
            results: old,
            content: all,
        }) => {
            old.extend(results);
            all.extend(content);
        }
        _ => turns.push(Turn::User { results, content }),
    }
}

fn tidy_result(result: &ToolResult, rules: &Rules<'_>) -> ToolResult {
    let content = result
        .content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text(text) if text.trim().is_empty() => None,
            Content::Text(_) => Some(piece.clone()),
            Content::Image { .. } => Some(image(piece, rules)),
            _ => None,
        })
        .collect();
    ToolResult {
        content,
        ..result.clone()
    }
}

/// The kinds of picture that every provider that takes pictures takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

fn image(piece: &Content, rules: &Rules<'_>) -> Content {
    match piece {
        Content::Image { mime, .. } if !rules.images => Content::Text(format!(
            "[{mime} image left out: this model takes no images]"
        )),
        Content::Image { mime, .. } if !PICTURES.contains(&mime.as_str()) => Content::Text(
            format!("[{mime} image left out: the provider takes none of this kind]"),
        ),
        other => other.clone(),
    }
}

/// Gives every call one result and every result a call.
fn pair(turns: Vec<Turn>) -> Vec<Turn> {
    let mut used = HashSet::new();
    let mut paired = Vec::with_capacity(turns.len() + 1);
    // The calls that wait for results: the id they had, and as they are now.
    let mut open: Vec<(String, ToolCall)> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Assistant { mut content } => {
                answer(&mut open, Vec::new(), Vec::new(), &mut paired);
                for piece in &mut content {
                    if let Content::ToolCall(call) = &mut piece.value {
                        let old = std::mem::take(&mut call.id);
                        call.id = unique(&old, &mut used);
                        open.push((old, call.clone()));
                    }
                }
                paired.push(Turn::Assistant { content });
            }
            Turn::User { results, content } => answer(&mut open, results, content, &mut paired),
        }
    }
    answer(&mut open, Vec::new(), Vec::new(), &mut paired);
    paired
}

fn answer(
    open: &mut Vec<(String, ToolCall)>,
    results: Vec<Piece<ToolResult>>,
    mut content: Vec<Piece<Content>>,
    turns: &mut Vec<Turn>,
) {
    let mut given: Vec<Option<Piece<ToolResult>>> = results.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(open.len());
    for (old, call) in open.drain(..) {
        let found = given
            .iter_mut()
            .find(|slot| slot.as_ref().is_some_and(|piece| piece.value.call == old))
            .and_then(Option::take);
        ordered.push(match found {
            Some(Piece { value, cache }) => Piece {
                value: ToolResult {
                    call: call.id,
                    name: call.name,
                    ..value
                },
                cache,
            },
            None => Piece::plain(ToolResult {
                call: call.id,
                name: call.name,
                content: vec![Content::text(NO_RESULT)],
                is_error: true,
            }),
        });
    }
    let strays = given
        .into_iter()
        .flatten()
        .flat_map(|Piece { value: stray, .. }| {
            let lead = format!(
                "[a result of {} whose call is not in this conversation]",
                stray.name
            );
            std::iter::once(Content::Text(lead))
                .chain(stray.content)
                .map(Piece::plain)
        });
    let mut all: Vec<Piece<Content>> = strays.collect();
    all.append(&mut content);
    if !ordered.is_empty() || !all.is_empty() {
        turns.push(Turn::User {
            results: ordered,
            content: all,
        });
    }
}

/// The longest id that every provider takes.
const MAX_ID: usize = 64;

fn unique(id: &str, used: &mut HashSet<String>) -> String {
    // pi writes the ids of the Responses API as `call|item`.
    let id = id.split('|').next().unwrap_or_default();
    let mut plain: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .take(MAX_ID)
        .collect();
    if plain.is_empty() {
        plain.push_str("call");
    }
    if used.insert(plain.clone()) {
        return plain;
    }
    plain.truncate(MAX_ID - 8);
    let mut number = 2u32;
    loop {
        let candidate = format!("{plain}_{number}");
        if used.insert(candidate.clone()) {
            return candidate;
        }
        number += 1;
    }
}

/// A call's arguments as an object. Broken ones are shown to the model as the
/// text they are, under a key that says so, because providers and the templates
/// of local models refuse what is not an object.
pub(crate) fn arguments(call: &ToolCall) -> Map<String, Value> {
    call.parse().unwrap_or_else(|_| {
        let mut map = Map::new();
        map.insert("invalid_json".into(), Value::String(call.arguments.clone()));
        map
    })
}

/// Leaves so many breakpoints as a provider takes: the end of the instructions,
/// and the last ones of the conversation, whose prefixes are the longest.
pub(crate) fn limit_breakpoints(system: &mut [SystemBlock], turns: &mut [Turn], most: usize) {
    let of_system: Vec<&mut bool> = system
        .iter_mut()
        .map(|block| &mut block.cache)
        .filter(|cache| **cache)
        .collect();
    let mut of_turns: Vec<&mut bool> = Vec::new();
    for turn in turns {
        match turn {
            Turn::User { results, content } => {
                of_turns.extend(results.iter_mut().map(|piece| &mut piece.cache));
                of_turns.extend(content.iter_mut().map(|piece| &mut piece.cache));
            }
            Turn::Assistant { content } => {
                of_turns.extend(content.iter_mut().map(|piece| &mut piece.cache));
            }
        }
    }
    of_turns.retain(|cache| **cache);
    let for_system = of_system
        .len()
        .min(most.saturating_sub(of_turns.len()).max(1))
        .min(most);
    let for_turns = most.saturating_sub(for_system);
    let superfluous = of_system.len().saturating_sub(for_system);
    of_system
        .into_iter()
        .take(superfluous)
        .for_each(|cache| *cache = false);
    let superfluous = of_turns.len().saturating_sub(for_turns);
    of_turns
        .into_iter()
        .take(superfluous)
        .for_each(|cache| *cache = false);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Rules<'_> = Rules {
        keeps: &|_| true,
        images: true,
    };

    fn call(id: &str) -> Content {
        Content::ToolCall(ToolCall {
            id: id.into(),
            name: "read".into(),
            arguments: "{}".into(),
        })
    }

    fn result(id: &str, text: &str) -> ToolResult {
        ToolResult {
            call: id.into(),
            name: "read".into(),
            content: vec![Content::text(text)],
            is_error: false,
        }
    }

    fn unanswered(id: &str) -> ToolResult {
        ToolResult {
            is_error: true,
            ..result(id, NO_RESULT)
        }
    }

    fn user(results: Vec<ToolResult>, texts: &[&str]) -> Turn {
        let content = texts
            .iter()
            .map(|text| Piece::plain(Content::text(*text)))
            .collect();
        Turn::User {
            results: results.into_iter().map(Piece::plain).collect(),
            content,
        }
    }

    fn assistant(content: Vec<Content>) -> Turn {
        Turn::Assistant {
            content: content.into_iter().map(Piece::plain).collect(),
        }
    }

    #[test]
    fn neighbours_of_one_speaker_become_one_turn_with_results_first() {
        let messages = [
            Message::user("a"),
            Message::user("b"),
            Message::assistant("c"),
            Message::new(Role::Assistant, vec![call("1"), call("2")]),
            Message::user("meanwhile"),
            Message::tool(result("2", "two")),
            Message::tool(result("1", "one")).cached(),
        ];
        assert_eq!(
            tidy(&messages, &ALL),
            [
                user(vec![], &["a", "b"]),
                assistant(vec![Content::text("c"), call("1"), call("2")]),
                Turn::User {
                    results: vec![
                        Piece {
                            value: result("1", "one"),
                            cache: true
                        },
                        Piece::plain(result("2", "two")),
                    ],
                    content: vec![Piece::plain(Content::text("meanwhile"))],
                },
            ]
        );
    }

    #[test]
    fn calls_without_result_and_results_without_call_are_said_in_words() {
        let messages = [
            Message::tool(result("gone", "old news")),
            Message::new(Role::Assistant, vec![call("1")]),
            Message::assistant("moving on"),
            Message::user("well?"),
            Message::new(Role::Assistant, vec![call("2")]),
        ];
        let stray = "[a result of read whose call is not in this conversation]";
        assert_eq!(
            tidy(&messages, &ALL),
            [
                user(vec![], &[stray, "old news"]),
                assistant(vec![call("1"), Content::text("moving on")]),
                user(vec![unanswered("1")], &["well?"]),
                assistant(vec![call("2")]),
                user(vec![unanswered("2")], &[]),
            ]
        );
    }

    #[test]
    fn ids_become_plain_and_unique_on_both_sides() {
        let messages = [
            Message::user("go"),
            Message::new(Role::Assistant, vec![call("call_0")]),
            Message::tool(result("call_0", "one")),
            Message::new(
                Role::Assistant,
                vec![call("call_0"), call("a:b|fc_9"), call("")],
            ),
            Message::tool(result("call_0", "two")),
            Message::tool(result("a:b|fc_9", "three")),
            Message::tool(result("", "four")),
        ];
        let turns = tidy(&messages, &ALL);
        assert_eq!(
            turns[3],
            assistant(vec![call("call_0_2"), call("a_b"), call("call")])
        );
        assert_eq!(
            turns[4],
            user(
                vec![
                    result("call_0_2", "two"),
                    result("a_b", "three"),
                    result("call", "four")
                ],
                &[]
            )
        );
    }

    #[test]
    fn an_assistant_neither_opens_nor_closes() {
        assert_eq!(
            tidy(&[Message::assistant("hello")], &ALL),
            [
                user(vec![], &[OPENING]),
                assistant(vec![Content::text("hello")]),
                user(vec![], &[CLOSING])
            ]
        );
        assert_eq!(tidy(&[Message::user(" \n")], &ALL), []);
    }

    #[test]
    fn images_that_cannot_be_taken_are_named() {
        let picture = |mime: &str| Content::Image {
            mime: mime.into(),
            data: "AA==".into(),
        };
        let message = [Message::new(
            Role::User,
            vec![picture("image/png"), picture("image/tiff")],
        )];
        let none = Rules {
            keeps: &|_| true,
            images: false,
        };
        assert_eq!(
            tidy(&message, &none),
            [user(
                vec![],
                &[
                    "[image/png image left out: this model takes no images]",
                    "[image/tiff image left out: this model takes no images]"
                ]
            )]
        );
        let Turn::User { content, .. } = &tidy(&message, &ALL)[0] else {
            panic!()
        };
        assert_eq!(content[0].value, picture("image/png"));
        assert!(
            matches!(&content[1].value, Content::Text(text) if text.contains("none of this kind"))
        );
    }

    #[test]
    fn the_end_of_the_instructions_and_the_latest_pieces_keep_their_breakpoints() {
        let chosen = |system: &[bool], turns: usize| {
            let mut system: Vec<SystemBlock> = system
                .iter()
                .map(|cache| SystemBlock {
                    text: "s".into(),
                    cache: *cache,
                })
                .collect();
            let messages: Vec<Message> = (0..turns).map(|_| Message::user("m").cached()).collect();
            let mut turns = tidy(&messages, &ALL);
            limit_breakpoints(&mut system, &mut turns, 4);
            let Some(Turn::User { content, .. }) = turns.first() else {
                panic!()
            };
            (
                system.iter().map(|block| block.cache).collect::<Vec<_>>(),
                content.iter().map(|piece| piece.cache).collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            chosen(&[true, true], 6),
            (
                vec![false, true],
                vec![false, false, false, true, true, true]
            )
        );
        assert_eq!(
            chosen(&[true, false, true], 1),
            (vec![true, false, true], vec![true])
        );
        assert_eq!(
            chosen(&[], 5),
            (vec![], vec![false, true, true, true, true])
        );
    }

    #[test]
    fn a_breakpoint_stays_before_what_is_said_after_it() {
        let turns = tidy(
            &[Message::user("kept").cached(), Message::user("the gauge")],
            &ALL,
        );
        let Turn::User { content, .. } = &turns[0] else {
            panic!()
        };
        assert_eq!(
            content.iter().map(|piece| piece.cache).collect::<Vec<_>>(),
            [true, false]
        );
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = prop_oneof![Just("a"), Just("b"), Just("c|x"), Just("")];
        let content = prop_oneof![
            "[a-z ]{0,4}".prop_map(Content::Text),
            id.clone().prop_map(call),
            id.prop_map(|id| Content::ToolResult(result(id, "r"))),
            Just(Content::Thinking {
                text: "t".into(),
                signature: None
            }),
        ];
        let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool)];
        (
            role,
            proptest::collection::vec(content, 0..4),
            any::<bool>(),
        )
            .prop_map(|(role, content, cache)| Message {
                role,
                content,
                cache,
            })
    }

    proptest! {
        #[test]
        fn every_conversation_comes_out_in_order(
            messages in proptest::collection::vec(any_message(), 0..12),
        ) {
            let turns = tidy(&messages, &ALL);
            let mut seen = HashSet::new();
            let mut waiting: Vec<String> = Vec::new();
            for (place, turn) in turns.iter().enumerate() {
                prop_assert_eq!(place % 2 == 0, matches!(turn, Turn::User { .. }));
                match turn {
                    Turn::User { results, content, .. } => {
                        prop_assert!(!results.is_empty() || !content.is_empty());
                        let answered: Vec<String> = results.iter().map(|r| r.value.call.clone()).collect();
                        prop_assert_eq!(&answered, &waiting);
                        waiting.clear();
                    }
                    Turn::Assistant { content, .. } => {
                        prop_assert!(!content.is_empty());
                        for piece in content {
                            if let Content::ToolCall(call) = &piece.value {
                                prop_assert!(seen.insert(call.id.clone()));
                                waiting.push(call.id.clone());
                            }
                        }
                    }
                }
            }
            prop_assert!(waiting.is_empty());
        }
    }
}
