//! What a message is known by: a hash of what a model sees of it.
//!
//! Hosts restamp messages, add usage, drop reasoning and write a text now as a
//! string and now as a block. None of that makes another message of it.

use std::num::ParseIntError;

use serde::{Deserialize, Serialize};

use crate::json::{self, Object};
use crate::{MessageView, Role};

/// The hash of what a model sees of a message; hexadecimal in a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint(pub u128);

impl From<Fingerprint> for String {
    fn from(print: Fingerprint) -> String {
        format!("{:032x}", print.0)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = ParseIntError;

    fn try_from(text: String) -> Result<Fingerprint, ParseIntError> {
        u128::from_str_radix(&text, 16).map(Fingerprint)
    }
}

impl Fingerprint {
    /// What a message says.
    pub fn of(view: &MessageView<'_>) -> Fingerprint {
        let mut hash = Hash::default();
        hash.field(view.role.as_str());
        said(view, &mut hash);
        hash.finish()
    }

    /// Who says it: the role, and for a result the call that it answers. An edit
    /// changes neither.
    pub fn of_speaker(view: &MessageView<'_>) -> Fingerprint {
        let mut hash = Hash::default();
        hash.field(view.role.as_str());
        hash.field(&view.tool_call_id().unwrap_or_default());
        hash.finish()
    }
}

fn said(view: &MessageView<'_>, hash: &mut Hash) {
    let object = view.object();
    match &view.role {
        Role::System | Role::User | Role::Assistant | Role::ToolResult | Role::Custom => {
            for key in ["customType", "toolName"] {
                hash.field(&object.str(key).unwrap_or_default());
            }
            hash.field(&view.tool_call_id().unwrap_or_default());
            hash.field(if view.is_error() { "error" } else { "" });
            content(object.raw("content").unwrap_or("null"), hash);
            if let Some(sections) = object.raw("sections") {
                hash.field(sections);
            }
        }
        Role::BashExecution => {
            for key in ["command", "output"] {
                hash.field(&object.str(key).unwrap_or_default());
            }
            for key in ["exitCode", "cancelled", "excludeFromContext"] {
                hash.field(object.raw(key).unwrap_or_default());
            }
        }
        Role::BranchSummary | Role::CompactionSummary => {
            hash.field(&object.str("summary").unwrap_or_default());
        }
        // Nobody knows what matters in it, so all of it does, but when it was said.
        Role::Other(_) => {
            for (key, value) in object.iter().filter(|(key, _)| *key != "timestamp") {
                hash.field(key);
                hash.field(value);
            }
        }
    }
}

fn content(raw: &str, hash: &mut Hash) {
    if let Some(text) = json::string(raw) {
        hash.text(&text);
        return;
    }
    let Some(blocks) = json::array(raw) else {
        if raw != "null" {
            hash.field(raw);
        }
        return;
    };
    for block in blocks {
        let Ok(object) = Object::parse(block.get()) else {
            match json::string(block.get()) {
                Some(text) => hash.text(&text),
                None => hash.field(block.get()),
            }
            continue;
        };
        match object.str("type").unwrap_or_default().as_ref() {
            "text" => hash.text(&object.str("text").unwrap_or_default()),
            // Hosts leave it out for some providers and not for others.
            "thinking" | "redactedThinking" | "reasoning" => {}
            "toolCall" | "toolUse" | "functionCall" => {
                hash.field("call");
                for key in ["id", "name"] {
                    hash.field(&object.str(key).unwrap_or_default());
                }
                let arguments = object.raw("arguments").or(object.raw("input"));
                hash.field(&compact(arguments.unwrap_or("{}")));
            }
            _ => {
                for (key, value) in object.iter() {
                    hash.field(key);
                    hash.field(value);
                }
            }
        }
    }
}

/// JSON without the freedom of its spaces.
fn compact(raw: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(raw) {
        Ok(value) => value.to_string(),
        Err(_) => raw.to_owned(),
    }
}

/// A hash of fields, each with its length, so that none runs into the next.
#[derive(Default)]
struct Hash(blake3::Hasher);

impl Hash {
    fn field(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.field("text");
            self.field(text);
        }
    }

    fn finish(self) -> Fingerprint {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        Fingerprint(u128::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> Fingerprint {
        Fingerprint::of(&MessageView::parse(text))
    }

    #[test]
    fn what_a_model_does_not_see_makes_no_other_message() {
        let one = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a\nb"}],"usage":{"input":1},"timestamp":1}"#;
        let same = r#"{"content":"a\u000ab","role":"assistant","timestamp":2}"#;
        assert_eq!(print(one), print(same));
        let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path": "a"}}]}"#;
        assert_eq!(
            print(call),
            print(&call.replace("{\"path\": \"a\"}", "{\"path\":\"a\"}"))
        );
    }

    #[test]
    fn what_a_model_sees_makes_another() {
        let base = r#"{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"out"}],"isError":false}"#;
        for (from, to) in [
            ("toolResult", "user"),
            ("\"c\"", "\"d\""),
            ("bash", "read"),
            ("out", "in"),
            ("false", "true"),
        ] {
            assert_ne!(print(base), print(&base.replace(from, to)), "{from}");
        }
        let image = |data: &str| {
            format!(
                r#"{{"role":"user","content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#
            )
        };
        assert_ne!(print(&image("AA")), print(&image("AB")));
        let unknown = r#"{"role":"hologram","beam":1,"timestamp":1}"#;
        assert_eq!(
            print(unknown),
            print(&unknown.replace("\"timestamp\":1", "\"timestamp\":2"))
        );
        assert_ne!(
            print(unknown),
            print(&unknown.replace("\"beam\":1", "\"beam\":2"))
        );
    }

    #[test]
    fn what_is_no_object_is_a_message_too() {
        assert_ne!(print("1"), print(r#"{"role":"user"}"#));
        let text = serde_json::to_string(&print("1")).unwrap();
        assert_eq!(
            serde_json::from_str::<Fingerprint>(&text).unwrap(),
            print("1")
        );
        assert!(serde_json::from_str::<Fingerprint>("\"no\"").is_err());
    }
}
