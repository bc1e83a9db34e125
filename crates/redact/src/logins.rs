//! Calls and commands that log somebody in: the password is the last of what
//! they are given, behind the user if there is one.

use super::Kind;
use super::command::is_given;
use super::follows::Name;
use super::markup::quoted_word;
use super::names::Promise;
use super::spoken::is_plain;
use super::value::{Span, blanks, value};
use super::vendors::is_word_start;
use super::words::is_ordinary;

/// Nothing is read any further.
const REACH: usize = 256;

/// The password behind the `auth` at `at`: of a call with a user and a password,
/// or of Redis's commands.
pub(super) fn auth(bytes: &[u8], at: usize) -> Option<Span> {
    const NAME: &[u8] = b"auth";
    let head = bytes.get(at..at + NAME.len())?;
    if !head.eq_ignore_ascii_case(NAME) || !is_word_start(bytes, at) {
        return None;
    }
    let end = at + NAME.len();
    match bytes.get(end)? {
        b'(' if bytes[..at].ends_with(b".") => of_call(bytes, at, end),
        b'=' | b' ' if head == NAME => of_pair(bytes, end).or_else(|| of_redis(bytes, at)),
        b' ' => of_redis(bytes, at),
        b'-' => of_sentinel(bytes, at),
        _ => None,
    }
}

/// The password behind the user in the brackets of a call that logs in:
/// `server.login("bob", "x")`.
pub(super) fn called(bytes: &[u8], at: usize) -> Option<Span> {
    const CALL: &[u8] = b"login(";
    if !bytes[at..].starts_with(CALL) || !bytes[..at].ends_with(b".") {
        return None;
    }
    let start = second_string(bytes, at + CALL.len())?;
    let found = value(bytes, start, Promise::Password)?;
    is_plain(&bytes[found.start..found.end]).then_some(found)
}

/// `db.auth("app", "x")`, `request.auth('app', 'x')`, `redis.auth("x")`.
fn of_call(bytes: &[u8], at: usize, open: usize) -> Option<Span> {
    let owner = &bytes[at.saturating_sub(24)..at - 1];
    let owner = owner
        .rsplit(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        .next()?;
    let of_redis = memchr::memmem::find(&owner.to_ascii_lowercase(), b"redis").is_some();
    let Some(start) = second_string(bytes, open + 1) else {
        return of_redis.then(|| value(bytes, open + 1, Promise::Password))?;
    };
    value(bytes, start, Promise::Password)
        .or_else(|| (owner == b"db").then(|| quoted_word(bytes, start))?)
}

/// `auth=("app", "x")`, `auth=HTTPBasicAuth("app", "x")`.
fn of_pair(bytes: &[u8], end: usize) -> Option<Span> {
    const WRAPPERS: [&str; 5] = [
        "HTTPBasicAuth(",
        "HTTPDigestAuth(",
        "BasicAuth(",
        "aiohttp.BasicAuth(",
        "(",
    ];
    let sign = end + blanks(bytes, end);
    bytes.get(sign).filter(|b| **b == b'=')?;
    let from = sign + 1 + blanks(bytes, sign + 1);
    let rest = &bytes[from..];
    let wrapper = WRAPPERS.iter().find(|w| rest.starts_with(w.as_bytes()))?;
    let start = second_string(bytes, from + wrapper.len())?;
    value(bytes, start, Promise::Password)
}

/// The password behind the user in the brackets of what holds both:
/// `new NetworkCredential("app", "x")`.
pub(super) fn credential(bytes: &[u8], name: Name) -> Option<Span> {
    const NAMES: [&str; 3] = [
        "NetworkCredential",
        "PSCredential",
        "UsernamePasswordCredentials",
    ];
    let whole = &bytes[name.start..name.end];
    NAMES.iter().find(|n| whole.ends_with(n.as_bytes()))?;
    let start = second_string(bytes, name.end + 1)?;
    value(bytes, start, Promise::Password).or_else(|| quoted_word(bytes, start))
}

/// Where the second of two strings opens, the first of which stands at `from`.
pub(super) fn second_string(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..bytes.len().min(from + REACH))?;
    let gap = |at: usize| {
        let blank = rest[at.min(rest.len())..].iter();
        at + blank.take_while(|b| b.is_ascii_whitespace()).count()
    };
    let is_quote = |at: usize| rest.get(at).filter(|b| matches!(b, b'"' | b'\''));
    let open = gap(0);
    let quote = *is_quote(open)?;
    let close = open + 1 + memchr::memchr2(quote, b'\n', &rest[open + 1..])?;
    if rest[close] != quote || rest.get(close + 1) != Some(&b',') {
        return None;
    }
    let start = gap(close + 2);
    is_quote(start).map(|_| from + start)
}

