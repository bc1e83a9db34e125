//! How large a summary may be.

use longhaul_tokens::{Tokens, Window};
use serde::Serialize;

use crate::terms::Layer;

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
}

impl Limits {
    /// The limits on a window of 200,000 tokens or more.
    pub fn reference(layer: Layer) -> Limits {
        Limits {
            total: Tokens(12_000),
            prose: match layer {
                Layer::Prune | Layer::Summarize | Layer::Emergency => Tokens(2_000),
                Layer::Full => Tokens(4_000),
            },
            rules: Tokens(1_500),
            requests: Tokens(6_000),
            gists: Tokens(800),
            read_files: 40,
        }
    }

    /// The limits on a window of any size.
    pub fn new(window: &Window, layer: Layer) -> Limits {
        let reference = Limits::reference(layer);
        Limits {
            total: window.scaled(reference.total),
            prose: window.scaled(reference.prose),
            rules: window.scaled(reference.rules),
            requests: window.scaled(reference.requests),
            gists: window.scaled(reference.gists),
            read_files: reference.read_files,
        }
    }

    /// A share of the total: `1 / parts`.
    pub(super) fn share(&self, parts: u32) -> Tokens {
        Tokens(self.total.0 / parts.max(1))
    }
}
