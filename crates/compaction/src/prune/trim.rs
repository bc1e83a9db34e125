//! Trims: the telling part of a long result.
//!
//! A command says how it ended on its last lines and what went wrong where the
//! words for it stand; a file is known by its headings and definitions. Both
//! are found without a model, so that the same result is always trimmed to the
//! same bytes.

use super::placeholder::{Extract, Keep, one_line, recall, what};
use super::record::Record;
use super::settings::ArrivalTrim;
use super::target::Target;

/// How long a single quoted line may be, in characters.
const LINE_CHARS: usize = 300;
/// How long a path may be where it is the way back to the content.
const PATH_CHARS: usize = 1_000;
/// A tail starts at a line if one begins within this many characters.
const LINE_START_CHARS: usize = 100;

/// A shorter content for a long result; `None` if it is not long, or nothing
/// is known of what its tool says.
pub(super) fn trimmed(record: &Record<'_>, text: &Extract, limits: &ArrivalTrim) -> Option<String> {
    match &record.target {
        Target::Read { path, .. } if text.chars > limits.file_chars => {
            let mut shown = key_paragraphs(&text.text, limits.file_chars / 3);
            if !shown.is_empty() {
                shown.push('\n');
            }
            shown.push_str(&format!(
                "[trimmed: full content at {}] [{} were read; {}]",
                one_line(path, PATH_CHARS, Keep::End),
                text.size(),
                recall(record)
            ));
            Some(shown)
        }
        Target::Read { .. } | Target::Shell { .. } | Target::Search { .. }
            if text.chars > limits.result_chars =>
        {
            let (head, tail) = split_tail(&text.text, limits.result_tail_chars);
            let mut shown = format!(
                "[trimmed: {}, {}; {}]",
                what(record),
                text.size(),
                recall(record)
            );
            if let Some(line) = conclusion(head, record.failed) {
                shown.push_str("\nconclusion: ");
                shown.push_str(&line);
            }
            shown.push_str("\n…\n");
            shown.push_str(tail);
            Some(shown)
        }
        _ => None,
    }
}

/// The lines of a failure that say what went wrong: its first one, and the
/// first that speaks of an error if that is another.
pub(super) fn failure_lines(text: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return Vec::new();
    };
    let mut shown = vec![clipped(first)];
    if !speaks_of_failure(first)
        && let Some(line) = lines.find(|line| speaks_of_failure(line))
    {
        shown.push(clipped(line));
    }
    shown
}

/// The two lines in which a text ends.
pub(super) fn last_lines(text: &str) -> Vec<String> {
    let lines = text.lines().rev().map(str::trim);
    let mut shown: Vec<String> = lines
        .filter(|line| !line.is_empty())
        .take(2)
        .map(clipped)
        .collect();
    shown.reverse();
    shown
}

/// The line of `head` that says most about how it went: where it failed, the
/// first word of it; else the last verdict, or simply the first line.
fn conclusion(head: &str, failed: bool) -> Option<String> {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
    let found = if failed {
        lines.find(|line| speaks_of_failure(line))
    } else {
        lines.rfind(|line| is_verdict(line))
    };
    found
        .or_else(|| head.lines().map(str::trim).find(|line| !line.is_empty()))
        .map(clipped)
}

fn speaks_of_failure(line: &str) -> bool {
    const WORDS: [&str; 9] = [
        "error",
        "fail",
        "panicked",
        "exception",
        "fatal",
        "not found",
        "no such file",
        "denied",
        "cannot",
    ];
    let line = line.to_lowercase();
    WORDS.iter().any(|word| line.contains(word))
}

fn is_verdict(line: &str) -> bool {
    const WORDS: [&str; 6] = [
        "test result",
        "passed",
        "finished",
        "succeeded",
        "warning:",
        "total",
    ];
    let lower = line.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) || speaks_of_failure(line)
}

fn clipped(line: &str) -> String {
    if line.chars().count() <= LINE_CHARS {
        return line.to_owned();
    }
    line.chars().take(LINE_CHARS - 1).chain(['…']).collect()
}

/// The text before its last `chars` characters, and those.
fn split_tail(text: &str, chars: usize) -> (&str, &str) {
    let at = match chars {
        0 => text.len(),
        _ => text
            .char_indices()
            .nth_back(chars - 1)
            .map_or(0, |(at, _)| at),
    };
    let (head, tail) = text.split_at(at);
    let near = tail
        .char_indices()
        .take(LINE_START_CHARS.min(chars / 2))
        .find(|(_, c)| *c == '\n');
    match near {
        Some((newline, _)) if !head.is_empty() && !head.ends_with('\n') => {
            text.split_at(at + newline + 1)
        }
        _ => (head, tail),
    }
}

