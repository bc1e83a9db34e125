//! Lines that set a variable of the environment: what stands behind the `=` is
//! the value, whatever ends one in a program.

use super::beside::is_variable;
use super::names::Promise;
use super::promised::is_secret;
use super::value::{BARE, Quoted, Span, blanks_before};
use super::{drawn, signs};

/// The value of a variable of the environment with which its line begins, up to
/// the end of the line, if a sign is in it with which a value ends
/// elsewhere, or which means something there.
pub(super) fn whole_line(bytes: &[u8], at: usize, name: &[u8], promise: Promise) -> Option<Span> {
    let start = at + 1;
    let rest = &bytes[start..bytes.len().min(start + BARE)];
    let length = rest.iter().take_while(|b| b.is_ascii_graphic()).count();
    let text = &rest[..length];
    let ends_line = rest[length..]
        .iter()
        .find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    let whole = ends_line.is_none_or(|b| *b == b'\n') && has_telling_sign(text, promise);
    if bytes[at] != b'=' || !whole || !is_variable(name) || !begins_export(bytes, at, name) {
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

/// Whether the line begins with the name, or with `export` before it.
fn begins_export(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let start = at - blanks_before(bytes, at) - name.len();
    let before = bytes[..start]
        .strip_suffix(b"export ")
        .unwrap_or(&bytes[..start]);
    before.last().is_none_or(|b| *b == b'\n')
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
