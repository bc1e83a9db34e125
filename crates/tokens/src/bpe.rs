//! Exact counts by byte-pair encoding.
//!
//! Text is counted as ordinary text: a transcript that quotes `<|endoftext|>`
//! holds those characters, not that token. Long runs without a word break (one
//! repeated character, base64) are merged with a heap in n log n, so they are
//! counted whole: splitting them would be faster but no longer exact.

use serde::{Deserialize, Serialize};
use tiktoken::CoreBpe;

use crate::{ContentKind, Counter, Tokens};

/// A vocabulary that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o and all later OpenAI models.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// The short name, as configured: `o200k`, `cl100k`.
    pub fn name(self) -> &'static str {
        match self {
            Vocabulary::O200k => "o200k",
            Vocabulary::Cl100k => "cl100k",
        }
    }

    /// Decoded once per process, on first use.
    fn encoding(self) -> &'static CoreBpe {
        let name = match self {
            Vocabulary::O200k => "o200k_base",
            Vocabulary::Cl100k => "cl100k_base",
        };
        tiktoken::get_encoding(name).expect("both vocabularies are compiled in by feature")
    }
}

/// An exact counter. Cheap to make and copy: the vocabulary is loaded by the
/// first count and shared by all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bpe {
    vocabulary: Vocabulary,
}

impl Bpe {
    /// A counter over `vocabulary`.
    pub const fn new(vocabulary: Vocabulary) -> Bpe {
        Bpe { vocabulary }
    }

    /// The default for exact counts.
    pub const fn o200k() -> Bpe {
        Bpe::new(Vocabulary::O200k)
    }

    /// For the models before GPT-4o.
    pub const fn cl100k() -> Bpe {
        Bpe::new(Vocabulary::Cl100k)
    }

    /// Which vocabulary it counts by.
    pub const fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }
}

impl Counter for Bpe {
    fn count(&self, text: &str, _kind: ContentKind) -> Tokens {
        Tokens::saturating(self.vocabulary.encoding().count(text))
    }

    fn name(&self) -> &'static str {
        self.vocabulary.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn both(text: &str) -> (Tokens, Tokens) {
        (
            Bpe::o200k().count(text, ContentKind::Prose),
            Bpe::cl100k().count(text, ContentKind::Prose),
        )
    }

    #[test]
    fn counts_are_those_of_the_published_vocabularies() {
        assert_eq!(both(""), (Tokens(0), Tokens(0)));
        assert_eq!(both("hello world"), (Tokens(2), Tokens(2)));
        assert_eq!(both("tiktoken is great!"), (Tokens(6), Tokens(6)));
        assert_eq!(both("お誕生日おめでとう"), (Tokens(8), Tokens(9)));
    }

    #[test]
    fn special_tokens_are_ordinary_text() {
        assert!(both("<|endoftext|>").0 > Tokens(1));
    }

    #[test]
    fn a_megabyte_without_a_word_break_is_counted_in_moments() {
        let mut state = 0x9E37_79B9_u32;
        let base64: String = (0..1 << 20)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(
                    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                        [(state >> 26) as usize],
                )
            })
            .collect();
        let runs = ["a", " ", "\n", "=", "中", "\u{301}", "é", "😀", " \n"];
        let texts = runs
            .iter()
            .map(|run| run.repeat((1 << 20) / run.len()))
            .chain([base64]);
        for text in texts {
            let start = Instant::now();
            assert!(Bpe::o200k().count(&text, ContentKind::Shell) > Tokens(4_000));
            let taken = start.elapsed();
            // A quadratic merge would take many minutes.
            assert!(
                taken < Duration::from_secs(20),
                "{taken:?} for {:?}…",
                text.chars().next()
            );
        }
    }
}
