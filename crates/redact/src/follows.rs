//! Values that follow the name of a secret with no `:` or `=` between: as the
//! next argument of a call, as the next word of a command, or said.
//!
//! Here the name is found first, since what links it to its value is a space
//! or a word that stands everywhere else too.

use super::names::{Promise, is_of_other_key};
use super::spoken::{self, Sentence};
use super::statement::{self, clause_end, is_clause, is_in_statement};
use super::tongues;
use super::turns;
use super::value::{Span, blanks, value};
use super::vendors::is_word_start;
use super::words::{is_drawn_as_password, is_word_as_password};
use super::{Redactor, before, below, entered, fallback, logins, markup, put, resumed};

/// With one of these begins the last word of every name that promises a secret.
pub(super) const STEMS: [&str; 14] = [
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "cred",
    "salt",
    "SecureString",
    "identified by ",
    "identified with ",
    "requirepass ",
    "masterauth ",
    "primaryauth ",
];
/// No name is longer.
const NAME: usize = 64;

/// A name, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) promise: Promise,
    pub(super) tongue: Tongue,
}

/// In which language a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    Other,
}

impl Redactor {
    /// The value that follows the name whose last word begins at `at`.
    pub(super) fn following(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let name = self.name_at(bytes, at)?;
        if is_clause(&bytes[name.start..name.end]) {
            return quoted(bytes, name)
                .or_else(|| bare(bytes, name))
                .or_else(|| statement::word(bytes, name));
        }
        let found = match bytes.get(name.end) {
            Some(b'"' | b'\'' | b'\\') => {
                argument(bytes, name).or_else(|| entered::entered(bytes, name))
            }
            Some(b']') => entered::entered(bytes, name),
            Some(b'(') => given(bytes, name)
                .or_else(|| statement::called(bytes, name))
                .or_else(|| logins::credential(bytes, name)),
            Some(b' ' | b'\t') => quoted(bytes, name)
                .or_else(|| statement::word(bytes, name))
                .or_else(|| commanded(bytes, name))
                .or_else(|| put::generated(bytes, name))
                .or_else(|| spoken::said_of(&Sentence { bytes, name })),
            Some(b'\r' | b'\n' | b'*') => below::headed(bytes, name),
            _ => None,
        };
        found
            .or_else(|| fallback::behind(bytes, name))
            .or_else(|| turns::turned(bytes, name))
            .or_else(|| before::said(bytes, name))
            .or_else(|| turns::wallet_key(bytes, name))
            .or_else(|| resumed::resumed(bytes, name))
    }

    fn name_at(&self, bytes: &[u8], at: usize) -> Option<Name> {
        let rest = &bytes[at..];
        let begins = |stem: &&&str| {
            let head = rest.get(..stem.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(stem.as_bytes()))
        };
        if let Some(foreign) = tongues::begins(rest) {
            return is_word_start(bytes, at).then_some(Name {
                start: at,
                end: at + foreign.name.len(),
                promise: foreign.promise,
                tongue: Tongue::Other,
            });
        }
        let stem = STEMS.iter().find(begins)?;
        if stem.ends_with(' ') {
            let clause = is_clause(&rest[..stem.len() - 1]);
            let meant = !clause || is_in_statement(bytes, at);
            let end = match *stem {
                "identified with " => at + clause_end(rest)?,
                stem => at + stem.len() - 1,
            };
            return (meant && is_word_start(bytes, at)).then_some(Name {
                start: at,
                end,
                promise: Promise::Password,
                tongue: Tongue::English,
            });
        }
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let end = at + rest.iter().take(NAME).take_while(|b| part(b)).count();
        let before = &bytes[at.saturating_sub(NAME)..at];
        let start = at - before.iter().rev().take_while(|b| part(b)).count();
        let name = &bytes[start..end];
        // `one-pass`, `multi-pass`.
        if name.to_ascii_lowercase().ends_with(b"-pass") {
            return None;
        }
        let promise = match self.promise(name) {
            Some(promise) => promise,
            None => self.short(bytes, start, end)?,
        };
        let promise = match promise {
            // `API key`: two words.
            Promise::Perhaps if is_kind_of_key(bytes, start, end) => Promise::Random,
            Promise::Perhaps if is_other_key(bytes, start, end) => return None,
            promise => promise,
        };
        Some(Name {
            start,
            end,
            promise,
            tongue: Tongue::English,
        })
    }

