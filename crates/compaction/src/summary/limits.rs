//! How large a summary may be.

use longhaul_tokens::{Tokens, Window, settings};
use serde::Serialize;

use crate::terms::Layer;

settings! {
    /// What a summary holds and how large it may be.
    #[derive(Copy)]
    pub struct Sizes {
        /// What the user said, word for word, in tokens (for 200,000).
        user_words_tokens: Tokens [min = 1] = Tokens(20_000),
        /// The other sections of the mechanical part, in tokens (for 200,000).
        mechanical_tokens: Tokens [min = 1] = Tokens(8_000),
        /// Prose of a layer 2 summary, in tokens (for 200,000).
        prose_tokens: Tokens [min = 1] = Tokens(2_000),
        /// Prose of a layer 3 summary, in tokens (for 200,000).
        full_prose_tokens: Tokens [min = 1] = Tokens(4_000),
        /// Where not everything fits, a longer message of the user keeps its two ends, in tokens.
        paste_tokens: Tokens [min = 1] = Tokens(1_000),
        /// Files read that are listed by path; further ones are counted by folder.
        read_files: u32 [min = 0] = 40,
        /// A window of up to 60,000 tokens gives one part in this many to the whole summary.
        compression_ratio: f64 [min = 1] = 5.0,
    }
}

/// The window for which the sizes are meant.
const REFERENCE: u32 = 200_000;
/// A message of the user that is shorter is no paste in any window.
const SMALLEST_PASTE: Tokens = Tokens(200);
/// Up to this window a summary may take its whole share.
const SMALL: u32 = 60_000;

/// The caps of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The whole summary: frame, prose and mechanical part.
    pub total: Tokens,
    /// What the user said.
    pub words: Tokens,
    /// The other sections together, and the frame.
    pub rest: Tokens,
    /// The prose.
    pub prose: Tokens,
    /// A longer message of the user keeps its two ends, where not all fit.
    pub paste: Tokens,
    /// Files that were only read, by path.
    pub read_files: usize,
    /// Whether the other sections may take what the user's words leave: where the
    /// window is small, a file that was changed is worth more than room.
    pub shares_words: bool,
}

impl Limits {
    /// The limits on a window of any size.
    ///
    /// They shrink in proportion to the window, but a small window gives a fifth
    /// (by default) to the whole: what a session holds does not shrink with it.
    pub fn new(window: &Window, layer: Layer, sizes: &Sizes) -> Limits {
        let prose = match layer {
            Layer::Prune | Layer::Summarize | Layer::Emergency => sizes.prose_tokens,
            Layer::Full => sizes.full_prose_tokens,
        };
        let whole = sizes.user_words_tokens + sizes.mechanical_tokens + prose;
        let window = window.size().0;
        let proportional = f64::from(whole.0) * f64::from(window) / f64::from(REFERENCE);
        let share = f64::from(window.min(SMALL)) / sizes.compression_ratio.max(1.0);
        let total = Tokens(proportional.max(share) as u32).min(whole);
        let scaled = |part: Tokens| {
            let part = u64::from(part.0) * u64::from(total.0) / u64::from(whole.0.max(1));
            Tokens(u32::try_from(part).unwrap_or(u32::MAX))
        };
        Limits {
            total,
            words: scaled(sizes.user_words_tokens),
            rest: scaled(sizes.mechanical_tokens),
            prose: scaled(prose),
            paste: scaled(sizes.paste_tokens)
                .max(SMALLEST_PASTE)
                .min(sizes.paste_tokens),
            read_files: sizes.read_files as usize,
            shares_words: total < whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::WindowSettings;
    use proptest::prelude::*;

    use super::*;

    fn limits(window: u32, sizes: &Sizes) -> Limits {
        let window = Window::new(&WindowSettings::of(Tokens(window))).unwrap();
        Limits::new(&window, Layer::Summarize, sizes)
    }

    #[test]
    fn parts_shrink_with_the_window_and_a_small_one_gives_a_fifth() {
        let parts = |window| {
            let limits = limits(window, &Sizes::default());
            (
                limits.total.0,
                limits.words.0,
                limits.rest.0,
                limits.prose.0,
            )
        };
        assert_eq!(parts(1_000_000), (30_000, 20_000, 8_000, 2_000));
        assert_eq!(parts(200_000), (30_000, 20_000, 8_000, 2_000));
        assert_eq!(parts(100_000), (15_000, 10_000, 4_000, 1_000));
        assert_eq!(parts(60_000), (12_000, 8_000, 3_200, 800));
        assert_eq!(parts(24_000), (4_800, 3_200, 1_280, 320));
    }

    proptest! {
        #[test]
        fn the_parts_make_the_whole_and_none_is_above_what_was_set(
            window in 1_024u32..2_000_000,
            words in 1u32..=40_000,
            rest in 1u32..=20_000,
            ratio in 1.0f64..100.0,
        ) {
            let sizes = Sizes {
                user_words_tokens: Tokens(words),
                mechanical_tokens: Tokens(rest),
                compression_ratio: ratio,
                ..Sizes::default()
            };
            let limits = limits(window, &sizes);
            prop_assert!(limits.words <= sizes.user_words_tokens);
            prop_assert!(limits.rest <= sizes.mechanical_tokens);
            prop_assert!(limits.words + limits.rest + limits.prose <= limits.total);
        }
    }
}
