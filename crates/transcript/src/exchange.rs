//! Turns, rounds and exchanges: a conversation that cannot be torn apart.
//!
//! A provider answers a tool result without its call, or a call without its
//! result, with an error for ever after. So nobody gets to slice a list of
//! messages: a [`Conversation`] is made of whole [`Piece`]s, and an exchange
//! is one piece, with the call and everything up to its last result inside.

use std::collections::HashMap;

use crate::context::ContextMessage;
use crate::message::Role;

/// A part of a conversation that stays whole.
#[derive(Debug, Clone)]
pub enum Piece {
    /// A message that neither calls tools nor answers a call.
    Message(ContextMessage),
    /// An answer with tool calls, and their results.
    Exchange(ToolExchange),
}

/// An answer of the model that calls tools, together with what the tools said.
#[derive(Debug, Clone)]
pub struct ToolExchange {
    /// The answer, its results, and what came between them, in stored order.
    messages: Vec<ContextMessage>,
    calls: Vec<CallState>,
}

/// One call of an exchange and where its result is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallState {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Index of the result in the exchange's messages, if there is one.
    pub result: Option<usize>,
}

impl ToolExchange {
    /// The answer that made the calls.
    pub fn answer(&self) -> &ContextMessage {
        &self.messages[0]
    }

    /// All messages, the answer first.
    pub fn messages(&self) -> &[ContextMessage] {
        &self.messages
    }

    /// The calls with their results.
    pub fn calls(&self) -> &[CallState] {
        &self.calls
    }

    /// The result of a call.
    pub fn result(&self, call: &CallState) -> Option<&ContextMessage> {
        call.result.map(|at| &self.messages[at])
    }

    /// Whether every call has its result.
    pub fn is_complete(&self) -> bool {
        self.calls.iter().all(|call| call.result.is_some())
    }
}

impl Piece {
    /// The messages, in stored order.
    pub fn messages(&self) -> &[ContextMessage] {
        match self {
            Piece::Message(message) => std::slice::from_ref(message),
            Piece::Exchange(exchange) => exchange.messages(),
        }
    }

    /// Whether a turn starts here: the user speaks, and not a program in the
    /// user's name.
    pub fn starts_turn(&self) -> bool {
        matches!(self, Piece::Message(message) if message.role == Role::User
            && !message.view().is_programs())
    }
}

/// A whole conversation in pieces.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    pieces: Vec<Piece>,
    /// Results whose call is nowhere before them.
    orphans: Vec<ContextMessage>,
}

impl Conversation {
    /// Takes a list of messages apart. Results that answer nothing are set
    /// aside, because no request may contain them.
    pub fn new(messages: Vec<ContextMessage>) -> Conversation {
        let ends = exchange_ends(&messages);
        let mut conversation = Conversation::default();
        let mut open: Option<(usize, ToolExchange)> = None;
        for (at, message) in messages.into_iter().enumerate() {
            if let Some((end, exchange)) = &mut open {
                if let Some(&later) = ends.get(&at) {
                    exchange.add_calls(&message);
                    *end = later.max(*end);
                }
                if message.role == Role::ToolResult && !exchange.claim(&message) {
                    conversation.orphans.push(message);
                } else {
                    exchange.messages.push(message);
                }
                if at == *end
                    && let Some((_, exchange)) = open.take()
                {
                    conversation.pieces.push(Piece::Exchange(exchange));
                }
                continue;
            }
            match ends.get(&at) {
                Some(&end) => {
                    let exchange = ToolExchange::open(message);
                    if end == at {
                        conversation.pieces.push(Piece::Exchange(exchange));
                    } else {
                        open = Some((end, exchange));
                    }
                }
                None if message.role == Role::ToolResult => conversation.orphans.push(message),
                None => conversation.pieces.push(Piece::Message(message)),
            }
        }
        conversation
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Results that answer nothing.
    pub fn orphans(&self) -> &[ContextMessage] {
        &self.orphans
    }

    /// Index ranges into [`pieces`](Self::pieces), one a turn. What comes
    /// before the first user message is a turn of its own.
    pub fn turns(&self) -> Vec<std::ops::Range<usize>> {
        let mut turns = Vec::new();
        let mut start = 0;
        for (at, piece) in self.pieces.iter().enumerate() {
            if piece.starts_turn() && at > start {
                turns.push(start..at);
                start = at;
            }
        }
        if start < self.pieces.len() {
            turns.push(start..self.pieces.len());
        }
        turns
    }

    /// All messages again, in order, without the orphans.
    pub fn into_messages(self) -> Vec<ContextMessage> {
        self.pieces
            .into_iter()
            .flat_map(|piece| match piece {
                Piece::Message(message) => vec![message],
                Piece::Exchange(exchange) => exchange.messages,
            })
            .collect()
    }
}

impl ToolExchange {
    fn open(answer: ContextMessage) -> ToolExchange {
        let mut exchange = ToolExchange {
            messages: Vec::new(),
            calls: Vec::new(),
        };
        exchange.add_calls(&answer);
        exchange.messages.push(answer);
        exchange
    }

