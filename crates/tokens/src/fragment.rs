//! Fragments: whatever the engine itself puts into a context.
//!
//! The only way to make one is through its cap, so nothing the engine injects
//! can grow with the session.

use std::fmt;

use serde::Serialize;

use crate::{ContentKind, Counter, Tokens};

/// Ends a text that did not fit.
pub const TRUNCATION_MARKER: &str = "[…truncated]";

/// No token of any vocabulary is longer, so no prefix longer than this times the
/// cap can fit; it bounds the work on a huge text.
const LONGEST_TOKEN_CHARS: usize = 128;

/// What a fragment is for, which decides its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FragmentKind {
    /// How full the window is.
    Gauge,
    /// The note that goes with a checkpoint: what will happen, what to save.
    Advisory,
    /// A checkpoint, rendered as text.
    Checkpoint,
    /// `MEMORY.md`.
    Memory,
    /// `memories/context.md`.
    ContextNotes,
    /// Today's and yesterday's log.
    DailyLogs,
    /// One of the key files named by a summary, read again from disk.
    KeyFile,
    /// One of the configured sections of `AGENTS.md`.
    AgentsSection,
    /// Something the agent must know: degradation, a breaker, a failed step.
    Warning,
    /// What the user said in the session before this one.
    Carried,
    /// The message that carries a summary on: prose, ledger and frame.
    Continuation,
    /// What stands in place of a pruned tool result.
    Placeholder,
    /// What was found again of what had left the context.
    Recall,
    /// What a hook of the host adds to a message.
    Hook,
}

impl FragmentKind {
    /// Every kind.
    pub const ALL: [FragmentKind; 14] = [
        FragmentKind::Gauge,
        FragmentKind::Advisory,
        FragmentKind::Checkpoint,
        FragmentKind::Memory,
        FragmentKind::ContextNotes,
        FragmentKind::DailyLogs,
        FragmentKind::KeyFile,
        FragmentKind::AgentsSection,
        FragmentKind::Warning,
        FragmentKind::Carried,
        FragmentKind::Continuation,
        FragmentKind::Placeholder,
        FragmentKind::Recall,
        FragmentKind::Hook,
    ];

    /// The most tokens a fragment of this kind may have.
    pub const fn cap(self) -> Tokens {
        match self {
            FragmentKind::Gauge => Tokens(20),
            FragmentKind::Advisory => Tokens(150),
            FragmentKind::Checkpoint => Tokens(700),
            FragmentKind::Memory => Tokens(800),
            FragmentKind::ContextNotes => Tokens(1_000),
            FragmentKind::DailyLogs => Tokens(2_000),
            FragmentKind::KeyFile => Tokens(1_000),
            FragmentKind::AgentsSection => Tokens(1_000),
            FragmentKind::Warning => Tokens(200),
            FragmentKind::Carried => Tokens(2_000),
            FragmentKind::Continuation => Tokens(12_000),
            FragmentKind::Placeholder => Tokens(120),
            FragmentKind::Recall => Tokens(4_000),
            FragmentKind::Hook => Tokens(2_000),
        }
    }

    /// How its text is estimated.
    pub const fn content(self) -> ContentKind {
        match self {
            FragmentKind::KeyFile => ContentKind::Code,
            FragmentKind::Recall => ContentKind::Shell,
            _ => ContentKind::Prose,
        }
    }
}

impl fmt::Display for FragmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FragmentKind::Gauge => "gauge",
            FragmentKind::Advisory => "advisory note",
            FragmentKind::Checkpoint => "checkpoint",
            FragmentKind::Memory => "memory",
            FragmentKind::ContextNotes => "context notes",
            FragmentKind::DailyLogs => "daily logs",
            FragmentKind::KeyFile => "key file",
            FragmentKind::AgentsSection => "agents section",
            FragmentKind::Warning => "warning",
            FragmentKind::Carried => "words of the session before",
            FragmentKind::Continuation => "continuation",
            FragmentKind::Placeholder => "placeholder",
            FragmentKind::Recall => "recall",
            FragmentKind::Hook => "hook",
        })
    }
}

/// A text that may be injected: never larger than its cap by the counter that
/// made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fragment {
    kind: FragmentKind,
    text: String,
    tokens: Tokens,
    truncated: bool,
}

impl Fragment {
    /// The text, cut to the cap of its kind. A cut falls between characters and
    /// is marked by [`TRUNCATION_MARKER`].
    pub fn new(kind: FragmentKind, text: impl Into<String>, counter: &dyn Counter) -> Fragment {
        // Every cap has room for the marker by every counter of this crate; by a
        // stranger one that finds none, nothing is injected.
        Fragment::within(kind, text, kind.cap(), counter).unwrap_or(Fragment {
            kind,
            text: String::new(),
            tokens: Tokens::ZERO,
            truncated: true,
        })
    }

