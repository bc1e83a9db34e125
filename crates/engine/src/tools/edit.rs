//! `edit`: exact texts in a file, each replaced by another.
//!
//! Works on bytes, so that a file that is not UTF-8 keeps every byte that was
//! not named. Line ends are compared as `\n`, because a model does not see
//! others; what is put in gets the line ends of the file.

use memchr::memmem;
use serde_json::Value;
use similar::TextDiff;

use super::arguments::Arguments;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) old: String,
    pub(super) new: String,
}

/// A file with its edits applied.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) bytes: Vec<u8>,
    /// The changed lines, for people.
    pub(super) diff: String,
    /// The first changed line, from 1.
    pub(super) first_line: usize,
}

/// Lines around a change that a diff shows.
const AROUND: usize = 2;
/// Lines that are named when a text stands in several places.
const NAMED_LINES: usize = 5;

/// The edits of a call: a list, or one edit without it, or a list that the model
/// wrote as a text.
pub(super) fn edits(arguments: &Arguments<'_>) -> Result<Vec<Edit>, String> {
    let wrong = |what: &str| arguments.wrong("edits", what);
    let parsed: Value;
    let list = match arguments.value("edits") {
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) => {
            parsed = serde_json::from_str(text)
                .map_err(|error| wrong(&format!("is a text that is no list in JSON: {error}")))?;
            parsed
                .as_array()
                .ok_or_else(|| wrong("must be a list of edits"))?
        }
        Some(_) => return Err(wrong("must be a list of edits")),
        None => return Err(wrong("is missing")),
    };
    let mut edits = Vec::with_capacity(list.len());
    for (index, edit) in list.iter().enumerate() {
        let text = |key: &str| {
            edit.get(key)
                .and_then(Value::as_str)
                .ok_or_else(|| wrong(&format!("has no text \"{key}\" in edit {}", index + 1)))
        };
        edits.push(Edit {
            old: text("oldText")?.replace("\r\n", "\n"),
            new: text("newText")?.replace("\r\n", "\n"),
        });
    }
    if edits.is_empty() {
        return Err(wrong("is empty"));
    }
    Ok(edits)
}

/// Applies edits, all of them to the file as it is, or none.
pub(super) fn apply(bytes: &[u8], edits: &[Edit], name: &str) -> Result<Edited, String> {
    let plain = Plain::of(bytes);
    let crlf = plain.first_end_is_crlf;
    let mut spans = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let which = match edits.len() {
            1 => "oldText".to_owned(),
            _ => format!("oldText of edit {}", index + 1),
        };
        if edit.old.is_empty() {
            return Err(format!(
                "The {which} is empty. Name the text to be replaced; to create a file use \
                 \"write\". Nothing was changed."
            ));
        }
        if edit.old == edit.new {
            return Err(format!(
                "The {which} is the same as its newText. Nothing was changed."
            ));
        }
        let found: Vec<usize> = memmem::find_iter(&plain.bytes, edit.old.as_bytes()).collect();
        match found.as_slice() {
            [] => {
                return Err(format!(
                    "The {which} was not found in \"{name}\". It must be the same to the last \
                     space and line end.{} Nothing was changed.",
                    nearly(&plain.bytes, &edit.old)
                ));
            }
            [start] => spans.push((*start, start + edit.old.len(), edit)),
            several => {
                let lines: Vec<String> = several
                    .iter()
                    .take(NAMED_LINES)
                    .map(|at| line_of(&plain.bytes, *at).to_string())
                    .collect();
                let more = match several.len() > NAMED_LINES {
                    true => ", …",
                    false => "",
                };
                return Err(format!(
                    "The {which} stands in {} places of \"{name}\" (lines {}{more}). Put more of \
                     the text around it in, so that it is the only one. Nothing was changed.",
                    several.len(),
                    lines.join(", ")
                ));
            }
        }
    }
    spans.sort_by_key(|(start, ..)| *start);
    if let Some(pair) = spans.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        return Err(format!(
            "Two edits overlap at line {}. Make one of them. Nothing was changed.",
            line_of(&plain.bytes, pair[1].0)
        ));
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for (start, end, edit) in &spans {
        let (start, end) = (*start, *end);
        out.extend_from_slice(&bytes[plain.stored(from)..plain.stored(start)]);
        match crlf {
            true => out.extend_from_slice(edit.new.replace('\n', "\r\n").as_bytes()),
            false => out.extend_from_slice(edit.new.as_bytes()),
        }
        from = end;
    }
    out.extend_from_slice(&bytes[plain.stored(from)..]);
    let first = spans.first().map_or(0, |(start, ..)| *start);
    Ok(Edited {
        diff: diff(bytes, &out),
        bytes: out,
        first_line: line_of(&plain.bytes, first),
    })
}

/// The bytes of a file with `\n` for every `\r\n`, and the way back.
struct Plain {
    bytes: Vec<u8>,
    /// Where, in the plain bytes, a `\r` was left out.
    left_out: Vec<usize>,
    first_end_is_crlf: bool,
}

impl Plain {
    fn of(stored: &[u8]) -> Plain {
        let mut bytes = Vec::with_capacity(stored.len());
        let mut left_out = Vec::new();
        let mut from = 0;
        for at in memmem::find_iter(stored, b"\r\n") {
            bytes.extend_from_slice(&stored[from..at]);
            left_out.push(bytes.len());
            from = at + 1;
        }
        bytes.extend_from_slice(&stored[from..]);
        let first = memchr::memchr(b'\n', stored);
        Plain {
            bytes,
            left_out,
            first_end_is_crlf: first.is_some_and(|at| at > 0 && stored[at - 1] == b'\r'),
        }
    }

