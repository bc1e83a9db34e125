//! Passwords and tokens in addresses: `postgres://app:x@db/shop`.

use super::Kind;
use super::judge::{is_password_of_signs, is_path};
use super::shape::{Shape, is_example, looks_random};
use super::span::Span;
use super::value::floor;

/// No authority is longer.
const LONGEST: usize = 512;

/// Every password that stands before the host of an address.
pub(crate) fn passwords(text: &str, found: &mut Vec<Span>) {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"://") {
        if at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric() {
            continue;
        }
        if let Some((start, end)) = credentials(text, at + 3) {
            found.push(Span {
                kind: Kind::UrlPassword,
                start,
                end,
            });
        }
    }
}

/// Where the secret stands in the authority that begins at `start`.
fn credentials(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = &text[start..floor(text, start + LONGEST)];
    let stop = |c: char| c.is_whitespace() || "\"'<>`\\)".contains(c);
    let word = &rest[..rest.find(stop).unwrap_or(rest.len())];
    let slash = word.find(['/', '?']).unwrap_or(word.len());
    let host = match word[..slash].rfind('@') {
        Some(host) => host,
        // A password may have a slash in it, but what has one is mostly a path.
        None => word
            .rfind('@')
            .filter(|host| is_password_with_slash(word, slash, *host))?,
    };
    // A user that was redacted has a colon of its own.
    let user = match word.starts_with("[redacted:") {
        true => word.find(']')?,
        false => 0,
    };
    let Some(colon) = word.get(user..host)?.find(':') else {
        let token = &word.as_bytes()[user..host];
        let alone = token.len() >= 20
            && token
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-');
        let random = alone && looks_random(token) && !is_example(token);
        return random.then_some((start + user, start + host));
    };
    let password = &word[user + colon + 1..host];
    is_password(password).then_some((start + user + colon + 1, start + host))
}

fn is_password_with_slash(word: &str, slash: usize, host: usize) -> bool {
    let Some(colon) = word[..slash].find(':') else {
        return false;
    };
    let shape = Shape::of(&word.as_bytes()[colon + 1..slash]);
    let whole = Shape::of(&word.as_bytes()[colon + 1..host]);
    // `localhost:8080/@scope` has a port and a path.
    let port = slash > colon + 1 && shape.letters() == 0;
    let named = word[host + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    !port
        && named
        && whole.digits > 0
        && whole.letters() > 0
        && !word[..host].ends_with('/')
        && !is_path(&word.as_bytes()[colon + 1..host])
}

/// Whether what stands there is the password itself, and nothing to fill in.
fn is_password(text: &str) -> bool {
    const WORDS: [&str; 9] = [
        "password", "pass", "pwd", "PASSWORD", "PASS", "secret", "port", "pw", "token",
    ];
    let bytes = text.as_bytes();
    let escaped = bytes.first() == Some(&b'%')
        && bytes.len() >= 6
        && bytes[1..3].iter().all(u8::is_ascii_hexdigit)
        && !text.ends_with('%');
    let reference =
        text.starts_with(['$', '{', '<', '%', '*', '[']) && !escaped && !is_password_of_signs(text);
    let example = text.len() > 8 && is_example(bytes);
    let masked = || {
        text.chars()
            .all(|c| matches!(c, '*' | 'x' | '.' | 'X' | '…'))
    };
    let marked = text.contains("${") || text.contains("[redacted:");
    !(text.is_empty() || reference || marked || example || WORDS.contains(&text) || masked())
}
