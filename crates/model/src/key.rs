//! A key: held, sent, never shown.

use std::fmt;

/// A provider's key. Nothing that prints it shows more than that there is one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text without the key, should a provider or a proxy have put it there.
    pub(crate) fn remove_from(&self, text: &str) -> String {
        // A key of a few characters is a placeholder for a local server, and
        // would be found in ordinary words.
        if self.0.len() < 8 {
            text.to_owned()
        } else {
            text.replace(&self.0, "[key]")
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}
