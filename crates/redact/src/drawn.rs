//! Values that were drawn from more signs than a name has: keys in base64, and
//! keys and passwords of every sign that a keyboard has.
//!
//! By chance such a value has no digit, begins like a path or a variable, or has
//! signs in it that mark an example. Its letters still are no words, and what
//! stands beside each other is of another class at nearly every second place.

use super::letters::over_chance;
use super::promised::is_path;
use super::shape::Shape;

/// How well words may explain the letters of what was drawn; of a thousand
/// values one is explained better.
const BY_CHANCE: i32 = 20;

/// Whether a text is a key in base64, of either alphabet.
pub(super) fn is_key(text: &[u8]) -> bool {
    !text.contains(&b'.') && is_key_of_parts(text)
}

/// The same where dots may part it.
pub(super) fn is_key_of_parts(text: &[u8]) -> bool {
    const LEAST: usize = 20;
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.".contains(b);
    let shape = Shape::of(text);
    let cased = shape.upper >= 2 && shape.lower >= 2 && shape.distinct >= 10;
    let whole = text.len() >= LEAST && cased && text.iter().all(part);
    whole && changes(text) * 4 >= text.len() && over_chance(text) < BY_CHANCE && !is_path(text)
}

/// Whether a text is a key of letters, digits and many different signs, as
/// Django and WordPress draw them.
pub(super) fn is_key_of_signs(text: &[u8]) -> bool {
    const LONGEST: usize = 256;
    const DISTINCT: usize = 20;
    // Signs that differ, and numbers.
    const SIGNS: usize = 9;
    let text = text.strip_prefix(b"django-insecure-").unwrap_or(text);
    if !(32..=LONGEST).contains(&text.len()) || !text.iter().all(|b| matches!(b, b' '..=b'~')) {
        return false;
    }
    let mut seen = [false; 128];
    let signs = text.iter().filter(|b| {
        let known = std::mem::replace(&mut seen[usize::from(**b & 127)], true);
        b.is_ascii_punctuation() && !known
    });
    let signs = signs.count() + numbers(text);
    let spaces = text.iter().filter(|b| **b == b' ').count();
    let mixed = signs >= SIGNS && spaces * 12 <= text.len() && Shape::of(text).distinct >= DISTINCT;
    let changes = changes(text);
    let drawn = over_chance(text) < 2 * BY_CHANCE;
    mixed && drawn && changes * 3 >= text.len() && !is_rule(text)
}

/// Whether a text is a password that begins as a reference does, or has a sign
/// of one in it, and is none: no name follows.
pub(super) fn is_password(text: &[u8]) -> bool {
    const LENGTHS: std::ops::RangeInclusive<usize> = 8..=128;
    // Less than names that are mostly abbreviations: `%DB_PW1%`, `${Db.Pw1}`.
    const NAMED: i32 = -10;
    if !LENGTHS.contains(&text.len()) || !text.iter().all(u8::is_ascii_graphic) {
        return false;
    }
    let shape = Shape::of(text);
    let classes = [shape.lower, shape.upper, shape.digits, shape.others];
    let mixed = classes.iter().filter(|count| **count > 0).count() >= 3 && shape.distinct >= 6;
    let filled_in = text.starts_with(b"<") && text.ends_with(b">");
    if !mixed || filled_in || is_rule(text) {
        return false;
    }
    match (is_reference(text), is_of_name(text)) {
        (true, _) => over_chance(text) < NAMED,
        (false, true) => over_chance(text) < BY_CHANCE,
        (false, false) => over_chance(text) < BY_CHANCE || changes(text) * 2 >= text.len(),
    }
}

/// Whether a text is written as what stands for a value: `$name`, `${name}`,
/// `%name%`, `@file`, `&anchor`, `*alias`, `{name}`, `~/file`.
pub(super) fn is_reference(text: &[u8]) -> bool {
    let mark = |b: &&u8| matches!(b, b'$' | b'%' | b'@' | b'&' | b'*' | b'~' | b'.');
    let marks = text.iter().take_while(mark).count();
    let (inner, close) = match text[marks..] {
        [b'{', ref inner @ ..] => (inner, Some(b'}')),
        [b'(', ref inner @ ..] => (inner, Some(b')')),
        [b'<', ref inner @ ..] => (inner, Some(b'>')),
        ref inner => (inner, None),
    };
    match close {
        // `%(name)s`
        Some(close) => inner.iter().rev().take(2).any(|b| *b == close),
        None if text[0] == b'%' => inner.strip_suffix(b"%").is_some_and(is_of_name),
        None => marks > 0 && is_of_name(inner) && !inner.iter().any(|b| matches!(b, b'<' | b'>')),
    }
}

/// Whether nothing is in a text but what names, paths, types and indexes are
/// made of.
pub(super) fn is_of_name(text: &[u8]) -> bool {
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"_.:/-[]<>'\"".contains(b);
    text.iter().all(part)
}

/// Whether a text is a rule by which other texts are read, or a part of one.
pub(super) fn is_rule(text: &[u8]) -> bool {
    const PARTS: [&str; 12] = [
        "\\", "[^a-", "[a-z", "[A-Z", "[0-9", "0-9]", "a-zA", "z0-9", "(?:", "(?=", "(?!", "(?P",
    ];
    let has = |part: &&str| memchr::memmem::find(text, part.as_bytes()).is_some();
    PARTS.iter().any(has)
}

/// At how many places small letters, capitals, digits and signs change.
pub(super) fn changes(text: &[u8]) -> usize {
    let class = |b: u8| match b {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changed = |pair: &&[u8]| class(pair[0]) != class(pair[1]);
    text.windows(2).filter(changed).count()
}

/// How many numbers are in a text.
pub(super) fn numbers(text: &[u8]) -> usize {
    let parts = text.split(|b| !b.is_ascii_digit());
    parts.filter(|part| !part.is_empty()).count()
}
