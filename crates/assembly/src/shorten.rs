//! Shortening: a long file keeps its beginning and its end.
//!
//! The beginning of such a file says what it is about and its end what was added
//! last; the mark between them says how much is missing, so that the agent knows
//! to read the file itself.

use crate::fence;
use crate::files::Content;

/// How a file is shortened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Characters it may have, the mark included.
    pub(crate) limit: usize,
    pub(crate) head_percent: f64,
    pub(crate) tail_percent: f64,
}

/// What is shown of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Neutral, with our mark where something is missing.
    pub(crate) body: String,
    /// Characters of the file in it, and those of the mark.
    pub(crate) chars: usize,
    /// Characters that are missing.
    pub(crate) left_out: u64,
}

/// The content within its limit; nothing if not even the mark would fit.
pub(crate) fn shorten(name: &str, content: &Content, shape: Shape) -> Option<Shown> {
    if content.tail.is_none() {
        let chars = content.head.chars().count();
        if chars <= shape.limit {
            return Some(Shown {
                body: fence::neutral(&content.head).into_owned(),
                chars,
                left_out: 0,
            });
        }
    }
    let mark_chars = mark(name, u64::MAX, "characters").chars().count();
    let room = shape
        .limit
        .checked_sub(mark_chars)
        .filter(|room| *room > 0)?;
    let share = |percent: f64| (shape.limit as f64 * percent / 100.0) as usize;
    let head_chars = share(shape.head_percent).min(room);
    let tail_chars = share(shape.tail_percent).min(room - head_chars);

    let head = beginning(&content.head, head_chars);
    let source = content
        .tail
        .as_deref()
        .unwrap_or(&content.head[head.len()..]);
    let tail = end(source, tail_chars);
    let kept = head.chars().count() + tail.chars().count();
    let (left_out, unit) = match content.chars {
        Some(chars) => (chars.saturating_sub(kept as u64), "characters"),
        None => {
            let kept = (head.len() + tail.len()) as u64;
            (content.bytes.saturating_sub(kept), "bytes")
        }
    };
    let mark = mark(name, left_out, unit);
    Some(Shown {
        chars: kept + mark.chars().count(),
        body: format!("{}{mark}{}", fence::neutral(head), fence::neutral(tail)),
        left_out,
    })
}

fn mark(name: &str, left_out: u64, unit: &str) -> String {
    let name = fence::attribute(name);
    format!("\n<longhaul:cut file=\"{name}\" {unit}=\"{left_out}\"/>\n")
}

/// How far a cut may move to reach the end of a line: a tenth, and not more
/// than a few lines.
fn near(chars: usize) -> usize {
    (chars / 10).min(400)
}

/// The first `chars` characters, or a little less up to a line end.
fn beginning(text: &str, chars: usize) -> &str {
    let end = nth(text, chars);
    let earliest = nth(text, chars - near(chars));
    match text[earliest..end].rfind('\n') {
        Some(at) => &text[..earliest + at],
        None => &text[..end],
    }
}

/// The last `chars` characters, or a little less from a line's beginning.
fn end(text: &str, chars: usize) -> &str {
    let start = nth_last(text, chars);
    let latest = nth_last(text, chars - near(chars));
    match text[start..latest].find('\n') {
        Some(at) => &text[start + at + 1..],
        None => &text[start..],
    }
}

/// The byte after the first `chars` characters.
fn nth(text: &str, chars: usize) -> usize {
    text.char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at)
}

/// The byte before the last `chars` characters.
fn nth_last(text: &str, chars: usize) -> usize {
    match chars.checked_sub(1) {
        None => text.len(),
        Some(back) => text.char_indices().nth_back(back).map_or(0, |(at, _)| at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> Content {
        Content {
            head: text.to_owned(),
            tail: None,
            chars: Some(text.chars().count() as u64),
            bytes: text.len() as u64,
            lossy: false,
        }
    }

    fn shape(limit: usize) -> Shape {
        Shape {
            limit,
            head_percent: 70.0,
            tail_percent: 20.0,
        }
    }

    #[test]
    fn head_and_tail_stay_and_the_mark_says_what_is_missing() {
        let text = format!(
            "{}{}{}",
            "a".repeat(700),
            "b".repeat(1_000),
            "c".repeat(200)
        );
        let shown = shorten("AGENTS.md", &whole(&text), shape(1_000)).unwrap();
        let expected = format!(
            "{}\n<longhaul:cut file=\"AGENTS.md\" characters=\"1000\"/>\n{}",
            "a".repeat(700),
            "c".repeat(200)
        );
        assert_eq!((shown.body, shown.left_out), (expected, 1_000));
    }

    #[test]
    fn a_cut_prefers_the_end_of_a_line_that_is_near() {
        let text = "0123456789 0123456789 0123456789\n".repeat(100);
        let shown = shorten("A", &whole(&text), shape(1_000)).unwrap();
        let (head, rest) = shown.body.split_once("\n<longhaul:cut").unwrap();
        let (_, tail) = rest.split_once("/>\n").unwrap();
        assert!(head.ends_with("89") && head.len() > 630);
        assert!(tail.starts_with("01") && tail.len() > 180);
    }

    proptest! {
        #[test]
        fn every_text_stays_within_its_limit_and_is_accounted_for(
            text in "(?s)([a-zé日🙂\\n]{0,40}){0,40}",
            limit in 0..600_usize,
            head_percent in 0.0..=100.0,
            tail_percent in 0.0..=100.0,
        ) {
            let content = whole(&text);
            let shape = Shape { limit, head_percent, tail_percent };
            let Some(shown) = shorten("f", &content, shape) else {
                prop_assert!(limit < 80);
                return Ok(());
            };
            prop_assert!(shown.chars <= limit);
            prop_assert_eq!(shown.body.chars().count(), shown.chars);
            if shown.left_out == 0 && shown.body == text {
                return Ok(());
            }
            let mark = mark("f", shown.left_out, "characters");
            let (head, tail) = shown.body.split_once(&mark).unwrap();
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            let kept = head.chars().count() + tail.chars().count();
            prop_assert_eq!(kept as u64 + shown.left_out, content.chars.unwrap());
        }
    }
}
