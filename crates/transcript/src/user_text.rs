//! User text: the words a person typed, and the channel they came through.
//!
//! A message says what was typed in it by its field `userText`; importers set
//! it wherever the message's own text is not exactly that. A `user` message
//! without the field is a prompt as it stands, unless it is marked as a
//! program's (`isMeta`, OpenClaw's `provenance`) or another agent's
//! (`isSidechain`).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::inbound;
use crate::json::Object;
use crate::message::{MessageView, Role};

/// Through which channel a person's words came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Sent as a message of its own.
    Prompt,
    /// Typed while the agent worked.
    Queued,
    /// Typed when refusing a tool call.
    Rejection,
    /// Given to a question the agent asked through a tool.
    Answer,
    /// Said about a plan the agent put forward.
    Plan,
}

impl Channel {
    /// The channel's name in a file; any other is a prompt.
    fn parse(name: &str) -> Channel {
        match name {
            "queued" => Channel::Queued,
            "rejection" => Channel::Rejection,
            "answer" => Channel::Answer,
            "plan" => Channel::Plan,
            _ => Channel::Prompt,
        }
    }

    /// The channel's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Channel::Prompt => "prompt",
            Channel::Queued => "queued",
            Channel::Rejection => "rejection",
            Channel::Answer => "answer",
            Channel::Plan => "plan",
        }
    }
}

/// Words a person typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserText<'a> {
    /// How they came.
    pub channel: Channel,
    /// The words, verbatim.
    pub text: Cow<'a, str>,
    /// For an answer, the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Cow<'a, str>>,
}

impl<'a> UserText<'a> {
    /// Words of a channel.
    pub fn new(channel: Channel, text: impl Into<Cow<'a, str>>) -> UserText<'a> {
        UserText {
            channel,
            text: text.into(),
            question: None,
        }
    }
}

/// The value of a message's `userText`.
pub(crate) fn field(texts: &[UserText<'_>]) -> String {
    serde_json::to_string(texts).expect("text always serialises")
}

impl Entry {
    /// What a person typed in this entry, in order.
    pub fn user_text(&self) -> Vec<UserText<'_>> {
        self.message()
            .map_or_else(Vec::new, |message| message.user_text())
    }
}

impl<'a> MessageView<'a> {
    /// What a person typed in this message, in order.
    pub fn user_text(&self) -> Vec<UserText<'a>> {
        if let Some(items) = self.object().array("userText") {
            return items
                .into_iter()
                .filter_map(|item| Object::of(item.get()))
                .filter_map(|item| {
                    Some(UserText {
                        channel: Channel::parse(&item.str("channel")?),
                        text: item.str("text")?,
                        question: item.str("question"),
                    })
                })
                .collect();
        }
        let another = self.object().bool("isSidechain") == Some(true);
        if self.role != Role::User || another || self.is_programs() {
            return Vec::new();
        }
        inbound::words(self.text())
    }

    /// Whether a user message says that a program wrote it.
    pub fn is_programs(&self) -> bool {
        let object = self.object();
        object.bool("isMeta") == Some(true)
            || object.array("userText").is_some_and(|said| said.is_empty())
            // OpenClaw's heartbeats, and messages of its other sessions.
            || object
                .object("provenance")
                .and_then(|source| source.str("kind"))
                .is_some_and(|kind| matches!(&*kind, "internal_system" | "inter_session"))
    }

    /// Whether a tool result says that the user refused the call.
    pub fn is_rejected(&self) -> bool {
        self.object().bool("rejected").unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(json: &str) -> Vec<(Channel, String, Option<String>)> {
        MessageView::parse(json)
            .user_text()
            .into_iter()
            .map(|said| {
                (
                    said.channel,
                    said.text.into_owned(),
                    said.question.map(Cow::into_owned),
                )
            })
            .collect()
    }

    #[test]
    fn a_user_message_without_the_field_is_a_prompt_as_it_stands() {
        let json = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":""},{"type":"text","text":"b\n"}]}"#;
        assert_eq!(
            texts(json),
            [(Channel::Prompt, String::from("a\nb\n"), None)]
        );
        assert!(texts(r#"{"role":"user","content":" \n"}"#).is_empty());
        assert!(texts(r#"{"role":"assistant","content":"a"}"#).is_empty());
        let beat = r#"{"role":"user","content":"a","provenance":{"kind":"internal_system"}}"#;
        assert!(texts(beat).is_empty());
    }

    #[test]
    fn the_field_says_exactly_what_was_typed() {
        assert!(texts(r#"{"role":"user","content":"<x>","userText":[]}"#).is_empty());
        let json = r#"{"role":"toolResult","rejected":true,"content":"-","userText":[{"channel":"rejection","text":"no"},{"channel":"answer","question":"q","text":"é\n"}]}"#;
        assert_eq!(
            texts(json),
            [
                (Channel::Rejection, String::from("no"), None),
                (Channel::Answer, String::from("é\n"), Some("q".into())),
            ]
        );
        assert!(MessageView::parse(json).is_rejected());
    }

    #[test]
    fn a_field_of_another_shape_loses_no_words() {
        let json = r#"{"role":"user","content":"a","userText":"b"}"#;
        assert_eq!(texts(json)[0].1, "a");
        let json =
            r#"{"role":"user","content":"a","userText":[{"channel":"dictated","text":"b"}]}"#;
        assert_eq!(texts(json), [(Channel::Prompt, String::from("b"), None)]);
    }
}
