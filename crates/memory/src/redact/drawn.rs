//! Values that were drawn from more signs than a name has: keys in base64.
//!
//! By chance such a value has no digit, or begins like a path. Its letters still
//! are no words, and what stands beside each other is of another class at nearly
//! every second place.

use super::letters::over_chance;
use super::promised::is_path;
use super::shape::Shape;

/// How well words may explain the letters of what was drawn; of a thousand
/// values one is explained better.
const BY_CHANCE: i32 = 20;

/// Whether a text is a key in base64, of either alphabet.
pub(super) fn is_key(text: &[u8]) -> bool {
    const LEAST: usize = 20;
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-');
    let shape = Shape::of(text);
    let cased = shape.upper >= 2 && shape.lower >= 2 && shape.distinct >= 10;
    let whole = text.len() >= LEAST && cased && text.iter().all(part);
    whole && changes(text) * 4 >= text.len() && over_chance(text) < BY_CHANCE && !is_path(text)
}

/// At how many places small letters, capitals, digits and signs change.
fn changes(text: &[u8]) -> usize {
    let class = |b: u8| match b {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changed = |pair: &&[u8]| class(pair[0]) != class(pair[1]);
    text.windows(2).filter(changed).count()
}