    /// `pass` alone is a verb, but not behind a user: `user bob pass x`.
    fn short(&self, bytes: &[u8], start: usize, end: usize) -> Option<Promise> {
        let name = &bytes[start..end];
        let own = name.eq_ignore_ascii_case(b"pass");
        (own && is_behind_user(bytes, start)).then_some(Promise::Password)
    }
}

/// Whether the words before `start` are those of a user: `user bob`.
pub(super) fn is_behind_user(bytes: &[u8], start: usize) -> bool {
    let mut words = words_before(bytes, start);
    let user = words.next().is_some();
    user && words.next().is_some_and(|word| {
        ["user", "username", "login", "account", "als", "usuario"]
            .iter()
            .any(|w| word.trim_ascii_end().eq_ignore_ascii_case(w.as_bytes()))
    })
}

/// Whether a `key` is one of those that are secret: `API key`.
pub(super) fn is_kind_of_key(bytes: &[u8], start: usize, end: usize) -> bool {
    const KINDS: [&str; 10] = [
        "api",
        "access",
        "secret",
        "private",
        "license",
        "auth",
        "signing",
        "encryption",
        "account",
        "master",
    ];
    let key = bytes[start..end].eq_ignore_ascii_case(b"key");
    key && words_before(bytes, start).next().is_some_and(|word| {
        KINDS
            .iter()
            .any(|k| word.eq_ignore_ascii_case(k.as_bytes()))
    })
}

/// Whether a `key` is one of those that are not: `cache key`.
pub(super) fn is_other_key(bytes: &[u8], start: usize, end: usize) -> bool {
    const LONGEST: usize = 16;
    let before = &bytes[start.saturating_sub(LONGEST)..start];
    let word = before.strip_suffix(b" ").unwrap_or_default();
    let word = word.rsplit(|b| !b.is_ascii_alphanumeric()).next();
    bytes[start..end].eq_ignore_ascii_case(b"key") && word.is_some_and(is_of_other_key)
}

/// The words before `start` on its line, the nearest first, without what
/// stands around them.
pub(super) fn words_before(bytes: &[u8], start: usize) -> impl Iterator<Item = &[u8]> {
    const REACH: usize = 72;
    let before = &bytes[start.saturating_sub(REACH)..start];
    let line = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
    let around = |b: &u8| b.is_ascii() && !b.is_ascii_alphanumeric() && !matches!(b, b'-' | b'_');
    before[line..]
        .rsplit(|b| matches!(b, b' ' | b'\t'))
        .map(move |word| {
            let from = word.iter().position(|b| !around(b)).unwrap_or(word.len());
            let to = word
                .iter()
                .rposition(|b| !around(b))
                .map_or(from, |t| t + 1);
            &word[from..to]
        })
        .filter(|word| !word.is_empty())
}

/// The only argument of a call that sets what it is named after:
/// `user.setPassword("x")`, `.password("x")`. Others check or look up.
fn given(bytes: &[u8], name: Name) -> Option<Span> {
    const VERBS: [&[u8]; 3] = [b"set", b"with", b"use"];
    let whole = &bytes[name.start..name.end];
    let call = whole.rsplit(|b| *b == b'.').next()?;
    let verb = |verb: &&[u8]| {
        call.get(..verb.len())
            .is_some_and(|w| w.eq_ignore_ascii_case(verb))
    };
    let built = call.len() < whole.len() && !call.contains(&b'_');
    let built = built && call.first().is_some_and(u8::is_ascii_lowercase);
    let plain = [
        "password",
        "passphrase",
        "secret",
        "token",
        "apiKey",
        "secretKey",
    ];
    let sets = VERBS.iter().any(verb) || built && plain.iter().any(|p| call == p.as_bytes());
    if !sets || !matches!(bytes.get(name.end + 1), Some(b'"' | b'\'')) {
        return None;
    }
    let found = value(bytes, name.end + 1, name.promise)?;
    (bytes.get(found.end + 1) == Some(&b')')).then_some(found)
}

