//! How a tool call ended, and what it said about it.

use std::borrow::Cow;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Block, MessageView};

use crate::facts::Outcome;
use crate::text::{clip, clip_end};
use crate::tools::ToolUse;
use crate::working::Call;

/// Texts that stand for a path that is not there, in lower case, each with where
/// it is specified.
const MISSED: &[(&str, &str)] = &[
    ("no such file or directory", "POSIX, strerror(ENOENT)"),
    (": directory not found", "Go, cmd/go: a package's folder"),
];
/// How pi's `bash` tool ends the output of a command that its user stopped, and
/// where.
const STOPPED: (&str, &str) = ("Command aborted", "pi, core/tools/bash.ts");

/// A result as far as the fold needs it.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    failed: bool,
    rejected: bool,
    status: Option<i32>,
    text: Cow<'a, str>,
}

impl<'a> Ended<'a> {
    pub(crate) fn read(view: &MessageView<'a>, call: &Call) -> Ended<'a> {
        let mut text: Cow<'a, str> = Cow::Borrowed("");
        for block in view.blocks() {
            if let Block::Text(part) = block {
                match text.is_empty() {
                    true => text = part,
                    false => {
                        let whole = text.to_mut();
                        whole.push('\n');
                        whole.push_str(&part);
                    }
                }
            }
        }
        let mut failed = view.is_error();
        let mut status = None;
        if matches!(call.does, ToolUse::Shell { .. }) {
            if let Some((output, code)) = packed(&text) {
                text = Cow::Owned(output);
                status = Some(code);
            }
            status = status
                .or_else(|| exit_code(&text))
                .or_else(|| detailed_code(view));
            failed |= status.is_some_and(|code| code != 0) || details_say_failed(view);
        }
        let aborted = failed && text.trim_end().ends_with(STOPPED.0);
        Ended {
            failed,
            rejected: view.is_rejected() || aborted,
            status: status.and_then(|code| i32::try_from(code).ok()),
            text,
        }
    }

    /// A command that the user ran.
    pub(crate) fn of_execution(object: &Object<'a>) -> Ended<'a> {
        let status = object.f64("exitCode").map(|code| code as i32);
        Ended {
            failed: status.is_some_and(|code| code != 0) || object.bool("cancelled") == Some(true),
            rejected: false,
            status,
            text: object.str("output").unwrap_or_default(),
        }
    }

    /// The status of a command, where it is told.
    pub(crate) fn status(&self) -> Option<i32> {
        self.status
    }

    /// Whether the user refused the call: it did not happen.
    pub(crate) fn rejected(&self) -> bool {
        self.rejected
    }

    pub(crate) fn passed(&self) -> bool {
        !self.failed && !self.rejected
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.failed {
            true => Outcome::Failed,
            false => Outcome::Passed,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing was found under a path that was tried. Where a compiler says
    /// so of a place in a file, the file is wrong and not the guess.
    pub(crate) fn missed_a_path(&self) -> bool {
        let mut lines = self.text.lines().take(400).filter(|line| !is_frame(line));
        lines.next().is_some_and(|line| {
            let line = clip(line, 400).to_ascii_lowercase();
            MISSED.iter().any(|(text, _)| line.contains(text)) && !names_a_place(&line)
        })
    }

    /// The first line that was printed, exactly, and behind a mark the last one;
    /// where one names a place in a file, that one alone.
    pub(crate) fn line(&self) -> String {
        let first = first_line(&self.text).trim();
        let mut back = self.text.lines().rev().filter(|line| !is_frame(line));
        let last = back.next().unwrap_or_default().trim();
        if names_a_place(first) || last == first || last.is_empty() {
            return clip(first, 400).to_owned();
        }
        format!("{} … {}", clip(first, 200), clip(last, 200))
    }
}

fn details_say_failed(view: &MessageView<'_>) -> bool {
    let details = view.object().object("details");
    details.is_some_and(|details| details.str("status").as_deref() == Some("failed"))
}

fn detailed_code(view: &MessageView<'_>) -> Option<i64> {
    let details = view.object().object("details")?;
    let code = ["exitCode", "exit_code", "code"]
        .into_iter()
        .find_map(|key| details.f64(key))?;
    Some(code as i64)
}

/// Codex wraps a command's output: `{"output":…,"metadata":{"exit_code":…}}`.
fn packed(text: &str) -> Option<(String, i64)> {
    if !text.starts_with("{\"output\"") {
        return None;
    }
    let object = Object::parse(text.trim_end()).ok()?;
    let code = object.object("metadata")?.f64("exit_code")?;
    Some((object.str("output")?.into_owned(), code as i64))
}

/// The exit code that a line at either end of an output names.
fn exit_code(text: &str) -> Option<i64> {
    let head = clip(text, 300).lines().take(4);
    let tail = clip_end(text, 200).lines().rev().take(3);
    head.chain(tail).find_map(|line| {
        let line = line.trim().trim_matches(['(', ')', '[', ']']);
        let lower = clip(line, 80).to_ascii_lowercase();
        let rest = [
            "exit code:",
            "exit code",
            "command exited with code",
            "process exited with code",
            "exited with code",
            "command exited with exit code",
            "command failed with exit code",
            "exit status",
        ]
        .into_iter()
        .find_map(|head| lower.strip_prefix(head))?;
        let rest = rest
            .trim_start_matches([' ', ':'])
            .trim_end_matches(['.', ')', ' ']);
        rest.parse().ok()
    })
}

/// Lines that frame an output and say nothing themselves.
fn is_frame(line: &str) -> bool {
    let body = line.trim();
    body.is_empty()
        || exit_code(body).is_some()
        || body.starts_with("$ ")
        || body.starts_with("> ")
        || body.starts_with("+ ")
        || (body.starts_with('[') && body.contains("] $ "))
        || body.starts_with("=== RUN")
        || body.starts_with("=== PAUSE")
        || body.starts_with("=== CONT")
        || body.starts_with("Chunk ID:")
        || body.starts_with("Wall time:")
        || body == "Output:"
        || body.starts_with("Total output lines:")
        || body.starts_with("Original token count:")
        // Go names the package in front of what is wrong with it.
        || body.starts_with("# ")
        || body
            .bytes()
            .all(|byte| matches!(byte, b'=' | b'-' | b'_' | b'*' | b' '))
}

/// `path:12:` or `path(12,3)`: a compiler speaks, perhaps through a runner that
/// puts the name of its task in front (`[lint] path:12:`).
fn names_a_place(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or("");
    let is_task = first.starts_with('[') && first.ends_with(']');
    let word = if is_task {
        words.next().unwrap_or("")
    } else {
        first
    };
    word.contains(['.', '/'])
        && word
            .find([':', '('])
            .is_some_and(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
}

fn first_line(text: &str) -> &str {
    let mut lines = text.lines().take(400).filter(|line| !is_frame(line));
    let first = lines.next();
    let Some(first) = first else {
        return text
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("");
    };
    // Python says what happened in the last line of a traceback.
    if first
        .trim_start()
        .starts_with("Traceback (most recent call last)")
    {
        let mut after = text.lines().rev().filter(|line| !is_frame(line));
        return after.find(|line| !line.starts_with(' ')).unwrap_or(first);
    }
    match names_a_place(first) {
        true => first,
        false => lines.find(|line| names_a_place(line)).unwrap_or(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_found_or_the_one_that_names_a_place() {
        for (text, line) in [
            (
                "Exit code 1\n# pkg/a\na.go:12:2: undefined: x",
                "a.go:12:2: undefined: x",
            ),
            (
                "Exit code 1\nls: x: No such file or directory",
                "ls: x: No such file or directory",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x\nKeyError: 'a'\n\nCommand exited with code 1",
                "KeyError: 'a'",
            ),
            (
                "[lint] $ golangci-lint run\n[lint] ERROR task failed",
                "[lint] ERROR task failed",
            ),
            (
                "thread 'a' panicked at b.rs:1:2:\nassertion failed",
                "thread 'a' panicked at b.rs:1:2:",
            ),
            (
                "guide.md:4 dead link: ../x.md\n2 problems",
                "guide.md:4 dead link: ../x.md",
            ),
            (
                "[lint] $ lint\n[lint:mod] Finished\n[lint:go] a/b.go:14:2: unused",
                "[lint:go] a/b.go:14:2: unused",
            ),
            ("something odd\nanother", "something odd"),
            ("Exit code 3", "Exit code 3"),
            ("", ""),
        ] {
            assert_eq!(first_line(text).trim(), line);
        }
    }

    #[test]
    fn exit_codes_are_read_at_either_end() {
        assert_eq!(exit_code("Exit code 1\nx"), Some(1));
        assert_eq!(exit_code("x\n\nCommand exited with code 101"), Some(101));
        assert_eq!(
            exit_code("Exit code: 0\nWall time: 1 s\nOutput:\nx"),
            Some(0)
        );
        assert_eq!(exit_code("all good"), None);
        assert_eq!(
            packed("{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":2}}"),
            Some(("a\nb".into(), 2))
        );
    }
}
