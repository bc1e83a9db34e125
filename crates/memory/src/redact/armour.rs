//! Private keys in their armour, and JSON web tokens.

use super::shape::Shape;

const BEGIN: &[u8] = b"-----BEGIN ";
/// Larger than any key.
const MOST: usize = 64 * 1024;

/// Where the private key that begins at `at` ends. One without its end goes as
/// far as its lines look like a key's.
pub(super) fn private_key(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    if !rest.starts_with(BEGIN) {
        return None;
    }
    let title = &rest[BEGIN.len()..rest.len().min(BEGIN.len() + 64)];
    let close = memchr::memmem::find(title, b"-----")?;
    let title = &title[..close];
    if !title.ends_with(b"PRIVATE KEY") && title != b"PGP PRIVATE KEY BLOCK" {
        return None;
    }
    let start = at + BEGIN.len() + close + 5;
    let window = &bytes[start..bytes.len().min(start + MOST)];
    let mut end = 0;
    let mut seen = 0;
    while end < window.len() {
        let byte = window[end];
        if window[end..].starts_with(b"-----END ") {
            let tail = &window[end + 9..window.len().min(end + 9 + 64)];
            let close = memchr::memmem::find(tail, b"-----")?;
            return Some(start + end + 9 + close + 5);
        }
        if window[end..].starts_with(BEGIN) {
            break;
        }
        let is_body = byte.is_ascii_alphanumeric()
            || byte.is_ascii_whitespace()
            // Base64, escapes, quotes of lists of lines, headers of old keys.
            || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'"' | b'\'' | b',' | b':' | b'-' | b'(' | b')' | b'.' | b'|' | b'>' | b'<' | b'@');
        if !is_body {
            break;
        }
        seen += usize::from(byte.is_ascii_alphanumeric());
        end += 1;
    }
    // Prose about keys names the armour without a key in it.
    let body = &window[..end];
    let longest = body
        .split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0);
    if longest < 30 || seen < 40 {
        return None;
    }
    // Up to the last long run of it.
    let mut last = 0;
    let mut from = 0;
    for (place, byte) in body.iter().enumerate() {
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')) {
            from = place + 1;
        } else if place + 1 - from >= 16 {
            last = place + 1;
        }
    }
    Some(start + last)
}

/// Where the JSON web token that begins at `at` ends.
pub(super) fn web_token(bytes: &[u8], at: usize) -> Option<usize> {
    const JUDGED: usize = 1_024;
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let up_to = |from: usize, most: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter()
            .take(most)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'='))
            .count()
    };
    let run = |from: usize| up_to(from, usize::MAX);
    let head = up_to(at, JUDGED);
    let second = at + head + 1;
    if head < 10 || bytes.get(at + head) != Some(&b'.') || second >= bytes.len() {
        return None;
    }
    if !bytes[second..].starts_with(b"eyJ") && up_to(second, JUDGED) < 10 {
        return None;
    }
    let claims = run(second);
    let third = second + claims + 1;
    if claims < 10 || bytes.get(second + claims) != Some(&b'.') {
        return None;
    }
    let mut end = third.min(bytes.len());
    end += run(end);
    // An encrypted token has two parts more.
    for _ in 0..2 {
        if bytes.get(end) == Some(&b'.') && run(end + 1) >= 8 {
            end += 1 + run(end + 1);
        }
    }
    let drawn = Shape::of(&bytes[second..second + claims]);
    (drawn.distinct >= 8).then_some(end.min(bytes.len()))
}
