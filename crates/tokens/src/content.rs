//! What a text is, because agents' content does not tokenise like prose.

use serde::{Deserialize, Serialize};

/// What kind of content a text is. Only estimates depend on it; an exact count
/// does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentKind {
    /// Messages of people and models, thinking, summaries, web pages.
    Prose,
    /// Source code and file reads, line numbers included.
    Code,
    /// Output of commands and searches: paths, hashes, columns.
    Shell,
    /// Structured data: the arguments of most tools, to-do lists, API answers.
    Json,
    /// Edits and patches: code inside JSON strings.
    Edit,
}

impl ContentKind {
    /// What a tool's *result* usually holds, by the tool's name in any of the
    /// supported agents. Unknown tools, those of MCP servers among them, mostly
    /// answer in JSON.
    pub fn of_tool_result(tool: &str) -> ContentKind {
        match normal_name(tool).as_str() {
            // Editors answer with the changed lines of the file.
            "read" | "readfile" | "view" | "cat" | "edit" | "editfile" | "multiedit" | "write"
            | "writefile" | "notebookedit" | "strreplace" | "strreplaceeditor" | "applypatch" => {
                ContentKind::Code
            }
            "bash" | "bashoutput" | "shell" | "shellcommand" | "localshell" | "exec"
            | "execcommand" | "execute" | "executebash" | "process" | "powershell" | "terminal"
            | "grep" | "glob" | "find" | "ls" | "list" | "listdir" | "search" | "ripgrep" => {
                ContentKind::Shell
            }
            "task" | "agent" | "subagent" | "webfetch" | "websearch" | "browser" | "think" => {
                ContentKind::Prose
            }
            _ => ContentKind::Json,
        }
    }

    /// What a tool's *arguments* hold: code in strings for editors, plain JSON
    /// for all others.
    pub fn of_tool_call(tool: &str) -> ContentKind {
        match normal_name(tool).as_str() {
            "edit" | "editfile" | "multiedit" | "write" | "writefile" | "notebookedit"
            | "strreplace" | "strreplaceeditor" | "applypatch" | "patch" => ContentKind::Edit,
            _ => ContentKind::Json,
        }
    }
}

/// `ReadFile`, `read_file` and `read-file` are one tool.
fn normal_name(tool: &str) -> String {
    tool.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_any_agents_spelling() {
        let cases = [
            ("Read", ContentKind::Code, ContentKind::Json),
            ("read_file", ContentKind::Code, ContentKind::Json),
            ("Bash", ContentKind::Shell, ContentKind::Json),
            ("exec_command", ContentKind::Shell, ContentKind::Json),
            ("Grep", ContentKind::Shell, ContentKind::Json),
            ("Edit", ContentKind::Code, ContentKind::Edit),
            ("apply_patch", ContentKind::Code, ContentKind::Edit),
            ("WebFetch", ContentKind::Prose, ContentKind::Json),
            (
                "mcp__github__get_issue",
                ContentKind::Json,
                ContentKind::Json,
            ),
        ];
        for (tool, result, call) in cases {
            assert_eq!(
                (
                    ContentKind::of_tool_result(tool),
                    ContentKind::of_tool_call(tool)
                ),
                (result, call),
                "{tool}"
            );
        }
    }
}
