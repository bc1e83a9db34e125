//! Secrets that are known by what stands beside them.

use super::Kind;
use super::Redactor;
use super::markdown;
use super::names::Promise;
use super::prefixed::is_word_start;
use super::shape::{Shape, is_example, looks_random};
use super::spoken::{is_ordinary, is_word_as_password};
use super::tongues::{self, Tongue};

/// A secret's place and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// No value is longer, and no name.
const VALUE: usize = 4_096;
/// A value without quotes that is longer holds no further `=` or `:` but its
/// padding; so a row of assignments is not read again from each of them.
const BARE: usize = 512;
const NAME: usize = 64;

impl Redactor {
    /// The value behind the `:` or `=` at `at`, if its name tells of a secret.
    pub(super) fn assigned(&self, bytes: &[u8], at: usize) -> Option<Span> {
        if let Some(tongue) = foreign_before(bytes, at) {
            return foreign_value(bytes, at + 1, tongue);
        }
        let name = name_before(bytes, at)?;
        let promise = match self.promise(name) {
            Some(promise) => promise,
            None => signs_query(bytes, at, name).then_some(Promise::Random)?,
        };
        let mut from = at + 1;
        // `:=`, `=>`, `==`.
        if bytes.get(from).is_some_and(|b| matches!(b, b'=' | b'>')) {
            from += 1;
        }
        from = markdown::behind_bold(bytes, from);
        let found = value(bytes, from, promise);
        let found = found.or_else(|| markdown::in_bold(bytes, from, promise));
        found.or_else(|| match promise {
            Promise::Password => word(bytes, at, from)
                .or_else(|| phrase(bytes, at, from))
                .or_else(|| below(bytes, from)),
            Promise::Random | Promise::Perhaps => continued(bytes, from),
        })
    }

    /// The value behind the wide colon at `at`.
    pub(super) fn wide(&self, bytes: &[u8], at: usize) -> Option<Span> {
        const COLON: &[u8] = "：".as_bytes();
        if !bytes[at..].starts_with(COLON) {
            return None;
        }
        let promise = self.promise(name_before(bytes, at)?)?;
        value(bytes, at + COLON.len(), promise)
    }

    /// The strings of the list behind the `:` or `=` at `at`, those that are
    /// what its name promises.
    pub(super) fn listed(&self, bytes: &[u8], at: usize) -> Vec<Span> {
        let mut from = at + 1;
        if bytes.get(from).is_some_and(|b| matches!(b, b'=' | b'>')) {
            from += 1;
        }
        let open = from + blanks(bytes, from);
        let promise = match bytes.get(open) {
            Some(b'[') => name_before(bytes, at).and_then(|name| self.promise(name)),
            Some(b'\n' | b'\r') if bytes[at] == b':' => {
                let name = name_before(bytes, at);
                return name.map_or_else(Vec::new, |name| self.items(bytes, at, name));
            }
            _ => None,
        };
        match promise {
            Some(Promise::Password) => strings(bytes, open + 1, Promise::Password),
            Some(Promise::Random) => strings(bytes, open + 1, Promise::Random),
            Some(Promise::Perhaps) | None => Vec::new(),
        }
    }

    /// The value of an option on a command line: `--password x`.
    pub(super) fn option(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let rest = &bytes[at..];
        if !rest.starts_with(b"--") || at > 0 && !bytes[at - 1].is_ascii_whitespace() {
            return None;
        }
        let name = rest[2..]
            .iter()
            .take(NAME)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            .count();
        let end = at + 2 + name;
        if bytes.get(end) != Some(&b' ') {
            return None;
        }
        let promise = self.promise(&rest[2..2 + name])?;
        value(bytes, end + 1, promise)
    }

    /// Whether the whole text is the secret that its name promises.
    pub(super) fn named(&self, name: &str, value: &str) -> Option<Kind> {
        let promise = self.promise(name.as_bytes())?;
        let bytes = value.as_bytes();
        let whole = bytes.len() <= VALUE && !bytes.contains(&b'\n');
        (whole && is_secret(bytes, promise, Quoted::Yes)).then_some(match promise {
            Promise::Password => Kind::Password,
            Promise::Random | Promise::Perhaps => Kind::Secret,
        })
    }
}

