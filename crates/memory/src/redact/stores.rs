//! Secrets in files that are made to hold them: password files, hashes of
//! passwords, cookies, the secrets of Kubernetes.

use super::Kind;
use super::names::Promise;
use super::prefixed::is_word_start;
use super::shape::{Shape, is_example};
use super::value::{Quoted, Span, blanks, is_secret};

/// No line of such a file is longer.
const LINE: usize = 512;
/// How far from its data the kind of a secret of Kubernetes is looked for.
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
    (is_line && is_secret(password, Promise::Password, Quoted::No)).then(|| {
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

/// The values below the `data:` whose colon is at `at`, if it is that of a
/// secret of Kubernetes.
pub(super) fn kubernetes(bytes: &[u8], at: usize) -> Vec<Span> {
    let quoted = bytes[..at].ends_with(b"\"");
    let name = &bytes[..at - usize::from(quoted)];
    if !name.ends_with(b"data") && !name.ends_with(b"stringData") {
        return Vec::new();
    }
    let open = at + 1 + blanks(bytes, at + 1);
    let is_json = quoted && bytes.get(open) == Some(&b'{');
    let is_yaml = !quoted && bytes.get(open) == Some(&b'\n');
    if !is_json && !is_yaml || !is_of_secret(bytes, at) {
        return Vec::new();
    }
    let from = open + 1;
    let rest = &bytes[from..bytes.len().min(from + REACH)];
    let block = match is_json {
        true => &rest[..memchr::memchr(b'}', rest).unwrap_or(rest.len())],
        false => rest,
    };
    let mut found = Vec::new();
    let mut place = from;
    let parts = block.split(|b| *b == b'\n' || is_json && *b == b',');
    for part in parts {
        let indent = part.len() - part.trim_ascii_start().len();
        if is_yaml && indent == 0 {
            break;
        }
        if let Some(colon) = memchr::memchr(b':', part) {
            let value = &part[colon + 1..];
            let lead = value.len() - value.trim_ascii_start().len();
            let text = value.trim_ascii();
            let bare = match text {
                [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
                _ => text,
            };
            let start = place + colon + 1 + lead + usize::from(bare.len() < text.len());
            let refers = matches!(
                bare.first(),
                None | Some(b'$' | b'{' | b'<' | b'[' | b'|' | b'>' | b'*')
            );
            let plain = bare.iter().all(u8::is_ascii_graphic);
            if !refers && plain && !is_example(bare) {
                found.push(Span {
                    kind: Kind::Secret,
                    start,
                    end: start + bare.len(),
                });
            }
        }
        place += part.len() + 1;
    }
    found
}

/// Whether the document around `at` says that it is a secret.
fn is_of_secret(bytes: &[u8], at: usize) -> bool {
    const RULE: &[u8] = b"\n---";
    let before = &bytes[at.saturating_sub(REACH)..at];
    let before = &before[memchr::memmem::rfind(before, RULE).unwrap_or(0)..];
    let after = &bytes[at..bytes.len().min(at + REACH)];
    let after = &after[..memchr::memmem::find(after, RULE).unwrap_or(after.len())];
    const KINDS: [&[u8]; 3] = [
        b"kind: Secret",
        b"\"kind\": \"Secret\"",
        b"\"kind\":\"Secret\"",
    ];
    let says = |part: &[u8]| {
        KINDS.iter().any(|kind| {
            memchr::memmem::find_iter(part, kind).any(|place| {
                !part
                    .get(place + kind.len())
                    .is_some_and(u8::is_ascii_alphanumeric)
            })
        })
    };
    says(before) || says(after)
}
