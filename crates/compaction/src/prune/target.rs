//! What a tool call was about: a file read, files changed, a command, a search.
//!
//! Calls are understood by the ledger; here is only what pruning needs to say
//! what a result was and which results a later call made stale.

use longhaul_ledger::{ToolUse, classify};
use longhaul_transcript::json::Object;

/// What a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Reads (a part of) a file.
    Read { path: String, span: Span },
    /// Writes, edits, patches, moves or deletes files.
    Change { paths: Vec<String> },
    /// Runs a command.
    Shell { command: String },
    /// Looks for something.
    Search { query: String },
    /// Anything else; its most telling argument, if there is one.
    Other { about: Option<String> },
}

/// Which part of a file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Span {
    /// All of it.
    Whole,
    /// Lines, the end not included.
    Lines(u64, u64),
    /// Something only the tool understands: its arguments.
    Part(String),
}

impl Span {
    /// Whether everything in `earlier` is in this span too.
    pub(super) fn covers(&self, earlier: &Span) -> bool {
        match (self, earlier) {
            (Span::Whole, _) => true,
            (Span::Lines(from, to), Span::Lines(start, end)) => from <= start && to >= end,
            (later, earlier) => later == earlier,
        }
    }
}

impl Target {
    /// Reads a tool's name and its arguments.
    pub(super) fn of(tool: &str, arguments: &str) -> Target {
        let change = |path: &str| Target::Change {
            paths: vec![normal_path(path)],
        };
        match classify(tool, arguments) {
            ToolUse::Read { path, part } => Target::Read {
                path: normal_path(&path),
                span: if part || asks_for_pages(arguments) {
                    part_span(arguments)
                } else {
                    Span::Whole
                },
            },
            ToolUse::Write { path, .. }
            | ToolUse::Edit { path }
            | ToolUse::MultiEdit { path, .. }
            | ToolUse::Delete { path } => change(&path),
            ToolUse::Move { from, to } => Target::Change {
                paths: vec![normal_path(&from), normal_path(&to)],
            },
            ToolUse::Patch { files } => Target::Change {
                paths: files
                    .iter()
                    .flat_map(|file| [Some(&file.path), file.moved_to.as_ref()])
                    .flatten()
                    .map(|path| normal_path(path))
                    .collect(),
            },
            ToolUse::Shell { command, .. } => Target::Shell { command },
            ToolUse::Search { pattern, path } => Target::Search {
                query: pattern.or(path).unwrap_or_default(),
            },
            ToolUse::Todo { .. }
            | ToolUse::TodoAdd { .. }
            | ToolUse::TodoSet { .. }
            | ToolUse::Ask { .. }
            | ToolUse::Plan { .. }
            | ToolUse::Note { .. } => Target::Other { about: None },
            ToolUse::Other => Target::Other {
                about: about(arguments),
            },
        }
    }
}

/// The argument of an unknown tool that says most.
fn about(arguments: &str) -> Option<String> {
    const KEYS: [&str; 7] = [
        "url",
        "query",
        "path",
        "command",
        "description",
        "name",
        "id",
    ];
    let object = Object::of(arguments)?;
    KEYS.iter()
        .find_map(|key| object.str(key).filter(|text| !text.trim().is_empty()))
        .map(|text| text.into_owned())
}

/// Documents are read by page.
fn asks_for_pages(arguments: &str) -> bool {
    arguments.contains("\"pages\"")
}

/// Which part a read asked for: lines where we know the words for them.
fn part_span(arguments: &str) -> Span {
    const START: [&str; 3] = ["offset", "start_line", "startLine"];
    const END: [&str; 2] = ["end_line", "endLine"];
    let object = Object::of(arguments).unwrap_or_default();
    let number = |keys: &[&str]| keys.iter().find_map(|key| object.u64(key));
    let is_known = |key: &str| {
        START.contains(&key) || END.contains(&key) || key == "limit" || key.ends_with("path")
    };
    if !object.iter().all(|(key, _)| is_known(key)) {
        return Span::Part(arguments.to_owned());
    }
    // Lines count from one; zero means the same place.
    let from = number(&START).unwrap_or(1).max(1);
    let to = number(&["limit"])
        .map(|limit| from.saturating_add(limit))
        .or(number(&END).map(|end| end.saturating_add(1)));
    match (from, to) {
        (1, None) => Span::Whole,
        (from, to) => Span::Lines(from, to.unwrap_or(u64::MAX)),
    }
}

/// `./src//a.rs` and `src/a.rs` are one file.
fn normal_path(path: &str) -> String {
    let path = path.trim();
    let mut normal = String::with_capacity(path.len());
    if path.starts_with('/') {
        normal.push('/');
    }
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if !normal.is_empty() && !normal.ends_with('/') {
            normal.push('/');
        }
        normal.push_str(part);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(path: &str) -> Target {
        Target::Read {
            path: path.into(),
            span: Span::Whole,
        }
    }

    #[test]
    fn calls_of_every_agent_are_understood() {
        let change = |path: &str| Target::Change {
            paths: vec![path.into()],
        };
        let shell = |command: &str| Target::Shell {
            command: command.into(),
        };
        let cases = [
            ("Read", r#"{"file_path":"/w/a.rs"}"#, whole("/w/a.rs")),
            (
                "read",
                r#"{"path":"./src//a.rs","offset":1}"#,
                whole("src/a.rs"),
            ),
            (
                "read",
                r#"{"path":"a","offset":10,"limit":5}"#,
                Target::Read {
                    path: "a".into(),
                    span: Span::Lines(10, 15),
                },
            ),
            (
                "Read",
                r#"{"file_path":"a.pdf","pages":"1-3"}"#,
                Target::Read {
                    path: "a.pdf".into(),
                    span: Span::Part(r#"{"file_path":"a.pdf","pages":"1-3"}"#.into()),
                },
            ),
            ("Edit", r#"{"file_path":"a","old_string":"x"}"#, change("a")),
            ("bash", r#"{"command":"ls -l"}"#, shell("ls -l")),
            (
                "shell",
                r#"{"command":["bash","-lc","cargo test"]}"#,
                shell("cargo test"),
            ),
            (
                "apply_patch",
                r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@"}"#,
                change("src/a.rs"),
            ),
            (
                "Grep",
                r#"{"pattern":"fn main"}"#,
                Target::Search {
                    query: "fn main".into(),
                },
            ),
            (
                "WebFetch",
                r#"{"url":"https://x.y","prompt":"p"}"#,
                Target::Other {
                    about: Some("https://x.y".into()),
                },
            ),
            ("mystery", "not json", Target::Other { about: None }),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(Target::of(tool, arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn a_part_does_not_cover_the_whole() {
        let lines = Span::Lines;
        assert!(Span::Whole.covers(&lines(5, 9)));
        assert!(lines(1, 20).covers(&lines(5, 9)));
        assert!(!lines(1, 8).covers(&lines(5, 9)));
        assert!(!lines(1, 20).covers(&Span::Whole));
        assert!(Span::Part("p".into()).covers(&Span::Part("p".into())));
        assert!(!Span::Part("p".into()).covers(&Span::Part("q".into())));
    }
}
