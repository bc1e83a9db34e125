//! What a sample holds, line by line. Lines count from 1; texts are verbatim.

use std::collections::BTreeMap;

/// What must survive of a session, and where it stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Truth {
    /// Lines of the file, the header included.
    pub lines: u64,
    /// Absolute paths changed by edits, writes and shell commands, with how often.
    pub modified: BTreeMap<String, u32>,
    /// Those of them that were deleted or moved away.
    pub removed: Vec<String>,
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
    /// Items that were finished or dropped on the way.
    pub done_items: Vec<String>,
    /// Calls of the `bash` tool.
    pub bash: u64,
    /// Tool calls.
    pub tool_use: u64,
    /// Tool results.
    pub tool_result: u64,
    /// Compaction entries, with the state at each.
    pub compactions: Vec<CompactionAt>,
    /// The last error that was never resolved.
    pub last_error: Option<LastError>,
    /// What was under way when the session ended.
    pub in_flight: Option<InFlight>,
}

/// A text and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct TextAt {
    pub line: u64,
    pub text: String,
}

/// A failed tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorAt {
    /// Line of the result.
    pub line: u64,
    /// The beginning of what it said.
    pub text: String,
    /// The command, if it was one.
    pub command: Option<String>,
    /// Line of the result that shows it gone.
    pub resolved_line: Option<u64>,
}

/// A compaction entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionAt {
    /// Its line.
    pub line: u64,
    /// Tokens before it.
    pub pre_tokens: u64,
    /// Characters of its summary.
    pub summary_chars: u64,
}

/// The last error that was never resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastError {
    /// Line of the result.
    pub line: u64,
    /// The command that gave it.
    pub command: String,
    /// The first line of its output.
    pub first_line: String,
}

/// What was under way when a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
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
