//! Secrets in files of comma-separated values and in what the clients of
//! databases print: what stands at the top of a column is the name of everything
//! below it.

use super::Redactor;
use super::markdown::trimmed;
use super::names::Promise;
use super::promised::is_secret;
use super::value::{Quoted, Span};
use super::vendors::is_word_start;
use super::words::is_literal_as_password;

/// No row is longer.
const ROW: usize = 4_096;
/// Nor has a row more fields.
const FIELDS: usize = 128;

/// Such a table: what is secret in it and where it ends.
pub(super) struct Columns {
    pub(super) found: Vec<Span>,
    pub(super) end: usize,
}

impl Redactor {
    /// The table at whose top the name stands that has `at` in it.
    pub(super) fn separated(&self, bytes: &[u8], at: usize) -> Option<Columns> {
        if !is_in_field(bytes, at) {
            return None;
        }
        let before = &bytes[at.saturating_sub(ROW)..at];
        let begin = memchr::memrchr(b'\n', before);
        let begin = begin.map(|place| place + 1);
        let begin = begin.or((before.len() == at).then_some(0))?;
        let top = at - (before.len() - begin);
        let head = row(bytes, top)?;
        let under = row(bytes, top + head.len() + 1).unwrap_or_default();
        let ruled = is_rule(under);
        if ruled && !under.contains(&b'+') {
            return self.spaced(bytes, top, head, under);
        }
        let Some(separator) = [b',', b';', b'\t', b'|']
            .into_iter()
            .find(|separator| head.contains(separator))
        else {
            return self.aligned(bytes, top, head);
        };
        let names = fields(head, top, separator)?;
        let mut promises = Vec::with_capacity(names.len());
        for (start, end) in &names {
            let name = trimmed(&bytes[*start..*end]);
            let first = name.first()?;
            let part = |b: &u8| b.is_ascii_alphanumeric() || b" _-.".contains(b);
            if !(first.is_ascii_alphabetic() || *first == b'_') || !name.iter().all(part) {
                return None;
            }
            promises.push(self.words(name));
        }
        if names.len() < 2 || promises.iter().all(Option::is_none) {
            return None;
        }
        // In prose a blank stands behind a comma; there letters are words, and a
        // field of several of them is part of a sentence.
        let close = |row: &[u8]| memchr::memmem::find(row, &[separator, b' ']).is_none();
        let tight = close(head);
        let blank = |(start, end): &(usize, usize)| bytes[*start..*end].contains(&b' ');
        // Without a line below its names what bars part may be commands.
        let told = ruled && separator == b'|';
        if !told && !tight && (names.iter().any(blank) || separator == b'|') {
            return None;
        }
        let mut next = top + head.len() + 1;
        next += if told { under.len() + 1 } else { 0 };
        let mut found = Vec::new();
        while let Some(text) = row(bytes, next).filter(|text| !text.trim_ascii().is_empty()) {
            let Some(cells) = fields(text, next, separator).filter(|c| c.len() == names.len())
            else {
                break;
            };
            let words = told || tight && close(text);
            for (cell, promise) in cells.into_iter().zip(&promises) {
                found.extend(promise.and_then(|promise| secret(bytes, cell, promise, words)));
            }
            next += text.len() + 1;
        }
        Some(Columns {
            found,
            end: next.min(bytes.len()),
        })
    }
}

impl Redactor {
    /// The table whose columns stand below dashes that tell how wide they are, as
    /// `sqlite3 -column` prints it.
    fn spaced(&self, bytes: &[u8], top: usize, head: &[u8], rule: &[u8]) -> Option<Columns> {
        let begins: Vec<usize> = (0..rule.len())
            .filter(|at| rule[*at] == b'-' && (*at == 0 || rule[at - 1] == b' '))
            .take(FIELDS)
            .collect();
        let names = cut(head, top, &begins);
        let promises: Vec<Option<Promise>> = names
            .iter()
            .map(|(start, end)| self.words(&bytes[*start..*end]))
            .collect();
        if names.len() < 2 || promises.iter().all(Option::is_none) {
            return None;
        }
        let mut next = top + head.len() + 1 + rule.len() + 1;
        let mut found = Vec::new();
        while let Some(text) = row(bytes, next).filter(|text| !text.trim_ascii().is_empty()) {
            for (cell, promise) in cut(text, next, &begins).into_iter().zip(&promises) {
                found.extend(promise.and_then(|promise| secret(bytes, cell, promise, true)));
            }
            next += text.len() + 1;
        }
        Some(Columns {
            found,
            end: next.min(bytes.len()),
        })
    }
}

