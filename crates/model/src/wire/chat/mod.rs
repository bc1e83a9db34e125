//! OpenAI's chat completions, and what the many servers that imitate them make
//! of it.

mod read;
mod write;

pub(crate) use read::Reader;
pub(super) use write::{body, effort_name};

/// The fields in which servers send thinking. The name is kept as the thought's
/// signature: it is sent back in the field it came in, which the newer reasoning
/// models insist on within a chain of tool calls.
const THINKING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// OpenRouter's structured thinking, kept as a signature of this form.
const DETAILS: &str = "reasoning_details";
