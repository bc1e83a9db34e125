//! Secrets in addresses and headers: a password behind a user, a token behind
//! `Bearer`, a bot's token in its path.

use super::Kind;
use super::drawn::is_password;
use super::names::Promise;
use super::promised::{is_path, is_secret, is_word_of_programs};
use super::shape::{Shape, decoded, is_example, looks_random};
use super::value::{Quoted, Span, VALUE, blanks};
use super::vendors::is_word_start;

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
            && !(is_password(password) || begins_escaped(password))
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

/// Whether a text begins with a character that is written by its number, as
/// addresses have signs: `%40x`.
fn begins_escaped(text: &[u8]) -> bool {
    let digits = text.get(1..3);
    let escaped = text[0] == b'%' && digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit));
    escaped && text.len() >= 6 && !text.ends_with(b"%")
}

/// The password behind the `:` at `at` in what Go's programs name a database by:
/// `user:x@tcp(host:3306)/shop`.
pub(super) fn in_source_name(bytes: &[u8], at: usize) -> Option<Span> {
    const LONGEST: usize = 128;
    const PROTOCOLS: [&[u8]; 3] = [b"@tcp(", b"@unix(", b"@cloudsql("];
    let user = at.checked_sub(1).map(|before| bytes[before])?;
    if !user.is_ascii_alphanumeric() && !matches!(user, b'_' | b'-') {
        return None;
    }
    let start = at + 1;
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    let word = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let mut signs = memchr::memchr_iter(b'@', word);
    let host = signs.find(|at| PROTOCOLS.iter().any(|p| word[*at..].starts_with(p)))?;
    let password = &word[..host];
    let refers = matches!(
        password.first()?,
        b'$' | b'{' | b'<' | b'%' | b'*' | b'/' | b'['
    );
    let word = is_word_of_programs(password) || is_example(password) || password.len() < 6;
    let stays = word || refers && !is_password(password);
    (!stays).then_some(Span {
        kind: Kind::UrlPassword,
        start,
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

/// The token behind a scheme of its service's own, with which the header behind
/// `from` begins: `ApiKey x`, `Token token="x"`.
pub(super) fn scheme(bytes: &[u8], from: usize) -> Option<Span> {
    const SCHEMES: [&str; 9] = [
        "ApiKey-v1",
        "ApiKey",
        "Token",
        "GenieKey",
        "SSWS",
        "Splunk",
        "Bot",
        "Key",
        "DeepL-Auth-Key",
    ];
    let open = from + blanks(bytes, from);
    let quote = |b: &&u8| matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let quotes = |at: usize| {
        bytes[at.min(bytes.len())..]
            .iter()
            .take(8)
            .take_while(quote)
    };
    let at = open + quotes(open).count();
    let rest = bytes.get(at..)?;
    let scheme = SCHEMES.iter().find(|scheme| {
        let head = rest.get(..scheme.len());
        let named = head.is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()));
        named && rest.get(scheme.len()) == Some(&b' ')
    })?;
    let mut start = at + scheme.len() + blanks(bytes, at + scheme.len());
    if bytes[start..].starts_with(b"token=") {
        start += "token=".len();
        start += quotes(start).count();
    }
    let part = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.+/=~:".contains(b);
    let rest = &bytes[start..bytes.len().min(start + VALUE)];
    let length = rest.iter().take_while(part).count();
    is_secret(&rest[..length], Promise::Random, Quoted::No).then_some(Span {
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

/// With these begin the numbers of Discord's bots in base64.
pub(super) const NUMBERS: [&str; 9] = ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];

/// A Discord bot's token that begins at `at`: its number in base64, the time and
/// a signature.
pub(super) fn discord(bytes: &[u8], at: usize) -> Option<Span> {
    const NUMBER: usize = 28;
    const SIGNATURE: usize = 48;
    if !is_word_start(bytes, at) {
        return None;
    }
    let run = |from: usize, most: usize| {
        let rest = bytes.get(from..).unwrap_or_default().iter().take(most);
        rest.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            .count()
    };
    let number = run(at, NUMBER);
    if !(22..NUMBER).contains(&number) || bytes.get(at + number) != Some(&b'.') {
        return None;
    }
    let digits = decoded(&bytes[at..at + number])?;
    let time = at + number + 1;
    let length = run(time, 9);
    let dotted = (5..9).contains(&length) && bytes.get(time + length) == Some(&b'.');
    let start = time + length + 1;
    let signature = run(start, SIGNATURE);
    let whole = dotted && digits.iter().all(u8::is_ascii_digit) && signature >= 20;
    whole.then_some(Span {
        kind: Kind::Provider,
        start: at,
        end: start + signature,
    })
}
