//! Values that stand before their name: `x is my password`, `x (the root
//! password)`, `x 是我的密码`.
//!
//! The scan comes to the name when it has passed the value by. So little looks
//! like a secret without a name before it that here the whole clause is read:
//! what is said must be that the one is the other, and nothing more may be said
//! of the name.

use super::follows::{Name, Tongue};
use super::names::Promise;
use super::promised::is_secret;
use super::tongues;
use super::value::{Quoted, Span, blanks_before, closing_quote_before, is_inner_of_path};
use super::words::is_word_as_password;

/// Bytes before the name in which its value is sought.
const REACH: usize = 160;
/// Words between the verb and the name: `is the old root`.
const BETWEEN: usize = 5;

/// How the value is linked to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// `is`.
    Verb,
    /// `as`, which programs write as well.
    As,
    /// A dash or a bracket, which may part anything.
    Sign,
}

/// The value that is said to be what the name behind it promises.
pub(super) fn said(bytes: &[u8], name: Name) -> Option<Span> {
    if !ends_clause(bytes, name.end) {
        return None;
    }
    let mut at = name.start - joined_before(bytes, name.start);
    let bracket = |place: usize| bytes[..place].ends_with(b"(");
    let mut own = Own::None;
    for _ in 0..=BETWEEN {
        if bracket(at) && own != Own::None {
            return subject(bytes, at - 1, name, Link::Sign, own);
        }
        let end = at - blanks_before(bytes, at);
        let start = word_before(bytes, end, name.start)?;
        if start == end || end == at {
            return None;
        }
        let word = &bytes[start..end];
        match link(word, name.tongue) {
            Some(Link::Sign) if own == Own::None => return None,
            Some(link) => return subject(bytes, start, name, link, own),
            None => {}
        }
        let denied: &[&[u8]] = match name.tongue {
            Tongue::English => &[b"a", b"an", b"not", b"no", b"any", b"public"],
            Tongue::Other => &[b"not", b"ein", b"une", b"un", b"una", b"kein", b"nicht"],
        };
        let plain = word
            .iter()
            .all(|b| b.is_ascii_alphabetic() || !b.is_ascii() || matches!(b, b'\'' | b'-'));
        if denied.iter().any(|d| word.eq_ignore_ascii_case(d)) || !plain {
            return None;
        }
        if tongues::is_own(word) {
            own = if own == Own::None && at == name.start {
                Own::Beside
            } else {
                Own::Said
            };
            if needs_no_verb(word) {
                return subject(bytes, start, name, Link::Verb, own);
            }
        }
        at = start;
    }
    None
}

/// Whether the clause says whose the secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    None,
    /// Somewhere: `my old password`.
    Said,
    /// In the word beside the name: `my password`.
    Beside,
}

/// Whether a word is of a language that says `x my password`.
fn needs_no_verb(word: &[u8]) -> bool {
    ["benim", "bizim", "मेरा", "हमारा"]
        .iter()
        .any(|own| word == own.as_bytes())
}

fn link(word: &[u8], tongue: Tongue) -> Option<Link> {
    const AS: [&str; 9] = [
        "as", "als", "como", "comme", "come", "как", "jako", "som", "olarak",
    ];
    if tongues::is_copula(word) || tongue == Tongue::Other && tongues::is_copula_of_its_own(word) {
        return Some(Link::Verb);
    }
    if AS.iter().any(|a| word.eq_ignore_ascii_case(a.as_bytes())) {
        return Some(Link::As);
    }
    ["-", "–", "—", "="]
        .iter()
        .any(|sign| word == sign.as_bytes())
        .then_some(Link::Sign)
}

/// Whether nothing is said behind the name but what it is for: `the password
/// manager` is no password.
fn ends_clause(bytes: &[u8], end: usize) -> bool {
    const GOES_ON: [&str; 14] = [
        "api", "and", "but", "so", "now", "und", "y", "e", "et", "и", "i", "है", "och", "en",
    ];
    let rest = &bytes[end..bytes.len().min(end + REACH)];
    let Some(first) = rest.first() else {
        return true;
    };
    if !matches!(first, b' ' | b'\t') {
        let mark = matches!(
            first,
            b'.' | b',' | b';' | b'!' | b'?' | b')' | b'\n' | b'\r' | b'"' | b'*'
        );
        // `password.rs`
        return mark && rest.get(1).is_none_or(|b| !b.is_ascii_alphanumeric());
    }
    let rest = rest.trim_ascii_start();
    let length = rest.iter().position(u8::is_ascii_whitespace);
    let word = &rest[..length.unwrap_or(rest.len())];
    let word = word.strip_suffix(b",").unwrap_or(word);
    word.is_empty()
        || word[0].is_ascii_punctuation()
        || tongues::is_about(word)
        || GOES_ON
            .iter()
            .any(|g| word.eq_ignore_ascii_case(g.as_bytes()))
}