/// The first paragraph and those that open with a heading or a definition, in
/// order, up to `max_chars`; of a long one, its first line.
fn key_paragraphs(text: &str, max_chars: usize) -> String {
    const PARAGRAPH_CHARS: usize = 240;
    let mut shown = String::new();
    let mut left = max_chars;
    for (at, paragraph) in paragraphs(text).iter().enumerate() {
        let key = paragraph.iter().position(|line| is_key(bare(line)));
        let (Some(first), true) = (
            key.or((at == 0).then_some(0)).map(|line| paragraph[line]),
            left > 0,
        ) else {
            continue;
        };
        let whole = paragraph.join("\n");
        let snippet = if whole.chars().count() <= PARAGRAPH_CHARS {
            whole
        } else {
            clipped(first)
        };
        let chars = snippet.chars().count() + 1;
        if chars > left {
            left = 0;
            shown.push_str("…\n");
            continue;
        }
        left -= chars;
        shown.push_str(&snippet);
        shown.push('\n');
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// Runs of lines that are not blank.
fn paragraphs(text: &str) -> Vec<Vec<&str>> {
    let mut paragraphs = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for line in text.lines() {
        if bare(line).trim().is_empty() {
            if !open.is_empty() {
                paragraphs.push(std::mem::take(&mut open));
            }
        } else {
            open.push(line);
        }
    }
    if !open.is_empty() {
        paragraphs.push(open);
    }
    paragraphs
}

/// A line without the number that read tools put in front of it.
fn bare(line: &str) -> &str {
    let unindented = line.trim_start();
    let digits = unindented.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return line;
    }
    let rest = &unindented[digits..];
    rest.strip_prefix('→')
        .or_else(|| rest.strip_prefix('\t'))
        .or_else(|| rest.strip_prefix('|'))
        .unwrap_or(line)
}

/// Whether a line is a heading or begins a definition.
fn is_key(line: &str) -> bool {
    const BEFORE: [&str; 10] = [
        "pub ",
        "pub(crate) ",
        "export ",
        "default ",
        "async ",
        "public ",
        "private ",
        "static ",
        "abstract ",
        "unsafe ",
    ];
    const OPENINGS: [&str; 15] = [
        "fn ",
        "struct ",
        "enum ",
        "trait ",
        "impl",
        "mod ",
        "class ",
        "def ",
        "function ",
        "interface ",
        "type ",
        "const ",
        "func ",
        "package ",
        "module ",
    ];
    let mut line = line.trim_start();
    while let Some(rest) = BEFORE.iter().find_map(|word| line.strip_prefix(word)) {
        line = rest;
    }
    let heading = line.trim_start_matches('#');
    (heading.len() < line.len() && heading.starts_with(' '))
        || OPENINGS.iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_its_first_line_and_its_error() {
        assert_eq!(
            failure_lines("\nExit code 101\n   Compiling x\nerror[E0308]: mismatched types\n"),
            ["Exit code 101", "error[E0308]: mismatched types"]
        );
        assert_eq!(failure_lines("error: no\nerror: more"), ["error: no"]);
        assert_eq!(failure_lines(" \n"), [""; 0]);
    }

    #[test]
    fn tails_start_at_a_line_and_never_inside_a_character() {
        assert_eq!(split_tail("aa\nbb\ncccc", 8), ("aa\n", "bb\ncccc"));
        assert_eq!(split_tail("äöü", 2), ("ä", "öü"));
        assert_eq!(split_tail("abc", 9), ("", "abc"));
        assert_eq!(split_tail("abc", 0), ("abc", ""));
    }

    #[test]
    fn key_paragraphs_outline_a_numbered_read() {
        let text = "     1→//! A tool.\n     2→\n     3→use std::fmt;\n     4→\n     5→/// Runs.\n     6→pub fn run() {}\n     7→\n     8→let x = 1;\n";
        assert_eq!(
            key_paragraphs(text, 200),
            "     1→//! A tool.\n     5→/// Runs.\n     6→pub fn run() {}"
        );
        assert_eq!(key_paragraphs(text, 20), "     1→//! A tool.\n…");
    }

    #[test]
    fn a_conclusion_is_the_last_verdict_or_the_first_error() {
        let log = "building\nerror: one\nwarning: two\n3 passed\nbye";
        assert_eq!(conclusion(log, false).as_deref(), Some("3 passed"));
        assert_eq!(conclusion(log, true).as_deref(), Some("error: one"));
        assert_eq!(conclusion("plain\nlines", false).as_deref(), Some("plain"));
        assert_eq!(conclusion("", false), None);
    }
}
