//! What happened in a session, as its source has it: who said what through
//! which channel, which tool ran with which arguments and how it ended.
//!
//! Two readers make events: one of Claude Code's own lines, one of native
//! messages. Neither asks the code under test what anything is.

use std::fmt;

use serde_json::Value;

/// Through which channel a person's words came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Channel {
    Prompt,
    Queued,
    Rejection,
    Answer,
    Plan,
}

impl Channel {
    pub(super) const ALL: [Channel; 5] = [
        Channel::Prompt,
        Channel::Queued,
        Channel::Rejection,
        Channel::Answer,
        Channel::Plan,
    ];

    pub(super) fn parse(name: &str) -> Option<Channel> {
        Channel::ALL
            .into_iter()
            .find(|channel| channel.to_string() == name)
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Channel::Prompt => "prompt",
            Channel::Queued => "queued",
            Channel::Rejection => "rejection",
            Channel::Answer => "answer",
            Channel::Plan => "plan",
        })
    }
}

/// Words a person typed or chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) channel: Channel,
    pub(super) text: String,
    /// What an answer answers.
    pub(super) question: Option<String>,
}

impl Said {
    pub(super) fn new(channel: Channel, text: &str) -> Said {
        Said {
            channel,
            text: text.trim().to_owned(),
            question: None,
        }
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    Said(Said),
    /// The user stopped the agent.
    Interrupted,
    /// Text of the agent.
    Words(String),
    Call {
        id: String,
        name: String,
        input: Value,
    },
    Result {
        call: String,
        text: String,
        is_error: bool,
    },
    /// The agent's own compaction, with its summary.
    Compacted(String),
}

/// An event and where it stands in the source.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    /// Counted from 1.
    pub(super) line: u64,
    /// The record's own id; empty where it has none.
    pub(super) record: String,
    pub(super) event: Event,
}

/// How a result says that the user refused the call.
const REFUSED: &str = "The user doesn't want to ";
const WORDS_FOLLOW: &str = "the user said:";

/// Whether the user refused a call, by its result.
pub(super) fn is_refusal(result: &str) -> bool {
    result.starts_with(REFUSED)
}

/// What the user typed when refusing a call.
pub(super) fn refusal_words(result: &str) -> Option<&str> {
    let at = result.find(WORDS_FOLLOW).filter(|_| is_refusal(result))?;
    let words = &result[at + WORDS_FOLLOW.len()..];
    let words = words.find("\n\nNote: ").map_or(words, |end| &words[..end]);
    Some(words.trim()).filter(|words| !words.is_empty())
}

/// Questions with their answers out of the text of a result:
/// `"question"="answer", …`.
pub(super) fn answers(result: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = result;
    while let Some(middle) = rest.find("\"=\"") {
        let Some(begin) = rest[..middle]
            .find(": \"")
            .filter(|_| pairs.is_empty())
            .map(|at| at + 3)
            .or_else(|| rest[..middle].find(", \"").map(|at| at + 3))
        else {
            break;
        };
        let question = &rest[begin..middle];
        let after = &rest[middle + 3..];
        let end = ["\", \"", "\". You can now"]
            .iter()
            .filter_map(|mark| after.find(mark))
            .min()
            .unwrap_or(after.trim_end().len().saturating_sub(1));
        pairs.push((question.to_owned(), after[..end].to_owned()));
        rest = &after[end..];
    }
    pairs
}

/// The user's words that a result carries.
pub(super) fn said_in_result(
    tool: &str,
    result: &str,
    given: Option<&serde_json::Map<String, Value>>,
) -> Vec<Said> {
    if let Some(words) = refusal_words(result) {
        let channel = match tool {
            "ExitPlanMode" => Channel::Plan,
            _ => Channel::Rejection,
        };
        return vec![Said::new(channel, words)];
    }
    if tool != "AskUserQuestion" || !result.starts_with("User has answered") {
        return Vec::new();
    }
    let pairs = match given {
        Some(given) => given
            .iter()
            .filter_map(|(question, answer)| Some((question.clone(), answer.as_str()?.to_owned())))
            .collect(),
        None => answers(result),
    };
    pairs
        .into_iter()
        .map(|(question, answer)| Said {
            question: Some(question),
            ..Said::new(Channel::Answer, &answer)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_refusal_end_before_the_programs_note() {
        let result = "The user doesn't want to proceed with this tool use. To tell you how to \
                      proceed, the user said:\nuse the other file\n\nNote: The user's next message";
        assert_eq!(refusal_words(result), Some("use the other file"));
        assert_eq!(refusal_words("The user doesn't want to proceed."), None);
        assert_eq!(refusal_words("cat: the user said:\nhello"), None);
    }

    #[test]
    fn every_answer_is_read_with_its_question() {
        let result = "User has answered your questions: \"Which, a or b?\"=\"a\", \"How many?\"=\
                      \"two, or three\". You can now continue with the user's answers in mind.";
        let pair = |question: &str, answer: &str| (question.to_owned(), answer.to_owned());
        assert_eq!(
            answers(result),
            [
                pair("Which, a or b?", "a"),
                pair("How many?", "two, or three")
            ]
        );
    }
}
