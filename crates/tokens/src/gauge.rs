//! The one line that tells an agent how full its window is.

use crate::{Counter, Fragment, FragmentKind, Level, Tokens, Window};

/// What the gauge says about checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckpointNote {
    /// None was written in this epoch; the gauge does not speak of it.
    None,
    /// The state of the work is safe in a checkpoint.
    Saved,
}

/// A reading of the window, given to the agent as the last thing in its context
/// so that the cached prefix stays intact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge<'a> {
    /// The size of the context.
    pub used: Tokens,
    /// What it has to fit into.
    pub window: &'a Window,
    /// Whether there is a checkpoint to fall back on.
    pub checkpoint: CheckpointNote,
}

impl Gauge<'_> {
    /// `[Context: 81% | 162k/200k tokens | Checkpoint saved]`, or nothing below
    /// the gauge threshold. At most 20 tokens.
    pub fn line(&self) -> Option<String> {
        if self.window.level(self.used) == Level::Calm {
            return None;
        }
        let window = self.window.size();
        // Rounded down, so that 100 % is really full; past 999 % a context is
        // broken rather than full, and the number stays narrow.
        let percent = u64::from(self.used.0) * 100 / u64::from(window.0.max(1));
        let note = match self.checkpoint {
            CheckpointNote::None => "",
            CheckpointNote::Saved => " | Checkpoint saved",
        };
        let (used, window) = (narrow(self.used), narrow(window));
        // Two numbers of four digits are a token too many; the word gives way.
        let unit = if used.len() > 4 && window.len() > 4 {
            ""
        } else {
            " tokens"
        };
        let percent = percent.min(999);
        Some(format!(
            "[Context: {percent}% | {used}/{window}{unit}{note}]"
        ))
    }

    /// The line as something that may be injected.
    pub fn fragment(&self, counter: &dyn Counter) -> Option<Fragment> {
        Some(Fragment::new(FragmentKind::Gauge, self.line()?, counter))
    }
}

/// Whole thousands: a decimal point would cost two tokens, and the percentage
/// already says it more finely.
fn narrow(tokens: Tokens) -> String {
    match tokens.0 {
        n @ 0..=999 => n.to_string(),
        n @ 1_000..=9_999_499 => format!("{}k", (n + 500) / 1_000),
        n => format!("{}M", (u64::from(n) + 500_000) / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bpe, ContentKind, Estimator, WindowSettings};

    fn window(size: u32) -> Window {
        Window::new(&WindowSettings::of(Tokens(size))).unwrap()
    }

    fn line(used: u32, window: &Window, checkpoint: CheckpointNote) -> Option<String> {
        Gauge {
            used: Tokens(used),
            window,
            checkpoint,
        }
        .line()
    }

    #[test]
    fn it_reads_like_the_specification() {
        let window = window(200_000);
        assert_eq!(
            line(162_000, &window, CheckpointNote::Saved).unwrap(),
            "[Context: 81% | 162k/200k tokens | Checkpoint saved]"
        );
        assert_eq!(
            line(140_000, &window, CheckpointNote::None).unwrap(),
            "[Context: 70% | 140k/200k tokens]"
        );
        assert_eq!(
            line(199_999, &window, CheckpointNote::None).unwrap(),
            "[Context: 99% | 200k/200k tokens]"
        );
    }

    #[test]
    fn it_stays_narrow_on_small_and_very_large_windows() {
        let saved = |used, size| line(used, &window(size), CheckpointNote::Saved).unwrap();
        assert_eq!(
            saved(7_100, 8_192),
            "[Context: 86% | 7k/8k tokens | Checkpoint saved]"
        );
        assert_eq!(
            saved(850_000, 1_048_576),
            "[Context: 81% | 850k/1049k tokens | Checkpoint saved]"
        );
        assert_eq!(
            saved(1_750_000, 2_097_152),
            "[Context: 83% | 1750k/2097k | Checkpoint saved]"
        );
    }

    #[test]
    fn silent_below_its_threshold() {
        assert_eq!(line(139_999, &window(200_000), CheckpointNote::Saved), None);
        assert_eq!(line(0, &window(8_192), CheckpointNote::Saved), None);
    }

    #[test]
    fn never_more_than_twenty_tokens() {
        let sizes = [
            1_024, 1_999, 8_192, 32_768, 128_000, 200_000, 272_000, 999_499, 999_500,
        ]
        .into_iter()
        .chain((1..=40).map(|n| n * 51_437))
        .chain([u32::MAX]);
        let shares = (60..=140).chain([250, 999, 5_000]);
        for size in sizes {
            let window = window(size);
            for share in shares.clone() {
                let used = u64::from(size) * share / 100 + share;
                let used = u32::try_from(used).unwrap_or(u32::MAX);
                for note in [CheckpointNote::None, CheckpointNote::Saved] {
                    let Some(line) = line(used, &window, note) else {
                        continue;
                    };
                    for counter in [Bpe::o200k(), Bpe::cl100k()] {
                        let count = counter.count(&line, ContentKind::Prose);
                        assert!(count <= Tokens(20), "{count} tokens: {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn as_a_fragment_it_is_whole_by_every_counter() {
        let window = window(200_000);
        let gauge = Gauge {
            used: Tokens(162_000),
            window: &window,
            checkpoint: CheckpointNote::Saved,
        };
        for estimator in Estimator::ALL {
            let fragment = gauge.fragment(&estimator).unwrap();
            assert_eq!(fragment.text(), gauge.line().unwrap(), "{estimator}");
        }
    }
}
