//! Values that a program falls back to where nothing else gives it one:
//! `process.env.JWT_SECRET || "x"`, `env("SECRET_KEY", default="x")`.

use super::follows::Name;
use super::names::Promise;
use super::value::{Span, VALUE, blanks, closing, value};

/// The string behind the name of what may be missing.
pub(super) fn behind(bytes: &[u8], name: Name) -> Option<Span> {
    const CLOSING: usize = 6;
    const ELSE: [&str; 4] = ["||", "??", "?:", "or "];
    if name.promise == Promise::Perhaps {
        return None;
    }
    let rest = &bytes[name.end..];
    let close = |b: &&u8| matches!(b, b'"' | b'\'' | b'\\' | b']' | b')');
    let closed = rest.iter().take(CLOSING).take_while(close).count();
    let at = name.end + closed + gap(bytes, name.end + closed);
    let rest = &bytes[at..];
    let operator = ELSE.iter().find(|e| rest.starts_with(e.as_bytes()));
    let from = match operator {
        Some(operator) => at + operator.len(),
        // `ENV.fetch("X") { "x" }`
        None if rest.starts_with(b"{") && bytes[..at].trim_ascii_end().ends_with(b")") => at + 1,
        None if closed > 0 => default(bytes, at)?,
        None => return None,
    };
    string(bytes, from + gap(bytes, from), name.promise)
}

/// Where the default begins that is the next argument at `at`.
fn default(bytes: &[u8], at: usize) -> Option<usize> {
    const DEFAULT: &[u8] = b"default";
    let word = at + 1 + gap(bytes, at + 1);
    if bytes.get(at) != Some(&b',') || !bytes[word..].starts_with(DEFAULT) {
        return None;
    }
    let sign = word + DEFAULT.len() + blanks(bytes, word + DEFAULT.len());
    matches!(bytes.get(sign), Some(b'=' | b':')).then_some(sign + 1)
}

/// One of the two strings between which a condition behind `from` chooses:
/// `x ? "x" : ""`.
pub(super) fn chosen(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    const CONDITION: usize = 96;
    let rest = &bytes[from..bytes.len().min(from + CONDITION)];
    let ends = |b: &u8| matches!(b, b'\n' | b'"' | b'\'' | b'`' | b';' | b'?');
    let question = from + rest.iter().position(ends)?;
    if bytes[question] != b'?' || matches!(bytes.get(question + 1), Some(b'?' | b'.' | b':')) {
        return None;
    }
    let first = question + 1 + gap(bytes, question + 1);
    string(bytes, first, promise).or_else(|| {
        let quote = *bytes.get(first).filter(|b| matches!(b, b'"' | b'\''))?;
        let inner = &bytes[first + 1..bytes.len().min(first + VALUE)];
        let end = first + 2 + closing(inner, quote, 0)?;
        let colon = end + gap(bytes, end);
        let second = colon + 1 + gap(bytes, colon + 1);
        (bytes.get(colon) == Some(&b':')).then(|| string(bytes, second, promise))?
    })
}

/// The secret in the string that opens at `at`.
fn string(bytes: &[u8], at: usize, promise: Promise) -> Option<Span> {
    let rest = bytes.get(at..)?;
    let slashes = rest.iter().take(8).take_while(|b| **b == b'\\').count();
    let quoted = matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`'));
    quoted.then(|| value(bytes, at, promise))?
}

/// The length of the spaces at `at`, line breaks too.
fn gap(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default().iter().take(64);
    rest.take_while(|b| b.is_ascii_whitespace()).count()
}
