//! Secrets in Markdown: beside a name in bold, in a table, in code behind a
//! name.

use super::names::Promise;
use super::value::{Span, blanks, value};
use super::words::is_word_as_password;
use super::{Kind, Redactor};

/// A cell that names something is no longer.
const NAME: usize = 48;
/// And has no more words.
const WORDS: usize = 3;
/// A value in bold or in a cell ends within so many bytes.
const REACH: usize = 512;

/// Where the value of `**Password:** x` begins, whose colon is before `from`.
pub(super) fn behind_bold(bytes: &[u8], from: usize) -> usize {
    let stars = stars(bytes, from);
    let parted = matches!(bytes.get(from + stars), Some(b' ' | b'\t' | b'\n'));
    if parted { from + stars } else { from }
}

/// A value that is itself in bold: `Password: **x**`.
pub(super) fn in_bold(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    let open = from + blanks(bytes, from);
    let marks = stars(bytes, open);
    if marks == 0 {
        return None;
    }
    let start = open + marks;
    let line = line(bytes, start);
    let close = start + memchr::memmem::find(line, &b"***"[..marks])?;
    whole(bytes, start, close, promise)
}

impl Redactor {
    /// The value in the cell behind the bar at `at`, if the cell before it is
    /// the name of a secret: `| password | x |`.
    pub(super) fn cell(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let promise = self.words(cell_name(bytes, at)?)?;
        let start = at + 1;
        let line = line(bytes, start);
        let close = match memchr::memchr(b'|', line) {
            Some(bar) => start + bar,
            None if is_of_record(bytes, at) => start + line.len(),
            None => return None,
        };
        let start = start + blanks(bytes, start);
        let length = bytes.get(start..close)?.trim_ascii_end().len();
        in_bold(&bytes[..close], start, promise)
            .or_else(|| whole(bytes, start, start + length, promise))
            .or_else(|| {
                // Letters alone only where the row is about the password, and
                // its cells are no names of columns.
                let about =
                    promise == Promise::Password && begins_row(bytes, at) && !tops(bytes, at);
                about.then(|| lone_word(bytes, start, start + length))?
            })
    }

    /// The code that opens at `at` behind the name of a secret: `` api key `x` ``.
    pub(super) fn code(&self, bytes: &[u8], at: usize) -> Option<Span> {
        if at == 0 || bytes[at - 1] != b' ' {
            return None;
        }
        let before = &bytes[at.saturating_sub(NAME)..at - 1];
        let from = before
            .iter()
            .rposition(|b| !(b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'-')))
            .map_or(0, |place| place + 1);
        let words = &before[from..];
        // `api key` is two words.
        let last = words.iter().rposition(|b| *b == b' ').unwrap_or(0);
        let two = words[..last].iter().rposition(|b| *b == b' ').unwrap_or(0);
        let promise = self.words(trimmed(&words[two..]))?;
        let line = line(bytes, at + 1);
        let close = at + 1 + memchr::memchr(b'`', line)?;
        value(&bytes[..close], at + 1, promise).filter(|span| span.end == close)
    }

    /// What a name of a few words promises; a `key` alone is too little here.
    pub(super) fn words(&self, name: &[u8]) -> Option<Promise> {
        let is_name = !name.is_empty()
            && name
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'-' | b'.'))
            && name.split(|b| *b == b' ').count() <= WORDS;
        // `you can pass` is a verb.
        let verb = name.len() > 4 && name[name.len() - 5..].eq_ignore_ascii_case(b" pass");
        let promise = (is_name && !verb).then(|| self.promise(name)).flatten();
        promise.filter(|promise| *promise != Promise::Perhaps)
    }
}

/// The name in the cell before the bar at `at`.
pub(super) fn cell_name(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let before = &bytes[at.saturating_sub(NAME)..at];
    let bar = before.iter().rposition(|b| matches!(b, b'|' | b'\n'));
    // At the very beginning of a text there is nothing before a name.
    let from = match bar {
        Some(bar) => bar + 1,
        None if before.len() == at => 0,
        None => return None,
    };
    Some(trimmed(&before[from..]))
}

