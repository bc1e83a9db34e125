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
    const ENDS: &[u8] = b"&;<>()[]{}|,$^*?";
    let start = at + 1;
    let rest = &bytes[start..bytes.len().min(start + BARE)];
    let length = rest.iter().take_while(|b| b.is_ascii_graphic()).count();
    let text = &rest[..length];
    let ends_line = rest[length..]
        .iter()
        .find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    let whole = ends_line.is_none_or(|b| *b == b'\n') && text.iter().any(|b| ENDS.contains(b));
    if bytes[at] != b'=' || !whole || !is_variable(name) || !begins_export(bytes, at, name) {
        return None;
    }
    // Shells end a value there, or take one from elsewhere.
    let shell = text.starts_with(b"$") && promise != Promise::Random
        || text.ends_with(b"&")
        || text
            .iter()
            .any(|b| matches!(b, b'"' | b'\'' | b'`' | b'\\'))
        || [&b"&&"[..], b"||", b"$(", b"${"]
            .iter()
            .any(|mark| memchr::memmem::find(text, mark).is_some());
    let drawn = match promise {
        Promise::Password => drawn::is_password(text),
        Promise::Random => drawn::is_key_of_signs(text) || signs::is_key(text),
        Promise::Perhaps => false,
    };
    (!shell && drawn && is_secret(text, promise, Quoted::Yes)).then_some(Span {
        kind: promise.kind(),
        start,
        end: start + length,
    })
}

/// Whether the line begins with the name, or with `export` before it.
fn begins_export(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let start = at - blanks_before(bytes, at) - name.len();
    let before = bytes[..start]
        .strip_suffix(b"export ")
        .unwrap_or(&bytes[..start]);
    before.last().is_none_or(|b| *b == b'\n')
}
