//! Secrets below their name: in the next line, in code that is fenced there, or
//! behind an empty line, as mails and documents set them apart.

use super::drawn::numbers;
use super::follows::Name;
use super::lead::{is_heading_of_name, is_of_something_else};
use super::names::Promise;
use super::promised::is_sure_key;
use super::spoken::is_means;
use super::turns::is_telling;
use super::value::{BARE, Span, blanks, value};

/// A secret alone in the line below its name, as people send them, or in code
/// that is fenced there.
pub(super) fn below(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    let next = next_line(bytes, from)?;
    if is_of_something_else(bytes, from) {
        return None;
    }
    let line = behind_fence(bytes, next);
    let found = match blanks(bytes, line) {
        0 => alone(bytes, line, promise),
        _ => None,
    };
    found.or_else(|| apart(bytes, next, promise))
}

/// The secret below the heading that a name ends: `## API key`, `**API key**`.
pub(super) fn headed(bytes: &[u8], name: Name) -> Option<Span> {
    const LONGEST: usize = 64;
    let before = &bytes[name.start.saturating_sub(LONGEST)..name.start];
    let line = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
    let bold = bytes[name.end..].starts_with(b"**");
    let mark: &[u8] = if bold { b"**" } else { b"#" };
    let heading = &before[line..];
    if !heading.starts_with(mark) || name.promise == Promise::Perhaps {
        return None;
    }
    let from = name.end + if bold { mark.len() } else { 0 };
    let found = below(bytes, from, name.promise)?;
    let text = &bytes[found.start..found.end];
    let told = is_heading_of_name(heading) || is_clearly_drawn(text, name.promise);
    (told && is_sure(text, name.promise)).then_some(found)
}

/// Whether a text can be nothing else, whatever the heading above it tells of the
/// secret. Classes and tests have one number in their name.
fn is_clearly_drawn(text: &[u8], promise: Promise) -> bool {
    const LEAST: usize = 8;
    let cased = text.iter().any(u8::is_ascii_uppercase) && text.iter().any(u8::is_ascii_lowercase);
    let whole = text.len() >= LEAST && text.iter().all(u8::is_ascii_alphanumeric);
    match promise {
        Promise::Password => whole && cased && numbers(text) > 1 && !is_means(text),
        Promise::Random => is_sure_key(text),
        Promise::Perhaps => false,
    }
}

/// The same behind an empty line, where much else may stand too.
fn apart(bytes: &[u8], next: usize, promise: Promise) -> Option<Span> {
    let line = next_line(bytes, next)?;
    let found = alone(bytes, line + blanks(bytes, line), promise)?;
    is_sure(&bytes[found.start..found.end], promise).then_some(found)
}

/// The value that is all of the line from `start` on.
fn alone(bytes: &[u8], start: usize, promise: Promise) -> Option<Span> {
    let rest = &bytes[start..bytes.len().min(start + BARE)];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let line = line.trim_ascii_end();
    let found = value(bytes, start, promise)?;
    let quote = usize::from(matches!(line.last(), Some(b'"' | b'\'' | b'`')));
    let whole = found.end == start + line.len() - quote;
    (whole && !line.contains(&b' ')).then_some(found)
}

/// Whether a text needs no sign beside it to be taken for what was promised.
fn is_sure(text: &[u8], promise: Promise) -> bool {
    promise != Promise::Password || is_telling(text) && !is_ticket(text)
}

/// Whether a text is the id of a ticket, or the branch for it: `PROJ-4821-Login`.
fn is_ticket(text: &[u8]) -> bool {
    let mut parts = text.split(|b| *b == b'-');
    let of = |part: Option<&[u8]>, is: fn(&u8) -> bool| {
        part.is_some_and(|part| part.len() > 1 && part.iter().all(is))
    };
    let project = of(parts.next(), u8::is_ascii_uppercase);
    let number = of(parts.next(), u8::is_ascii_digit);
    project && number && parts.all(|part| part.iter().all(u8::is_ascii_alphabetic))
}

/// Where the next line begins, if nothing but blanks stand in this one from `from`
/// on.
fn next_line(bytes: &[u8], from: usize) -> Option<usize> {
    let end = from + blanks(bytes, from);
    let end = end + usize::from(bytes.get(end) == Some(&b'\r'));
    (bytes.get(end) == Some(&b'\n')).then_some(end + 1)
}

/// Where the line behind the opening of a fence at `at` begins, or `at`.
fn behind_fence(bytes: &[u8], at: usize) -> usize {
    const LANGUAGE: usize = 24;
    let rest = bytes.get(at..).unwrap_or_default();
    let empty = usize::from(rest.starts_with(b"\n"));
    let rest = &rest[empty..];
    let line = memchr::memchr(b'\n', &rest[..rest.len().min(LANGUAGE)]);
    match line.filter(|_| rest.starts_with(b"```")) {
        Some(line) => at + empty + line + 1,
        None => at,
    }
}
