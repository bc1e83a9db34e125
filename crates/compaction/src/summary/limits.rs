//! How large a summary may be.

use longhaul_tokens::{Tokens, Window};
use serde::Serialize;

use crate::terms::Layer;

/// A summary may always take one part in so many of the window.
const FLOOR_PARTS: u32 = 5;

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
    ///
    /// They shrink with the window, but never below a fifth of it: what a
    /// session holds, its rules, files and requests, does not shrink with it,
    /// and a summary without them would save room by forgetting.
    pub fn new(window: &Window, layer: Layer) -> Limits {
        let reference = Limits::reference(layer);
        let total = window
            .scaled(reference.total)
            .max(Tokens(window.size().0 / FLOOR_PARTS))
            .min(reference.total);
        let scaled = |part: Tokens| {
            let part = u64::from(part.0) * u64::from(total.0) / u64::from(reference.total.0);
            Tokens(u32::try_from(part).unwrap_or(u32::MAX))
        };
        Limits {
            total,
            prose: scaled(reference.prose),
            rules: scaled(reference.rules),
            requests: scaled(reference.requests),
            gists: scaled(reference.gists),
            read_files: reference.read_files,
        }
    }

    /// A share of the total: `1 / parts`.
    pub(super) fn share(&self, parts: u32) -> Tokens {
        Tokens(self.total.0 / parts.max(1))
    }
}
