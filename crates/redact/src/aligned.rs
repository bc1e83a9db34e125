//! Secrets in tables whose columns nothing but blanks parts, and no line parts
//! from their names: what programs print and people paste.

use super::Redactor;
use super::columns::{Columns, row};
use super::names::{Promise, plain_name};
use super::promised::is_secret;
use super::value::{Quoted, Span};
use super::words::is_literal_as_password;

/// A row has no more cells.
const CELLS: usize = 32;

impl Redactor {
    /// The table at whose top these names stand, at least two blanks between
    /// them.
    pub(super) fn aligned(&self, bytes: &[u8], top: usize, head: &[u8]) -> Option<Columns> {
        let names = cells(head);
        if names.len() < 2 || !names.iter().all(|cell| is_name(cell.text)) {
            return None;
        }
        let of_users = names.iter().any(|cell| is_of_users(cell.text));
        let promises = names.iter().map(|cell| match cell.text {
            // Beside a user it is no verb.
            b"pass" | b"Pass" | b"PASS" if of_users => Some(Promise::Password),
            name => self.of_column(name),
        });
        let promises: Vec<Option<Promise>> = promises.collect();
        if promises.iter().all(Option::is_none) {
            return None;
        }
        // `Password  string` is a row of its own, not the top of others.
        let first = promises[0] == Some(Promise::Password) && !of_users;
        if first || cells(above(bytes, top)).len() == names.len() {
            return None;
        }
        let mut next = top + head.len() + 1;
        let mut found = Vec::new();
        while let Some(text) = row(bytes, next).filter(|text| !text.trim_ascii().is_empty()) {
            let row = cells(text);
            let whole = row.len() == names.len();
            if !whole && !row.iter().all(|cell| names.iter().any(|n| n.at == cell.at)) {
                break;
            }
            for (place, cell) in row.iter().enumerate() {
                // A cell may be empty, which leaves only where the others begin.
                let column = match whole {
                    true => Some(place),
                    false => names.iter().position(|name| name.at == cell.at),
                };
                let promise = column.and_then(|column| promises[column]);
                let secret = promise.filter(|promise| cell.is_secret(*promise, of_users));
                found.extend(secret.map(|promise| Span {
                    kind: promise.kind(),
                    start: next + cell.at,
                    end: next + cell.at + cell.text.len(),
                }));
            }
            next += text.len() + 1;
        }
        Some(Columns {
            found,
            end: next.min(bytes.len()),
        })
    }

    /// What the name of a column promises. Several tokens or secrets are counted
    /// there.
    fn of_column(&self, name: &[u8]) -> Option<Promise> {
        let plain = plain_name(name);
        let counted = ["tokens", "secrets"].iter().any(|n| plain.ends_with(n));
        (!counted).then(|| self.words(name))?
    }
}

/// A cell and where it begins in its row.
struct Cell<'a> {
    at: usize,
    text: &'a [u8],
}

impl Cell<'_> {
    /// Whether it is what its column promises; a word only beside whose it is.
    fn is_secret(&self, promise: Promise, of_users: bool) -> bool {
        match promise {
            Promise::Password => {
                is_secret(self.text, promise, Quoted::Yes)
                    || of_users && is_literal_as_password(self.text)
            }
            Promise::Random | Promise::Perhaps => is_secret(self.text, promise, Quoted::No),
        }
    }
}

/// The cells of a row, which two blanks or a tab part.
fn cells(row: &[u8]) -> Vec<Cell<'_>> {
    let row = row.trim_ascii_end();
    let mut found = Vec::new();
    let mut at = 0;
    while at < row.len() && found.len() < CELLS {
        if matches!(row[at], b' ' | b'\t') {
            at += 1;
            continue;
        }
        let rest = &row[at..];
        let wide = |pair: &[u8]| pair[0] == b'\t' || pair == b"  " || pair == b" \t";
        let length = rest.windows(2).position(wide).unwrap_or(rest.len());
        found.push(Cell {
            at,
            text: &rest[..length],
        });
        at += length;
    }
    found
}

/// The line above the one that begins at `top`.
fn above(bytes: &[u8], top: usize) -> &[u8] {
    const LONGEST: usize = 512;
    let before = bytes[top.saturating_sub(LONGEST)..top].strip_suffix(b"\n");
    let before = before.unwrap_or_default();
    &before[memchr::memrchr(b'\n', before).map_or(0, |place| place + 1)..]
}

/// Whether a text names a column: a few words.
fn is_name(text: &[u8]) -> bool {
    const WORDS: usize = 3;
    let part = |b: &u8| b.is_ascii_alphanumeric() || b" _-%#()/.".contains(b);
    let begins = text
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'#');
    begins && text.iter().all(part) && text.split(|b| *b == b' ').count() <= WORDS
}

/// Whether a column says whose the passwords beside it are.
fn is_of_users(name: &[u8]) -> bool {
    const NAMES: [&str; 10] = [
        "user", "username", "login", "account", "email", "host", "server", "service", "benutzer",
        "name",
    ];
    let plain = plain_name(name);
    NAMES.iter().any(|n| plain.ends_with(n))
}
