//! The one trait behind every count, and what a message costs beyond its text.
//!
//! Providers wrap messages, tool calls and results in markup that no transcript
//! shows. At the rates of [`Heuristic`](crate::Heuristic), the overheads here are
//! those at which estimates of growth on real sessions have no median error. Only
//! the sum of a call and its result can be measured; its division is a guess.

use crate::{ContentKind, Tokens};

/// Markup around one tool call: names and brackets of the call and its arguments.
pub const TOOL_CALL_OVERHEAD: Tokens = Tokens(30);
/// Markup around one tool result.
pub const TOOL_RESULT_OVERHEAD: Tokens = Tokens(10);
/// Role markers around one message.
pub const MESSAGE_OVERHEAD: Tokens = Tokens(5);

/// One image. Anthropic charges width × height / 750 and scales larger images
/// down to about 1,600 tokens, which is also what most screenshots reach; pi's
/// 1,200 (4,800 characters) is short of that. Of two plausible flat costs the
/// higher is the safe one: counting too much compacts a little early, counting
/// too little overflows.
pub const IMAGE_TOKENS: Tokens = Tokens(1_600);

/// A way to count tokens.
///
/// Implementors say what a text costs; the provided methods say what the parts
/// of a message cost, so that every caller charges the same for them.
pub trait Counter: Send + Sync {
    /// The tokens of `text`, which is content of `kind`.
    fn count(&self, text: &str, kind: ContentKind) -> Tokens;

    /// The name by which it is configured and shown.
    fn name(&self) -> &'static str;

    /// A tool call: the tool's name, its arguments as JSON, and the markup.
    fn tool_call(&self, tool: &str, arguments: &str) -> Tokens {
        let kind = ContentKind::of_tool_call(tool);
        self.count(tool, kind) + self.count(arguments, kind) + TOOL_CALL_OVERHEAD
    }

    /// The text of a tool result, and the markup. Images in it are counted by
    /// [`Counter::image`].
    fn tool_result(&self, tool: &str, output: &str) -> Tokens {
        self.count(output, ContentKind::of_tool_result(tool)) + TOOL_RESULT_OVERHEAD
    }

    /// A block of thinking. Where a provider returns only a digest of it, the
    /// whole thinking is still in the context, sealed in the signature; its
    /// length is what tells (base64 of the text and some 170 bytes).
    fn thinking(&self, text: &str, signature: &str) -> Tokens {
        const SEALING_BASE64: usize = 232;
        let sealed_chars = signature.len().saturating_sub(SEALING_BASE64) / 4 * 3;
        let shown_chars = text.chars().count();
        let shown = self.count(text, ContentKind::Prose);
        // A digest leaves far more sealed than shown; small differences are
        // only characters of more than one byte.
        if sealed_chars > shown_chars + shown_chars / 4 {
            shown + Tokens::from_chars(sealed_chars - shown_chars, 35)
        } else {
            shown
        }
    }

    /// One image of any size.
    fn image(&self) -> Tokens {
        IMAGE_TOKENS
    }

    /// What a message costs beside its content.
    fn message_overhead(&self) -> Tokens {
        MESSAGE_OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompactRs, Heuristic};

    #[test]
    fn parts_of_a_message_carry_their_markup() {
        let arguments = r#"{"path":"a.rs"}"#;
        assert_eq!(
            Heuristic.tool_call("read", arguments),
            Tokens(2) + Tokens(5) + TOOL_CALL_OVERHEAD
        );
        assert_eq!(
            Heuristic.tool_result("read", &"x".repeat(28)),
            Tokens(10) + TOOL_RESULT_OVERHEAD
        );
    }

    #[test]
    fn compact_rs_charges_its_own_formula_only() {
        assert_eq!(CompactRs.tool_call("bash", "12345678"), Tokens(12 / 4 + 1));
        assert_eq!(CompactRs.tool_result("bash", "1234567"), Tokens(11 / 4 + 1));
        assert_eq!(CompactRs.message_overhead(), Tokens::ZERO);
    }

    #[test]
    fn sealed_thinking_is_counted_by_its_signature() {
        let digest = "x".repeat(350);
        let whole = "s".repeat(700 * 4 / 3 + 232);
        let same = "s".repeat(350 * 4 / 3 + 232);
        assert_eq!(Heuristic.thinking(&digest, ""), Tokens(100));
        assert_eq!(Heuristic.thinking(&digest, &same), Tokens(100));
        assert_eq!(Heuristic.thinking(&digest, &whole), Tokens(200));
        assert_eq!(Heuristic.thinking("", &whole), Tokens(200));
    }
}
