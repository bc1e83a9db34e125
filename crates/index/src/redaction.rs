//! What keeps secrets out of the index: a function of its owner's.

use std::fmt;
use std::sync::Arc;

/// Takes secrets out of a text.
type Redact = dyn Fn(&str) -> (String, u64) + Send + Sync;

/// What is done to every text before it is written.
#[derive(Clone)]
pub struct Redaction {
    fingerprint: Arc<str>,
    redact: Arc<Redact>,
}

impl Redaction {
    /// By this function, which gives the text without secrets and how many
    /// there were. What the fingerprint tells apart is indexed anew: it says
    /// which version of which rules the function has.
    pub fn new(
        fingerprint: &str,
        redact: impl Fn(&str) -> (String, u64) + Send + Sync + 'static,
    ) -> Redaction {
        Redaction {
            fingerprint: fingerprint.into(),
            redact: Arc::new(redact),
        }
    }

    /// None: every text is written as it is.
    pub fn none() -> Redaction {
        Redaction::new("none", |text| (text.to_owned(), 0))
    }

    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The text without secrets, and how many there were.
    pub(crate) fn apply(&self, text: &str) -> (String, u64) {
        (self.redact)(text)
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redaction").field(&self.fingerprint).finish()
    }
}
