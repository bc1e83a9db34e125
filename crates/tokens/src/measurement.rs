//! The size of a context, and how we know it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Estimator, Tokens, Usage, Vocabulary};

/// Where a measurement comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The provider's usage, and an estimate of what came after it.
    Usage,
    /// An exact count over a vocabulary, which may not be the model's own.
    Exact(Vocabulary),
    /// Characters a token by kind of content.
    Heuristic,
    /// The formula of `compact.rs`.
    CompactRs,
}

impl From<Estimator> for Source {
    fn from(estimator: Estimator) -> Source {
        match estimator {
            Estimator::Heuristic => Source::Heuristic,
            Estimator::O200k => Source::Exact(Vocabulary::O200k),
            Estimator::Cl100k => Source::Exact(Vocabulary::Cl100k),
            Estimator::CompactRs => Source::CompactRs,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Source::Usage => "provider usage + estimate",
            Source::Exact(Vocabulary::O200k) => "o200k count",
            Source::Exact(Vocabulary::Cl100k) => "cl100k count",
            Source::Heuristic => "heuristic",
            Source::CompactRs => "compact-rs estimate",
        })
    }
}

/// The size of a context: a part the provider vouches for and a part we counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// The whole context: `anchored + estimated`.
    pub tokens: Tokens,
    /// How it was measured.
    pub source: Source,
    /// What the provider reported.
    pub anchored: Tokens,
    /// What we counted ourselves.
    pub estimated: Tokens,
}

impl Measurement {
    /// From the usage of the last valid answer and an estimate of everything
    /// after it.
    pub fn anchored(usage: &Usage, following: Tokens) -> Measurement {
        let anchored = usage.context_tokens();
        Measurement {
            tokens: anchored + following,
            source: Source::Usage,
            anchored,
            estimated: following,
        }
    }

    /// The same, but no less than this: what is missing was counted by us.
    pub fn at_least(self, least: Tokens) -> Measurement {
        let tokens = self.tokens.max(least);
        Measurement {
            tokens,
            estimated: tokens - self.anchored,
            ..self
        }
    }

    /// From our own count alone, where no usage can be believed: no answer yet,
    /// or none since a compaction.
    pub fn unanchored(estimator: Estimator, counted: Tokens) -> Measurement {
        Measurement {
            tokens: counted,
            source: estimator.into(),
            anchored: Tokens::ZERO,
            estimated: counted,
        }
    }
}

/// `162,000 tokens (provider usage + estimate)`.
impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens ({})", self.tokens, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchored_on_usage() {
        let usage = Usage {
            input: Tokens(150_000),
            output: Tokens(2_000),
            ..Usage::default()
        };
        let measured = Measurement::anchored(&usage, Tokens(10_000));
        assert_eq!(
            measured,
            Measurement {
                tokens: Tokens(162_000),
                source: Source::Usage,
                anchored: Tokens(152_000),
                estimated: Tokens(10_000),
            }
        );
        assert_eq!(
            measured.to_string(),
            "162,000 tokens (provider usage + estimate)"
        );
    }

    #[test]
    fn unanchored_says_which_count_it_is() {
        let words = Estimator::ALL
            .map(|estimator| Measurement::unanchored(estimator, Tokens(1_234)).to_string());
        assert_eq!(
            words,
            [
                "1,234 tokens (heuristic)",
                "1,234 tokens (o200k count)",
                "1,234 tokens (cl100k count)",
                "1,234 tokens (compact-rs estimate)",
            ]
        );
    }
}
