//! Placeholders: one line in place of a result.
//!
//! A placeholder is always a whole content that we wrote, and we know our own by
//! the edit mark of the message, never by how a text looks: nothing a tool
//! prints can pass for one. What we quote inside (a path, a command) stays on
//! the line and cannot close the bracket.

use super::edit::Reason;
use super::record::Record;
use super::target::Target;
use super::trim;
use crate::summary::abbreviated;

/// How long a quoted path or command may be, in characters.
const TARGET_CHARS: usize = 120;
const TOOL_CHARS: usize = 40;

/// The placeholder of a record; a failure keeps the line it began with and the one
/// it ended in below it, a command the two in which it ended.
pub(super) fn placeholder(record: &Record<'_>, text: &Extract, reason: Reason) -> String {
    let why = match reason {
        Reason::Superseded => ", read again or changed later",
        Reason::Repeated => ", the same came again later",
        Reason::Age | Reason::Arrival => "",
    };
    let mut line = format!(
        "[pruned: {}, {}{why}; {}]",
        what(record),
        text.size(),
        recall(record)
    );
    let telling = match (&record.target, reason) {
        _ if record.failed => trim::both_ends(&text.text),
        // What came again stands there.
        (_, Reason::Superseded | Reason::Repeated) => Vec::new(),
        (Target::Shell { .. }, _) => trim::last_lines(&text.text),
        _ => Vec::new(),
    };
    for telling in telling {
        line.push('\n');
        line.push_str(&telling);
    }
    line
}

/// `read src/main.rs`, `bash cargo test (failed)`.
pub(super) fn what(record: &Record<'_>) -> String {
    let mut text = one_line(&record.tool, TOOL_CHARS, Keep::Start);
    let about = match &record.target {
        Target::Read { path, .. } => one_line(path, TARGET_CHARS, Keep::End),
        Target::Change { paths } => match paths.as_slice() {
            [] => String::new(),
            [path] => one_line(path, TARGET_CHARS, Keep::End),
            [path, rest @ ..] => format!(
                "{} and {} more",
                one_line(path, TARGET_CHARS, Keep::End),
                rest.len()
            ),
        },
        Target::Shell { command } => one_line(command, TARGET_CHARS, Keep::Start),
        Target::Search { query } => one_line(query, TARGET_CHARS, Keep::Start),
        Target::Other { about } => one_line(
            about.as_deref().unwrap_or_default(),
            TARGET_CHARS,
            Keep::Start,
        ),
    };
    if !about.is_empty() {
        text.push(' ');
        text.push_str(&about);
    }
    if record.failed {
        text.push_str(" (failed)");
    }
    text
}

/// How to get a record back.
pub(super) fn recall(record: &Record<'_>) -> String {
    format!(
        "recall {} brings it back",
        one_line(
            abbreviated(record.entry.as_str()),
            TARGET_CHARS,
            Keep::Start
        )
    )
}

/// What a content holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Extract {
    /// All its text.
    pub(super) text: String,
    /// Characters of that.
    pub(super) chars: usize,
    /// Pictures.
    pub(super) images: usize,
    /// Documents.
    pub(super) documents: usize,
}

impl Extract {
    /// `12,345 characters and 2 images`.
    pub(super) fn size(&self) -> String {
        let beside = [(self.images, "image"), (self.documents, "document")];
        let beside = beside.into_iter().filter(|(count, _)| *count > 0);
        let said = |(count, noun): (usize, &str)| {
            let s = if count == 1 { "" } else { "s" };
            format!("{} {noun}{s}", grouped(count))
        };
        let mut parts: Vec<String> = beside.map(said).collect();
        if self.chars > 0 || parts.is_empty() {
            parts.insert(0, said((self.chars, "character")));
        }
        parts.join(" and ")
    }
}

fn grouped(count: usize) -> String {
    longhaul_tokens::Tokens::saturating(count).to_string()
}

/// Which side of a text that is too long stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The beginning, as of a command.
    Start,
    /// The end, as of a path.
    End,
}

/// A text as part of a bracketed line: no line breaks, no invisible characters,
/// and no bracket that could end ours. Balanced brackets are part of many paths
/// (`app/[id]/page.tsx`) and stay; others are escaped.
pub(super) fn one_line(text: &str, max_chars: usize, keep: Keep) -> String {
    let mut line = String::with_capacity(text.len().min(4 * max_chars));
    for c in text.trim().chars().take(16 * max_chars) {
        if c.is_whitespace() || c.is_control() {
            if !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_invisible(c) {
            line.push(c);
        }
    }
    let line = shortened(line.trim_end(), max_chars, keep);
    if is_balanced(&line) {
        return line;
    }
    line.replace('[', "\\[").replace(']', "\\]")
}

fn shortened(line: &str, max_chars: usize, keep: Keep) -> String {
    let chars = line.chars().count();
    if chars <= max_chars {
        return line.to_owned();
    }
    let shown = max_chars.saturating_sub(1);
    match keep {
        Keep::Start => line.chars().take(shown).chain(['…']).collect(),
        Keep::End => ['…']
            .into_iter()
            .chain(line.chars().skip(chars - shown))
            .collect(),
    }
}

/// Zero-width and direction marks, which make a line look other than it is.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn is_balanced(line: &str) -> bool {
    let mut depth = 0_usize;
    for c in line.chars() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return false,
            ']' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_cannot_leave_the_bracket() {
        let cases = [
            ("app/[id]/page.tsx", "app/[id]/page.tsx"),
            ("x]\n[pruned: y", "x\\] \\[pruned: y"),
            ("a\u{202e}b\tc\r\n\0d", "ab c d"),
            ("  ", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(one_line(text, 40, Keep::Start), expected);
        }
    }

    #[test]
    fn paths_keep_their_end_and_commands_their_beginning() {
        assert_eq!(
            one_line("/home/me/src/main.rs", 12, Keep::End),
            "…src/main.rs"
        );
        assert_eq!(one_line("cargo test --all", 11, Keep::Start), "cargo test…");
    }

    #[test]
    fn sizes_read_well() {
        let size = |chars, images| {
            Extract {
                chars,
                images,
                ..Extract::default()
            }
            .size()
        };
        assert_eq!(size(12_345, 0), "12,345 characters");
        assert_eq!(size(0, 1), "1 image");
        assert_eq!(size(1, 2), "1 character and 2 images");
    }
}
