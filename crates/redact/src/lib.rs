//! Redaction: secrets out, everything else as it was.
//!
//! A secret is known by its form (a provider's prefix, a private key's marks, a
//! JSON web token) or by its place (a password in an address, a value beside a
//! telling name). Within one document the same secret has the same placeholder,
//! so that a reader can still tell that two places say the same. Redacting again
//! changes nothing, and the time is linear in the text.
//!
//! | question | answer |
//! |---|---|
//! | what is a secret? | a [`Kind`], found by a [`Redactor`] |
//! | how is one text redacted? | [`Redactor::redact`] |
//! | how are many texts redacted as one document? | [`Redactor::document`], then [`Document::text`] or [`Document::json`] |
//! | how is a text redacted that comes in chunks? | [`Redactor::stream`], then [`Stream::push`] and [`Stream::finish`] |
//! | what was found? | [`Tally`]: how many of each kind, never the secrets |
//! | does this name promise one? | [`is_secret_name`] |
//! | which rules are there? | [`rule_ids`]; [`RedactorSettings`] add some and switch some off |
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

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod alphabet;
mod document;
mod fragments;
mod grammar;
mod json;
mod judge;
mod kind;
mod known;
mod kubernetes;
mod letters;
mod names;
mod pem;
mod places;
mod reading;
mod rules;
mod scan;
mod shape;
mod span;
mod stream;
mod tables;
mod uri;
mod value;
mod vendors;

pub use document::{Document, Redacted, Tally};
pub use kind::Kind;
pub use rules::{RedactorSettings, Rule, RuleError};
pub use scan::rule_ids;
pub use stream::Stream;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

/// The redactor of this process, once [`Redactor::install`] set it.
static INSTALLED: OnceLock<Redactor> = OnceLock::new();

/// Finds secrets. The default one has the rules that come with the program, or
/// those that the program was started with.
#[derive(Debug, Clone)]
pub struct Redactor {
    names: Vec<String>,
    /// What finds names, if there are some of the workspace's own.
    stems: Option<Arc<AhoCorasick>>,
    keep: HashSet<String>,
    off: HashSet<String>,
    rules: Arc<[Regex]>,
    /// What is known before anything is read.
    learnt: Arc<document::Learnt>,
    /// By which its notes go.
    version: Arc<str>,
}

impl Default for Redactor {
    fn default() -> Redactor {
        let installed = INSTALLED.get().cloned();
        installed.unwrap_or_else(|| Redactor::of(&RedactorSettings::default(), Vec::new()))
    }
}

/// What a note about found secrets goes by: another version, or other rules of
/// the user's, may take other texts for secrets.
pub fn rules_version() -> Arc<str> {
    Redactor::default().version
}

/// Whether the name of a variable, a field or a setting says that its value is a
/// secret.
pub fn is_secret_name(name: &str) -> bool {
    use names::Promise::{Key, Password};
    matches!(names::promise(name, &[]), Some(Password | Key))
}

impl Redactor {
    /// Makes this the default one, once and for the whole process: a secret must
    /// not get past a door because nobody handed the rules on to it. Later calls
    /// change nothing.
    pub fn install(self) {
        let _ = INSTALLED.set(self);
    }

    /// A redactor with a workspace's own names, rules and exceptions.
    pub fn new(settings: &RedactorSettings) -> Result<Redactor, RuleError> {
        let known = rule_ids();
        if let Some(id) = settings.off.iter().find(|id| !known.contains(&id.as_str())) {
            return Err(RuleError::Unknown { id: id.clone() });
        }
        let rules: Result<Vec<Regex>, RuleError> =
            settings.rules.iter().map(Rule::compiled).collect();
        Ok(Redactor::of(settings, rules?))
    }

    fn of(settings: &RedactorSettings, rules: Vec<Regex>) -> Redactor {
        let own = *settings != RedactorSettings::default();
        let version = env!("CARGO_PKG_VERSION");
        Redactor {
            names: rules::plain_names(&settings.names),
            stems: (!settings.names.is_empty()).then(|| Arc::new(grammar::stems(&settings.names))),
            keep: settings.keep.iter().cloned().collect(),
            off: settings.off.iter().cloned().collect(),
            rules: rules.into(),
            learnt: Arc::default(),
            version: match own {
                true => format!("{version} {:016x}", rules::fingerprint(settings)).into(),
                false => version.into(),
            },
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

    /// A text that comes in chunks, such as a log in a pipe.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self.document())
    }
}