    /// The text, cut to `limit` or to the cap of its kind, whichever is smaller;
    /// for caps that shrink with the window. Nothing when not even the marker
    /// would fit.
    pub fn within(
        kind: FragmentKind,
        text: impl Into<String>,
        limit: Tokens,
        counter: &dyn Counter,
    ) -> Option<Fragment> {
        let text = text.into();
        let limit = limit.min(kind.cap());
        let count = |text: &str| counter.count(text, kind.content());

        let longest = LONGEST_TOKEN_CHARS.saturating_mul(limit.0 as usize);
        let candidate = &text[..char_end(&text, longest)];
        let whole = count(candidate);
        if whole <= limit && candidate.len() == text.len() {
            return Some(Fragment {
                kind,
                text,
                tokens: whole,
                truncated: false,
            });
        }
        let text = longest_fitting(candidate, |text| count(text) <= limit)?;
        let tokens = count(&text);
        Some(Fragment {
            kind,
            text,
            tokens,
            truncated: true,
        })
    }

    /// What it is for.
    pub fn kind(&self) -> FragmentKind {
        self.kind
    }

    /// The text to inject.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, when the fragment has served.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Its size, by the counter that made it.
    pub fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Whether something had to be left out.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The byte offset after the first `chars` characters, or the end.
fn char_end(text: &str, chars: usize) -> usize {
    if text.len() <= chars {
        return text.len();
    }
    text.char_indices()
        .nth(chars)
        .map_or(text.len(), |(offset, _)| offset)
}

/// The longest beginning of `text` that fits with the marker behind it.
///
/// Counts grow with the text but not strictly: a few more bytes may merge into
/// fewer tokens. Halving finds a place near the limit, and every result has
/// been checked itself.
fn longest_fitting(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let cut = |end: usize| format!("{}{TRUNCATION_MARKER}", &text[..end]);
    let mut best = Some(cut(0)).filter(|marker| fits(marker))?;
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = text.ceil_char_boundary(low + (high - low).div_ceil(2));
        if middle > high {
            break;
        }
        let shortened = cut(middle);
        if fits(&shortened) {
            best = shortened;
            low = middle;
        } else {
            high = text.floor_char_boundary(middle - 1);
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bpe, Estimator, Heuristic};
    use proptest::prelude::*;

    #[test]
    fn what_fits_is_left_alone() {
        let fragment = Fragment::new(FragmentKind::Warning, "Third compaction.", &Bpe::o200k());
        let expected = Fragment {
            kind: FragmentKind::Warning,
            text: "Third compaction.".to_owned(),
            tokens: Tokens(4),
            truncated: false,
        };
        assert_eq!(fragment, expected);
    }

    #[test]
    fn what_does_not_fit_is_cut_close_to_the_cap_and_marked() {
        let text = "All work and no play makes Jack a dull boy. ".repeat(1_000);
        for estimator in Estimator::ALL {
            let fragment = Fragment::new(FragmentKind::Memory, text.as_str(), &estimator);
            assert!(fragment.is_truncated());
            assert!(fragment.text().ends_with(TRUNCATION_MARKER));
            let tokens = fragment.tokens();
            assert!(
                tokens <= Tokens(800) && tokens >= Tokens(790),
                "{estimator}: {tokens}"
            );
        }
    }

    #[test]
    fn a_limit_of_ones_own_can_only_be_smaller() {
        let text = "x".repeat(10_000);
        let within = |limit| {
            Fragment::within(
                FragmentKind::Memory,
                text.as_str(),
                Tokens(limit),
                &Heuristic,
            )
        };
        assert_eq!(within(100).unwrap().tokens(), Tokens(100));
        assert_eq!(within(5_000).unwrap().tokens(), Tokens(800));
        assert_eq!(within(1), None);
    }

    #[test]
    fn every_cap_has_room_for_the_marker() {
        for kind in FragmentKind::ALL {
            for estimator in Estimator::ALL {
                let marker = estimator.count(TRUNCATION_MARKER, kind.content());
                assert!(marker <= kind.cap(), "{kind} by {estimator}");
            }
        }
    }

    #[test]
    fn a_huge_text_is_cut_without_counting_it_whole() {
        let text = "a".repeat(64 << 20);
        let fragment = Fragment::new(FragmentKind::Gauge, text, &Bpe::o200k());
        assert!(fragment.tokens() <= Tokens(20) && fragment.is_truncated());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn never_above_its_cap(
            text in "(?s)(.{0,40}|[a-z ]{0,60}|[日本語中文🙂é]{0,40}|={0,80}|\\s{0,80}){0,24}",
            limit in 0..300_u32,
        ) {
            for estimator in Estimator::ALL {
                for kind in [FragmentKind::Gauge, FragmentKind::Warning, FragmentKind::KeyFile] {
                    let whole = Fragment::new(kind, text.as_str(), &estimator);
                    let counted = estimator.count(whole.text(), kind.content());
                    prop_assert_eq!(counted, whole.tokens());
                    prop_assert!(counted <= kind.cap());
                    let limited =
                        Fragment::within(kind, text.as_str(), Tokens(limit), &estimator);
                    if let Some(limited) = limited {
                        prop_assert!(limited.tokens() <= Tokens(limit).min(kind.cap()));
                        prop_assert!(limited.is_truncated() || limited.text() == text);
                    }
                }
            }
        }
    }
}
