//! `pass`, which is a word for much else: what passed a test, a pass of a renderer,
//! a ticket. What stands beside it or what it is tells a password.

use super::drawn::changes;
use super::names::Promise;
use super::shape::{Shape, looks_random};
use super::turns::is_telling;
use super::value::{Span, blanks, blanks_before, value};

/// How far back a user is looked for.
const REACH: usize = 240;
/// Lines above in which the user stands: a host or a port may stand between.
const LINES: usize = 3;

/// The password behind the `:` or `=` at `at`, whose name `pass` is.
pub(super) fn assigned(bytes: &[u8], at: usize, name: &[u8]) -> Option<Span> {
    let from = at + 1 + blanks(bytes, at + 1);
    let found = value(bytes, from, Promise::Password)?;
    let quoted = matches!(bytes.get(from), Some(b'"' | b'\'' | b'\\'));
    let text = &bytes[found.start..found.end];
    let variable = name == b"PASS" && bytes[at] == b'=' && from == at + 1;
    let told = || variable || is_beside_user(bytes, at);
    let staged = || is_of_words(text) && is_of_run(bytes, at, name, found.end);
    let given = || is_telling(text) && !is_named(text) && !is_count(text) && told() && !staged();
    (quoted || is_drawn(text) || given()).then_some(found)
}

/// Whether a text is long and of letters of both cases and digits throughout.
fn is_drawn(text: &[u8]) -> bool {
    const LEAST: usize = 16;
    let shape = Shape::of(text);
    let mixed = shape.upper >= 3 && shape.lower >= 3 && shape.digits >= 3;
    let whole = text.len() >= LEAST && text.iter().all(u8::is_ascii_alphanumeric);
    mixed && whole && changes(text) * 3 >= text.len() && looks_random(text)
}

/// Whether a text says how many there are: `14tests`.
fn is_count(text: &[u8]) -> bool {
    let number = text.iter().take_while(|b| b.is_ascii_digit()).count();
    number > 0 && text[number..].iter().all(u8::is_ascii_lowercase)
}

/// Whether a text is the name of a variable or a pass: `userPass2`, `lto-pass2`.
fn is_named(text: &[u8]) -> bool {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let name = text.iter().all(part);
    let lower = text.to_ascii_lowercase();
    name && memchr::memmem::find(&lower, b"pass").is_some()
}

/// Whether the `PASS` before the sign at `at` says what a run passed, or is given to
/// a command: `PASS: x`, `PASS=x make test`, `make PASS=x`, `PASS=x FAIL=y`. What is
/// exported, stands beside a user, or is all that its line has, is none of these.
fn is_of_run(bytes: &[u8], at: usize, name: &[u8], end: usize) -> bool {
    if name != b"PASS" {
        return false;
    }
    let start = at - blanks_before(bytes, at) - name.len();
    let before = &bytes[start.saturating_sub(REACH)..start];
    let line = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let mut words = line.rsplit(u8::is_ascii_whitespace);
    let last = words.find(|word| !word.is_empty());
    const EXPORTS: [&[u8]; 7] = [b"export", b"-e", b"--env", b"ENV", b"set", b"setenv", b"-x"];
    let exported = last.is_some_and(|word| EXPORTS.contains(&word));
    let beside = line.split(u8::is_ascii_whitespace).any(gives_user);
    let behind = &bytes[end..bytes.len().min(end + REACH)];
    let mut below = behind.split(|b| *b == b'\n');
    let rest = below.next().unwrap_or_default();
    let rest = rest.trim_ascii();
    let ends = rest.starts_with(b"#") || !rest.iter().any(u8::is_ascii_alphanumeric);
    let alone = last.is_none() && ends;
    let counted = below
        .next()
        .is_some_and(|line| line.trim_ascii_start().starts_with(b"FAIL"));
    bytes[at] == b':' || !exported && !beside && (!alone || counted)
}

/// Whether a text is of words and numbers, as a stage or a test is called:
/// `stage1-only`, `e2e-login-2`.
fn is_of_words(text: &[u8]) -> bool {
    const SHORT: [&str; 5] = ["e2e", "k8s", "i18n", "l10n", "a11y"];
    const WORD: usize = 4;
    let part = |part: &[u8]| {
        let letters = part.iter().take_while(|b| b.is_ascii_lowercase()).count();
        let numbered = part[letters..].iter().all(u8::is_ascii_digit);
        numbered || SHORT.iter().any(|short| part == short.as_bytes())
    };
    let word = |part: &[u8]| part.len() >= WORD && part.iter().all(u8::is_ascii_lowercase);
    let parts = || text.split(|b| *b == b'-');
    parts().count() > 1 && parts().all(part) && parts().any(word)
}

/// Whether a user is given before the sign at `at`, in its line or above it.
fn is_beside_user(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[at.saturating_sub(REACH)..at];
    let mut lines = before.rsplit(|b| *b == b'\n');
    let of_line = |line: &[u8]| line.split(u8::is_ascii_whitespace).any(gives_user);
    let beside = lines.next().is_some_and(of_line);
    let above = |line: &[u8]| key_of(line).is_some_and(is_user);
    let full = |line: &&[u8]| !line.trim_ascii().is_empty();
    beside || lines.take(LINES).take_while(full).any(above)
}

/// Whether a word is that of a user with the sign behind it: `user=bob`, `user:`.
fn gives_user(word: &[u8]) -> bool {
    let sign = word.iter().position(|b| matches!(b, b'=' | b':'));
    sign.is_some_and(|sign| is_user(&word[..sign]))
}

/// The name with which a line begins, before its sign.
fn key_of(line: &[u8]) -> Option<&[u8]> {
    let sign = line.iter().position(|b| matches!(b, b'=' | b':'))?;
    let around = |b: &u8| !b.is_ascii_alphanumeric();
    let start = line[..sign].iter().position(|b| !around(b))?;
    let end = line[..sign].iter().rposition(|b| !around(b))?;
    Some(&line[start..=end])
}

fn is_user(name: &[u8]) -> bool {
    const NAMES: [&str; 6] = ["user", "username", "login", "account", "email", "benutzer"];
    let last = name.rsplit(|b| matches!(b, b'_' | b'.' | b'-' | b' '));
    last.take(1).any(|word| {
        NAMES
            .iter()
            .any(|n| word.eq_ignore_ascii_case(n.as_bytes()))
    })
}
