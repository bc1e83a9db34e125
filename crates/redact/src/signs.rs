//! Keys of letters and digits with any signs among them, as managers of
//! passwords draw them: `9vT&kQ2mZx7Lp4RwBn8Yc3Hd`.
//!
//! What is code, a pattern or a template has signs too, but they stand in pairs
//! or beside words, and mostly there are few different ones.

use super::drawn::{changes, is_of_name, is_reference, is_rule, numbers};
use super::letters::over_chance;
use super::shape::Shape;

/// How well words may explain the letters of a key; better, where the kind of
/// character changes often; and less, where the signs may be those of code.
const BY_CHANCE: i32 = 20;
const AMONG_CHANGES: i32 = 40;
const AS_CODE: i32 = -10;

/// Whether a text is such a key. Between quotes, or up to the end of its line,
/// it must be all that stands there.
pub(super) fn is_key(text: &[u8]) -> bool {
    const LENGTHS: std::ops::RangeInclusive<usize> = 16..=128;
    if !LENGTHS.contains(&text.len()) || !text.iter().all(u8::is_ascii_graphic) {
        return false;
    }
    let shape = Shape::of(text);
    let classes = [shape.lower, shape.upper, shape.digits, shape.others];
    let mixed = classes.iter().filter(|count| **count > 0).count() >= 3 && shape.distinct >= 8;
    if !mixed || is_rule(text) || is_pattern(text) || is_filled_in(text) {
        return false;
    }
    let (chance, changes) = (over_chance(text), changes(text));
    let by_chance = chance < BY_CHANCE && changes * 4 >= text.len();
    let drawn = by_chance || chance < AMONG_CHANGES && changes * 5 >= text.len() * 2;
    let code = !has_odd_sign(text) || is_variable(text) || is_like_code(text);
    drawn && (!code || chance < AS_CODE)
}

/// The same of a key too short to be judged by its letters: of every kind of
/// character, of which another one stands at every second place.
pub(super) fn is_short_key(text: &[u8]) -> bool {
    const LENGTHS: std::ops::RangeInclusive<usize> = 8..=15;
    if !LENGTHS.contains(&text.len()) || !text.iter().all(u8::is_ascii_graphic) {
        return false;
    }
    let shape = Shape::of(text);
    let mixed = shape.lower > 0 && shape.upper > 0 && shape.distinct >= 7;
    let parted = numbers(text) > 1 && changes(text) * 2 >= text.len();
    let written = is_rule(text) || is_pattern(text) || is_filled_in(text) || is_reference(text);
    let code = !has_odd_sign(text) || is_like_code(text);
    mixed && parted && !written && !code && over_chance(text) < BY_CHANCE
}

/// Whether a sign is in a text that names, paths and versions do not have.
pub(super) fn has_odd_sign(text: &[u8]) -> bool {
    text.iter().any(|b| b"$^&*?,;()[]{}|<>!#%~=+".contains(b))
}

/// Whether a text is a reference whose name has no more than one number.
fn is_variable(text: &[u8]) -> bool {
    is_reference(text) && numbers(text) <= 1
}

fn has(text: &[u8], mark: &str) -> bool {
    memchr::memmem::find(text, mark.as_bytes()).is_some()
}

/// Whether a range of characters is in a text, or a group that is only read.
fn is_pattern(text: &[u8]) -> bool {
    const PARTS: [&str; 12] = [
        "0-9", "1-9", "0-7", "a-z", "A-Z", "a-f", "A-F", "[01]", "(?i", "(?<", ":]]", "{1,",
    ];
    PARTS.iter().any(|part| has(text, part))
}

