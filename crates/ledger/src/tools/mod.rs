//! What a tool call does, whoever's tool it is.
//!
//! Agents name their tools and arguments differently; here they become one
//! [`ToolUse`]. A call is read without decoding the contents it carries.

mod lists;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use longhaul_transcript::json::{self, Object};
use serde::{Deserialize, Serialize};

pub(crate) use self::lists::todo_items;
use self::lists::{ask, state, todo};
use crate::facts::{ItemState, NoteKind};
use crate::patch::{self, FileEdit};

/// What a tool call does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "use")]
pub enum ToolUse {
    /// Reads a file.
    Read {
        /// The file.
        path: String,
        /// Whether only a part was asked for.
        part: bool,
    },
    /// Writes a whole file.
    Write {
        /// The file.
        path: String,
        /// Bytes of the content, as JSON.
        content_len: usize,
    },
    /// Replaces text in a file.
    Edit {
        /// The file.
        path: String,
    },
    /// Replaces several texts in a file.
    MultiEdit {
        /// The file.
        path: String,
        /// How many.
        edits: usize,
    },
    /// Removes a file.
    Delete {
        /// The file.
        path: String,
    },
    /// Moves a file.
    Move {
        /// From here.
        from: String,
        /// To there.
        to: String,
    },
    /// Changes several files.
    Patch {
        /// What happens to each.
        files: Vec<FileEdit>,
    },
    /// Runs a command line.
    Shell {
        /// The command line.
        command: String,
        /// Where, if the call says so.
        dir: Option<String>,
    },
    /// Searches or lists files.
    Search {
        /// What for.
        pattern: Option<String>,
        /// Where.
        path: Option<String>,
    },
    /// Replaces the to-do list.
    Todo {
        /// The whole list.
        items: Vec<(String, ItemState)>,
    },
    /// Adds one item to a list; its id comes with the result.
    TodoAdd {
        /// The item.
        text: String,
    },
    /// Changes one item of a list.
    TodoSet {
        /// Its id.
        id: String,
        /// Its new state, if that changes.
        state: Option<ItemState>,
        /// Its new text, if that changes.
        text: Option<String>,
    },
    /// Asks the user.
    Ask {
        /// The question, or several on a line each.
        question: String,
        /// The options that are offered: how each is named, and what it says.
        options: Vec<(String, String)>,
    },
    /// Lays a plan before the user.
    Plan {
        /// The plan; empty where the call names only its file.
        text: String,
    },
    /// Notes something for later: the `note` tool.
    Note {
        /// What it is.
        kind: NoteKind,
        /// Its text.
        text: String,
    },
    /// Anything else.
    Other,
}

const PATHS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "notebook_path",
    "filename",
    "file",
    "target_file",
    "absolute_path",
    "relative_path",
    "uri",
];

/// Reads a call: the tool's name and its arguments as JSON text.
pub fn classify(tool: &str, arguments: &str) -> ToolUse {
    let Some(object) = Object::of(arguments) else {
        return ToolUse::Other;
    };
    let name = plain_name(tool);
    match name.as_ref() {
        "bash" | "shell" | "exec" | "execcommand" | "localshell" | "shellcommand"
        | "runcommand" | "runterminalcmd" | "runinterminal" | "terminal" | "executecommand"
        | "containerexec" | "runshellcommand" | "runbash" | "cmd" => shell(&object),
        "applypatch" | "patch" => {
            let text = [
                "input",
                "patch",
                "patchText",
                "diff",
                "content",
                "arguments",
            ]
            .into_iter()
            .find_map(|key| object.str(key));
            match text {
                Some(text) => ToolUse::Patch {
                    files: patch::files(&text),
                },
                None => ToolUse::Other,
            }
        }
        "todowrite" | "todo" | "updateplan" | "todos" | "updatetodos" | "managetodolist"
        | "writetodos" | "todolist" => todo(&object),
        "taskcreate" => match text_of(&object, &["subject", "title", "content", "description"]) {
            Some(text) => ToolUse::TodoAdd { text },
            None => ToolUse::Other,
        },
        "taskupdate" => match object
            .str_or_number("taskId")
            .or_else(|| object.str_or_number("id"))
        {
            Some(id) => ToolUse::TodoSet {
                id: id.into_owned(),
                state: object.str("status").and_then(|status| state(&status)),
                text: text_of(&object, &["subject", "title"]),
            },
            None => ToolUse::Other,
        },
        "askuserquestion" | "askuser" | "requestuserinput" | "askfollowupquestion" | "question" => {
            ask(&object)
        }
        "grep" | "glob" | "find" | "ls" | "search" | "rg" | "listdir" | "searchfiles"
        | "listfiles" | "codebasesearch" | "grepsearch" | "filesearch" | "list" | "toolsearch" => {
            ToolUse::Search {
                pattern: text_of(&object, &["pattern", "query", "regex", "glob"]),
                path: path_of(&object),
            }
        }
        "exitplanmode" => ToolUse::Plan {
            text: text_of(&object, &["plan"]).unwrap_or_default(),
        },
        "note" => match (
            object.str("kind").and_then(|kind| NoteKind::parse(&kind)),
            text_of(&object, &["text"]),
        ) {
            (Some(kind), Some(text)) => ToolUse::Note { kind, text },
            _ => ToolUse::Other,
        },
        "process" | "task" | "agent" | "webfetch" | "websearch" | "skill" => ToolUse::Other,
        _ => by_shape(&name, &object),
    }
}

