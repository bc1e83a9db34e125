//! Secrets in several pieces: strings that a program puts together, and values
//! that a backslash carries on into the next line.

use super::names::Promise;
use super::promised::is_secret;
use super::shape::Shape;
use super::value::{BARE, Quoted, Span, VALUE, blanks, closing, value};

/// A secret has no more pieces.
const MOST: usize = 16;

/// The pieces behind a secret that ends at `span.end`, in their order.
pub(super) fn behind(bytes: &[u8], span: Span) -> Vec<Span> {
    let mut found: Vec<Span> = folded(bytes, span.end)
        .into_iter()
        .chain(replacing(bytes, span.end))
        .map(|(start, end)| Span { start, end, ..span })
        .collect();
    let mut end = span.end;
    while let Some((start, next)) = piece(bytes, end).filter(|_| found.len() < MOST) {
        let shape = Shape::of(&bytes[start..next]);
        let drawn = shape.digits > 0 || shape.upper > 0 && shape.lower > 0;
        if next - start < 4 || !drawn || shape.distinct < 4 {
            break;
        }
        found.push(Span {
            kind: span.kind,
            start,
            end: next,
        });
        end = next;
    }
    found
}

/// The string that takes the place of the one that ends at `end`, as plans of
/// Terraform show it: `~ password = "x" -> "y"`.
pub(super) fn replacing(bytes: &[u8], end: usize) -> Option<(usize, usize)> {
    const ARROW: &[u8] = b"\" -> \"";
    let start = end + ARROW.len();
    let rest = bytes.get(end..)?.strip_prefix(ARROW)?;
    let length = closing(&rest[..rest.len().min(VALUE)], b'"', 0)?;
    let known = rest.starts_with(b"[redacted:");
    (length > 3 && !known).then_some((start, start + length))
}

/// The string that takes the place of the one at `from`.
pub(super) fn instead(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let rest = bytes.get(start..)?.strip_prefix(b"\"")?;
    let length = closing(&rest[..rest.len().min(BARE)], b'"', 0)?;
    let (open, _) = replacing(bytes, start + 1 + length)?;
    value(bytes, open - 1, promise)
}

/// The pieces of the value at `from`, if it has several and they are a secret
/// only together.
pub(super) fn joined(bytes: &[u8], from: usize, promise: Promise) -> Vec<Span> {
    let mut start = from + blanks(bytes, from);
    if bytes.get(start) == Some(&b'(') {
        let gap = bytes[start + 1..].iter().take(64);
        start += 1 + gap.take_while(|b| b.is_ascii_whitespace()).count();
    }
    let quoted = matches!(bytes.get(start), Some(b'"' | b'\''));
    start += usize::from(quoted);
    let mut end = start + run(bytes, start);
    let mut pieces = vec![(start, end)];
    while let Some(next) = piece(bytes, end).filter(|_| pieces.len() < MOST) {
        end = next.1;
        pieces.push(next);
    }
    let text: Vec<u8> = pieces
        .iter()
        .flat_map(|(start, end)| bytes[*start..*end].iter().copied())
        .collect();
    let promise = match promise {
        Promise::Password => Promise::Password,
        Promise::Random | Promise::Perhaps => Promise::Random,
    };
    if pieces.len() < 2 || !is_secret(&text, promise, Quoted::Yes) {
        return Vec::new();
    }
    let span = |(start, end)| Span {
        kind: promise.kind(),
        start,
        end,
    };
    let whole = pieces.into_iter().filter(|(start, end)| start < end);
    whole.map(span).collect()
}

/// The beginning of a key and what goes on behind its end at `end`, as long as
/// it is shorter than a key is.
pub(super) fn with_others(bytes: &[u8], mut begun: Vec<u8>, end: usize, least: usize) -> Vec<u8> {
    let mut end = end;
    let mut count = 0;
    while let Some((start, next)) =
        piece(bytes, end).filter(|_| begun.len() < least && count < MOST)
    {
        begun.extend_from_slice(&bytes[start..next]);
        end = next;
        count += 1;
    }
    begun
}

/// The lines of a block of YAML that go on behind the one in which a secret
/// ends at `end`: indented as that one, and nothing else in them.
fn folded(bytes: &[u8], end: usize) -> Vec<(usize, usize)> {
    const OPENS: [&[u8]; 4] = [b": >", b": >-", b": |", b": |-"];
    let floor = end.saturating_sub(VALUE);
    let line = memchr::memrchr(b'\n', &bytes[floor..end]).map(|place| floor + place + 1);
    let mut found = Vec::new();
    let Some(line) = line.filter(|line| OPENS.iter().any(|o| bytes[..line - 1].ends_with(o)))
    else {
        return found;
    };
    let indent = blanks(bytes, line);
    let mut end = end;
    while bytes.get(end) == Some(&b'\n') && blanks(bytes, end + 1) == indent && found.len() < MOST {
        let start = end + 1 + indent;
        let length = run(bytes, start);
        if length == 0 || bytes.get(start + length).is_some_and(|b| *b != b'\n') {
            break;
        }
        end = start + length;
        found.push((start, end));
    }
    found
}

/// The piece that goes on where the one before ends, at `end`.
fn piece(bytes: &[u8], end: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(end..)?;
    if rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n") {
        let line = end + memchr::memchr(b'\n', rest)? + 1;
        let start = line + blanks(bytes, line);
        let length = run(bytes, start);
        let after = bytes.get(start + length);
        let ends =
            after.is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\'));
        return (length > 0 && ends).then_some((start, start + length));
    }
    let quote = *rest.first().filter(|b| matches!(b, b'"' | b'\''))?;
    let mut at = end + 1;
    let (mut lines, mut signs) = (0, 0);
    loop {
        let byte = *bytes.get(at)?;
        match byte {
            b' ' | b'\t' | b'\r' => {}
            b'\n' => lines += 1,
            b'+' | b'.' | b'&' | b'|' | b'\\' => signs += 1,
            _ if byte == quote => break,
            _ => return None,
        }
        at += 1;
        if at > end + 96 || lines > 1 || signs > 2 {
            return None;
        }
    }
    // Beside each other on one line they are two strings.
    if lines + signs == 0 {
        return None;
    }
    let start = at + 1;
    let text = &bytes[start..bytes.len().min(start + VALUE)];
    let length = closing(text, quote, 0)?;
    (length == run(bytes, start)).then_some((start, start + length))
}

/// How many bytes a key may be made of follow each other.
fn run(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default().iter().take(VALUE);
    rest.take_while(|b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.')
    })
    .count()
}
