//! Lines that set a variable of the environment: what stands behind the `=` is
//! the value, whatever ends one in a program.

use super::beside::is_variable;
use super::names::Promise;
use super::promised::is_secret;
use super::value::{BARE, Quoted, Span, blanks_before};
use super::{drawn, signs};

/// The value of a variable of the environment with which its line, its item of a
/// list or its string begins, up to the end of that, if a sign is in it with which
/// a value ends elsewhere, or which means something there.
pub(super) fn whole_line(bytes: &[u8], at: usize, name: &[u8], promise: Promise) -> Option<Span> {
    if bytes[at] != b'=' || !is_variable(name) {
        return None;
    }
    let start = at + 1;
    let rest = &bytes[start..bytes.len().min(start + BARE)];
    let length = match setting(bytes, at, name)? {
        Setting::Line => line(rest),
        Setting::Word => word(rest),
        Setting::Quoted(quote) => string(rest, quote),
    }?;
    let text = &rest[..length];
    if !has_telling_sign(text, promise) {
        return None;
    }
    let drawn = match promise {
        Promise::Password => drawn::is_password(text),
        Promise::Random => {
            drawn::is_key_of_signs(text) || signs::is_key(text) || signs::is_short_key(text)
        }
        Promise::Perhaps => false,
    };
    let given = drawn && !is_of_shell(text, promise);
    (given && is_secret(text, promise, Quoted::Yes)).then_some(Span {
        kind: promise.kind(),
        start,
        end: start + length,
    })
}

/// Whether a value ends elsewhere at a sign of this one, or is taken for where
/// it comes from by its first.
fn has_telling_sign(text: &[u8], promise: Promise) -> bool {
    const ENDS: &[u8] = b"&;<>()[]{}|,$^*?";
    let ends = text.iter().any(|b| ENDS.contains(b));
    ends || match promise {
        Promise::Password => text.first().is_some_and(|b| b"@%~/".contains(b)),
        Promise::Random => signs::has_odd_sign(text),
        Promise::Perhaps => false,
    }
}

/// Whether a shell ends a value in this one, or takes one from elsewhere.
fn is_of_shell(text: &[u8], promise: Promise) -> bool {
    let named = text.starts_with(b"$") && (drawn::is_reference(text) || begins_with_variable(text));
    named && promise != Promise::Random
        || text.ends_with(b"&")
        || text
            .iter()
            .any(|b| matches!(b, b'"' | b'\'' | b'`' | b'\\'))
        || [&b"&&"[..], b"||", b"$(", b"${"]
            .iter()
            .any(|mark| memchr::memmem::find(text, mark).is_some())
}

/// Whether a name of one case stands behind the `$`, and then something else:
/// `$DB_PASS1&x`.
fn begins_with_variable(text: &[u8]) -> bool {
    const LEAST: usize = 4;
    let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
    let length = text[1..].iter().take_while(part).count();
    let name = &text[1..=length];
    let lower = name.iter().any(u8::is_ascii_lowercase);
    length >= LEAST && !(lower && name.iter().any(u8::is_ascii_uppercase))
}

/// What a variable and its value are all of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    /// A line, or an item of a list in YAML.
    Line,
    /// An argument of a command: `-e NAME=x`.
    Word,
    /// A string in such quotes: `- "NAME=x"`.
    Quoted(u8),
}

/// What begins with the name before the `=` at `at`.
fn setting(bytes: &[u8], at: usize, name: &[u8]) -> Option<Setting> {
    const INDENT: usize = 64;
    const OPTIONS: [&str; 3] = [" -e ", " --env ", " --env="];
    let start = at - blanks_before(bytes, at) - name.len();
    let before = &bytes[start.saturating_sub(INDENT)..start];
    if let Some(quote @ (b'"' | b'\'')) = before.last() {
        return Some(Setting::Quoted(*quote));
    }
    let begun = before.strip_suffix(b"export ").unwrap_or(before);
    let line = match memchr::memrchr(b'\n', begun) {
        Some(place) => &begun[place + 1..],
        None => begun,
    };
    let item = line.ends_with(b"- ") && line.trim_ascii() == b"-";
    if line.is_empty() || item || line == b"Environment=" {
        return Some(Setting::Line);
    }
    let mut options = OPTIONS.iter();
    let given = options.any(|option| before.ends_with(option.as_bytes()));
    given.then_some(Setting::Word)
}

/// The length of a value that is all of a line.
fn line(rest: &[u8]) -> Option<usize> {
    let length = rest.iter().take_while(|b| b.is_ascii_graphic()).count();
    let mut behind = rest[length..].iter();
    let next = behind.find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    next.is_none_or(|b| *b == b'\n').then_some(length)
}

/// The length of a value that is all of an argument, if no sign of a shell is in it.
fn word(rest: &[u8]) -> Option<usize> {
    let length = rest.iter().take_while(|b| b.is_ascii_graphic()).count();
    let plain = |b: &u8| !b"&;<>()[]{}|$*?".contains(b);
    rest[..length].iter().all(plain).then_some(length)
}

/// The length of a value that is all of a string, if it is neither made of others
/// nor followed by another name: `"PASSWORD={x},{y}"`, `"PWD=x;Database=y"`.
fn string(rest: &[u8], quote: u8) -> Option<usize> {
    let inner = |b: &&u8| b.is_ascii_graphic() && **b != quote && **b != b'\\';
    let length = rest.iter().take_while(inner).count();
    let slashes = rest[length..].iter().take_while(|b| **b == b'\\').count();
    let closed = rest.get(length + slashes) == Some(&quote);
    let plain = |b: &u8| !b"=<>()[]{}$%".contains(b);
    (closed && rest[..length].iter().all(plain)).then_some(length)
}

/// Whether a text behind this name is the folder in which a shell is or was, whose
/// variables are called as passwords are: `OLDPWD=/srv/shop2`.
pub(super) fn is_folder(name: &[u8], text: &[u8]) -> bool {
    let variable = name.rsplit(|b| *b == b'.').next().unwrap_or_default();
    let quotes = |b: &&u8| matches!(b, b'"' | b'\'' | b'\\');
    let path = &text[text.iter().take(8).take_while(quotes).count()..];
    let begins = match path {
        [b'/', ..] | [b'~', b'/', ..] => true,
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    };
    begins && (variable == b"PWD" || variable == b"OLDPWD")
}