/// The length of what the name is joined to: the `API-` of `API-Schlüssel`.
fn joined_before(bytes: &[u8], start: usize) -> usize {
    let before = bytes[start.saturating_sub(REACH)..start].iter().rev();
    before
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count()
}

/// Where the word that ends at `end` begins, on the same line.
fn word_before(bytes: &[u8], end: usize, from: usize) -> Option<usize> {
    let floor = from.saturating_sub(REACH);
    let before = bytes.get(floor..end)?;
    let length = before
        .iter()
        .rev()
        .take_while(|b| !b.is_ascii_whitespace() && **b != b'(')
        .count();
    (length < before.len() || floor == 0).then_some(end - length)
}

/// The value that ends before the link at `at`, if it is what the name promises.
fn subject(bytes: &[u8], at: usize, name: Name, link: Link, own: Own) -> Option<Span> {
    let mut end = at - blanks_before(bytes, at);
    // `x — это пароль`, `x should be the password`.
    for dash in [" -", " –", " —", " should", " will", " must", " soll"] {
        if let Some(inner) = bytes[..end].strip_suffix(dash.as_bytes()) {
            end = inner.len();
        }
    }
    let (start, end, quoted) = match closing_quote_before(bytes, end, REACH) {
        Some((start, end)) => (start, end, Quoted::Yes),
        None => {
            let mut start = word_before(bytes, end, name.start)?;
            let opens = |b: &u8| matches!(b, b'"' | b'\'' | b'`' | b'*' | b'[');
            start += bytes[start..end].iter().take_while(|b| opens(b)).count();
            (start, end, Quoted::No)
        }
    };
    let text = bytes.get(start..end)?;
    let last = *text.last()?;
    if matches!(last, b',' | b';' | b':' | b']') || start == end {
        return None;
    }
    let digits = text.iter().any(u8::is_ascii_digit);
    let symbols = text
        .iter()
        .any(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.' | b'/'));
    let is = match name.promise {
        Promise::Password => {
            let word = quoted == Quoted::Yes && is_word_as_password(text);
            let told = quoted == Quoted::Yes || digits && !is_inner_of_path(text);
            // Programs rename what they import, and databases their columns.
            let meant = link != Link::As || own != Own::None || symbols || quoted == Quoted::Yes;
            meant && (word || told && is_secret(text, Promise::Password, quoted))
        }
        Promise::Random => is_secret(text, Promise::Random, quoted) && !is_address(text),
        Promise::Perhaps => own == Own::Beside && is_secret(text, Promise::Perhaps, quoted),
    };
    is.then_some(Span {
        kind: name.promise.kind(),
        start,
        end,
    })
}

/// Whether a text is the public address of a wallet or a contract.
fn is_address(text: &[u8]) -> bool {
    text.len() == 42 && text.starts_with(b"0x") && text[2..].iter().all(u8::is_ascii_hexdigit)
}

/// The same where words are written together: the value before the name that
/// begins at `at`.
pub(super) fn joined(bytes: &[u8], at: usize) -> Option<Span> {
    const COPULAS: [&str; 9] = ["是", "为", "為", "が", "は", "는", "은", "이", "คือ"];
    const ENDS: [&str; 12] = [
        "。",
        "，",
        "！",
        "、",
        "；",
        "）",
        "」",
        "です",
        "だ",
        "입니다",
        "이에요",
        "예요",
    ];
    const MOST: usize = 32;
    let name = tongues::begins_joined(&bytes[at..])?;
    let rest = &bytes[at + name.name.len()..];
    let ends = rest.first().is_none_or(|b| {
        b.is_ascii_whitespace() || matches!(b, b'.' | b',' | b'!' | b')' | b';' | b'?')
    });
    if !ends && !ENDS.iter().any(|end| rest.starts_with(end.as_bytes())) {
        return None;
    }
    let floor = at.saturating_sub(MOST);
    let before = &bytes[floor..at];
    let place = COPULAS
        .iter()
        .filter_map(|copula| memchr::memmem::rfind(before, copula.as_bytes()))
        .max()?;
    let end = floor + place;
    let end = end - blanks_before(bytes, end);
    let run = bytes[end.saturating_sub(REACH)..end]
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_graphic())
        .count();
    let mut text = &bytes[end - run..end];
    let mut start = end - run;
    let mut close = end;
    // Quotes around it.
    while let [b'"' | b'\'' | b'`', inner @ .., b'"' | b'\'' | b'`'] = text {
        text = inner;
        start += 1;
        close -= 1;
    }
    let digits = text.iter().any(u8::is_ascii_digit);
    (digits && !is_inner_of_path(text) && is_secret(text, name.promise, Quoted::No)).then_some(
        Span {
            kind: name.promise.kind(),
            start,
            end: close,
        },
    )
}