    /// Where a place in the plain bytes is in the stored ones. A place at a `\n`
    /// is before the `\r` that belongs to it.
    fn stored(&self, at: usize) -> usize {
        at + self.left_out.partition_point(|left_out| *left_out < at)
    }
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &bytes[..at]).count() + 1
}

/// Where the text would be found if spaces did not count.
fn nearly(bytes: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let wanted: Vec<&str> = old.trim().lines().map(str::trim).collect();
    if wanted.iter().all(|line| line.is_empty()) || wanted.len() > lines.len() {
        return String::new();
    }
    let place = lines
        .windows(wanted.len())
        .position(|window| window == wanted.as_slice());
    match place {
        Some(index) => format!(
            " Line {} is the same but for white space: read it again and copy it.",
            index + 1
        ),
        None => String::new(),
    }
}

/// The changed lines with `-` and `+`, and what stands around them.
fn diff(old: &[u8], new: &[u8]) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let (old, new) = (text(old), text(new));
    let lines = TextDiff::from_lines(&old, &new);
    lines.unified_diff().context_radius(AROUND).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit {
            old: old.into(),
            new: new.into(),
        }
    }

    fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
        apply(bytes, edits, "f").unwrap().bytes
    }

    fn refused(bytes: &[u8], edits: &[Edit]) -> String {
        apply(bytes, edits, "f").unwrap_err()
    }

    #[test]
    fn several_edits_apply_to_the_file_as_it_was() {
        let edits = [edit("b", "a"), edit("a", "b")];
        assert_eq!(edited(b"a b", &edits), b"b a");
    }

    #[test]
    fn a_text_that_is_not_there_changes_nothing_and_says_what_is_near() {
        let error = refused(
            b"fn a() {\n\tlet x = 1;\n}\n",
            &[edit("    let x = 1;", "y")],
        );
        assert!(error.contains("not found"), "{error}");
        assert!(
            error.contains("Line 2 is the same but for white space"),
            "{error}"
        );
        let error = refused(b"abc", &[edit("xyz", "y")]);
        assert!(!error.contains("white space"), "{error}");
    }

    #[test]
    fn a_text_in_several_places_is_refused_with_their_lines() {
        let error = refused(b"x\ny\nx\n", &[edit("x", "z")]);
        assert!(error.contains("2 places"), "{error}");
        assert!(error.contains("lines 1, 3"), "{error}");
    }

    #[test]
    fn one_wrong_edit_stops_all_and_is_named() {
        let error = refused(b"a b", &[edit("a", "1"), edit("c", "2")]);
        assert!(error.contains("edit 2"), "{error}");
    }

    #[test]
    fn edits_that_overlap_are_refused() {
        let error = refused(b"abc", &[edit("ab", "1"), edit("bc", "2")]);
        assert!(error.contains("overlap"), "{error}");
    }

    #[test]
    fn an_edit_without_text_or_without_change_is_refused() {
        assert!(refused(b"a", &[edit("", "x")]).contains("empty"));
        assert!(refused(b"a", &[edit("a", "a")]).contains("same"));
    }

    #[test]
    fn windows_line_ends_are_matched_and_kept() {
        let edits = [edit("b\nc", "x\ny\nz")];
        assert_eq!(
            edited(b"a\r\nb\r\nc\r\nd", &edits),
            b"a\r\nx\r\ny\r\nz\r\nd"
        );
    }

    #[test]
    fn line_ends_that_were_not_touched_stay_as_mixed_as_they_were() {
        let edits = [edit("c\n", "C\n")];
        assert_eq!(edited(b"a\nb\r\nc\nd\r\n", &edits), b"a\nb\r\nC\nd\r\n");
        let edits = [edit("d", "D")];
        assert_eq!(edited(b"a\r\nb\nd\r\n", &edits), b"a\r\nb\nD\r\n");
    }

    #[test]
    fn an_edit_that_ends_before_a_windows_line_end_leaves_it_whole() {
        assert_eq!(edited(b"a\r\nb\r\n", &[edit("a", "x")]), b"x\r\nb\r\n");
        assert_eq!(edited(b"a\r\nb\r\n", &[edit("a\n", "")]), b"b\r\n");
        assert_eq!(edited(b"a\r\nb\r\n", &[edit("\nb", "B")]), b"aB\r\n");
    }

    #[test]
    fn bytes_that_are_no_text_survive_an_edit_beside_them() {
        assert_eq!(
            edited(b"\xff\xfe a \x80", &[edit("a", "b")]),
            b"\xff\xfe b \x80"
        );
    }

    #[test]
    fn the_byte_order_mark_stays() {
        assert_eq!(
            edited(b"\xef\xbb\xbfa", &[edit("a", "b")]),
            b"\xef\xbb\xbfb"
        );
    }

    #[test]
    fn the_diff_shows_whole_lines_and_their_neighbours() {
        let edited = apply(
            b"1\n2\nlet a = 1;\n4\n5\n6\n",
            &[edit("a = 1", "b = 2")],
            "f",
        )
        .unwrap();
        assert_eq!(
            edited.diff,
            "@@ -1,5 +1,5 @@\n 1\n 2\n-let a = 1;\n+let b = 2;\n 4\n 5\n"
        );
        assert_eq!(edited.first_line, 3);
    }
}
