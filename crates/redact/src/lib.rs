//! Redaction: secrets out, everything else as it was.
//!
//! A secret is known by its form (a provider's prefix, a private key's armour,
//! a JSON web token) or by its place (a password in an address, a value beside
//! a telling name). Within one document the same secret has the same
//! placeholder, so that a reader can still tell that two places say the same.
//! Redacting again changes nothing.
//!
//! The time is linear in the text: from every place the scan looks only so far
//! ahead and back, and what it has replaced it does not look at again.
//!
//! | question | answer |
//! |---|---|
//! | what is a secret? | a [`Kind`], found by a [`Redactor`] |
//! | how is one text redacted? | [`Redactor::redact`] |
//! | how are many texts redacted as one document? | [`Redactor::document`], then [`Document::text`] or [`Document::json`] |
//! | what was found? | [`Tally`]: how many of each kind, never the secrets |
//!
//! ```
//! use longhaul_redact::Redactor;
//!
//! let redactor = Redactor::default();
//! let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
//! let redacted = redactor.redact(&format!("push with {token}, then revoke {token}"));
//! assert_eq!(
//!     redacted.text,
//!     "push with [redacted:github-token#1], then revoke [redacted:github-token#1]"
//! );
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod algorithms;
mod aligned;
mod armour;
mod before;
mod below;
mod beside;
mod blocks;
mod boxes;
mod columns;
mod command;
mod declared;
mod document;
mod drawn;
mod encoded;
mod entered;
mod environment;
mod expect;
mod fallback;
mod fed;
mod follows;
mod fragments;
mod inserted;
mod json;
mod kind;
mod kubernetes;
mod lead;
mod letters;
mod lists;
mod logins;
mod markdown;
mod markup;
mod names;
mod pass;
mod phrases;
mod pieces;
mod promised;
mod put;
mod reading;
mod resumed;
mod scan;
mod shape;
mod signs;
mod sought;
mod spoken;
mod statement;
mod stores;
mod tongues;
mod topic;
mod turns;
mod value;
mod vendors;
mod windows;
mod words;

pub use document::{Document, Redacted, Tally};
pub use kind::Kind;

use std::collections::HashSet;
use std::sync::Arc;

/// What a workspace knows about its own secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactorSettings {
    /// Further names whose values are secret, beside `password`, `token` and
    /// their like. Case, `-` and `_` do not matter.
    pub names: Vec<String>,
    /// Texts that look like secrets and are none, such as keys of examples.
    pub keep: Vec<String>,
}

/// What a note about found secrets goes by: another version may take other texts
/// for secrets.
pub const RULES: &str = env!("CARGO_PKG_VERSION");

/// Finds secrets.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    names: Vec<String>,
    keep: HashSet<String>,
    /// What is known before anything is read.
    learnt: Arc<document::Learnt>,
}

impl Redactor {
    /// A redactor with a workspace's own names and exceptions.
    pub fn new(settings: &RedactorSettings) -> Redactor {
        Redactor {
            names: settings
                .names
                .iter()
                .map(|name| names::plain_name(name.as_bytes()))
                .filter(|name| !name.is_empty())
                .collect(),
            keep: settings.keep.iter().cloned().collect(),
            learnt: Arc::default(),
        }
    }

    /// Redacts one text as a document of its own.
    pub fn redact(&self, text: &str) -> Redacted {
        let mut document = self.document();
        let redacted = document.text(text).into_owned();
        Redacted {
            text: redacted,
            found: document.kinds(),
        }
    }

    /// A document of several texts: a secret has the same placeholder in all of
    /// them.
    pub fn document(&self) -> Document<'_> {
        Document::new(self)
    }
}
