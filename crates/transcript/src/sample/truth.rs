//! What a sample holds, line by line: the answers that an evaluation checks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What must survive of a session, and where it stands.
///
/// The first part has the shape of the truth files that are computed from
/// recorded sessions, which can be read into this type as well; the second part
/// is only known for samples. Lines count from 1; texts are verbatim, after
/// JSON decoding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Lines of the file, the header included.
    pub lines: u64,
    /// Absolute paths changed by edits, writes and shell commands, with how often.
    pub modified: BTreeMap<String, u32>,
    /// Absolute paths that were read and never changed.
    pub read_only: Vec<String>,
    /// Everything the user wrote.
    pub user_prompts: Vec<TextAt>,
    /// Results that are errors; at most 300 characters of each.
    pub errors: Vec<ErrorAt>,
    /// To-do and check-list items that are not finished at the end.
    pub open_items_end: Vec<String>,
    /// The last state of the to-do list and the check-list.
    pub todos_end: BTreeMap<String, String>,
    /// Calls of the `bash` tool.
    pub bash: u64,
    /// Tool calls.
    pub tool_use: u64,
    /// Tool results.
    pub tool_result: u64,
    /// Calls without a result.
    pub unpaired_use: Vec<String>,
    /// Results without a call.
    pub orphan_result: Vec<String>,
    /// Compaction entries, with the state at each.
    pub compactions: Vec<CompactionAt>,

    /// Those of the changed paths that were deleted or moved away.
    #[serde(default)]
    pub removed: Vec<String>,
    /// Standing rules of the user.
    #[serde(default)]
    pub constraints: Vec<ConstraintAt>,
    /// Decisions with their reasons.
    #[serde(default)]
    pub decisions: Vec<DecisionAt>,
    /// Exact facts.
    #[serde(default)]
    pub facts: Vec<FactAt>,
    /// Questions the agent asked.
    #[serde(default)]
    pub questions: Vec<QuestionAt>,
    /// Items that were finished or dropped on the way.
    #[serde(default)]
    pub done_items: Vec<String>,
    /// The last error that was never resolved.
    #[serde(default)]
    pub last_error: Option<LastError>,
    /// What was under way when the session ended.
    #[serde(default)]
    pub in_flight: Option<InFlight>,
}

/// A text and its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TextAt {
    pub line: u64,
    pub text: String,
}

/// A failed tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorAt {
    /// Line of the result.
    pub line: u64,
    /// The beginning of what it said.
    pub text: String,
    /// The command, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Line of the result that shows it gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_line: Option<u64>,
}

/// The state at a compaction entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionAt {
    /// Its line.
    pub line: u64,
    /// Tokens before it.
    #[serde(rename = "preTokens")]
    pub pre_tokens: u64,
    /// `auto` or `manual`.
    pub trigger: String,
    /// Absolute paths changed so far.
    pub modified: Vec<String>,
    /// Absolute paths read and not changed so far.
    pub read: Vec<String>,
    /// User messages so far.
    pub n_user: u64,
    /// Items open at that point.
    pub open_items: Vec<String>,
    /// Errors so far.
    pub errors: u64,
    /// Length of the summary in the file.
    pub native_summary_chars: u64,
}

/// A standing rule of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstraintAt {
    /// Line of the message.
    pub line: u64,
    /// The rule.
    pub text: String,
    /// BCP 47 code of its language.
    pub language: String,
    /// Line of the message that lifts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_line: Option<u64>,
    /// The words that lift it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_text: Option<String>,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Speaker {
    User,
    Assistant,
    Tool,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionAt {
    /// Line of the message.
    pub line: u64,
    /// The sentence.
    pub text: String,
    /// The part of it that says why.
    pub reason: String,
    /// Who said it.
    pub by: Speaker,
    /// Line of the user's short "yes" to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_line: Option<u64>,
    /// Line of the decision that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u64>,
}

/// What kind of fact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum FactKind {
    Id,
    Url,
    Number,
    Error,
    Path,
}

/// An exact fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactAt {
    /// Line of the message.
    pub line: u64,
    /// The sentence or output line.
    pub text: String,
    /// The exact value inside it.
    pub value: String,
    /// What the value is.
    pub kind: FactKind,
    /// Who said it.
    pub by: Speaker,
    /// Line of the fact that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u64>,
}

/// A question of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAt {
    /// Line of the message.
    pub line: u64,
    /// The question.
    pub text: String,
    /// Line of the user's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_line: Option<u64>,
}

/// The last error that was never resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastError {
    /// Line of the result.
    pub line: u64,
    /// The command that gave it.
    pub command: String,
    /// The first line of its output.
    pub first_line: String,
    /// Whether it passed later; never, for the last one.
    pub resolved: bool,
}

/// What was under way when a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Absolute path of the file edited last.
    pub file: String,
    /// The last command.
    pub command: String,
    /// The test that fails.
    pub test: String,
    /// The question that waits for the user.
    pub question: Option<String>,
}
