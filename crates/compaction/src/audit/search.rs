//! Looking for thousands of texts in one pass over a context.
//!
//! Spaces are normalised on both sides first. Texts are keyed by their first
//! eight bytes, shorter ones by their first four; one pass over the context
//! looks every window of that width up in a small bit set and then in the table,
//! and compares only on a hit. What is shorter still is looked for one by one:
//! such texts are few and found soon.

use std::borrow::Cow;
use std::collections::HashMap;

/// What may stand around a text for it to count as found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Anything.
    Any,
    /// Nothing that would make it a part of a longer path.
    Path,
}

/// A text to look for.
pub(super) struct Needle<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) edge: Edge,
}

impl<'a> Needle<'a> {
    pub(super) fn new(text: &'a str, edge: Edge) -> Needle<'a> {
        Needle {
            text: normalised(text),
            edge,
        }
    }
}

/// Which of the texts occur. An empty one does.
pub(super) fn occurring(needles: &[Needle<'_>], context: &str) -> Vec<bool> {
    let context = normalised(context);
    let hay = context.as_bytes();
    let mut found: Vec<bool> = vec![false; needles.len()];
    let (mut long, mut short) = (Index::<8>::new(), Index::<4>::new());
    for (at, needle) in needles.iter().enumerate() {
        let text = needle.text.as_bytes();
        if !long.add(text, at) && !short.add(text, at) {
            found[at] = needle.text.is_empty()
                || context
                    .match_indices(needle.text.as_ref())
                    .any(|(start, _)| fits(hay, start, needle));
        }
    }
    long.search(hay, needles, &mut found);
    short.search(hay, needles, &mut found);
    found
}

/// Texts by their first `WIDTH` bytes.
struct Index<const WIDTH: usize> {
    table: HashMap<[u8; WIDTH], Vec<usize>>,
    bits: Vec<u64>,
}

impl<const WIDTH: usize> Index<WIDTH> {
    const BITS: usize = 1 << 16;

    fn new() -> Self {
        Index {
            table: HashMap::new(),
            bits: vec![0; Self::BITS / 64],
        }
    }

    /// Takes a text in, if it is long enough.
    fn add(&mut self, text: &[u8], at: usize) -> bool {
        let Some(key) = text.first_chunk::<WIDTH>() else {
            return false;
        };
        self.table.entry(*key).or_default().push(at);
        let bit = Self::bit(key);
        self.bits[bit / 64] |= 1 << (bit % 64);
        true
    }

    fn bit(key: &[u8; WIDTH]) -> usize {
        let mut bytes = [0; 8];
        bytes[..WIDTH].copy_from_slice(key);
        let mixed = u64::from_le_bytes(bytes).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 48) as usize
    }

    fn search(&self, hay: &[u8], needles: &[Needle<'_>], found: &mut [bool]) {
        if self.table.is_empty() {
            return;
        }
        let mut start = 0;
        while let Some(key) = hay[start..].first_chunk::<WIDTH>() {
            let bit = Self::bit(key);
            if self.bits[bit / 64] & (1 << (bit % 64)) != 0 {
                for &at in self.table.get(key).into_iter().flatten() {
                    let needle = &needles[at];
                    if !found[at]
                        && hay[start..].starts_with(needle.text.as_bytes())
                        && fits(hay, start, needle)
                    {
                        found[at] = true;
                    }
                }
            }
            start += 1;
        }
    }
}

/// Whether what stands around an occurrence leaves it what it is.
fn fits(hay: &[u8], start: usize, needle: &Needle<'_>) -> bool {
    let end = start + needle.text.len();
    let before = start.checked_sub(1).map(|at| hay[at]);
    let after = hay.get(end).copied();
    let then = hay.get(end + 1).copied();
    let word = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    match needle.edge {
        Edge::Any => true,
        Edge::Path => {
            let longer_before = word(before) || matches!(before, Some(b'/' | b'\\' | b'-' | b'.'));
            // `./src/a.rs` is the file itself.
            let from_here = start >= 2
                && hay[start - 1] == b'/'
                && hay[start - 2] == b'.'
                && (start == 2 || !matches!(hay[start - 3], b'.' | b'/'));
            let extended =
                matches!(after, Some(b'/' | b'\\' | b'-')) || (after == Some(b'.') && word(then));
            (!longer_before || from_here) && !word(after) && !extended
        }
    }
}

/// Runs of white space become one space; those at the ends go.
pub(super) fn normalised(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let mut blank = false;
    let plain = text.chars().all(|c| {
        let again = blank && c == ' ';
        blank = c == ' ';
        !again && (c == ' ' || !c.is_whitespace())
    });
    if plain {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn occurs(text: &str, edge: Edge, context: &str) -> bool {
        occurring(&[Needle::new(text, edge)], context)[0]
    }

    #[test]
    fn spaces_do_not_matter() {
        assert!(occurs(
            "never  touch\nmain",
            Edge::Any,
            "x: never touch\n  main."
        ));
        assert!(!occurs(
            "never touch main",
            Edge::Any,
            "never touch the main"
        ));
    }

    #[test]
    fn paths_are_whole() {
        for yes in [
            "- main.rs (edited)",
            "./main.rs",
            "`main.rs`",
            "see main.rs.",
            "main.rs:12",
        ] {
            assert!(occurs("main.rs", Edge::Path, yes), "{yes}");
        }
        for no in [
            "src/main.rs",
            "main.rs.bak",
            "main.rs/x",
            "../main.rs",
            "domain.rs",
        ] {
            assert!(!occurs("main.rs", Edge::Path, no), "{no}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_search(
            context in "[ab 日\n]{0,80}",
            texts in prop::collection::vec("[ab 日]{0,12}", 0..8),
        ) {
            let needles: Vec<Needle<'_>> =
                texts.iter().map(|text| Needle::new(text, Edge::Any)).collect();
            let plain = normalised(&context);
            let expected: Vec<bool> = needles
                .iter()
                .map(|needle| plain.contains(needle.text.as_ref()))
                .collect();
            prop_assert_eq!(occurring(&needles, &context), expected);
        }
    }
}
