//! Secrets in markup and settings, where the name and the value of one thing
//! stand side by side as values of their own.

use super::beside::{Span, is_word_of_programs, value};
use super::names::Promise;
use super::shape::is_example;
use super::{Kind, Redactor};

/// How far back the name is looked for.
const REACH: usize = 160;
/// No value between tags is longer.
const LONGEST: usize = 512;

/// Whether a member of this name holds the name of the value beside it.
pub(super) fn names_another(member: &str) -> bool {
    ["name", "key"]
        .iter()
        .any(|n| member.eq_ignore_ascii_case(n))
}

impl Redactor {
    /// The value of the member `value` whose `:` or `=` is at `at`, if the
    /// member before it names a secret: `name="API_TOKEN" value="x"`.
    pub(super) fn paired(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let before = &bytes[at.saturating_sub(REACH)..at];
        let mut words = before
            .rsplit(|b| {
                b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\' | b':' | b'=' | b',')
            })
            .filter(|word| !word.is_empty());
        if !words.next()?.eq_ignore_ascii_case(b"value") {
            return None;
        }
        let name = words.next()?;
        // The opening bracket may stand close to the member.
        let member = words.next()?.rsplit(|b| *b == b'{').next()?;
        if !names_another(std::str::from_utf8(member).ok()?) {
            return None;
        }
        let promise = self.promise(name).filter(|p| *p != Promise::Perhaps)?;
        value(bytes, at + 1, promise)
    }

    /// The text behind the tag that closes at `at`: `<password>x</password>`.
    pub(super) fn tagged(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let before = &bytes[at.saturating_sub(64)..at];
        let open = memchr::memrchr(b'<', before)?;
        let name = &before[open + 1..];
        let named = name
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'));
        let promise = named.then(|| self.promise(name)).flatten()?;
        let start = at + 1;
        let rest = &bytes[start..bytes.len().min(start + LONGEST)];
        let end = start + memchr::memchr(b'<', rest)?;
        if !bytes[end..].starts_with(b"</") || promise == Promise::Perhaps {
            return None;
        }
        value(&bytes[..end], start, promise).filter(|span| span.end == end)
    }
}

/// The password of a `.netrc`, whose name begins at `at`:
/// `machine h login u password x`.
pub(super) fn netrc(bytes: &[u8], at: usize) -> Option<Span> {
    const NAME: &[u8] = b"password ";
    if !bytes[at..].starts_with(NAME) {
        return None;
    }
    let before = &bytes[at.saturating_sub(REACH)..at];
    let mut words = before
        .rsplit(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let (_user, login) = (words.next()?, words.next()?);
    let host = words.next()?;
    if login != b"login" || host != b"default" && words.next()? != b"machine" {
        return None;
    }
    let start = at + NAME.len();
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    let text = &rest[..length];
    let refers = matches!(text.first()?, b'$' | b'{' | b'<' | b'%' | b'*' | b'[');
    let given = length >= 4 && !refers && !is_example(text) && !is_word_of_programs(text);
    given.then_some(Span {
        kind: Kind::Password,
        start,
        end: start + length,
    })
}
