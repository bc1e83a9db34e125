//! Secrets that a command puts into a store or a file of users, and those that a
//! server makes up for its first user.

use super::Kind;
use super::command::{REACH, is_given, value};
use super::follows::Name;
use super::value::{Span, blanks};
use super::vendors::is_word_start;

/// The secret that the option at `at` gives to AWS's store of parameters:
/// `aws ssm put-parameter --type SecureString --value x`.
pub(super) fn parameter(bytes: &[u8], at: usize) -> Option<Span> {
    let option = ["--value ", "--value="];
    let option = option
        .iter()
        .find(|option| bytes[at..].starts_with(option.as_bytes()))?;
    let command = command_around(bytes, at);
    let has = |word: &[u8]| memchr::memmem::find(command, word).is_some();
    let kept = has(b"put-parameter") && has(b"SecureString");
    let found = kept.then(|| given(bytes, at + option.len()))?;
    found.filter(|span| !is_address(&bytes[span.start..span.end]))
}

/// Whether a text says where what is put into a store comes from: `file://key.pem`.
pub(super) fn is_address(text: &[u8]) -> bool {
    let scheme = memchr::memmem::find(text, b"://");
    scheme.is_some_and(|end| end > 1 && text[..end].iter().all(u8::is_ascii_lowercase))
}

/// The command of which the option at `at` is one, with the lines in which it
/// goes on.
fn command_around(bytes: &[u8], at: usize) -> &[u8] {
    let floor = at.saturating_sub(REACH);
    let most = bytes.len().min(at + REACH);
    let carried = |line: &[u8]| line.ends_with(b"\\") || line.ends_with(b"\\\r");
    let ends = |place: &usize| match bytes[*place] {
        b'\n' => !carried(&bytes[..*place]),
        byte => matches!(byte, b';' | b'|'),
    };
    let start = (floor..at).rev().find(ends).map_or(floor, |end| end + 1);
    let end = (at..most).find(ends).unwrap_or(most);
    &bytes[start..end]
}

/// The password of a user that the command at `at` writes into a file:
/// `htpasswd -bc file bob x`.
pub(super) fn into_file(bytes: &[u8], at: usize) -> Option<Span> {
    let name = b"htpasswd ";
    if !bytes[at..].starts_with(name) || !is_word_start(bytes, at) {
        return None;
    }
    let mut from = at + name.len();
    let (mut batch, mut before) = (false, 2);
    let is_option = |word: &[u8]| word.starts_with(b"-");
    // `htpasswd httpd:2 -Bbn bob x`: the image whose program it is.
    let image = word_at(bytes, from);
    if !is_option(image) {
        from += image.len() + blanks(bytes, from + image.len());
    }
    while is_option(word_at(bytes, from)) {
        let option = word_at(bytes, from);
        batch |= option.contains(&b'b');
        // It is printed, and there is no file.
        before -= usize::from(before == 2 && option.contains(&b'n'));
        from += option.len() + blanks(bytes, from + option.len());
    }
    for _ in 0..before {
        let length = word_at(bytes, from).len();
        from += length + blanks(bytes, from + length);
    }
    batch.then(|| given(bytes, from))?
}

/// The word that begins at `from`, to the next blank.
fn word_at(bytes: &[u8], from: usize) -> &[u8] {
    let rest = &bytes[from.min(bytes.len())..bytes.len().min(from + REACH)];
    let mut words = rest.split(u8::is_ascii_whitespace);
    words.next().unwrap_or_default()
}

fn given(bytes: &[u8], from: usize) -> Option<Span> {
    let (start, end) = value(bytes, from)?;
    is_given(&bytes[start..end]).then_some(Span {
        kind: Kind::Password,
        start,
        end,
    })
}

/// The password that MySQL makes up, of any signs: `A temporary password is
/// generated for root@localhost: x`.
pub(super) fn generated(bytes: &[u8], name: Name) -> Option<Span> {
    const USER: usize = 80;
    let link = b" is generated for ";
    let rest = bytes[name.end..].strip_prefix(link)?;
    let colon = memchr::memmem::find(&rest[..rest.len().min(USER)], b": ")?;
    let start = name.end + link.len() + colon + 2;
    let text = word_at(bytes, start);
    let one_line = !rest[..colon].contains(&b'\n');
    let made = text.len() >= 8 && !text.starts_with(b"[redacted:");
    (one_line && made).then_some(Span {
        kind: Kind::Password,
        start,
        end: start + text.len(),
    })
}
