//! Rules that a workspace adds to those that come with the program.

use regex::Regex;
use thiserror::Error;

use super::alphabet::{ALPHABETS, Alphabet};
use super::names;

/// What a workspace knows about its own secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactorSettings {
    /// Further names whose values are secret, beside `password`, `token` and
    /// their like. Case, `-` and `_` do not matter.
    pub names: Vec<String>,
    /// Texts that look like secrets and are none, such as keys of examples.
    pub keep: Vec<String>,
    /// Further rules.
    pub rules: Vec<Rule>,
    /// The ids of rules that are not wanted.
    pub off: Vec<String>,
}

/// A rule of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is called in the configuration and in errors.
    pub id: String,
    /// What it finds.
    pub finds: Finds,
}

/// What a rule finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finds {
    /// A regular expression. Its first group is the secret, or all of it.
    Pattern(String),
    /// A key that begins with a prefix where a word begins.
    Key {
        /// With what it begins.
        prefix: String,
        /// What it is made of behind that: a name of `vendors.txt`, such as `alnum`.
        alphabet: String,
        /// How many characters follow: `20`, `20..40` or `20..`.
        length: String,
    },
}

/// Why settings are no rules.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// The expression of a rule cannot be read.
    #[error("the pattern of redaction rule `{id}` is no regular expression: {reason}")]
    Pattern {
        /// Whose.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The alphabet of a rule has no such name.
    #[error("redaction rule `{id}` has the alphabet `{alphabet}`; there are {known}")]
    Alphabet {
        /// Whose.
        id: String,
        /// As it was given.
        alphabet: String,
        /// Those there are.
        known: String,
    },
    /// The length of a rule is none.
    #[error("redaction rule `{id}` has the length `{length}`; write 20, 20..40 or 20..")]
    Length {
        /// Whose.
        id: String,
        /// As it was given.
        length: String,
    },
    /// A rule that is to be switched off does not exist.
    #[error(
        "there is no redaction rule `{id}` to switch off; `longhaul redact --rules` lists them"
    )]
    Unknown {
        /// As it was given.
        id: String,
    },
}

impl Rule {
    pub(crate) fn compiled(&self) -> Result<Regex, RuleError> {
        let pattern = match &self.finds {
            Finds::Pattern(pattern) => pattern.clone(),
            Finds::Key {
                prefix,
                alphabet,
                length,
            } => {
                let Some(alphabet) = Alphabet::named(alphabet) else {
                    let names: Vec<&str> = ALPHABETS.iter().map(|known| known.name).collect();
                    return Err(RuleError::Alphabet {
                        id: self.id.clone(),
                        alphabet: alphabet.clone(),
                        known: names.join(", "),
                    });
                };
                let count = bounds(length).ok_or_else(|| RuleError::Length {
                    id: self.id.clone(),
                    length: length.clone(),
                })?;
                let border = prefix.starts_with(|c: char| c.is_ascii_alphanumeric());
                let border = if border { r"\b" } else { "" };
                format!(
                    "{border}({}{}{count})",
                    regex::escape(prefix),
                    alphabet.class()
                )
            }
        };
        Regex::new(&pattern).map_err(|error| RuleError::Pattern {
            id: self.id.clone(),
            reason: error.to_string(),
        })
    }
}

/// A length as a regular expression counts: `20..40` is `{20,40}`.
fn bounds(length: &str) -> Option<String> {
    const LONGEST: u32 = 4_096;
    let number = |text: &str| {
        text.parse()
            .ok()
            .filter(|n: &u32| (1..=LONGEST).contains(n))
    };
    match length.split_once("..") {
        Some((least, "")) => Some(format!("{{{},}}", number(least)?)),
        Some((least, most)) => {
            let (least, most) = (number(least)?, number(most)?);
            (least <= most).then(|| format!("{{{least},{most}}}"))
        }
        None => Some(format!("{{{}}}", number(length)?)),
    }
}

/// Differs where settings differ, and is the same in every process.
pub(crate) fn fingerprint(settings: &RedactorSettings) -> u64 {
    let text = format!("{settings:?}");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The names of settings without case and signs.
pub(crate) fn plain_names(names: &[String]) -> Vec<String> {
    let names = names.iter().map(|name| names::plain(name));
    names.filter(|name| !name.is_empty()).collect()
}
