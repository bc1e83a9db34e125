//! Rows that a statement of SQL inserts: the names of the columns stand in one
//! list, their values in the next.

use super::Redactor;
use super::names::Promise;
use super::value::{Span, closing, value};

/// No statement is read any further.
const REACH: usize = 4_096;
/// No list of columns is longer.
const COLUMNS: usize = 1_024;

impl Redactor {
    /// The secrets among the values of the statement in whose list of columns
    /// `at` stands: `INSERT INTO users (name, password) VALUES ('bob', 'x')`.
    pub(super) fn inserted(&self, bytes: &[u8], at: usize) -> Vec<Span> {
        let found = columns(bytes, at).map(|(columns, end)| {
            let promises = columns.split(|b| *b == b',').map(|name| {
                let name = name.trim_ascii();
                let bare = name.iter().all(|b| b.is_ascii_graphic());
                bare.then(|| self.promise(name))?
            });
            let promises: Vec<Option<Promise>> = promises.collect();
            match promises.iter().any(Option::is_some) {
                true => rows(bytes, end, &promises),
                false => Vec::new(),
            }
        });
        found.unwrap_or_default()
    }
}

/// The list of columns around `at`, and where the values behind it begin.
fn columns(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let floor = at.saturating_sub(COLUMNS);
    let open = floor + memchr::memrchr(b'(', &bytes[floor..at])?;
    // Mostly the list has ended before.
    if memchr::memchr(b')', &bytes[open..at]).is_some() {
        return None;
    }
    let head = &bytes[open.saturating_sub(COLUMNS / 8)..open];
    let into = |words: &[u8]| words.eq_ignore_ascii_case(b"into ");
    if !head.windows(5).any(into) {
        return None;
    }
    let rest = &bytes[open + 1..bytes.len().min(open + 1 + COLUMNS)];
    let close = memchr::memchr(b')', rest)?;
    let behind = open + 1 + close + 1;
    let gap = space(bytes, behind);
    let word = bytes.get(behind + gap..behind + gap + 6)?;
    (word.eq_ignore_ascii_case(b"values")).then_some((&rest[..close], behind + gap + 6))
}

/// The secrets of the rows from `from` on.
fn rows(bytes: &[u8], from: usize, promises: &[Option<Promise>]) -> Vec<Span> {
    let most = bytes.len().min(from + REACH);
    let mut found = Vec::new();
    let mut at = from + space(bytes, from);
    let mut column = 0;
    while at < most {
        match bytes[at] {
            b'(' => column = 0,
            b',' => column += 1,
            b';' => break,
            quote @ (b'\'' | b'"') => {
                let Some(length) = closing(&bytes[at + 1..most], quote, 0) else {
                    break;
                };
                let promise = promises.get(column).copied().flatten();
                found.extend(promise.and_then(|promise| value(bytes, at, promise)));
                at += length + 1;
            }
            // Behind the last row another statement may begin.
            b')' if !goes_on(bytes, at + 1) => break,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether another row follows.
fn goes_on(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + space(bytes, at)) == Some(&b',')
}

fn space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default().iter().take(64);
    rest.take_while(|b| b.is_ascii_whitespace()).count()
}
