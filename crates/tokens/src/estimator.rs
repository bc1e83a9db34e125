//! Choosing a counter by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bpe, CompactRs, ContentKind, Counter, Heuristic, Tokens, Vocabulary};

/// The counters a user can choose by name. It is itself a [`Counter`].
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// [`Heuristic`]: characters a token by kind of content.
    #[default]
    Heuristic,
    /// [`Bpe`] over `o200k_base`.
    O200k,
    /// [`Bpe`] over `cl100k_base`.
    Cl100k,
    /// [`CompactRs`]: characters / 4 + 1.
    CompactRs,
}

/// On recorded sessions no stretch was underrated by more than this share,
const UNDERRATED: f64 = 0.16;
/// and none longer than this by as much.
const UNEVEN: Tokens = Tokens(30_000);

impl Estimator {
    /// Every estimator, in the order they are shown.
    pub const ALL: [Estimator; 4] = [
        Estimator::Heuristic,
        Estimator::O200k,
        Estimator::Cl100k,
        Estimator::CompactRs,
    ];

    /// The counter behind the name.
    pub fn counter(self) -> &'static dyn Counter {
        static O200K: Bpe = Bpe::o200k();
        static CL100K: Bpe = Bpe::cl100k();
        match self {
            Estimator::Heuristic => &Heuristic,
            Estimator::O200k => &O200K,
            Estimator::Cl100k => &CL100K,
            Estimator::CompactRs => &CompactRs,
        }
    }

    /// How far a count may lie below what a provider finds, on content of the
    /// kind that it underrates most. Such content comes in stretches that even
    /// out over a long context, so that the error stops growing with it.
    pub fn uncertainty(self, counted: Tokens) -> Tokens {
        counted.min(UNEVEN).scale(UNDERRATED)
    }

    /// The vocabulary, when it counts exactly.
    pub fn vocabulary(self) -> Option<Vocabulary> {
        match self {
            Estimator::O200k => Some(Vocabulary::O200k),
            Estimator::Cl100k => Some(Vocabulary::Cl100k),
            Estimator::Heuristic | Estimator::CompactRs => None,
        }
    }
}

impl Counter for Estimator {
    fn count(&self, text: &str, kind: ContentKind) -> Tokens {
        self.counter().count(text, kind)
    }

    fn name(&self) -> &'static str {
        self.counter().name()
    }

    fn tool_call(&self, tool: &str, arguments: &str) -> Tokens {
        self.counter().tool_call(tool, arguments)
    }

    fn tool_result(&self, tool: &str, output: &str) -> Tokens {
        self.counter().tool_result(tool, output)
    }

    fn thinking(&self, text: &str, signature: &str) -> Tokens {
        self.counter().thinking(text, signature)
    }

    fn image(&self) -> Tokens {
        self.counter().image()
    }

    fn message_overhead(&self) -> Tokens {
        self.counter().message_overhead()
    }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_count_may_be_short_of_stops_growing() {
        let short = |counted| Estimator::Heuristic.uncertainty(Tokens(counted));
        assert_eq!(short(0), Tokens(0));
        assert_eq!(short(10_000), Tokens(1_600));
        assert_eq!(short(150_000), short(30_000));
    }

    #[test]
    fn one_name_everywhere() {
        for estimator in Estimator::ALL {
            let name = estimator.to_string();
            assert_eq!(
                serde_json::to_string(&estimator).unwrap(),
                format!("\"{name}\"")
            );
        }
    }

    #[test]
    fn dispatch_keeps_each_counters_own_rules() {
        assert_eq!(
            Estimator::CompactRs.tool_call("bash", "12345678"),
            Tokens(4)
        );
        assert_eq!(
            Estimator::O200k.count("hello world", ContentKind::Prose),
            Tokens(2)
        );
        assert_eq!(Estimator::default(), Estimator::Heuristic);
    }
}
