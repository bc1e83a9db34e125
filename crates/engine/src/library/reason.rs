//! Why a model makes the vectors, or does not.

use std::sync::Arc;

use longhaul_index::Encoder;

/// Why a model is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// In words.
    pub text: String,
    /// Whether it is there, or was asked for, and cannot be used. Otherwise
    /// there simply is none.
    pub is_fault: bool,
}

/// A link of the chain: a model with why it is this one, or why there is none.
pub(super) type Link = Result<(Arc<dyn Encoder>, String), Vec<Reason>>;

pub(super) fn fault(text: String) -> Reason {
    Reason {
        text,
        is_fault: true,
    }
}

pub(super) fn absence(text: impl Into<String>) -> Reason {
    Reason {
        text: text.into(),
        is_fault: false,
    }
}