/// The string that is the next argument: `set("password", "x")`.
fn argument(bytes: &[u8], name: Name) -> Option<Span> {
    let slashes = |from: usize| {
        bytes[from..]
            .iter()
            .take(8)
            .take_while(|b| **b == b'\\')
            .count()
    };
    let escapes = slashes(name.end);
    let close = name.end + escapes;
    let quote = *bytes.get(close).filter(|b| matches!(b, b'"' | b'\''))?;
    let open = name.start.checked_sub(1 + escapes)?;
    if bytes[name.start - 1] != quote {
        return None;
    }
    let before = bytes[..open].iter().rev().take(64);
    let gap = before.take_while(|b| b.is_ascii_whitespace()).count();
    if open.checked_sub(gap + 1).map(|place| bytes[place]) != Some(b'(') {
        return None;
    }
    let comma = close + 1 + blanks(bytes, close + 1);
    if bytes.get(comma) != Some(&b',') {
        return None;
    }
    let gap = bytes[comma + 1..].iter().take(64);
    let from = comma + 1 + gap.take_while(|b| b.is_ascii_whitespace()).count();
    let string = bytes
        .get(from + slashes(from))
        .is_some_and(|b| matches!(b, b'"' | b'\''));
    let found = string.then(|| value(bytes, from, name.promise))?;
    // What PHP calls a constant is no word to look up.
    let constant =
        bytes[..open].trim_ascii_end().ends_with(b"define(") && name.promise == Promise::Password;
    found.or_else(|| (string && constant).then(|| markup::quoted_word(bytes, from))?)
}

/// The string behind a blank: `:api_key "x"`, `WITH PASSWORD 'x'`.
fn quoted(bytes: &[u8], name: Name) -> Option<Span> {
    // Of what PowerShell makes a password with.
    const OPTIONS: [&str; 3] = ["-String ", "-AsPlainText ", "-Force "];
    let mut from = name.end + blanks(bytes, name.end);
    while let Some(option) = OPTIONS
        .iter()
        .find(|option| bytes[from..].starts_with(option.as_bytes()))
    {
        from += option.len();
    }
    let slashes = bytes[from..]
        .iter()
        .take(8)
        .take_while(|b| **b == b'\\')
        .count();
    let string = bytes
        .get(from + slashes)
        .is_some_and(|b| matches!(b, b'"' | b'\''));
    let made = bytes[name.start..name.end].ends_with(b"SecureString");
    let found = (string || made).then(|| value(bytes, from, name.promise))?;
    found.or_else(|| made.then(|| markup::quoted_word(bytes, from))?)
}

/// The word right behind the clause: `identified by x`.
fn bare(bytes: &[u8], name: Name) -> Option<Span> {
    let found = value(bytes, name.end, name.promise)?;
    let text = &bytes[found.start..found.end];
    (spoken::is_plain(text) || is_drawn_as_password(text)).then_some(found)
}

/// The next word of a command that sets what has the name: `ENV API_KEY x`.
fn commanded(bytes: &[u8], name: Name) -> Option<Span> {
    // Of `//host/:_authToken` only the end is a name.
    let joined = bytes[..name.start].iter().rev().take(NAME);
    let joined = joined.take_while(|b| !b.is_ascii_whitespace()).count();
    let mut words = words_before(bytes, name.start - joined);
    let first = words.next();
    let is = |word: Option<&[u8]>, names: &[&str]| {
        word.is_some_and(|word| {
            names
                .iter()
                .any(|n| word.eq_ignore_ascii_case(n.as_bytes()))
        })
    };
    // `set -x NAME x`, `set -gx NAME x`.
    let flag = first.is_some_and(|word| word.len() <= 4 && word[0] == b'-' && word.ends_with(b"x"));
    let sets = is(first, &["ENV", "setx", "setenv"])
        || flag && is(words.next(), &["set"])
        || is(first, &["set"]) && is(words.next(), &["config", "configure", "secret", "secrets"])
        || ["requirepass", "masterauth", "primaryauth"]
            .iter()
            .any(|n| bytes[name.start..name.end].eq_ignore_ascii_case(n.as_bytes()));
    if !sets {
        return None;
    }
    let from = name.end + blanks(bytes, name.end);
    let found = value(bytes, from, name.promise);
    let found = found.or_else(|| match name.promise {
        Promise::Password => markup::quoted_word(bytes, from),
        Promise::Random | Promise::Perhaps => None,
    });
    found.or_else(|| match name.promise {
        Promise::Password => {
            let rest = &bytes[from..];
            let letters = rest.iter().take(64);
            let length = letters.take_while(|b| b.is_ascii_alphabetic()).count();
            let ends = rest.get(length).is_none_or(u8::is_ascii_whitespace);
            (ends && is_word_as_password(&rest[..length])).then_some(Span {
                kind: name.promise.kind(),
                start: from,
                end: from + length,
            })
        }
        Promise::Random | Promise::Perhaps => None,
    })
}