/// Whether the name before the `=` at `at` is that of an address's signature:
/// `?sig=`, `&X-Amz-Signature=`.
fn signs_query(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [
        b"sig",
        b"signature",
        b"x-amz-signature",
        b"x-goog-signature",
    ];
    let start = at.checked_sub(name.len() + 1);
    let in_query = start.is_some_and(|start| matches!(bytes[start], b'?' | b'&' | b';'));
    in_query && NAMES.iter().any(|n| name.eq_ignore_ascii_case(n))
}

/// The secrets among the strings from `from` on that only commas and spaces
/// part.
fn strings(bytes: &[u8], from: usize, promise: Promise) -> Vec<Span> {
    let mut found = Vec::new();
    let most = bytes.len().min(from + VALUE);
    let mut at = from;
    loop {
        let gap = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        at += bytes[at.min(most)..most]
            .iter()
            .take_while(|b| gap(b))
            .count();
        let rest = &bytes[at.min(most)..most];
        let slashes = rest.iter().take_while(|b| **b == b'\\').count();
        let Some(quote @ (b'"' | b'\'')) = rest.get(slashes).copied() else {
            return found;
        };
        let start = slashes + 1;
        let Some(length) = closing(&rest[start..], quote, slashes) else {
            return found;
        };
        found.extend(value(bytes, at, promise));
        at += start + length + slashes + 1;
    }
}

/// A password of letters only behind the `:` or `=` at `at`: in quotes, alone
/// behind a colon up to the end of its line, or assigned to a variable of the
/// environment. Elsewhere letters are a variable, a type or a word.
fn word(bytes: &[u8], at: usize, from: usize) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + BARE)];
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    let quote = rest
        .get(slashes)
        .copied()
        .filter(|b| matches!(b, b'"' | b'\''));
    let skip = match quote {
        Some(_) => slashes + 1,
        None => 0,
    };
    let length = rest[skip..]
        .iter()
        .take_while(|b| b.is_ascii_alphabetic())
        .count();
    let text = &rest[skip..skip + length];
    let after = &rest[skip + length..];
    let ends = match (quote, bytes[at]) {
        (Some(quote), _) => after.get(slashes) == Some(&quote),
        (None, b':') => {
            let line = after
                .iter()
                .position(|b| !matches!(b, b' ' | b'\t' | b'\r'));
            start > from && line.is_none_or(|end| after[end] == b'\n')
        }
        (None, _) => {
            let name = name_before(bytes, at)?;
            let is_variable = name
                .iter()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
            is_variable && start == from && after.first().is_none_or(u8::is_ascii_whitespace)
        }
    };
    (ends && is_word_as_password(text)).then_some(Span {
        kind: Kind::Password,
        start: start + skip,
        end: start + skip + length,
    })
}

/// A password of several words, assigned to a variable of the environment:
/// `DB_PASSWORD=blue-monkey`, `DB_PASSWORD="correct horse"`.
fn phrase(bytes: &[u8], at: usize, from: usize) -> Option<Span> {
    let name = name_before(bytes, at)?;
    let is_variable = name
        .iter()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    if !is_variable || bytes[at] != b'=' {
        return None;
    }
    let rest = &bytes[from.min(bytes.len())..bytes.len().min(from + BARE)];
    let quote = rest.first().copied().filter(|b| matches!(b, b'"' | b'\''));
    let skip = usize::from(quote.is_some());
    let length = match quote {
        Some(quote) => closing(&rest[1..], quote, 0)?,
        None => {
            let end = rest.iter().position(u8::is_ascii_whitespace);
            end.unwrap_or(rest.len())
        }
    };
    let text = &rest[skip..skip + length];
    let (mut words, mut ordinary) = (0, 0);
    for word in text.split(|b| matches!(b, b'-' | b'_') || quote.is_some() && *b == b' ') {
        words += 1;
        ordinary += usize::from(is_ordinary(word));
        if word.len() < 2 || !word.iter().all(u8::is_ascii_alphanumeric) {
            return None;
        }
    }
    let whole =
        words > 1 && ordinary * 2 <= words && (6..=128).contains(&length) && text != b"change-me";
    let given = whole && !is_example(text) && !is_word_of_programs(text);
    (given && text != b"change_me").then_some(Span {
        kind: Kind::Password,
        start: from + skip,
        end: from + skip + length,
    })
}

