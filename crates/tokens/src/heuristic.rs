//! Estimates by characters a token, one rate for each kind of content.

use crate::{ContentKind, Counter, Tokens};

/// Characters a token by kind of content, measured on real agent sessions:
/// plain characters / 4 undercounts them by a third.
///
/// Wide characters (CJK and emoji) are one token each in any kind of content;
/// everything else in a mixed text goes by the rate of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heuristic;

impl Heuristic {
    /// Tenths of a character a token.
    fn tenths(kind: ContentKind) -> u32 {
        match kind {
            ContentKind::Prose => 35,
            ContentKind::Code => 28,
            ContentKind::Shell => 26,
            ContentKind::Json | ContentKind::Edit => 30,
        }
    }
}

impl Counter for Heuristic {
    fn count(&self, text: &str, kind: ContentKind) -> Tokens {
        let (narrow, wide) = if text.is_ascii() {
            (text.len(), 0)
        } else {
            text.chars().fold((0, 0), |(narrow, wide), c| {
                if is_wide(c) {
                    (narrow, wide + 1)
                } else {
                    (narrow + 1, wide)
                }
            })
        };
        Tokens::from_chars(narrow, Heuristic::tenths(kind))
            + Tokens::saturating(wide)
            + dense(text, narrow)
    }

    fn name(&self) -> &'static str {
        "heuristic"
    }
}

/// What listings of hashes, ids and numbers take beyond the rate of their kind:
/// three tokens for four digits above the share that any text may have.
fn dense(text: &str, chars: usize) -> Tokens {
    const USUAL: usize = 6; // one in six
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    Tokens::saturating(digits.saturating_sub(chars.div_ceil(USUAL)) * 3 / 4)
}

/// CJK ideographs, kana, hangul, their punctuation and full-width forms, emoji.
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}'     // hangul jamo
        | '\u{2E80}'..='\u{A4CF}'   // radicals, punctuation, kana, bopomofo, ideographs, yi
        | '\u{AC00}'..='\u{D7AF}'   // hangul syllables
        | '\u{F900}'..='\u{FAFF}'   // compatibility ideographs
        | '\u{FE30}'..='\u{FE4F}'   // vertical forms
        | '\u{FF00}'..='\u{FFEF}'   // full-width forms
        | '\u{1F000}'..='\u{1FAFF}' // emoji
        | '\u{20000}'..='\u{3FFFF}' // ideographs of the higher planes
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hashes_take_more_than_words() {
        let hashes = "./.git/objects/2d/d9964aa40a9cfda93fa00ce59812881150180a\n".repeat(100);
        let words = "./packages/coding-agent/src/modes/interactive/theme.ts x\n".repeat(100);
        let count = |text: &str| Heuristic.count(text, ContentKind::Shell).0;
        assert_eq!(hashes.len(), words.len());
        assert!(count(&hashes) * 10 > count(&words) * 14);
        // A date or a line number is nothing unusual.
        let line = "12: let total = sum(items); // since 2024\n";
        assert_eq!(
            count(line),
            Tokens::from_chars(line.len(), Heuristic::tenths(ContentKind::Shell)).0
        );
    }

    #[test]
    fn each_kind_has_its_rate() {
        let text = "x".repeat(10_920); // divisible by every rate
        let count = |kind| Heuristic.count(&text, kind);
        assert_eq!(count(ContentKind::Prose), Tokens(3_120));
        assert_eq!(count(ContentKind::Code), Tokens(3_900));
        assert_eq!(count(ContentKind::Shell), Tokens(4_200));
        assert_eq!(count(ContentKind::Json), Tokens(3_640));
        assert_eq!(count(ContentKind::Edit), Tokens(3_640));
    }

    #[test]
    fn wide_characters_are_one_token_each_in_mixed_text() {
        assert_eq!(Heuristic.count("日本語", ContentKind::Code), Tokens(3));
        assert_eq!(
            Heuristic.count("한국어 ok", ContentKind::Prose),
            Tokens(3 + 1)
        );
        assert_eq!(
            Heuristic.count("修复 main.rs 的错误", ContentKind::Prose),
            Tokens(5 + 3)
        );
        assert_eq!(Heuristic.count("é", ContentKind::Prose), Tokens(1));
    }

    proptest! {
        #[test]
        fn longer_text_never_counts_less(a in ".{0,60}", b in ".{0,60}") {
            let whole = Heuristic.count(&format!("{a}{b}"), ContentKind::Shell);
            let (a, b) = (
                Heuristic.count(&a, ContentKind::Shell),
                Heuristic.count(&b, ContentKind::Shell),
            );
            prop_assert!(whole >= a.max(b));
            prop_assert!(whole <= a + b);
        }
    }
}