    fn add_calls(&mut self, answer: &ContextMessage) {
        self.calls.extend(
            answer
                .view()
                .tool_calls()
                .into_iter()
                .map(|call| CallState {
                    id: call.id.into_owned(),
                    tool: call.name.into_owned(),
                    result: None,
                }),
        );
    }

    /// Takes a result if it answers a call of this exchange that has none yet.
    fn claim(&mut self, message: &ContextMessage) -> bool {
        let view = message.view();
        let Some(id) = view.tool_call_id() else {
            return false;
        };
        let at = self.messages.len();
        match self
            .calls
            .iter_mut()
            .find(|call| call.result.is_none() && call.id == id)
        {
            Some(call) => {
                call.result = Some(at);
                true
            }
            None => false,
        }
    }
}

/// For every answer with calls, the index of the last result that belongs to
/// it. Exchanges that overlap are one: the earlier ends where the later does,
/// which keeps both whole.
fn exchange_ends(messages: &[ContextMessage]) -> HashMap<usize, usize> {
    let mut waiting: HashMap<String, Vec<usize>> = HashMap::new();
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut slot: HashMap<usize, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::Assistant => {
                let view = message.view();
                let calls = view.tool_calls();
                if !calls.is_empty() {
                    slot.insert(at, ends.len());
                    ends.push((at, at));
                }
                for call in calls {
                    waiting.entry(call.id.into_owned()).or_default().push(at);
                }
            }
            Role::ToolResult => {
                let answer = message.view().tool_call_id().and_then(|id| {
                    waiting
                        .get_mut(id.as_ref())
                        .and_then(|queue| (!queue.is_empty()).then(|| queue.remove(0)))
                });
                if let Some(answer) = answer {
                    ends[slot[&answer]].1 = at;
                }
            }
            _ => {}
        }
    }
    ends.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::entry::EntryId;

    fn user(text: &str) -> ContextMessage {
        ContextMessage::new(
            EntryId::from(text),
            format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"),
        )
    }

    fn calls(ids: &[&str]) -> ContextMessage {
        let blocks: Vec<String> = ids
            .iter()
            .map(|id| {
                format!(
                    "{{\"type\":\"toolCall\",\"id\":\"{id}\",\"name\":\"bash\",\"arguments\":{{}}}}"
                )
            })
            .collect();
        ContextMessage::new(
            EntryId::from("a"),
            format!(
                "{{\"role\":\"assistant\",\"content\":[{}]}}",
                blocks.join(",")
            ),
        )
    }

    fn result(id: &str) -> ContextMessage {
        ContextMessage::new(
            EntryId::from("r"),
            format!(
                "{{\"role\":\"toolResult\",\"toolCallId\":\"{id}\",\"toolName\":\"bash\",\"content\":[],\"isError\":false}}"
            ),
        )
    }

    #[test]
    fn a_steering_message_between_call_and_result_stays_inside_the_exchange() {
        let conversation = Conversation::new(vec![
            user("go"),
            calls(&["1", "2"]),
            result("2"),
            user("wait"),
            result("1"),
            user("next"),
        ]);
        assert_eq!(conversation.pieces().len(), 3);
        assert_eq!(conversation.turns(), [0..2, 2..3]);
        let Piece::Exchange(exchange) = &conversation.pieces()[1] else {
            panic!("an exchange");
        };
        assert!(exchange.is_complete());
        assert_eq!(exchange.messages().len(), 4);
    }

    #[test]
    fn results_without_calls_are_set_aside() {
        let conversation = Conversation::new(vec![
            result("x"),
            user("go"),
            calls(&["1"]),
            result("1"),
            result("1"),
        ]);
        assert_eq!(conversation.orphans().len(), 2);
        assert_eq!(conversation.into_messages().len(), 3);
    }

    proptest! {
        #[test]
        fn no_cut_between_pieces_parts_a_call_from_its_result(steps in prop::collection::vec((0u8..4, 0u8..5), 0..40)) {
            let messages: Vec<ContextMessage> = steps
                .iter()
                .map(|(kind, id)| {
                    let id = id.to_string();
                    match kind {
                        0 => user("u"),
                        1 => calls(&[&id]),
                        2 => calls(&[&id, &format!("{id}x")]),
                        _ => result(&id),
                    }
                })
                .collect();
            let total = messages.len();
            let conversation = Conversation::new(messages);
            let orphans = conversation.orphans().len();
            for piece in conversation.pieces() {
                let mut open: Vec<String> = Vec::new();
                for message in piece.messages() {
                    for call in message.view().tool_calls() {
                        open.push(call.id.into_owned());
                    }
                    if message.role == Role::ToolResult {
                        let id = message.view().tool_call_id().unwrap().into_owned();
                        let at = open.iter().position(|open| *open == id);
                        prop_assert!(at.is_some(), "result {} without its call", id);
                        open.remove(at.unwrap());
                    }
                }
            }
            prop_assert_eq!(conversation.into_messages().len() + orphans, total);
        }
    }
}
