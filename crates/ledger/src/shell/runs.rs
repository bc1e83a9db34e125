//! Which commands a command line runs, for telling runs of the same one.

use super::split::{Joint, Part, is_assignment, split};

/// What a command line runs, so that a later run can be told to be the same:
/// without `cd`, variables set in front, redirections, pipes into a pager, and
/// small help such as `echo`.
pub(crate) fn runs(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut real = Vec::new();
    for part in split(command) {
        let Part::Simple(simple) = part else { continue };
        if simple.joint == Joint::Pipe {
            continue;
        }
        let words: Vec<&str> = simple
            .words
            .iter()
            .map(|word| word.text.as_str())
            .skip_while(|word| is_assignment(word))
            .collect();
        let Some(first) = words.first() else { continue };
        let run = crate::text::clip(&words.join(" "), 400).to_owned();
        if matches!(*first, "cd" | "pushd" | "popd") {
            continue;
        }
        if !(AIDS.contains(first)
            || words.starts_with(&["git", "stash"])
            || words.starts_with(&["git", "add"]))
        {
            real.push(run.clone());
        }
        all.push(run);
    }
    let mut runs = if real.is_empty() { all } else { real };
    if runs.is_empty() {
        runs.push(crate::text::clip(command.trim(), 400).to_owned());
    }
    runs.dedup();
    runs.truncate(32);
    runs
}

/// Commands that stand around the one that matters.
const AIDS: &[&str] = &[
    "set", "export", "source", ".", "echo", "printf", "true", "false", "exit", "sleep", "mkdir",
    "ls", "cat", "wc", "head", "tail", "date", "pwd", "which", "trap", "wait", "then", "do",
    "done", "fi", "if", "for", "else", "{", "}",
];

/// Whether a command only looks at things.
pub(crate) fn only_looks(run: &str) -> bool {
    const LOOKS: &[&str] = &[
        "ls", "cat", "grep", "rg", "find", "wc", "head", "tail", "stat", "file", "which", "echo",
        "test", "[", "pwd", "tree", "du", "sed", "awk", "less", "diff", "jq", "fd", "type",
    ];
    let first = run.split_whitespace().next().unwrap_or("");
    LOOKS.contains(&first) && !(first == "sed" && run.contains(" -i"))
}
