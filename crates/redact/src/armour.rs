//! Private keys in their armour, and JSON web tokens.

use super::Kind;
use super::shape::Shape;
use super::value::Span;
use super::vendors::after_break;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
/// How commercial SSH writes the same.
const SSH2_BEGIN: &[u8] = b"---- BEGIN ";
const SSH2_END: &[u8] = b"---- END ";
/// Larger than any key.
const MOST: usize = 64 * 1024;

/// Where the private key that begins at `at` ends. One without its end goes as
/// far as its lines look like a key's.
pub(super) fn private_key(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + opening(&bytes[at..])?;
    plain_key(bytes, start).or_else(|| marked_key(bytes, at, start))
}

/// The length of the first line of a private key.
pub(super) fn opening(rest: &[u8]) -> Option<usize> {
    let mark = [BEGIN, SSH2_BEGIN]
        .into_iter()
        .find(|mark| rest.starts_with(mark))?;
    let title = &rest[mark.len()..rest.len().min(mark.len() + 64)];
    let close = memchr::memmem::find(title, b"----")?;
    let name = title[..close].trim_ascii_end();
    let private = name.ends_with(b"PRIVATE KEY") || name == b"PGP PRIVATE KEY BLOCK";
    private.then(|| mark.len() + close + dashes(&title[close..]))
}

/// The length of the last line of a key.
fn ending(rest: &[u8]) -> Option<usize> {
    let mark = [END, SSH2_END]
        .into_iter()
        .find(|mark| rest.starts_with(mark))?;
    let title = &rest[mark.len()..rest.len().min(mark.len() + 64)];
    let close = memchr::memmem::find(title, b"----")?;
    Some(mark.len() + close + dashes(&title[close..]))
}