/// Whether the cell before the bar at `at` is the first of its row.
fn begins_row(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[at.saturating_sub(2 * NAME)..at];
    let begin = memchr::memrchr(b'\n', before).map(|place| place + 1);
    let Some(begin) = begin.or((before.len() == at).then_some(0)) else {
        return false;
    };
    let row = before[begin..].trim_ascii_start();
    !row.strip_prefix(b"|").unwrap_or(row).contains(&b'|')
}

/// Whether the bar at `at` is the only one of its line and stands below or above
/// another, as in a record that `psql` prints: `api_key | x`.
fn is_of_record(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[at.saturating_sub(REACH)..at];
    let begin = memchr::memrchr(b'\n', before);
    let Some(begin) = begin
        .map(|place| place + 1)
        .or((before.len() == at).then_some(0))
    else {
        return false;
    };
    let column = before.len() - begin;
    let own = &before[begin..];
    let name = trimmed(own);
    if name.is_empty() || name.contains(&b' ') || own.contains(&b'|') {
        return false;
    }
    let above = &before[..begin.saturating_sub(1)];
    let above = &above[memchr::memrchr(b'\n', above).map_or(0, |place| place + 1)..];
    let below = line(bytes, at + line(bytes, at).len() + 1);
    let barred = |row: &[u8]| row.get(column) == Some(&b'|') && row.get(column + 1) == Some(&b' ');
    above.starts_with(b"-[ RECORD") || barred(above) || barred(below)
}

/// Whether the row of the bar at `at` stands at the top of a table.
fn tops(bytes: &[u8], at: usize) -> bool {
    let next = at + line(bytes, at).len() + 1;
    is_rule(line(bytes, next))
}

/// Whether a line parts the top of a table from its rows: `|---|:-:|`,
/// `+---+---+`.
pub(super) fn is_rule(line: &[u8]) -> bool {
    let drawn = |b: &u8| matches!(b, b'|' | b'-' | b'+' | b':' | b' ' | b'\t' | b'\r');
    line.iter().all(drawn) && line.contains(&b'-')
}

/// A password of letters only that is all there is from `start` to `end`, but
/// for quotes.
pub(super) fn lone_word(bytes: &[u8], start: usize, end: usize) -> Option<Span> {
    let text = bytes.get(start..end)?;
    let marked = match text {
        [b'`', inner @ .., b'`'] | [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => {
            inner.len() + 2 == text.len()
        }
        _ => false,
    };
    let skip = usize::from(marked);
    is_word_as_password(&text[skip..text.len() - skip]).then_some(Span {
        kind: Kind::Password,
        start: start + skip,
        end: end - skip,
    })
}

/// The text from `start` to `close`, if all of it is one value.
pub(super) fn whole(bytes: &[u8], start: usize, close: usize, promise: Promise) -> Option<Span> {
    let text = bytes.get(start..close)?;
    let quoted = text.first() == Some(&b'`') && text.last() == Some(&b'`');
    let end = close - usize::from(quoted);
    value(&bytes[..close], start, promise).filter(|span| span.end == end)
}

/// The rest of the line, as far as anything is sought in it.
pub(super) fn line(bytes: &[u8], from: usize) -> &[u8] {
    let rest = &bytes[from.min(bytes.len())..bytes.len().min(from + REACH)];
    &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
}

fn stars(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take(3).take_while(|b| **b == b'*').count()
}

/// Without the spaces, stars and backticks around it.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let mark = |b: &u8| matches!(b, b' ' | b'\t' | b'*' | b'`');
    let Some(start) = text.iter().position(|b| !mark(b)) else {
        return &[];
    };
    let end = text.iter().rposition(|b| !mark(b)).unwrap_or(start);
    &text[start..=end]
}
