//! Private keys between their marks: `-----BEGIN … PRIVATE KEY-----`.
//!
//! A key may stand in a program, a list of JSON, a diff or what `grep` printed,
//! with quotes, escapes and marks about its lines, and one of its ends may have
//! been cut off. It goes as far as lines look like base64.

use std::sync::LazyLock;

use regex::Regex;

use super::Kind;
use super::shape::Shape;
use super::span::Span;
use super::value::floor;

/// Larger than any key.
const LONGEST: usize = 64 * 1_024;
/// No line of base64 is shorter, but the last one.
const LINE: usize = 30;

struct Marks {
    begin: Regex,
    end: Regex,
    /// What a line has besides base64: marks before it, quotes, an escape behind.
    line: Regex,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let compiled = |pattern: &str| Regex::new(pattern).expect("it is valid");
    Marks {
        begin: compiled(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"),
        end: compiled(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"),
        line: compiled(
            r#"^[^A-Za-z0-9+/\n]{0,40}(?:[\w./-]{1,80}[:-](?:\d+[:-])?|\d{1,7}\W{1,4})?[^A-Za-z0-9+/\n]{0,20}([A-Za-z0-9+/]{16,}={0,2})\W{0,12}$"#,
        ),
    }
});

/// Every private key, whole or cut off.
pub(crate) fn private_keys(text: &str, found: &mut Vec<Span>) {
    if memchr::memmem::find(text.as_bytes(), b"PRIVATE KEY").is_none() {
        return;
    }
    let mut from = 0;
    let mut floor_of_tail = 0;
    while let Some(begin) = MARKS.begin.find_at(text, from) {
        tails(&text[..begin.start()], floor_of_tail, found);
        let window = &text[begin.end()..floor(text, begin.end() + LONGEST)];
        let next = MARKS
            .begin
            .find(window)
            .map_or(window.len(), |next| next.start());
        let end = MARKS
            .end
            .find(&window[..next])
            .filter(|end| longest_run(&window[..end.start()]) >= LINE)
            .map(|end| end.end())
            .or_else(|| lines(&window[..next]));
        from = begin.end() + end.unwrap_or(0);
        floor_of_tail = from;
        if end.is_some() {
            found.push(span(begin.start(), from));
        }
    }
    tails(text, floor_of_tail, found);
}

fn span(start: usize, end: usize) -> Span {
    Span {
        kind: Kind::PrivateKey,
        start,
        end,
    }
}

/// The length of the longest run of base64 in a text.
fn longest_run(text: &str) -> usize {
    let part = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
    text.split(part).map(str::len).max().unwrap_or(0)
}

/// Where a text is divided into lines, also by line ends that are written as
/// such: each line's beginning and end.
fn divided(text: &str) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    let mut from = 0;
    while from <= text.len() {
        let end = text[from..].find('\n').map(|at| (from + at, 1));
        let escaped = text[from..].find("\\n").map(|at| (from + at, 2));
        let next = [end, escaped].into_iter().flatten().min();
        let (to, length) = next.unwrap_or((text.len(), 1));
        lines.push((from, to));
        from = to + length;
    }
    lines
}

/// Where the lines of base64 end with which a text begins, and the headers of
/// old keys among them.
fn lines(text: &str) -> Option<usize> {
    let (mut end, mut seen) = (0, 0);
    for (from, to) in divided(text).into_iter().take(1_024) {
        let line = &text[from..to];
        if let Some(body) = MARKS.line.captures(line).and_then(|groups| groups.get(1)) {
            end = from + body.end();
            seen = seen.max(body.len());
        } else if from > 0 && !line.trim().is_empty() && !line.contains(": ") {
            break;
        }
    }
    (seen >= LINE).then_some(end)
}

/// Keys of which only the end stands in a text, as `tail` prints them.
fn tails(text: &str, from: usize, found: &mut Vec<Span>) {
    let mut from = from;
    while let Some(end) = MARKS.end.find_at(text, from) {
        let window = &text[floor(text, end.start().saturating_sub(LONGEST)).max(from)..end.start()];
        let base = end.start() - window.len();
        let mut start = None;
        let mut short = 0;
        for (line, to) in divided(window).into_iter().rev() {
            let body = MARKS
                .line
                .captures(&window[line..to])
                .and_then(|groups| groups.get(1));
            match body.filter(|body| body.len() >= LINE && is_random(body.as_str())) {
                Some(body) => start = Some(base + line + body.start()),
                // The last line of a key is short, and so is what quotes it.
                None if short < 3 => short += 1,
                None => break,
            }
        }
        if let Some(start) = start {
            found.push(span(start, end.end()));
        }
        from = end.end();
    }
}

fn is_random(line: &str) -> bool {
    let shape = Shape::of(line.as_bytes());
    shape.is_cased() && shape.digits > 0
}
