//! What comes back.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::request::{Content, ToolCall};

/// A piece of an answer that is still arriving.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// More words.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// A tool call begins.
    ToolCall {
        /// Which of the answer's calls, from 0.
        index: usize,
        /// The tool.
        name: String,
    },
    /// More of a tool call's arguments.
    ToolArguments {
        /// Which of the answer's calls, from 0.
        index: usize,
        /// JSON text, a part of it.
        text: String,
    },
    /// Nothing had arrived; the request will be sent again.
    Retrying {
        /// The number of the attempt that comes next, from 2.
        attempt: u32,
        /// How long it waits.
        after: Duration,
        /// Why the last one failed.
        reason: String,
    },
}

/// A whole answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was said, in order.
    pub content: Vec<Content>,
    /// Why it ended.
    pub stop: Stop,
    /// What it took, if the provider says so.
    pub usage: Option<Usage>,
    /// US dollars, where the provider itself names the cost (OpenRouter does).
    #[serde(default)]
    pub cost: Option<f64>,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// The provider's id of the answer.
    pub id: Option<String>,
}

impl Answer {
    /// All of its words, without thinking and calls.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|content| match content {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Its tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|content| match content {
            Content::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done.
    #[default]
    End,
    /// It waits for the results of tools.
    ToolUse,
    /// It reached the most tokens it may write, or the end of the window.
    Length,
    /// The model or its provider refused.
    Refusal,
    /// Something else, in the provider's words.
    Other(String),
}

/// Tokens of one request, as the provider counted them. The whole prompt is
/// `input + cache_read + cache_write`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Tokens of the answer, thinking included.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// Every token of the prompt.
    pub fn prompt(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// Prompt and answer.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

/// A request that did not end well.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// What went wrong.
    #[source]
    pub error: Error,
    /// What had arrived, with the usage if it is known. Its last tool call may
    /// lack the end of its arguments: calls of a partial answer are not to be made.
    pub partial: Option<Answer>,
    /// How many times the request was sent; 0 if it never was.
    pub attempts: u32,
}