/// The name in lower case without separators, and without the server in front
/// (`mcp__files__read_file`).
fn plain_name(tool: &str) -> Cow<'_, str> {
    let own = tool
        .rsplit("__")
        .next()
        .unwrap_or(tool)
        .rsplit(['.', '/', ':'])
        .next()
        .unwrap_or(tool);
    if own.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(own);
    }
    Cow::Owned(
        own.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect(),
    )
}

fn text_of(object: &Object<'_>, keys: &[&str]) -> Option<String> {
    keys.iter()
        .find_map(|key| object.str(key))
        .filter(|text| !text.trim().is_empty())
        .map(Cow::into_owned)
}

fn path_of(object: &Object<'_>) -> Option<String> {
    text_of(object, PATHS).map(|path| match path.strip_prefix("file://") {
        Some(rest) => rest.to_owned(),
        None => path,
    })
}

/// A tool that is told by a verb in its name and a path in its arguments.
fn by_shape(name: &str, object: &Object<'_>) -> ToolUse {
    let has = |keys: &[&str]| keys.iter().any(|key| object.has(key));
    let (from, to) = (
        text_of(
            object,
            &[
                "source",
                "from",
                "old_path",
                "oldPath",
                "src",
                "source_path",
            ],
        ),
        text_of(
            object,
            &[
                "destination",
                "to",
                "new_path",
                "newPath",
                "dest",
                "target",
                "destination_path",
            ],
        ),
    );
    if (name.contains("move") || name.contains("rename"))
        && let (Some(from), Some(to)) = (from.or_else(|| path_of(object)), to)
    {
        return ToolUse::Move { from, to };
    }
    let Some(path) = path_of(object) else {
        return ToolUse::Other;
    };
    let verb = |verbs: &[&str]| verbs.iter().any(|verb| name.contains(verb));
    if verb(&["delete", "remove", "unlink"]) {
        ToolUse::Delete { path }
    } else if verb(&["multiedit"]) || object.array("edits").is_some_and(|edits| edits.len() > 1) {
        let edits = object.array("edits").map_or(0, |edits| edits.len());
        ToolUse::MultiEdit { path, edits }
    } else if name == "strreplacebasededittool" || name == "strreplaceeditor" || name == "editor" {
        match object.str("command").as_deref() {
            Some("view") => ToolUse::Read {
                path,
                part: object.has("view_range"),
            },
            Some("create") => ToolUse::Write {
                path,
                content_len: object.raw("file_text").map_or(0, str::len),
            },
            _ => ToolUse::Edit { path },
        }
    } else if verb(&[
        "edit", "replace", "insert", "modify", "update", "append", "patch",
    ]) || has(&["old_string", "oldText", "new_string", "newText", "edits"])
    {
        ToolUse::Edit { path }
    } else if verb(&[
        "directory",
        "folder",
        "mkdir",
        "list",
        "tree",
        "search",
        "grep",
        "glob",
        "find",
    ]) {
        ToolUse::Search {
            pattern: text_of(object, &["pattern", "query"]),
            path: Some(path),
        }
    } else if verb(&["write", "create", "save"]) {
        ToolUse::Write {
            path,
            content_len: ["content", "file_text", "text", "contents"]
                .iter()
                .find_map(|key| object.raw(key))
                .map_or(0, str::len),
        }
    } else if verb(&["read", "view", "open", "cat", "get"]) {
        ToolUse::Read {
            path,
            part: has(&[
                "offset",
                "limit",
                "start_line",
                "startLine",
                "line",
                "range",
                "view_range",
            ]),
        }
    } else {
        ToolUse::Other
    }
}

fn shell(object: &Object<'_>) -> ToolUse {
    let dir = text_of(
        object,
        &["workdir", "working_directory", "cwd", "directory", "dir"],
    );
    for key in ["command", "cmd", "script", "commandLine", "input"] {
        if let Some(command) = object.str(key) {
            return ToolUse::Shell {
                command: command.into_owned(),
                dir,
            };
        }
        if let Some(words) = object.array(key) {
            let words: Vec<Cow<'_, str>> = words
                .iter()
                .filter_map(|raw| json::string(raw.get()))
                .collect();
            return from_words(&words, dir);
        }
    }
    ToolUse::Other
}

/// Codex gives the words of the command: `["bash", "-lc", "…"]`, or a program
/// with its arguments, which may be a patch.
fn from_words(words: &[Cow<'_, str>], dir: Option<String>) -> ToolUse {
    match words {
        [] => ToolUse::Other,
        [name, text, ..] if name == "apply_patch" || name == "applypatch" => ToolUse::Patch {
            files: patch::files(text),
        },
        [shell, flag, script, ..]
            if is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') =>
        {
            ToolUse::Shell {
                command: script.clone().into_owned(),
                dir,
            }
        }
        _ => {
            let quoted: Vec<Cow<'_, str>> = words
                .iter()
                .map(|word| {
                    match word.is_empty()
                        || word.contains(|c: char| {
                            c.is_whitespace() || "'\"\\$`|&;<>()*?[]{}#~".contains(c)
                        }) {
                        true => Cow::Owned(format!("'{}'", word.replace('\'', "'\\''"))),
                        false => Cow::Borrowed(word.as_ref()),
                    }
                })
                .collect();
            ToolUse::Shell {
                command: quoted.join(" "),
                dir,
            }
        }
    }
}

fn is_shell(word: &str) -> bool {
    matches!(
        word.rsplit('/').next(),
        Some("bash" | "sh" | "zsh" | "dash" | "powershell" | "pwsh")
    )
}