/// `AUTH x`, `AUTH default x`: all of its line, behind the prompt or the program
/// that it is typed into. Mail servers have a command of this name too, which
/// is followed by a way to log in.
fn of_redis(bytes: &[u8], at: usize) -> Option<Span> {
    const USER: usize = 64;
    let from = at + "auth ".len();
    let quoted = matches!(bytes.get(from), Some(b'"' | b'\''));
    let from = from + usize::from(quoted);
    let rest = &bytes[from.min(bytes.len())..bytes.len().min(from + REACH)];
    let ends = |b: &u8| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\');
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let line = rest[..end].trim_ascii_end();
    let mut words = line.split(|b| *b == b' ');
    let (first, second) = (words.next()?, words.next());
    if first.len() > USER || words.next().is_some() {
        return None;
    }
    let text = second.unwrap_or(first);
    let end = from + line.len();
    let typed = is_typed(bytes, at);
    let written = bytes[at..].starts_with(b"AUTH ") && begins(bytes, at);
    let mixed = is_plain(text) && text.iter().any(u8::is_ascii_lowercase);
    let given = is_given(text) && !is_ordinary(text);
    let given = given && (typed || written && mixed && !is_way(text));
    given.then_some(Span {
        kind: Kind::Password,
        start: end - text.len(),
        end,
    })
}

/// Whether a word is a way to log in.
fn is_way(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    ["oauth", "xoauth", "scram", "cram", "ntlm", "v1", "v2"]
        .iter()
        .any(|way| lower.starts_with(way.as_bytes()))
}

/// The line before `at`.
fn line_before(bytes: &[u8], at: usize) -> &[u8] {
    let before = &bytes[at.saturating_sub(REACH)..at];
    &before[memchr::memrchr(b'\n', before).map_or(0, |place| place + 1)..]
}

/// Whether the command at `at` is typed into Redis's program, or behind it.
fn is_typed(bytes: &[u8], at: usize) -> bool {
    let before = line_before(bytes, at).trim_ascii();
    let prompt = before.strip_suffix(b">").unwrap_or_default();
    let host = prompt.rsplit(u8::is_ascii_whitespace).next();
    let prompted = host.is_some_and(|host| {
        let port = host.rsplit(|b| *b == b':').next().unwrap_or_default();
        let numbered = port.len() >= 4 && port.len() < host.len();
        host == b"redis" || numbered && port.iter().all(u8::is_ascii_digit)
    });
    let command = before.strip_prefix(b"$ ").unwrap_or(before);
    let given = command.starts_with(b"redis-cli") && bytes[at..].starts_with(b"AUTH ");
    prompted || given && !bytes[at..].starts_with(b"AUTH command")
}

/// Whether a line or a string begins with what is at `at`, or with the greeting
/// of a protocol before it.
fn begins(bytes: &[u8], at: usize) -> bool {
    let before = line_before(bytes, at);
    let before = before.strip_suffix(b"HELLO 3 ").unwrap_or(before);
    before
        .last()
        .is_none_or(|b| matches!(b, b'"' | b'\'' | b'`'))
        || before.iter().all(u8::is_ascii_whitespace)
}

/// `sentinel auth-pass mymaster x`, `SENTINEL SET mymaster auth-pass x`.
fn of_sentinel(bytes: &[u8], at: usize) -> Option<Span> {
    const NAME: &[u8] = b"auth-pass ";
    let mut before = line_before(bytes, at).split(|b| *b == b' ');
    let told = before.any(|word| word.eq_ignore_ascii_case(b"sentinel"));
    if !told || !bytes[at..].starts_with(NAME) {
        return None;
    }
    let from = at + NAME.len();
    let rest = &bytes[from..bytes.len().min(from + REACH)];
    let line = rest.split(|b| matches!(b, b'\n' | b'\r')).next()?;
    let line = line.trim_ascii_end();
    let text = line.rsplit(|b| *b == b' ').next()?;
    let end = from + line.len();
    is_given(text).then_some(Span {
        kind: Kind::Password,
        start: end - text.len(),
        end,
    })
}

/// The password behind the `>` at `at` in a rule of Redis's access list:
/// `user default on >x ~* +@all`.
pub(super) fn of_access_list(bytes: &[u8], at: usize) -> Option<Span> {
    let before = line_before(bytes, at);
    let before = match before {
        [inner @ .., b'"' | b'\''] => inner,
        _ => before,
    };
    if !before.ends_with(b" ") {
        return None;
    }
    let mut words = before
        .split(|b| !b.is_ascii_graphic() || matches!(b, b'"' | b'\''))
        .filter(|word| !word.is_empty());
    let told = words.any(|word| {
        word.eq_ignore_ascii_case(b"setuser") || word == b"user" && before.starts_with(b"user ")
    });
    let switched = memchr::memmem::find(before, b" on ").is_some();
    let start = at + 1;
    let rest = &bytes[start..bytes.len().min(start + REACH)];
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    let text = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let behind = rest[text.len()..].split(|b| *b == b'\n').next()?;
    let ruled = behind.iter().all(ends)
        || behind.iter().any(|b| matches!(b, b'~' | b'+'))
        || memchr::memmem::find(behind, b" all").is_some();
    (told && switched && ruled && is_given(text)).then_some(Span {
        kind: Kind::Password,
        start,
        end: start + text.len(),
    })
}
