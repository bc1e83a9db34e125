//! The estimator of `compact.rs`, for those who want its numbers.

use crate::{ContentKind, Counter, Tokens};

/// Characters / 4 + 1 for each block; a tool's name counts as part of its call
/// and of its result. There are no further overheads. It undercounts agent
/// content by about a third, and is here to reproduce decisions made with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactRs;

impl CompactRs {
    fn block(chars: usize) -> Tokens {
        Tokens::saturating(chars / 4 + 1)
    }
}

impl Counter for CompactRs {
    fn count(&self, text: &str, _kind: ContentKind) -> Tokens {
        CompactRs::block(text.chars().count())
    }

    fn name(&self) -> &'static str {
        "compact-rs"
    }

    fn tool_call(&self, tool: &str, arguments: &str) -> Tokens {
        CompactRs::block(tool.chars().count() + arguments.chars().count())
    }

    fn tool_result(&self, tool: &str, output: &str) -> Tokens {
        CompactRs::block(tool.chars().count() + output.chars().count())
    }

    fn thinking(&self, text: &str, _signature: &str) -> Tokens {
        CompactRs::block(text.chars().count())
    }

    fn message_overhead(&self) -> Tokens {
        Tokens::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_characters_by_four_plus_one() {
        let count = |text| CompactRs.count(text, ContentKind::Prose);
        assert_eq!(count(""), Tokens(1));
        assert_eq!(count("abcd"), Tokens(2));
        assert_eq!(count("日本語です"), Tokens(2));
    }
}
