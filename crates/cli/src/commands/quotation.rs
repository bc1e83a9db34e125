//! Quoted data, as it is printed: fenced, dated and attributed.

use std::borrow::Cow;

use longhaul_engine::ours;

use crate::prelude::*;

/// Prints what stands in a session or a file between two marks, with lines about it
/// before the second.
pub(super) fn print(heading: &str, text: &str, about: &[String], key: &str) -> Result {
    say!("{}", ours::opening(heading))?;
    out::whole(&format!("{}\n", unmarked(text)))?;
    for line in about {
        say!("{}", unmarked(line))?;
    }
    say!("{}", ours::ending(&format!("of {key}")))
}

/// A text as it stands between our marks: a line of it that looks like one of
/// them is set off, so that nothing ends its own quotation.
fn unmarked(text: &str) -> Cow<'_, str> {
    let is_mark = |line: &str| line.trim_start().starts_with('─');
    // What a terminal takes for the end of a line is one here as well.
    let ends = [
        '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}',
    ];
    if !text.split(ends).any(is_mark) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for piece in text.split_inclusive(ends) {
        if is_mark(piece) {
            out.push_str("│ ");
        }
        out.push_str(piece);
    }
    Cow::Owned(out)
}