/// A password alone in the line below its name, as people send them.
fn below(bytes: &[u8], from: usize) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let next = start + 1;
    if bytes.get(start) != Some(&b'\n') || blanks(bytes, next) > 0 {
        return None;
    }
    let rest = &bytes[next..bytes.len().min(next + BARE)];
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let alone = !rest[..end].contains(&b' ');
    value(bytes, next, Promise::Password).filter(|span| alone && span.end == next + end)
}

/// A key that a backslash carries on into the next line.
fn continued(bytes: &[u8], from: usize) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + VALUE)];
    let is_key = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=');
    let mut joined = Vec::new();
    let (mut at, mut lines) = (0, 0);
    while let Some(byte) = rest.get(at) {
        if is_key(*byte) {
            joined.push(*byte);
            at += 1;
        } else if rest[at..].starts_with(b"\\\n") {
            lines += 1;
            at += 2 + blanks(rest, at + 2);
        } else {
            break;
        }
    }
    (lines > 0 && is_secret(&joined, Promise::Random, Quoted::No)).then_some(Span {
        kind: Kind::Secret,
        start,
        end: start + at,
    })
}

/// The name that ends before `at`, quotes and spaces between passed over.
fn name_before(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let from = at.saturating_sub(NAME + 8);
    let before = &bytes[from..at];
    let end = before
        .iter()
        .rposition(|b| !matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'`' | b']' | b'*'))?
        + 1;
    let start = before[..end]
        .iter()
        .rposition(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
        .map_or(0, |place| place + 1);
    (start < end).then(|| &before[start..end])
}

/// The value behind the link at `at`: `パスワードは x です`, `密码：x`.
pub(super) fn linked(bytes: &[u8], at: usize) -> Option<Span> {
    let length = tongues::link(bytes, at)?;
    match foreign_before(bytes, at)? {
        Tongue::Joined => foreign_value(bytes, at + length, Tongue::Joined),
        Tongue::Spaced => None,
    }
}

/// The name in another language that ends before `at`.
fn foreign_before(bytes: &[u8], at: usize) -> Option<Tongue> {
    let before = &bytes[at.saturating_sub(NAME)..at];
    let end = before
        .iter()
        .rposition(|b| !matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'`' | b'*'))?
        + 1;
    tongues::named(&before[..end])
}

