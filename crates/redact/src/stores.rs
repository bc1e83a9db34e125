//! Secrets in files that are made to hold them: password files, hashes of
//! passwords, cookies.

use super::Kind;
use super::names::Promise;
use super::promised::is_secret;
use super::shape::{Shape, is_example};
use super::value::{Quoted, Span, blanks};
use super::vendors::is_word_start;

/// No line of such a file is longer.
const LINE: usize = 512;
/// No cookies are longer.
const REACH: usize = 4_096;

/// The hash of a password that begins with the `$` at `at`: `$6$salt$hash`,
/// `$2b$12$…`, `$argon2id$v=19$…`.
pub(super) fn hash(bytes: &[u8], at: usize) -> Option<Span> {
    const MARKS: [&str; 15] = [
        "$1$",
        "$5$",
        "$6$",
        "$7$",
        "$y$",
        "$gy$",
        "$2a$",
        "$2b$",
        "$2x$",
        "$2y$",
        "$apr1$",
        "$argon2id$",
        "$argon2i$",
        "$argon2d$",
        "$scrypt$",
    ];
    let rest = &bytes[at..];
    let mark = MARKS.iter().find(|m| rest.starts_with(m.as_bytes()))?;
    let is_part = |b: &u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'$' | b'=' | b',' | b'+' | b'-')
    };
    let mut length = rest.iter().take(LINE).take_while(|b| is_part(b)).count();
    while matches!(rest[length - 1], b'.' | b',' | b'-') && length > mark.len() {
        length -= 1;
    }
    let last = rest[mark.len()..length].rsplit(|b| *b == b'$').next()?;
    let shape = Shape::of(last);
    let drawn = last.len() >= 20 && shape.letters() > 0 && shape.distinct >= 10;
    (drawn && !is_example(last)).then_some(Span {
        kind: Kind::PasswordHash,
        start: at,
        end: at + length,
    })
}

/// The hash of a password behind its scheme, whose bracket is at `at`:
/// `{SSHA}…`.
pub(super) fn scheme(bytes: &[u8], at: usize) -> Option<Span> {
    const MARKS: [&str; 6] = [
        "{SHA}",
        "{SSHA}",
        "{SSHA256}",
        "{SSHA512}",
        "{MD5}",
        "{SMD5}",
    ];
    let rest = &bytes[at..];
    let mark = MARKS.iter().find(|m| rest.starts_with(m.as_bytes()))?;
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let body = rest[mark.len()..].iter().take(LINE);
    let length = body.take_while(|b| is_part(b)).count();
    let shape = Shape::of(&rest[mark.len()..mark.len() + length]);
    (length >= 20 && shape.distinct >= 10 && shape.letters() > 0).then_some(Span {
        kind: Kind::PasswordHash,
        start: at + mark.len(),
        end: at + mark.len() + length,
    })
}

/// The password of the line of a `.pgpass` whose first colon is at `at`:
/// `host:5432:base:user:x`.
pub(super) fn pgpass(bytes: &[u8], at: usize) -> Option<Span> {
    let port = bytes.get(at + 1)?;
    if !port.is_ascii_digit() && *port != b'*' {
        return None;
    }
    let rest = &bytes[at + 1..bytes.len().min(at + LINE)];
    let mut fields = rest.splitn(4, |b| *b == b':');
    let (port, base, user) = (fields.next()?, fields.next()?, fields.next()?);
    let tail = fields.next()?;
    let length = tail.iter().position(u8::is_ascii_whitespace);
    let password = &tail[..length.unwrap_or(tail.len())];
    let before = &bytes[at.saturating_sub(LINE)..at];
    let begin = before
        .iter()
        .rposition(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`'))
        .map_or(0, |place| place + 1);
    let host = &before[begin..];
    let word = |text: &[u8]| {
        let named = text
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
        text == b"*" || named && text.iter().any(u8::is_ascii_alphabetic)
    };
    let is_host =
        word(host) || host.contains(&b'.') && host.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let is_port =
        port == b"*" || (2..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
    let is_line = is_host && is_port && word(base) && word(user) && !password.contains(&b':');
    // Where the port is PostgreSQL's nothing else is meant, whatever the
    // password looks like.
    let is_postgres = matches!(port, b"*" | b"5432" | b"5433" | b"6432");
    let refers = matches!(
        password.first(),
        Some(b'$' | b'{' | b'<' | b'%' | b'*' | b'[')
    );
    let example = password.len() > 8 && is_example(password);
    let given = is_postgres && password.len() >= 4 && !refers && !example;
    (is_line && (given || is_secret(password, Promise::Password, Quoted::No))).then(|| {
        let start = at + 1 + port.len() + base.len() + user.len() + 3;
        Span {
            kind: Kind::Password,
            start,
            end: start + password.len(),
        }
    })
}

/// Whether a name and a value stand behind the `:` at `at`, as in a cookie.
pub(super) fn is_pair(bytes: &[u8], at: usize) -> bool {
    let start = at + 1 + blanks(bytes, at + 1);
    let rest = bytes.get(start..).unwrap_or_default().iter().take(64);
    let named = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let sign = start + rest.take_while(named).count();
    sign > start
        && bytes.get(sign) == Some(&b'=')
        && bytes
            .get(sign + 1)
            .is_some_and(|b| b.is_ascii_graphic() && *b != b'=')
}

/// The values of the cookies behind the `:` at `at`, those that look random.
pub(super) fn cookies(bytes: &[u8], at: usize) -> Vec<Span> {
    let name = &bytes[at.saturating_sub(6)..at];
    if !name.eq_ignore_ascii_case(b"cookie") || !is_word_start(bytes, at - 6) {
        return Vec::new();
    }
    let rest = &bytes[at + 1..bytes.len().min(at + 1 + REACH)];
    let ends = |b: &u8| matches!(b, b'\n' | b'"' | b'\'' | b'`' | b'\\');
    let line = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let mut found = Vec::new();
    let mut from = at + 1;
    for pair in line.split(|b| *b == b';') {
        if let Some(sign) = memchr::memchr(b'=', pair) {
            let value = pair[sign + 1..].trim_ascii_end();
            let known = value.starts_with(b"[redacted:");
            if !known && is_secret(value, Promise::Random, Quoted::Yes) {
                let start = from + sign + 1;
                found.push(Span {
                    kind: Kind::Secret,
                    start,
                    end: start + value.len(),
                });
            }
        }
        from += pair.len() + 1;
    }
    found
}
