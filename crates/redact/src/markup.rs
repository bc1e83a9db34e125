//! Secrets in markup and settings, where the name and the value of one thing
//! stand side by side as values of their own.

use super::markdown::{line, lone_word};
use super::names::Promise;
use super::promised::is_word_of_programs;
use super::shape::is_example;
use super::value::{Span, blanks, closing, value};
use super::words::{is_literal_as_password, is_phrase_as_password};
use super::{Kind, Redactor};

/// How far back the name is looked for.
const REACH: usize = 160;
/// No value between tags is longer.
const LONGEST: usize = 512;

/// Whether a member of this name holds the name of the value beside it.
pub(super) fn names_another(member: &str) -> bool {
    const NAMES: [&str; 7] = [
        "name",
        "key",
        "id",
        "variable",
        "ParameterKey",
        "ParameterName",
        "OptionName",
    ];
    NAMES.iter().any(|n| member.eq_ignore_ascii_case(n))
}

/// Whether a member of this name holds the value of what another names.
pub(super) fn is_named_by_another(member: &str) -> bool {
    ["value", "ParameterValue", "OptionValue"]
        .iter()
        .any(|n| member.eq_ignore_ascii_case(n))
}

/// The name that the member behind the value that ends at `end` gives it:
/// `"value": "x", "name": "API_TOKEN"`.
pub(super) fn name_behind(bytes: &[u8], end: usize) -> Option<&[u8]> {
    let rest = &bytes[end..bytes.len().min(end + REACH)];
    let quote = |b: &u8| matches!(b, b'"' | b'\'' | b'\\');
    let gap = |b: &&u8| b.is_ascii_whitespace() || **b == b',' || quote(b);
    let part = |b: &&u8| b.is_ascii_graphic() && !matches!(**b, b':' | b'=' | b',') && !quote(b);
    let start = rest.iter().take_while(gap).count();
    let length = rest[start..].iter().take_while(part).count();
    let member = std::str::from_utf8(&rest[start..start + length]).ok()?;
    let behind = &rest[start + length..];
    let sign = behind.iter().position(|b| !quote(b) && *b != b' ')?;
    if start == 0 || !matches!(behind[sign], b':' | b'=') || !names_another(member) {
        return None;
    }
    let behind = &behind[sign + 1..];
    let start = behind
        .iter()
        .take_while(|b| quote(b) || **b == b' ')
        .count();
    let length = behind[start..].iter().take_while(part).count();
    (length > 0).then(|| &behind[start..start + length])
}

impl Redactor {
    /// The value of the member `value` whose `:` or `=` is at `at`, if the
    /// member before or behind it names a secret: `name="API_TOKEN" value="x"`.
    pub(super) fn paired(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let before = &bytes[at.saturating_sub(REACH)..at];
        let mut words = before
            .rsplit(|b| {
                b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\' | b':' | b'=' | b',')
            })
            .filter(|word| !word.is_empty());
        let own = behind_bracket(words.next()?);
        if !is_named_by_another(std::str::from_utf8(own).ok()?) {
            return None;
        }
        if let Some(name) = name_among(words) {
            return self.of_pair(bytes, at, name);
        }
        let end = value_end(bytes, at + 1)?;
        self.of_pair(bytes, at, name_behind(bytes, end)?)
    }

    /// The value behind the sign at `at`, if it is what this name promises.
    fn of_pair(&self, bytes: &[u8], at: usize, name: &[u8]) -> Option<Span> {
        let promise = self.promise(name).filter(|p| *p != Promise::Perhaps)?;
        value(bytes, at + 1, promise).or_else(|| match promise {
            Promise::Password => quoted_word(bytes, at + 1).or_else(|| word_of_line(bytes, at + 1)),
            Promise::Random | Promise::Perhaps => None,
        })
    }