/// The value of such a name. Where words are written together, what is no
/// ASCII ends it.
fn foreign_value(bytes: &[u8], from: usize, tongue: Tongue) -> Option<Span> {
    let mut start = from + blanks(bytes, from);
    start += tongues::opening(bytes, start);
    start += blanks(bytes, start);
    let quoted = matches!(bytes.get(start)?, b'"' | b'\'' | b'`' | b'\\' | b'\n');
    if quoted || tongue == Tongue::Spaced {
        return value(bytes, start, Promise::Password);
    }
    let rest = &bytes[start..bytes.len().min(start + VALUE)];
    let ends = |b: &u8| !b.is_ascii_graphic() || matches!(b, b'"' | b'\'' | b'`' | b',' | b';');
    let mut end = rest.iter().position(ends).unwrap_or(rest.len());
    while end > 0 && matches!(rest[end - 1], b'.' | b':' | b'!' | b'?' | b')') {
        end -= 1;
    }
    is_secret(&rest[..end], Promise::Password, Quoted::No).then_some(Span {
        kind: Kind::Password,
        start,
        end: start + end,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Yes,
    No,
}

/// The value that begins at `from`, behind spaces, a quote, a line break of
/// YAML or an escaped quote.
pub(super) fn value(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    let mut start = from + blanks(bytes, from);
    // `key:` and the value in the next line, or `key: |`.
    let block = [&b"|"[..], b">", b"|-", b">-", b""]
        .into_iter()
        .any(|mark| {
            let behind = &bytes[start.min(bytes.len())..];
            behind.starts_with(mark) && behind.get(mark.len()) == Some(&b'\n')
        });
    if block {
        let line = memchr::memchr(b'\n', bytes.get(start..)?)?;
        let next = start + line + 1;
        let indent = blanks(bytes, next);
        if indent == 0 {
            return None;
        }
        start = next + indent;
    }
    // Escaped quotes of JSON in JSON: any number of backslashes.
    let slashes = bytes
        .get(start..)?
        .iter()
        .take(8)
        .take_while(|b| **b == b'\\')
        .count();
    let quote = bytes
        .get(start + slashes)
        .copied()
        .filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let (start, end, quoted) = match quote {
        Some(quote) => {
            let start = start + slashes + 1;
            let rest = &bytes[start..bytes.len().min(start + VALUE)];
            let end = closing(rest, quote, slashes)?;
            (start, start + end, Quoted::Yes)
        }
        None => {
            let rest = &bytes[start..bytes.len().min(start + VALUE)];
            let row = |at: usize, b: u8| {
                at > BARE
                    && matches!(b, b'=' | b':')
                    && rest.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
            };
            let end = rest
                .iter()
                .enumerate()
                .position(|(at, b)| {
                    b.is_ascii_whitespace()
                        || row(at, *b)
                        || matches!(
                            b,
                            b'"' | b'\''
                                | b'`'
                                | b','
                                | b';'
                                | b'<'
                                | b'>'
                                | b')'
                                | b'}'
                                | b']'
                                | b'&'
                                | b'\\'
                                | b'|'
                        )
                })
                .unwrap_or(rest.len());
            let mut end = end;
            while end > 0 && matches!(rest[end - 1], b'.' | b':' | b'!' | b'?') {
                end -= 1;
            }
            (start, start + end, Quoted::No)
        }
    };
    let text = &bytes[start..end];
    is_secret(text, promise, quoted).then_some(Span {
        kind: match promise {
            Promise::Password => Kind::Password,
            Promise::Random | Promise::Perhaps => Kind::Secret,
        },
        start,
        end,
    })
}

pub(super) fn blanks(bytes: &[u8], from: usize) -> usize {
    bytes
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take(64)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count()
}

/// Where the quote that was opened behind so many backslashes closes, on the
/// same line.
fn closing(rest: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut before = 0;
    for (at, byte) in rest.iter().enumerate() {
        match *byte {
            b'\\' => before += 1,
            b'\n' => return None,
            byte if byte == quote && before <= slashes => return Some(at - before),
            _ => before = 0,
        }
        if *byte == quote {
            before = 0;
        }
    }
    None
}

/// Whether a value is what its name promises, rather than a type, a variable,
/// a call or an example.
fn is_secret(text: &[u8], promise: Promise, quoted: Quoted) -> bool {
    if text.starts_with(b"[redacted:") || !std::str::from_utf8(text).is_ok_and(|t| !t.is_empty()) {
        return false;
    }
    // Variables, templates, calls, paths and addresses are where a secret comes
    // from, not the secret.
    let refers = matches!(
        text[0],
        b'$' | b'{' | b'<' | b'%' | b'(' | b'/' | b'~' | b'@' | b'&' | b'*' | b'.'
    ) || text.starts_with(b"http")
        || [
            &b"${"[..],
            b"{{",
            b"://",
            b"process.env",
            b"os.environ",
            b"getenv",
            b"env.",
            b"::",
            b"->",
        ]
        .iter()
        .any(|mark| memchr::memmem::find(text, mark).is_some());
    if refers || is_example(text) && promise != Promise::Password {
        return false;
    }
    let shape = Shape::of(text);
    let spaces = text.iter().any(u8::is_ascii_whitespace);
    match promise {
        Promise::Perhaps if is_uuid(text) => false,
        Promise::Random | Promise::Perhaps => {
            let plain = text.iter().all(|b| {
                b.is_ascii_alphanumeric()
                    || matches!(
                        b,
                        b'_' | b'-'
                            | b'+'
                            | b'/'
                            | b'='
                            | b'.'
                            | b':'
                            | b'~'
                            | b'!'
                            | b'#'
                            | b'%'
                            | b'@'
                    )
            });
            plain && text.len() >= 16 && looks_random(text) && !is_path(text)
        }
        Promise::Password => {
            let code = text
                .iter()
                .any(|b| matches!(b, b'(' | b'[' | b'{' | b'<' | b'|'));
            let symbols = text.iter().any(|b| {
                !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'.' | b' ' | b'/')
            });
            let mixed = shape.letters() > 0 && (shape.digits > 0 || symbols);
            let length = text.len();
            let known = is_word_of_programs(text);
            match quoted {
                Quoted::Yes => {
                    (6..=128).contains(&length) && !known && !spaces && mixed && !is_example(text)
                }
                Quoted::No => {
                    (6..=128).contains(&length)
                        && !known
                        && !code
                        && mixed
                        && !is_example(text)
                        && !is_identifier(text)
                }
            }
        }
    }
}

/// `user_password2`, `config.password`, `args[0].pw`: a name, no value.
fn is_identifier(text: &[u8]) -> bool {
    let words = text.split(|b| matches!(b, b'.' | b'_'));
    let mut count = 0;
    for word in words {
        count += 1;
        let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        if letters == 0 || !word[letters..].iter().all(u8::is_ascii_digit) {
            return false;
        }
    }
    count > 1
}

fn is_uuid(text: &[u8]) -> bool {
    let lengths = text.split(|b| *b == b'-').map(<[u8]>::len);
    let hex = text.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    hex && lengths.eq([8, 4, 4, 4, 12])
}

/// Folders and files: several words between slashes.
fn is_path(text: &[u8]) -> bool {
    let parts: Vec<&[u8]> = text.split(|b| *b == b'/').collect();
    let words = parts
        .iter()
        .filter(|part| {
            part.len() >= 2
                && part
                    .iter()
                    .all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.'))
        })
        .count();
    parts.len() >= 3 && words * 2 >= parts.len()
}

/// What programs and their manuals write where a password would stand.
pub(super) fn is_word_of_programs(text: &[u8]) -> bool {
    const WORDS: [&str; 7] = [
        "base64", "sha256", "sha512", "md5", "utf-8", "utf8", "argon2",
    ];
    let lower = text.to_ascii_lowercase();
    WORDS.iter().any(|word| lower == word.as_bytes())
        || memchr::memmem::find(&lower, b"password").is_some()
}

/// The password in the address whose `://` is at `at`.
pub(super) fn in_address(bytes: &[u8], at: usize) -> Option<Span> {
    const LONGEST: usize = 512;
    if !bytes[at..].starts_with(b"://") || at == 0 || !bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let start = at + 3;
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let end = rest
        .iter()
        .position(|b| {
            b.is_ascii_whitespace()
                || matches!(
                    b,
                    b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b')' | b'?'
                )
        })
        .unwrap_or(rest.len());
    let mut authority = &rest[..end];
    if memchr::memchr(b'@', authority).is_none() {
        authority = with_slash(rest, end)?;
    }
    let host = memchr::memrchr(b'@', authority)?;
    // A user that was redacted has a colon of its own.
    let user = match memchr::memmem::find(&authority[..host], b"[redacted:") {
        Some(0) => memchr::memchr(b']', authority)?,
        _ => 0,
    };
    let Some(colon) = memchr::memchr(b':', authority.get(user..host)?) else {
        // A token alone in the place of the user.
        let token = &authority[user..host];
        let alone = token.len() >= 20 && token.iter().all(u8::is_ascii_alphanumeric);
        return (alone && looks_random(token) && !is_example(token)).then_some(Span {
            kind: Kind::UrlPassword,
            start,
            end: start + host,
        });
    };
    let colon = user + colon;
    let password = &authority[colon + 1..host];
    let named = match std::str::from_utf8(password) {
        Ok(text) => text,
        Err(_) => return None,
    };
    let refers = named.is_empty()
        || named.starts_with("[redacted:")
        || matches!(password[0], b'$' | b'{' | b'<' | b'%' | b'*')
        || named.contains("${")
        || matches!(
            named,
            "password" | "pass" | "pwd" | "PASSWORD" | "secret" | "port" | "pw"
        )
        || is_example(password) && password.len() > 8
        || named.chars().all(|c| matches!(c, '*' | 'x' | '.' | 'X'));
    (!refers).then_some(Span {
        kind: Kind::UrlPassword,
        start: start + colon + 1,
        end: start + host,
    })
}

/// The authority of an address whose password has a slash in it, at `slash`.
/// What stands behind the colon must be no port.
fn with_slash(rest: &[u8], slash: usize) -> Option<&[u8]> {
    if rest.get(slash) != Some(&b'/') || rest[0] == b'[' {
        return None;
    }
    let colon = memchr::memchr(b':', &rest[..slash])?;
    let ends = |b: &u8| {
        b.is_ascii_whitespace()
            || matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b')' | b'?')
    };
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let host = memchr::memrchr(b'@', &rest[..end])?;
    let shape = Shape::of(&rest[colon + 1..slash]);
    // `/@scope` is a path.
    let named = rest[host - 1] != b'/' && rest.get(host + 1).is_some_and(u8::is_ascii_alphanumeric);
    let drawn = Shape::of(&rest[colon + 1..host]).digits > 0 && shape.letters() > 0;
    (named && drawn).then(|| &rest[..end])
}

