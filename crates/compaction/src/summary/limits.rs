//! How large a summary may be.

use longhaul_tokens::{Tokens, Window};
use serde::Serialize;

use crate::terms::Layer;

/// What may be set about the size of summaries, for a window of 200,000 tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The whole summary.
    pub total: Tokens,
    /// The prose of layer 2.
    pub prose: Tokens,
    /// The prose of layer 3.
    pub full_prose: Tokens,
    /// Standing rules.
    pub rules: Tokens,
    /// Requests, word for word.
    pub requests: Tokens,
    /// Files that were only read.
    pub read_files: usize,
    /// Key files.
    pub key_files: usize,
    /// Characters of the last message, given as the current task.
    pub current_task_chars: usize,
    /// A summary takes at most one part in so many of the window.
    pub compression_ratio: f64,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            total: Tokens(12_000),
            prose: Tokens(2_000),
            full_prose: Tokens(4_000),
            rules: Tokens(1_500),
            requests: Tokens(6_000),
            read_files: 40,
            key_files: 8,
            current_task_chars: 200,
            compression_ratio: 5.0,
        }
    }
}

/// The caps of a summary. The sizes are those of the specification for a
/// window of 200,000 tokens; [`Limits::new`] shrinks them to a smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The whole summary: frame, prose and the ledger's part.
    pub total: Tokens,
    /// The prose.
    pub prose: Tokens,
    /// Standing rules. They may take more when others leave it unused, up to
    /// half of the total, and this is reported.
    pub rules: Tokens,
    /// Requests, word for word.
    pub requests: Tokens,
    /// Older requests, one line each.
    pub gists: Tokens,
    /// Files that were only read.
    pub read_files: usize,
    /// Key files in an extractive prose.
    pub key_files: usize,
    /// Characters of the current task in an extractive prose.
    pub current_task_chars: usize,
}

impl Limits {
    /// The limits on a window of 200,000 tokens or more.
    pub fn reference(layer: Layer, sizes: &Sizes) -> Limits {
        Limits {
            total: sizes.total,
            prose: match layer {
                Layer::Prune | Layer::Summarize | Layer::Emergency => sizes.prose,
                Layer::Full => sizes.full_prose,
            },
            rules: sizes.rules,
            requests: sizes.requests,
            gists: Tokens(sizes.total.0 / 15),
            read_files: sizes.read_files,
            key_files: sizes.key_files,
            current_task_chars: sizes.current_task_chars,
        }
    }

    /// The limits on a window of any size.
    ///
    /// They are as large as on a large window while a summary takes no more than
    /// its share of the window (a fifth by default), and shrink together below
    /// that: what a session holds, its rules, files and requests, does not shrink
    /// with the window, and a summary without them would save room by forgetting.
    pub fn new(window: &Window, layer: Layer, sizes: &Sizes) -> Limits {
        let reference = Limits::reference(layer, sizes);
        let share = f64::from(window.size().0) / sizes.compression_ratio.max(1.0);
        let total = Tokens(share as u32).min(reference.total);
        let scaled = |part: Tokens| {
            let whole = u64::from(reference.total.0.max(1));
            let part = u64::from(part.0) * u64::from(total.0) / whole;
            Tokens(u32::try_from(part).unwrap_or(u32::MAX))
        };
        Limits {
            total,
            prose: scaled(reference.prose),
            rules: scaled(reference.rules),
            requests: scaled(reference.requests),
            gists: scaled(reference.gists),
            ..reference
        }
    }

    /// A share of the total: `1 / parts`.
    pub(super) fn share(&self, parts: u32) -> Tokens {
        Tokens(self.total.0 / parts.max(1))
    }
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::WindowSettings;
    use proptest::prelude::*;

    use super::*;

    fn total(window: u32, sizes: &Sizes) -> Tokens {
        let window = Window::new(&WindowSettings::of(Tokens(window))).unwrap();
        Limits::new(&window, Layer::Full, sizes).total
    }

    #[test]
    fn a_ratio_caps_the_summary_at_its_share_of_the_window() {
        let ratio = |compression_ratio| Sizes {
            compression_ratio,
            ..Sizes::default()
        };
        assert_eq!(total(200_000, &ratio(5.0)), Tokens(12_000));
        assert_eq!(total(200_000, &ratio(20.0)), Tokens(10_000));
        assert_eq!(total(32_000, &ratio(5.0)), Tokens(6_400));
        assert_eq!(total(32_000, &ratio(20.0)), Tokens(1_600));
        assert_eq!(total(32_000, &ratio(1.0)), Tokens(12_000));
    }

    proptest! {
        #[test]
        fn no_part_is_above_what_was_set(
            window in 1_024u32..2_000_000,
            total in 1u32..=12_000,
            part in 1u32..=20_000,
            compression_ratio in 1.0f64..1e9,
        ) {
            let sizes = Sizes {
                total: Tokens(total),
                full_prose: Tokens(part),
                rules: Tokens(part),
                requests: Tokens(part),
                compression_ratio,
                ..Sizes::default()
            };
            let window = Window::new(&WindowSettings::of(Tokens(window))).unwrap();
            let limits = Limits::new(&window, Layer::Full, &sizes);
            prop_assert!(limits.total <= sizes.total);
            prop_assert!(f64::from(limits.total.0) * compression_ratio <= f64::from(window.size().0));
            for scaled in [limits.prose, limits.rules, limits.requests] {
                prop_assert!(scaled <= Tokens(part));
            }
        }
    }
}
