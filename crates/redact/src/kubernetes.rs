//! The secrets of Kubernetes: manifests of the kind `Secret`, whose every value
//! is one, in YAML and in the JSON of `kubectl get -o json`.

use super::Kind;
use super::shape::is_example;
use super::value::{Span, blanks, closing};

/// How far from its data the kind of a manifest is looked for.
const REACH: usize = 4_096;
/// No more of its data is read.
const BLOCK: usize = 32 * 1_024;

/// The values below the `data:` or `stringData:` whose colon is at `at`, if it
/// is that of a secret.
pub(super) fn values(bytes: &[u8], at: usize) -> Vec<Span> {
    let before = &bytes[..at];
    let quote = before.ends_with(b"\"");
    let name = before.strip_suffix(b"\"").unwrap_or(before);
    let slashes = match quote {
        true => name
            .iter()
            .rev()
            .take(8)
            .take_while(|b| **b == b'\\')
            .count(),
        false => 0,
    };
    let name = &name[..name.len() - slashes];
    let Some(length) = [&b"stringData"[..], b"data"]
        .iter()
        .find(|word| {
            let before = name.strip_suffix(**word);
            before.is_some_and(|b| !b.last().is_some_and(u8::is_ascii_alphanumeric))
        })
        .map(|word| word.len())
    else {
        return Vec::new();
    };
    let open = at + 1 + blanks(bytes, at + 1);
    let is_line = matches!(bytes.get(open), Some(b'\n' | b'\r'));
    let found = match quote {
        true if bytes.get(open) == Some(&b'{') => members(bytes, open + 1, slashes),
        false if is_line => lines(bytes, open, name.len() - length),
        _ => return Vec::new(),
    };
    let end = found.last().map_or(open, |span| span.end);
    match is_of_secret(bytes, at, end) {
        true => found,
        false => Vec::new(),
    }
}

/// Whether a text is the name of the kind, so that its JSON is worth a look.
pub(super) fn may_be_json(json: &str) -> bool {
    memchr::memmem::find(json.as_bytes(), b"\"Secret\"").is_some()
}

/// The strings of the members behind the bracket of an object, whose quotes
/// stand behind so many backslashes.
fn members(bytes: &[u8], from: usize, slashes: usize) -> Vec<Span> {
    let most = bytes.len().min(from + BLOCK);
    let mut found = Vec::new();
    let mut at = from;
    // Where the string that is next begins and ends; none where the object does.
    let string = |at: usize| {
        let rest = &bytes[at.min(most)..most];
        let gap = |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b':' | b'\\' | b'n');
        let open = rest.iter().position(|b| !gap(b))?;
        let quoted = rest[open] == b'"';
        let start = at + open + 1;
        let length = quoted.then(|| closing(&bytes[start..most], b'"', slashes))??;
        Some((start, start + length))
    };
    while let Some((_, end)) = string(at) {
        let Some((start, close)) = string(end + slashes + 1) else {
            break;
        };
        found.extend(span(bytes, start, close));
        at = close + slashes + 1;
    }
    found
}

/// The values of the lines below the end of the line at `from` that are further
/// in than the name at `name`, those that go on over several lines as well.
fn lines(bytes: &[u8], from: usize, name: usize) -> Vec<Span> {
    let before = &bytes[name.saturating_sub(REACH)..name];
    let own = before.iter().rev().take_while(|b| **b != b'\n').count();
    let most = bytes.len().min(from + BLOCK);
    let rest = &bytes[from..most];
    let mut found = Vec::new();
    let mut place = from + memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    // How far in the name is whose value stands in the lines below it.
    let mut open: Option<usize> = None;
    for line in bytes[place.min(most)..most].split(|b| *b == b'\n') {
        let indent = line.len() - line.trim_ascii_start().len();
        let text = line.trim_ascii();
        let start = place + indent;
        place += line.len() + 1;
        if text.is_empty() || open.is_none() && text.starts_with(b"#") {
            continue;
        }
        if indent <= own {
            break;
        }
        if open.is_some_and(|name| indent > name) {
            found.extend(span(bytes, start, start + text.len()));
            continue;
        }
        open = None;
        let Some(colon) = memchr::memchr(b':', text) else {
            continue;
        };
        let value = text[colon + 1..].trim_ascii_start();
        let begin = start + text.len() - value.len();
        if matches!(value, b"" | b"|" | b"|-" | b"|+" | b">" | b">-" | b">+") {
            open = Some(indent);
            continue;
        }
        let inner = match value {
            [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
            _ => value,
        };
        let begin = begin + usize::from(inner.len() < value.len());
        found.extend(span(bytes, begin, begin + inner.len()));
    }
    found
}

/// A value, unless it says where one comes from or is an example.
fn span(bytes: &[u8], start: usize, end: usize) -> Option<Span> {
    const SHORT: usize = 8;
    let text = &bytes[start..end];
    let refers = matches!(
        text.first()?,
        b'$' | b'{' | b'<' | b'[' | b'|' | b'>' | b'*' | b'#'
    );
    let example = text.len() > SHORT && is_example(text);
    (!refers && !example).then_some(Span {
        kind: Kind::Secret,
        start,
        end,
    })
}

/// Whether the document around its data, which begins at `at` and ends at
/// `end`, says that it is a secret.
fn is_of_secret(bytes: &[u8], at: usize, end: usize) -> bool {
    const RULE: &[u8] = b"\n---";
    let before = &bytes[at.saturating_sub(REACH)..at];
    let before = &before[memchr::memmem::rfind(before, RULE).unwrap_or(0)..];
    let after = &bytes[end..bytes.len().min(end + REACH)];
    let after = &after[..memchr::memmem::find(after, RULE).unwrap_or(after.len())];
    says(before) || says(after)
}

/// Whether a text says `kind: Secret`, in quotes or not.
fn says(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"kind").any(|place| {
        let gap = |b: &&u8| matches!(b, b' ' | b'"' | b'\'' | b'\\');
        let skip = |from: usize| from + text[from..].iter().take(8).take_while(gap).count();
        let colon = skip(place + b"kind".len());
        if text.get(colon) != Some(&b':') {
            return false;
        }
        let rest = &text[skip(colon + 1)..];
        let ends = |b: &u8| !b.is_ascii_alphanumeric();
        rest.starts_with(b"Secret") && rest.get(b"Secret".len()).is_none_or(ends)
    })
}