/// The token behind `Bearer`, `Basic` or `token` at `at`.
pub(super) fn bearer(bytes: &[u8], at: usize) -> Option<Span> {
    let rest = &bytes[at..];
    let word = [&b"bearer"[..], b"basic"]
        .into_iter()
        .find(|word| rest.len() > word.len() && rest[..word.len()].eq_ignore_ascii_case(word))?;
    if !is_word_start(bytes, at) {
        return None;
    }
    let gap = blanks(bytes, at + word.len());
    if gap == 0 {
        return None;
    }
    let start = at + word.len() + gap;
    let is_token = |b: &u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
    };
    let mut length = bytes
        .get(start..)?
        .iter()
        .take(VALUE)
        .take_while(|b| is_token(b))
        .count();
    while length > 0 && matches!(bytes[start + length - 1], b'.' | b'/' | b'-') {
        length -= 1;
    }
    let token = &bytes[start..start + length];
    // A word of prose: `Bearer authentication`.
    let shape = Shape::of(token);
    let drawn = match word {
        b"basic" => {
            length >= 12
                && shape.upper > 0
                && shape.lower > 0
                && (shape.digits > 0 || token.ends_with(b"="))
                && shape.entropy > 3.0
        }
        _ => length >= 12 && shape.digits > 0 && shape.letters() > 0 && shape.distinct >= 8,
    };
    (drawn && !is_example(token) && !is_path(token)).then_some(Span {
        kind: Kind::Bearer,
        start,
        end: start + length,
    })
}

/// A Telegram bot's token whose `:` is at `at`: its number and 35 characters.
pub(super) fn telegram(bytes: &[u8], at: usize) -> Option<Span> {
    let from = at.saturating_sub(11);
    let digits = bytes[from..at]
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let start = at - digits;
    let after_bot = bytes[..start].ends_with(b"bot");
    if !(8..=10).contains(&digits) || !(after_bot || is_word_start(bytes, start)) {
        return None;
    }
    let rest = &bytes[at + 1..];
    let length = rest
        .iter()
        .take(40)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        .count();
    let token = &rest[..length];
    let shape = Shape::of(token);
    (length == 35 && shape.upper > 0 && shape.lower > 0 && shape.digits > 0 && !is_example(token))
        .then_some(Span {
            kind: Kind::Provider,
            start,
            end: at + 1 + length,
        })
}
