//! Passwords that a command reads from what it is fed: through a bar, from a
//! string, from the lines below.

use super::Kind;
use super::command::{REACH, is_given, value};
use super::names::{Promise, promise_of_end};
use super::value::{Span, blanks, blanks_before, closing_quote_before};

/// What a command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Password,
    /// A user and a password in each line: `app:x`.
    Users,
}

/// The password that is written into the bar at `at`, behind which a command
/// reads one: `echo x | sudo -S ls`.
pub(super) fn piped(bytes: &[u8], at: usize) -> Option<Span> {
    const READERS: [&str; 20] = [
        "sudo ",
        "docker ",
        "podman ",
        "nerdctl ",
        "buildah ",
        "helm ",
        "oras ",
        "chpasswd",
        "passwd ",
        "smbpasswd ",
        "gh ",
        "kinit",
        "cryptsetup ",
        "gpg ",
        "openssl ",
        "mysql_config_editor ",
        "runas ",
        "vercel ",
        "wrangler ",
        "gcloud ",
    ];
    const WRITERS: [&str; 3] = ["echo ", "printf ", "yes "];
    let from = at + 1 + blanks(bytes, at + 1);
    let rest = &bytes[from..bytes.len().min(from + REACH)];
    READERS.iter().find(|r| rest.starts_with(r.as_bytes()))?;
    let ends = |b: &u8| matches!(b, b'\n' | b'|' | b';');
    let command = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let reads = reads(command)?;
    let floor = at.saturating_sub(REACH);
    let line = memchr::memrchr(b'\n', &bytes[floor..at]).map_or(floor, |place| floor + place + 1);
    let end = at - blanks_before(bytes, at);
    // `(echo x; echo x) | passwd app`
    let end = end - usize::from(bytes[line..end].ends_with(b")"));
    let writer = WRITERS
        .iter()
        .filter_map(|w| Some(memchr::memmem::rfind(&bytes[line..end], w.as_bytes())? + w.len()));
    let writer = line + writer.max()?;
    let (start, end) = closing_quote_before(bytes, end, end - writer).or_else(|| {
        Some((
            end - bytes[writer..end].rsplit(|b| *b == b' ').next()?.len(),
            end,
        ))
    })?;
    given(bytes, start, end, reads)
}

/// The password in the string that the `<<<` at `at` gives to a command which
/// reads one: `sudo -S ls <<< 'x'`.
pub(super) fn here_string(bytes: &[u8], at: usize) -> Option<Span> {
    const MARK: &[u8] = b"<<<";
    let behind = at + MARK.len();
    let alone = bytes[at..].starts_with(MARK) && bytes.get(behind) != Some(&b'<');
    if !alone || bytes[..at].ends_with(b"<") {
        return None;
    }
    let reads = reads(command_before(bytes, at))?;
    let from = behind + blanks(bytes, behind);
    // `$'x'` has escapes in it, `$x` is a variable.
    let escaped = bytes[from..].starts_with(b"$'");
    let (start, end) = value(bytes, from + usize::from(escaped))?;
    given(bytes, start, end, reads)
}

/// The passwords in the lines that the `<<` at `at` gives to a command which
/// reads them, up to the word that ends them.
pub(super) fn here_document(bytes: &[u8], at: usize) -> Vec<Span> {
    lines(bytes, at).unwrap_or_default()
}

fn lines(bytes: &[u8], at: usize) -> Option<Vec<Span>> {
    const LINES: usize = 64;
    let behind = bytes[at..].strip_prefix(b"<<")?;
    if bytes[..at].ends_with(b"<") || behind.starts_with(b"<") {
        return None;
    }
    let reads = reads(command_before(bytes, at))?;
    let mark = |b: &u8| matches!(b, b'-' | b' ' | b'"' | b'\'' | b'\\');
    let open = behind.iter().take(4).take_while(|b| mark(b)).count();
    let word = &behind[open..behind.len().min(open + 32)];
    let length = word
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let word = &word[..length];
    if word.is_empty() {
        return None;
    }
    let mut next = at + memchr::memchr(b'\n', &bytes[at..bytes.len().min(at + REACH)])? + 1;
    let most = match reads {
        Reads::Password => 1,
        Reads::Users => LINES,
    };
    let mut found = Vec::new();
    for _ in 0..most {
        let rest = &bytes[next..bytes.len().min(next + REACH)];
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let text = line.trim_ascii();
        if text.is_empty() || text == word {
            break;
        }
        let start = next + blanks(bytes, next);
        found.extend(given(bytes, start, start + text.len(), reads));
        next = bytes.len().min(next + line.len() + 1);
    }
    Some(found)
}

/// The command of the line that leads to `at`.
fn command_before(bytes: &[u8], at: usize) -> &[u8] {
    let before = &bytes[at.saturating_sub(REACH)..at];
    let parts = |b: &u8| matches!(b, b'\n' | b'|' | b';' | b'&' | b'(' | b'`');
    let begin = before.iter().rposition(parts).map_or(0, |place| place + 1);
    let command = before[begin..].trim_ascii();
    command.strip_prefix(b"$ ").unwrap_or(command)
}

/// What stands from `start` to `end`, or behind its user, if it is a password.
fn given(bytes: &[u8], start: usize, end: usize, reads: Reads) -> Option<Span> {
    let text = &bytes[start..end];
    let start = match reads {
        Reads::Password => start,
        Reads::Users => start + memchr::memchr(b':', text).map_or(0, |colon| colon + 1),
    };
    is_given(&bytes[start..end]).then_some(Span {
        kind: Kind::Password,
        start,
        end,
    })
}

/// What a command reads of what it is fed, if that has a password in it.
fn reads(command: &[u8]) -> Option<Reads> {
    let words = || command.split(u8::is_ascii_whitespace);
    let has = |option: &str| words().any(|word| word == option.as_bytes());
    let mut names = words().filter(|word| !word.is_empty() && !word.starts_with(b"-"));
    let asked = |word: &[u8]| word.starts_with(b"-") && !word.starts_with(b"--");
    let mut name = names.next()?;
    if name == b"sudo" {
        // Options of one letter stand together: `-kS`.
        if words().any(|word| asked(word) && word.contains(&b'S')) {
            return Some(Reads::Password);
        }
        name = names.next().unwrap_or_default();
    }
    let reads = match name {
        b"chpasswd" => return Some(Reads::Users),
        b"kinit" | b"cryptsetup" | b"runas" => true,
        b"passwd" => has("--stdin") || names.next().is_some(),
        b"smbpasswd" => words().any(|word| asked(word) && word.contains(&b's')),
        b"mysql_config_editor" => has("--password") || has("-p"),
        b"gpg" | b"gpg2" => has("--passphrase-fd") || has("--passphrase-fd=0"),
        b"openssl" => has("stdin"),
        b"gh" => has("--with-token") || has("secret") && has("set"),
        b"vercel" => has("env") && has("add") && names.any(is_of_secret),
        b"wrangler" => has("secret") && has("put"),
        b"gcloud" => has("secrets") && has("--data-file=-"),
        b"docker" | b"podman" if has("secret") => has("create") && has("-"),
        _ => has("--password-stdin"),
    };
    reads.then_some(Reads::Password)
}

/// Whether a variable's name says that a secret is in it.
fn is_of_secret(name: &[u8]) -> bool {
    promise_of_end(name).is_some_and(|promise| promise != Promise::Perhaps)
}
