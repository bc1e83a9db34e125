//! What a provider says a request cost.

use serde::{Deserialize, Serialize};

use crate::Tokens;

/// Token usage reported with one answer. Cached input is *not* part of `input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Input that was neither read from nor written to the cache.
    pub input: Tokens,
    /// The answer, thinking included.
    pub output: Tokens,
    /// Input read from the prompt cache.
    pub cache_read: Tokens,
    /// Input written to the prompt cache.
    pub cache_write: Tokens,
    /// The provider's own total, when it gives one.
    #[serde(rename = "totalTokens", skip_serializing_if = "Option::is_none")]
    pub total: Option<Tokens>,
}

impl Usage {
    /// The size of the request: all input, cached or not.
    pub fn prompt_tokens(&self) -> Tokens {
        self.input + self.cache_read + self.cache_write
    }

    /// The size of the context once the answer is part of it: the total if there
    /// is one, else the sum. A total of zero is a provider that gives none.
    pub fn context_tokens(&self) -> Tokens {
        match self.total {
            Some(total) if total > Tokens::ZERO => total,
            _ => self.prompt_tokens() + self.output,
        }
    }

    /// Whether it says anything: aborted and failed answers report zeros.
    pub fn is_reported(&self) -> bool {
        self.context_tokens() > Tokens::ZERO
    }

    /// The same usage with an output that cannot be true replaced by an estimate
    /// of the answer.
    ///
    /// Claude Code records half of its answers with the output known when the
    /// stream began, one to eight tokens. Less than a quarter of the estimate is
    /// never a whole answer; anything above it is believed.
    pub fn with_plausible_output(self, answer_estimate: Tokens) -> Usage {
        if self.output.0 >= answer_estimate.0 / 4 {
            return self;
        }
        let missing = answer_estimate - self.output;
        Usage {
            output: answer_estimate,
            total: self
                .total
                .filter(|total| *total > Tokens::ZERO)
                .map(|total| total + missing),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage {
        input: Tokens(8),
        output: Tokens(273),
        cache_read: Tokens(42_473),
        cache_write: Tokens(8_794),
        total: None,
    };

    #[test]
    fn context_is_the_total_if_given_else_the_sum() {
        assert_eq!(USAGE.prompt_tokens(), Tokens(51_275));
        assert_eq!(USAGE.context_tokens(), Tokens(51_548));
        let totalled = |total| Usage {
            total: Some(Tokens(total)),
            ..USAGE
        };
        assert_eq!(totalled(60_000).context_tokens(), Tokens(60_000));
        assert_eq!(totalled(0).context_tokens(), Tokens(51_548));
        assert!(!Usage::default().is_reported());
    }

    #[test]
    fn an_output_from_the_start_of_the_stream_is_not_believed() {
        let started = Usage {
            output: Tokens(3),
            ..USAGE
        };
        assert_eq!(
            started.with_plausible_output(Tokens(600)),
            Usage {
                output: Tokens(600),
                ..USAGE
            }
        );
        assert_eq!(USAGE.with_plausible_output(Tokens(600)), USAGE);
        let totalled = Usage {
            total: Some(Tokens(51_278)),
            ..started
        };
        assert_eq!(
            totalled.with_plausible_output(Tokens(600)).context_tokens(),
            Tokens(51_875)
        );
    }

    #[test]
    fn absent_fields_are_zero() {
        let usage: Usage = serde_json::from_str(r#"{"input":5,"totalTokens":9}"#).unwrap();
        let expected = Usage {
            input: Tokens(5),
            total: Some(Tokens(9)),
            ..Usage::default()
        };
        assert_eq!(usage, expected);
    }
}
