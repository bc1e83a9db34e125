//! The flush: what is worth keeping is written to today's log before a
//! compaction takes it out of the context.
//!
//! With a model this is a silent turn of the agent with one tool that can do
//! nothing but append to one file ([`BoundLog`]); [`words_of_the_user`] puts what
//! the user said beside it word for word. Without a model, [`extractive`] writes
//! what was said, agreed and noted since the last flush.
//!
//! ```
//! use jiff::civil::date;
//! use longhaul_memory::files::Origin;
//! use longhaul_memory::flush::{BoundLog, said_nothing, tool_text};
//! use longhaul_memory::{MemoryFolder, Seal};
//!
//! # let workspace = tempfile::tempdir()?;
//! let memory = MemoryFolder::open(workspace.path(), Some(Seal::new([7; 32])))?;
//! let origin = Origin { session: Some("agent:main:main"), epoch: Some(2) };
//! let tool = BoundLog::new(&memory, date(2026, 11, 15).at(14, 23, 0, 0), origin);
//!
//! // The agent calls `memory_append`, then says that it is done.
//! let arguments = serde_json::json!({ "text": "**Facts:**\n- the queue is in Postgres" });
//! let appended = tool.append(tool_text(&arguments)?)?;
//! assert_eq!(appended.file, "memory/2026-11-15.md");
//! assert!(said_nothing("NO_REPLY"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod extractive;
mod snapshot;

pub(crate) use extractive::{LEFT_OUT, SAID};
pub use extractive::{extractive, noted, words_of_the_user};
pub use snapshot::snapshot;

use jiff::civil::DateTime;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::files::{Appended, Body, Origin};
use crate::{MemoryFolder, Result, Source};

/// What the agent is asked, as a message of the system.
pub const PROMPT: &str = include_str!("prompt.md");

/// What stands in the system prompt of the silent turn.
pub const SYSTEM: &str = include_str!("system.md");

/// The heading of entries that a flush writes.
pub const HEADING: &str = longhaul_ledger::ours::FLUSHED;

/// The heading of entries that an agent writes at any other time.
pub const NOTED: &str = "Noted";

/// The name of the one tool.
pub const TOOL: &str = "memory_append";

/// What the tool's definition says.
pub const TOOL_DESCRIPTION: &str =
    "Append a short Markdown note to today's memory log. It can only append, and only there.";

/// The JSON Schema of the tool's arguments.
pub fn tool_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "minLength": 1,
                "description": "What is worth keeping, as Markdown lists under bold titles",
            },
        },
        "required": ["text"],
        "additionalProperties": false,
    })
}

/// Why a call of the tool did nothing; the agent is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    /// The arguments are not what the schema says.
    #[error("memory_append takes one argument, `text`, a string: {reason}")]
    Arguments {
        /// What is wrong with those that were given.
        reason: String,
    },
    /// There is nothing in the text.
    #[error("memory_append was given an empty text; answer NOTHING_TO_FLUSH instead")]
    Empty,
    /// There is more in it than an entry of the log may have.
    #[error(
        "memory_append takes at most {MOST_NOTE_BYTES} bytes at a time and was given {bytes}; \
         nothing was saved: call it several times, with whole lines each"
    )]
    TooLong {
        /// How many were given.
        bytes: usize,
    },
}

/// Bytes of one call of the tool. An entry of the log has room for them, with
/// placeholders that are longer than the secrets they stand for.
pub const MOST_NOTE_BYTES: usize = 14_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments<'a> {
    text: &'a str,
}

/// The text of a call of the tool.
pub fn tool_text(arguments: &Value) -> Result<&str, Misuse> {
    match Arguments::deserialize(arguments) {
        Err(error) => Err(Misuse::Arguments {
            reason: error.to_string(),
        }),
        Ok(Arguments { text }) if text.trim().is_empty() => Err(Misuse::Empty),
        Ok(Arguments { text }) if text.len() > MOST_NOTE_BYTES => {
            Err(Misuse::TooLong { bytes: text.len() })
        }
        Ok(Arguments { text }) => Ok(text),
    }
}

/// Whether an answer means that there is nothing (more) to save. Models dress
/// the word up; a sentence around it is an answer of its own.
pub fn said_nothing(answer: &str) -> bool {
    let bare = answer.trim_matches(|c: char| !c.is_alphanumeric());
    bare.is_empty() || bare == "NO_REPLY" || bare == "NOTHING_TO_FLUSH"
}

/// The tool of the silent turn, bound to one workspace and one moment.
#[derive(Debug, Clone, Copy)]
pub struct BoundLog<'a> {
    folder: &'a MemoryFolder,
    at: DateTime,
    origin: Origin<'a>,
    heading: &'static str,
}

impl<'a> BoundLog<'a> {
    /// A tool that appends to the log of the day of `at`.
    pub fn new(folder: &'a MemoryFolder, at: DateTime, origin: Origin<'a>) -> BoundLog<'a> {
        BoundLog {
            folder,
            at,
            origin,
            heading: HEADING,
        }
    }

    /// The same tool, while the agent does its work: nothing is flushed then.
    pub fn at_work(self) -> BoundLog<'a> {
        BoundLog {
            heading: NOTED,
            ..self
        }
    }

    /// Appends what the agent wrote. Its words are the agent's, whatever they
    /// say about themselves.
    pub fn append(&self, text: &str) -> Result<Appended> {
        let body = Body::Text {
            source: Source::Agent,
            text: text.to_owned(),
        };
        self.folder
            .append_log(self.at, self.heading, self.origin, &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_nothing_is_told_from_one_that_mentions_it() {
        for nothing in [
            "NO_REPLY",
            " NOTHING_TO_FLUSH.\n",
            "**NO_REPLY**",
            "`NO_REPLY`",
            "",
        ] {
            assert!(said_nothing(nothing), "{nothing:?}");
        }
        for something in [
            "I will answer NO_REPLY when done",
            "no reply",
            "NO_REPLY_TO",
        ] {
            assert!(!said_nothing(something), "{something:?}");
        }
    }

    #[test]
    fn the_tool_takes_a_text_and_nothing_else() {
        assert_eq!(tool_text(&json!({ "text": "a" })), Ok("a"));
        for wrong in [
            json!({}),
            json!("a"),
            json!({ "text": 1 }),
            json!({ "text": " " }),
            json!({ "text": "a", "path": "/etc/passwd" }),
        ] {
            assert!(tool_text(&wrong).is_err(), "{wrong}");
        }
        assert!(PROMPT.contains(TOOL) && SYSTEM.contains(TOOL));
    }
}
