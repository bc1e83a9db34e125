//! Tables of numbers and lists of short hashes.
//!
//! Each of their words is a word of its own, and to note each with its places
//! would take more room than the text. So of a text that is full of them it is
//! only noted which it has, not where and how often; and of all but short ones
//! only into which of some thousand classes they fall. Whoever looks for one
//! reads the texts that have its class.

use super::joined::numbers;

/// Longer ones are worth their room.
const LONGEST: usize = 11;

/// Shorter ones come again, and need no classes.
const CLASSED: usize = 5;

/// A text is full of codes where one that is classed comes in so many bytes,
const APART: usize = 12;

/// or one of any length in so many.
const ANY_APART: usize = 5;

/// Fewer take little room.
const FEW: usize = 8;

/// How many classes there are, each named by a character that is for private use
/// and no part of a word.
const CLASSES: u32 = 0xf900 - FIRST_CLASS;
const FIRST_CLASS: u32 = 0xe000;

/// What a number or a hash is to a text that is full of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Code {
    /// It is noted as it is.
    Short,
    /// Its class is noted.
    Classed,
}

impl Code {
    /// What a token is; none where it is a word.
    pub(crate) fn of(token: &str) -> Option<Code> {
        if numbers(token).is_some() {
            return Some(Code::Classed);
        }
        let is_code = token.len() <= LONGEST
            && token.bytes().any(|byte| byte.is_ascii_digit())
            && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_code.then_some(match token.len() < CLASSED {
            true => Code::Short,
            false => Code::Classed,
        })
    }
}

/// How many codes a text has.
#[derive(Debug, Default)]
pub(super) struct Codes {
    short: usize,
    classed: usize,
}

impl Codes {
    pub(super) fn count(&mut self, token: &str) {
        match Code::of(token) {
            Some(Code::Short) => self.short += 1,
            Some(Code::Classed) => self.classed += 1,
            None => {}
        }
    }

    /// Whether a text of so many bytes is full of them.
    pub(super) fn fill(&self, text: usize) -> bool {
        let all = self.short + self.classed;
        all >= FEW && (self.classed * APART > text || all * ANY_APART > text)
    }
}

/// The class of a code.
pub(crate) fn class(code: &str) -> String {
    let mut start = [0; 4];
    start.copy_from_slice(&blake3::hash(code.as_bytes()).as_bytes()[..4]);
    let number = FIRST_CLASS + u32::from_le_bytes(start) % CLASSES;
    char::from_u32(number).map_or_else(String::new, String::from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_and_short_hashes_are_codes_and_words_and_long_hashes_are_not() {
        for code in ["48213", "0v8731", "a1b2c3d", "20260301", "2026-03-01"] {
            assert_eq!(Code::of(code), Some(Code::Classed), "{code}");
        }
        for code in ["4821", "56", "f150"] {
            assert_eq!(Code::of(code), Some(Code::Short), "{code}");
        }
        for other in ["table", "a1b2c3d4e5f6", "größe1", ""] {
            assert_eq!(Code::of(other), None, "{other}");
        }
    }

    #[test]
    fn tables_are_full_of_codes_and_logs_are_not() {
        let fill = |text: &str| {
            let mut codes = Codes::default();
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .for_each(|token| codes.count(token));
            codes.fill(text.len())
        };
        assert!(fill(&"12,731,88,4,1902,77\n".repeat(20)));
        assert!(fill(&"a1b2c3d\n9f8e7d6\n".repeat(20)));
        for line in [
            "2026-03-01 10:00:07 INFO worker 3 finished job 4001 in 45 ms\n",
            "2026-03-01T10:00:07.381Z INFO worker 12 took 48213 us for job 77120\n",
        ] {
            assert!(!fill(&line.repeat(20)), "{line}");
        }
        assert!(!fill("1, 2, 3, 4"));
    }

    #[test]
    fn codes_fall_evenly_into_classes_that_are_no_words() {
        let codes = (0..6_400).map(|at| format!("{:06}", at * 7));
        let classes: HashSet<String> = codes.map(|code| class(&code)).collect();
        // As many as if they were drawn: 6,400 × (1 − 1/e).
        assert!((3_900..4_200).contains(&classes.len()), "{}", classes.len());
        let is_word = |class: &String| class.chars().any(char::is_alphanumeric);
        assert!(classes.iter().all(|class| !class.is_empty()));
        assert!(!classes.iter().any(is_word));
    }
}
