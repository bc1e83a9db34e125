//! Statements that give a user of a database a password. What stands there in
//! quotes is one, a word too.

use super::follows::Name;
use super::logins::second_string;
use super::markup::{quoted_phrase, quoted_word};
use super::names::Promise;
use super::value::{Span, blanks, value};

/// No clause is longer.
const CLAUSE: usize = 64;

/// How far back a statement is looked for.
const REACH: usize = 256;

/// With what statements begin that give a user a password.
const STATEMENTS: [&str; 8] = [
    "create user ",
    "alter user ",
    "create role ",
    "alter role ",
    "create login ",
    "alter login ",
    "set password ",
    "grant ",
];

/// A password of letters only behind the name of one in a statement:
/// `ALTER ROLE app PASSWORD 'x'`, `SET PASSWORD FOR 'app'@'%' = 'x'`.
pub(super) fn word(bytes: &[u8], name: Name) -> Option<Span> {
    let behind = bytes.len().min(name.end + 1);
    let stated = is_in_statement(bytes, name.start) || is_in_statement(bytes, behind);
    if name.promise != Promise::Password || !stated {
        return None;
    }
    let from = behind_user(bytes, name.end).unwrap_or(name.end);
    value(bytes, from, name.promise)
        .filter(|_| from > name.end)
        .or_else(|| phrase(bytes, name, from))
        .or_else(|| quoted_word(bytes, from))
}

/// The same of several words, if it is a statement for sure: in a sentence they
/// say of the password what it is.
fn phrase(bytes: &[u8], name: Name, from: usize) -> Option<Span> {
    let whole = &bytes[name.start..name.end];
    let found = quoted_phrase(bytes, from)?;
    let quote = bytes[found.start - 1];
    let ends = bytes[found.end..].starts_with(&[quote, b';']);
    let clause = whole == b"PASSWORD" || is_clause(whole);
    (ends || clause && is_begun(bytes, name.start)).then_some(found)
}

/// Whether the statement in which the clause at `at` is begins a line or a string,
/// and no sentence ends between: `Roles that grant access are identified by`.
fn is_begun(bytes: &[u8], at: usize) -> bool {
    let before = bytes[at.saturating_sub(REACH)..at].to_ascii_lowercase();
    STATEMENTS.iter().any(|words| {
        memchr::memmem::find_iter(&before, words.as_bytes()).any(|start| {
            let blank = before[..start].iter().rev().take_while(|b| **b == b' ');
            let lead = &before[..start - blank.count()];
            let opens = lead.last().is_none_or(|b| b"\n\"'`;>#$(=".contains(b));
            let sentence = memchr::memmem::find(&before[start..], b". ").is_some();
            opens && !sentence
        })
    })
}

/// Behind the user whose password is set: `FOR 'app'@'%' =`.
fn behind_user(bytes: &[u8], from: usize) -> Option<usize> {
    let from = from + blanks(bytes, from);
    let rest = &bytes[from..bytes.len().min(from + CLAUSE)];
    let head = rest.get(..4)?;
    let line = rest.split(|b| matches!(b, b'\n' | b';')).next()?;
    let sign = memchr::memchr(b'=', line)?;
    let words = line[..sign].split(|b| *b == b' ').filter(|w| !w.is_empty());
    (head.eq_ignore_ascii_case(b"for ") && words.count() == 2).then_some(from + sign + 1)
}

/// The password in the brackets of a call: `USING PASSWORD('x')`, and the new one
/// of MongoDB's `db.changeUserPassword("app", "x")`.
pub(super) fn called(bytes: &[u8], name: Name) -> Option<Span> {
    let whole = &bytes[name.start..name.end];
    let open = name.end + 1;
    let start = if whole.ends_with(b"changeUserPassword") {
        second_string(bytes, open)?
    } else {
        // Elsewhere `PASSWORD("x")` names one of several.
        let stated = is_in_statement(bytes, open);
        let hashes = whole == b"PASSWORD" && bytes.get(open) == Some(&b'\'');
        let hashes = hashes || stated && whole.eq_ignore_ascii_case(b"password");
        hashes.then_some(open)?
    };
    let found = value(bytes, start, name.promise).or_else(|| quoted_word(bytes, start))?;
    let behind = bytes[found.end..].strip_prefix(&[bytes[found.start - 1]])?;
    let next = behind.iter().find(|b| !b.is_ascii_whitespace());
    (next == Some(&b')')).then_some(found)
}

/// Whether a name is the clause of SQL that gives a user a password. In prose
/// the same words say what something is known by.
pub(super) fn is_clause(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == b"identified by" || lower.starts_with(b"identified with")
}

/// Where the clause ends that also says how the password is kept:
/// `IDENTIFIED WITH mysql_native_password BY`.
pub(super) fn clause_end(clause: &[u8]) -> Option<usize> {
    let text = &clause[..clause.len().min(CLAUSE)];
    let mut words = text.split(|b| *b == b' ');
    let by = words.nth(3)?;
    let before: usize = text
        .split(|b| *b == b' ')
        .take(3)
        .map(|w| w.len() + 1)
        .sum();
    by.eq_ignore_ascii_case(b"by").then_some(before + by.len())
}

/// Whether the clause at `at` is one of a statement, by its capitals or by the
/// words with which the statement begins: `create user bob`.
pub(super) fn is_in_statement(bytes: &[u8], at: usize) -> bool {
    if bytes[at..].starts_with(b"IDENTIFIED ") {
        return true;
    }
    let before = bytes[at.saturating_sub(REACH)..at].to_ascii_lowercase();
    let begin = before.iter().rposition(|b| *b == b';');
    let statement = &before[begin.map_or(0, |place| place + 1)..];
    STATEMENTS
        .iter()
        .any(|words| memchr::memmem::find(statement, words.as_bytes()).is_some())
}
