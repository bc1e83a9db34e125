//! Trims: the telling part of a long result.
//!
//! A command is known by the line it began with and those it ended in, a file by
//! its headings and by the lines that open a block. Both are found by where lines
//! stand and how far they are indented, never by their words, so that every
//! language is alike and the same result is always trimmed to the same bytes.

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
        Target::Read { path, .. } if text.chars > limits.file_chars as usize => {
            let mut shown = key_paragraphs(&text.text, limits.file_chars as usize / 3);
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
            if text.chars > limits.result_chars as usize =>
        {
            let (head, tail) = split_tail(&text.text, limits.result_tail_chars as usize);
            let mut shown = format!(
                "[trimmed: {}, {}; {}]",
                what(record),
                text.size(),
                recall(record)
            );
            if let Some(line) = lines(head).next() {
                shown.push_str("\nbegins: ");
                shown.push_str(&clipped(line));
            }
            shown.push_str("\n…\n");
            shown.push_str(tail);
            Some(shown)
        }
        _ => None,
    }
}

/// The line that a text begins with, and the one it ends in.
pub(super) fn both_ends(text: &str) -> Vec<String> {
    let first = lines(text).next();
    let last = lines(text).skip(1).last();
    first.into_iter().chain(last).map(clipped).collect()
}

/// The two lines in which a text ends.
pub(super) fn last_lines(text: &str) -> Vec<String> {
    let all: Vec<&str> = lines(text).collect();
    let last = &all[all.len().saturating_sub(2)..];
    last.iter().map(|line| clipped(line)).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
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

/// The first paragraph, headings, and paragraphs in which a line opens a block, in
/// order, up to `max_chars`; of a long one, the line that makes it one of these.
fn key_paragraphs(text: &str, max_chars: usize) -> String {
    const PARAGRAPH_CHARS: usize = 240;
    let mut shown = String::new();
    let mut left = max_chars;
    for (at, paragraph) in paragraphs(text).iter().enumerate() {
        let (Some(key), true) = (key(paragraph).or((at == 0).then_some(0)), left > 0) else {
            continue;
        };
        let whole = paragraph.join("\n");
        let snippet = if whole.chars().count() <= PARAGRAPH_CHARS {
            whole
        } else {
            clipped(paragraph[key])
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

/// The first line of a paragraph that is a heading, or stands at the margin with
/// an indented one below it.
fn key(paragraph: &[&str]) -> Option<usize> {
    let is_indented = |line: &str| bare(line).starts_with([' ', '\t']);
    let is_heading = |line: &str| {
        let text = bare(line).trim_start_matches('#');
        text.len() < bare(line).len() && text.starts_with(' ')
    };
    (0..paragraph.len()).find(|&at| {
        let opens = |next: &&str| !is_indented(paragraph[at]) && is_indented(next);
        is_heading(paragraph[at]) || paragraph.get(at + 1).is_some_and(opens)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_the_line_it_begins_with_and_the_one_it_ends_in() {
        assert_eq!(
            both_ends("\nExit code 101\n   Compiling x\nerror[E0308]: mismatched types\n"),
            ["Exit code 101", "error[E0308]: mismatched types"]
        );
        assert_eq!(both_ends("no"), ["no"]);
        assert_eq!(both_ends(" \n"), [""; 0]);
        assert_eq!(last_lines("a\nb\n\nc\n"), ["b", "c"]);
        assert_eq!(last_lines("a"), ["a"]);
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
        let text = "     1→//! A tool.\n     2→\n     3→use std::fmt;\n     4→\n     5→/// Runs.\n     6→pub fn run() {\n     7→    go();\n     8→}\n     9→\n    10→let x = 1;\n";
        assert_eq!(
            key_paragraphs(text, 200),
            "     1→//! A tool.\n     5→/// Runs.\n     6→pub fn run() {\n     7→    go();\n     8→}"
        );
        assert_eq!(key_paragraphs(text, 20), "     1→//! A tool.\n…");
    }

    #[test]
    fn of_a_long_block_the_line_that_opens_it_stays_in_any_language() {
        let body = "    go on\n".repeat(40);
        for opening in ["def läuft():", "# Überschrift", "函数 甲（）"] {
            let text = format!("first\n\n@note\n{opening}\n{body}");
            assert_eq!(key_paragraphs(&text, 200), format!("first\n{opening}"));
        }
    }
}