    /// The text behind the tag that closes at `at`: `<password>x</password>`.
    pub(super) fn tagged(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let before = &bytes[at.saturating_sub(64)..at];
        let open = memchr::memrchr(b'<', before)?;
        let name = &before[open + 1..];
        let named = name
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'));
        // `<entry key="db.password">`.
        let name = if named { name } else { attribute(name)? };
        let promise = self.promise(name)?;
        let start = at + 1;
        let rest = &bytes[start..bytes.len().min(start + LONGEST)];
        let end = start + memchr::memchr(b'<', rest)?;
        if !bytes[end..].starts_with(b"</") || promise == Promise::Perhaps {
            return None;
        }
        let found = value(&bytes[..end], start, promise).filter(|span| span.end == end);
        found.or_else(|| {
            // A word is a password only where nothing but it is in its tags.
            let closes = named
                && bytes[end + 2..].starts_with(name)
                && bytes.get(end + 2 + name.len()) == Some(&b'>');
            let text = bytes[start..end].trim_ascii();
            let from = start + bytes[start..end].len() - bytes[start..end].trim_ascii_start().len();
            let told = promise == Promise::Password && closes;
            // Capitals begin what a program calls a component.
            let literal = !name.iter().any(u8::is_ascii_uppercase) && is_literal_as_password(text);
            let found = || Span {
                kind: Kind::Password,
                start: from,
                end: from + text.len(),
            };
            let word = || lone_word(bytes, from, from + text.len());
            told.then(|| literal.then(found).or_else(word))?
        })
    }
}

/// The name that the member before a value gives it, by the words before it,
/// the nearest first.
fn name_among<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let mut name = words.next()?;
    let mut member = words.next()?;
    // What type it has may stand between.
    if member.eq_ignore_ascii_case(b"type") {
        name = words.next()?;
        member = words.next()?;
    }
    let member = std::str::from_utf8(behind_bracket(member)).ok()?;
    names_another(member).then_some(name)
}

/// The opening bracket may stand close to a member.
fn behind_bracket(member: &[u8]) -> &[u8] {
    member.rsplit(|b| *b == b'{').next().unwrap_or(member)
}

/// Where the value behind `from` ends, its quotes not included.
fn value_end(bytes: &[u8], from: usize) -> Option<usize> {
    let start = from + blanks(bytes, from);
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    match rest.get(slashes)? {
        quote @ (b'"' | b'\'') => {
            let inner = slashes + 1;
            Some(start + inner + closing(&rest[inner..], *quote, slashes)?)
        }
        _ => {
            let ends = |b: &u8| b.is_ascii_whitespace() || *b == b',';
            Some(start + rest.iter().position(ends)?)
        }
    }
}

/// A password of letters only behind a colon, with which its line ends.
fn word_of_line(bytes: &[u8], from: usize) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let text = line(bytes, start).trim_ascii_end();
    let told = start > from && bytes[from - 1] == b':';
    told.then(|| lone_word(bytes, start, start + text.len()))?
}

/// The name in the last attribute of a tag, if it is one that names the text
/// between the tags.
fn attribute(tag: &[u8]) -> Option<&[u8]> {
    let inner = tag.trim_ascii_end().strip_suffix(b"\"")?;
    let open = memchr::memrchr(b'"', inner)?;
    let member = inner[..open].strip_suffix(b"=")?;
    let member = member.rsplit(u8::is_ascii_whitespace).next()?;
    let names = names_another(std::str::from_utf8(member).ok()?);
    names.then(|| &inner[open + 1..])
}

/// A password of letters only in the quotes behind `from`, escaped or not.
pub(super) fn quoted_word(bytes: &[u8], from: usize) -> Option<Span> {
    let (start, end) = quoted(bytes, from, u8::is_ascii_alphabetic)?;
    lone_word(bytes, start, end)
}

/// The same where no name of a program can stand: also of words that are joined.
pub(super) fn quoted_phrase(bytes: &[u8], from: usize) -> Option<Span> {
    let (start, end) = quoted(bytes, from, |b| b.is_ascii_alphabetic() || *b == b'-')?;
    let text = &bytes[start..end];
    (is_literal_as_password(text) || is_phrase_as_password(text)).then_some(Span {
        kind: Kind::Password,
        start,
        end,
    })
}

/// Where the text in the quotes behind `from` begins and ends, if all of it is of
/// such characters.
fn quoted(bytes: &[u8], from: usize, part: fn(&u8) -> bool) -> Option<(usize, usize)> {
    let open = from + blanks(bytes, from);
    let rest = &bytes[open.min(bytes.len())..bytes.len().min(open + LONGEST)];
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    let quote = *rest.get(slashes).filter(|b| matches!(b, b'"' | b'\''))?;
    let text = &rest[slashes + 1..];
    let length = text.iter().take_while(|b| part(b)).count();
    let closes = text[length..].len() > slashes
        && text[length..length + slashes].iter().all(|b| *b == b'\\')
        && text[length + slashes] == quote;
    let start = open + slashes + 1;
    closes.then_some((start, start + length))
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