/// The field, if it is what the name of its column promises; of letters only
/// where words do not stand in it.
fn secret(bytes: &[u8], field: (usize, usize), promise: Promise, words: bool) -> Option<Span> {
    let (start, end) = field;
    let value = &bytes[start..end];
    let is = is_secret(value, promise, Quoted::Yes)
        || words && promise == Promise::Password && is_literal_as_password(value);
    is.then_some(Span {
        kind: promise.kind(),
        start,
        end,
    })
}

/// Whether a line parts the names of columns from their rows: `----+-----`,
/// `---  ----`.
fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let drawn = |b: &u8| matches!(b, b'-' | b'+' | b' ');
    let parts = line.split(|b| *b != b'-').filter(|part| part.len() > 1);
    line.starts_with(b"-") && line.iter().all(drawn) && parts.count() > 1
}

/// Where the fields of a row begin and end that stand at these places of a line,
/// without the blanks around them.
fn cut(row: &[u8], from: usize, begins: &[usize]) -> Vec<(usize, usize)> {
    // A letter of several bytes is as wide as others.
    let place = |column: usize| {
        let mut letters = (0..row.len()).filter(|at| !matches!(row[*at], 0x80..=0xbf));
        letters.nth(column).unwrap_or(row.len())
    };
    let places: Vec<usize> = begins.iter().map(|column| place(*column)).collect();
    let ends = places.iter().skip(1).copied().chain([row.len()]);
    let field = |(start, end): (&usize, usize)| {
        let text = &row[*start..end];
        let start = start + text.len() - text.trim_ascii_start().len();
        (from + start, from + (start + text.trim_ascii().len()))
    };
    places.iter().zip(ends).map(field).collect()
}

/// Whether the word at `at` ends a field.
fn is_in_field(bytes: &[u8], at: usize) -> bool {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let rest = &bytes[at..bytes.len().min(at + 64)];
    let length = rest.iter().take_while(|b| part(b)).count();
    let mut after = rest[length..].iter();
    let is_end = |b: &u8| matches!(b, b',' | b';' | b'\t' | b'\n' | b'\r' | b'|');
    let ends = match after.next() {
        Some(b'"' | b'\'') => after.next().is_some_and(is_end),
        // Blanks are before a bar, the end of the line or the next column.
        Some(b' ') => {
            let next = after.find(|b| **b != b' ');
            next.is_none_or(|b| matches!(b, b'|' | b'\n' | b'\r'))
                || rest[length..].starts_with(b"  ")
        }
        Some(byte) => is_end(byte),
        None => false,
    };
    ends && (is_word_start(bytes, at)
        || bytes[at - 1] == b'_'
        || bytes[at - 1].is_ascii_lowercase())
}

/// The row that begins at `at`, without its line end.
pub(super) fn row(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let rest = &rest[..rest.len().min(ROW)];
    let end = memchr::memchr(b'\n', rest);
    (end.is_some() || rest.len() < ROW).then(|| &rest[..end.unwrap_or(rest.len())])
}

/// Where the fields of a row begin and end, out of their quotes.
fn fields(row: &[u8], from: usize, separator: u8) -> Option<Vec<(usize, usize)>> {
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at += row[at..].iter().take_while(|b| **b == b' ').count();
        let quote = row.get(at).filter(|b| matches!(b, b'"' | b'\'')).copied();
        let (start, end, next) = match quote {
            Some(quote) => {
                let start = at + 1;
                let end = start + memchr::memchr(quote, &row[start..])?;
                (start, end, end + 1)
            }
            None => {
                let length = memchr::memchr(separator, &row[at..]);
                let end = length.map_or(row.len(), |length| at + length);
                (at, at + row[at..end].trim_ascii_end().len(), end)
            }
        };
        found.push((from + start, from + end));
        let next = next + row[next..].iter().take_while(|b| **b == b' ').count();
        match row.get(next) {
            None => return Some(found),
            Some(byte) if *byte == separator && found.len() < FIELDS => at = next + 1,
            Some(_) => return None,
        }
    }
}