/// Whether a text is an address or a tag, calls something, or names what is to
/// be filled in: `{name}`, `$(name)`.
fn is_filled_in(text: &[u8]) -> bool {
    let tag = text.starts_with(b"<") && text.ends_with(b">");
    let call = text.ends_with(b")") && name_length(text) >= 3;
    let call = call && text.get(name_length(text)) == Some(&b'(');
    let places = || text.iter().enumerate();
    let few = different_signs(text) <= 5;
    let field = places().any(|(at, open)| {
        let inner = &text[at + 1..];
        let length = name_length(inner);
        let closed = match (open, inner.get(length)) {
            (b'{', Some(b'}')) => true,
            (b'(', Some(b')')) | (b'<', Some(b'>')) => few,
            (b'{', Some(b':')) => inner.contains(&b'}'),
            _ => false,
        };
        closed && length >= 3
    });
    // `{0:02d}-{1}`
    let numbered = places().filter(|(at, open)| {
        let inner = &text[at + 1..];
        let digits = inner.iter().take_while(|b| b.is_ascii_digit()).count();
        **open == b'{' && digits <= 2 && matches!(inner.get(digits), Some(b'}' | b':'))
    });
    let field = field || numbered.count() > 1;
    // `$self->{NAME}`
    let own = text.strip_prefix(b"$").unwrap_or_default();
    let member = own[name_length(own)..].starts_with(b"->");
    tag || call || field || member || is_expanded(text) || has(text, "://")
}

/// Whether a shell or a template puts something in the place of a text or of a
/// part of it: `$NAME`, `${name}`, `$(name)`, `{{name}}`.
fn is_expanded(text: &[u8]) -> bool {
    const OPENS: [(&str, &str); 5] = [
        ("{{", "}}"),
        ("${", "}"),
        ("#{", "}"),
        ("$(", ")"),
        ("<%", "%>"),
    ];
    let name = text.strip_prefix(b"$").unwrap_or_default();
    let one_case = |case: fn(&u8) -> bool| {
        let part = |b: &u8| case(b) || b.is_ascii_digit() || *b == b'_';
        !name.is_empty() && name.iter().all(part)
    };
    let filled = |(open, close): &(&str, &str)| {
        let start = memchr::memmem::find(text, open.as_bytes())? + open.len();
        let length = memchr::memmem::find(&text[start..], close.as_bytes())?;
        Some(is_of_name(&text[start..start + length]) || *close == "}}" || *close == "%>")
    };
    one_case(u8::is_ascii_uppercase)
        || one_case(u8::is_ascii_lowercase)
        || OPENS.iter().filter_map(filled).any(|name| name)
}

/// How many different signs are in a text.
fn different_signs(text: &[u8]) -> usize {
    let mut signs: Vec<u8> = text.to_vec();
    signs.retain(u8::is_ascii_punctuation);
    signs.sort_unstable();
    signs.dedup();
    signs.len()
}

/// The length of the small letters, the digits, `_` and `.` with which a text
/// begins, if a letter is first: that of a name.
fn name_length(text: &[u8]) -> usize {
    let part = |b: &&u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.');
    match text.first() {
        Some(b'a'..=b'z' | b'_') => text.iter().take_while(part).count(),
        _ => 0,
    }
}

/// Whether the few signs in a text may be those of code: of a variable in it, of
/// a list, of a path, of fields.
fn is_like_code(text: &[u8]) -> bool {
    const MARKS: [&str; 12] = [
        "{}", "()", "[]", "->", "=>", "::", "</", "/*", "*.", "&&", "||", "$_",
    ];
    let count = |sign: u8| text.iter().filter(|b| **b == sign).count();
    let listed = b",;|/&=".iter().any(|sign| count(*sign) >= 3);
    let folders = count(b'/') >= 2;
    let few = different_signs(text) <= 3;
    few && (listed || folders || has_variable(text) || MARKS.iter().any(|mark| has(text, mark)))
}

/// Whether a `$` stands before letters of one case, behind which a word ends.
fn has_variable(text: &[u8]) -> bool {
    let mut places = memchr::memchr_iter(b'$', text);
    places.any(|at| {
        let rest = &text[at + 1..];
        let end = rest
            .iter()
            .position(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        let name = &rest[..end.unwrap_or(rest.len())];
        let lower = name.iter().any(u8::is_ascii_lowercase);
        let upper = name.iter().any(u8::is_ascii_uppercase);
        let digits = name.iter().any(u8::is_ascii_digit);
        name.len() >= 4 && lower != upper && !digits
    })
}