fn dashes(rest: &[u8]) -> usize {
    rest.iter().take(5).take_while(|b| **b == b'-').count()
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The same of a key before each line of which the same mark stands, with which
/// its first line begins: a sign of comments, the file that `grep` found it in,
/// the number of its line.
fn marked_key(bytes: &[u8], at: usize, start: usize) -> Option<usize> {
    const MARK: usize = 256;
    const LINES: usize = 1_024;
    let before = &bytes[at.saturating_sub(MARK)..at];
    let line = memchr::memrchr(b'\n', before);
    // What is cut off at the front is no mark.
    let line = line.map_or(if before.len() < MARK { Some(0) } else { None }, |place| {
        Some(place + 1)
    })?;
    let mark = &before[line..];
    let window = &bytes[..bytes.len().min(start + MOST)];
    let mut next = start + memchr::memchr(b'\n', &window[start..])? + 1;
    let (mut end, mut longest, mut seen) = (start, 0, 0);
    for _ in 0..LINES {
        let rest = window.get(next..)?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let Some(inner) = behind_mark(&rest[..length], mark) else {
            break;
        };
        let from = next + inner;
        if let Some(last) = ending(&window[from..]) {
            end = from + last;
            break;
        }
        let text = rest[inner..length].trim_ascii();
        let header = text.is_empty() || memchr::memmem::find(text, b": ").is_some();
        if !header && !text.iter().copied().all(is_key) {
            break;
        }
        if !header {
            end = from + rest[inner..length].trim_ascii_end().len();
            longest = longest.max(text.len());
            seen += text.len();
        }
        if next + length >= window.len() {
            break;
        }
        next += length + 1;
    }
    (longest >= 30 && seen >= 40).then_some(end)
}

/// Where a line goes on behind its mark, if that is the one of the lines before
/// it but for a number and the blanks before that.
fn behind_mark(line: &[u8], mark: &[u8]) -> Option<usize> {
    let mark = mark.trim_ascii();
    let blank = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let number = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (mut at, mut of_mark) = (blank(line), 0);
    while of_mark < mark.len() {
        let (digits, expected) = (number(&line[at..]), number(&mark[of_mark..]));
        // `grep` writes `file:2:` of what it found and `file-3-` of the rest.
        let same = |a: u8, b: u8| a == b || a == b'-' && b == b':';
        if digits > 0 && expected > 0 {
            (at, of_mark) = (at + digits, of_mark + expected);
        } else if mark[of_mark].is_ascii_whitespace() {
            (at, of_mark) = (at + blank(&line[at..]), of_mark + 1);
        } else if same(*line.get(at)?, mark[of_mark]) {
            (at, of_mark) = (at + 1, of_mark + 1);
        } else {
            return None;
        }
    }
    Some(at + blank(&line[at..]))
}

/// The same of a key whose lines stand beside each other, or among signs that
/// quote them.
fn plain_key(bytes: &[u8], start: usize) -> Option<usize> {
    let window = &bytes[start..bytes.len().min(start + MOST)];
    let mut end = 0;
    let mut seen = 0;
    while end < window.len() {
        let byte = window[end];
        if byte == b'-'
            && [END, SSH2_END]
                .iter()
                .any(|mark| window[end..].starts_with(mark))
        {
            return Some(start + end + ending(&window[end..])?);
        }
        if window[end..].starts_with(BEGIN) || window[end..].starts_with(SSH2_BEGIN) {
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

/// The private keys of a text of which only the end stands in it, as `tail`
/// prints it, the last of them first. They are known by their last line, so they
/// are looked for before anything else.
pub(super) fn tails(bytes: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut floor = 0;
    for at in memchr::memmem::find_iter(bytes, END) {
        let title = &bytes[at + END.len()..bytes.len().min(at + END.len() + 64)];
        let Some(close) = memchr::memmem::find(title, b"-----") else {
            continue;
        };
        let private =
            title[..close].ends_with(b"PRIVATE KEY") || &title[..close] == b"PGP PRIVATE KEY BLOCK";
        let end = at + END.len() + close + 5;
        if let Some(start) = private.then(|| tail_start(bytes, floor, at)).flatten() {
            found.push(Span {
                kind: Kind::PrivateKey,
                start,
                end,
            });
        }
        floor = end;
    }
    found.reverse();
    found
}

/// Where the lines of a key begin that end before `at`. Between them stand line
/// ends, quotes, marks and numbers of lines; prose has no run of letters as long.
fn tail_start(bytes: &[u8], floor: usize, at: usize) -> Option<usize> {
    const LINE: usize = 40;
    const SHORT: usize = 6;
    let floor = floor.max(at.saturating_sub(MOST));
    let (mut place, mut short, mut start) = (at, 0, None);
    while place > floor && short < SHORT {
        if !is_key(bytes[place - 1]) {
            // Its beginning is there.
            if bytes[..place].ends_with(b"-----") {
                return None;
            }
            let between = bytes[place - 1];
            if !between.is_ascii_whitespace() && !b"\\\"',:>|.-".contains(&between) {
                break;
            }
            place -= 1;
            continue;
        }
        let end = place;
        while place > floor && is_key(bytes[place - 1]) {
            place -= 1;
        }
        // Of a line end that is written as one the letter is no part of it.
        let escaped = place > floor && bytes[place - 1] == b'\\' && bytes[place] == b'n';
        let from = place + usize::from(escaped);
        let shape = Shape::of(&bytes[from..end]);
        if end - from >= LINE && shape.upper > 0 && shape.lower > 0 && shape.digits > 0 {
            start = Some(from);
            short = 0;
        } else {
            short += 1;
        }
    }
    start
}

/// The private lines of PuTTY's key, whose heading begins at `at`.
pub(super) fn putty_key(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const HEADING: &[u8] = b"Private-Lines: ";
    const MOST_LINES: usize = 256;
    if !bytes[at..].starts_with(HEADING) {
        return None;
    }
    let window = &bytes[at..bytes.len().min(at + MOST)];
    let start = memchr::memchr(b'\n', window)? + 1;
    let count = std::str::from_utf8(&window[HEADING.len()..start]).ok()?;
    let count: usize = count.trim().parse().ok()?;
    let (mut end, mut next) = (start, start);
    for _ in 0..count.min(MOST_LINES) {
        let rest = &window[next..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest[..length].trim_ascii_end();
        let is_key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
        if line.is_empty() || !line.iter().all(is_key) {
            break;
        }
        end = next + line.len();
        next = (next + length + 1).min(window.len());
    }
    (end - start >= 16).then_some((at + start, at + end))
}

/// Where the JSON web token that begins at `at` ends. Its parts may stand in
/// several lines.
pub(super) fn web_token(bytes: &[u8], at: usize) -> Option<usize> {
    const JUDGED: usize = 1_024;
    const UNBOUNDED: usize = usize::MAX;
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let second = behind_dot(bytes, part(bytes, at, JUDGED, Lines::Few))?;
    if second - at < 11 || part(bytes, second, JUDGED, Lines::Few) - second < 10 {
        return None;
    }
    let claims = part(bytes, second, UNBOUNDED, Lines::Many);
    let third = behind_dot(bytes, claims)?;
    let drawn = Shape::of(&bytes[second..claims]);
    if claims - second < 10 || drawn.distinct < 8 {
        return None;
    }
    let mut end = part(bytes, third, UNBOUNDED, Lines::Signature);
    // An encrypted token has two parts more.
    for _ in 0..2 {
        let next = end + 1;
        if bytes.get(end) == Some(&b'.') && run(bytes, next, UNBOUNDED) >= 8 {
            end = part(bytes, next, UNBOUNDED, Lines::Many);
        }
    }
    Some(end)
}

/// Over how many lines a part of a token may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// What is not known to be a token yet.
    Few,
    Many,
    /// As many, but what has the length of a signature has ended.
    Signature,
}

fn run(bytes: &[u8], from: usize, most: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter()
        .take(most)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'='))
        .count()
}

/// Where the part of a token that begins at `from` ends. It goes on in the next
/// line where that holds nothing but what looks like its rest.
fn part(bytes: &[u8], from: usize, most: usize, lines: Lines) -> usize {
    const SIGNATURES: [usize; 6] = [43, 64, 86, 342, 512, 683];
    let mut length = run(bytes, from, most);
    let mut end = from + length;
    let breaks = match lines {
        Lines::Few => 2,
        Lines::Many | Lines::Signature => 64,
    };
    for _ in 0..breaks {
        if lines == Lines::Signature && SIGNATURES.contains(&length) {
            break;
        }
        let Some(next) = after_break(bytes, end) else {
            break;
        };
        let more = run(bytes, next, most);
        let shape = Shape::of(&bytes[next..next + more]);
        let alone = bytes.get(next + more).is_none_or(|byte| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b',' | b';' | b'.')
        });
        let drawn = more >= 10 && shape.digits > 0 && shape.upper > 0 && shape.lower > 0;
        if !alone || !drawn {
            break;
        }
        length += more;
        end = next + more;
    }
    end
}

/// Behind the dot at `at`, or at the beginning of the line after it.
fn behind_dot(bytes: &[u8], at: usize) -> Option<usize> {
    let dot = match bytes.get(at)? {
        b'.' => at,
        _ => after_break(bytes, at)?,
    };
    (bytes.get(dot) == Some(&b'.')).then_some(dot + 1)
}
