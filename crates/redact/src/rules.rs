//! Rules that a workspace adds to those that come with the program.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::alphabet::{ALPHABETS, Alphabet};
use super::names;

/// What is taken for a secret, beyond what comes with the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RedactorSettings {
    /// Further names whose values are secret; case, `-` and `_` do not matter.
    pub names: Vec<String>,
    /// Texts that look like secrets and are none, such as keys of examples.
    pub keep: Vec<String>,
    /// Further rules.
    pub rules: Vec<Rule>,
    /// Ids of rules that are not wanted; `longhaul redact --rules` lists them.
    pub off: Vec<String>,
}

/// A rule: either a pattern, or how its keys begin and what follows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// What it is called.
    pub id: String,
    /// A regular expression; its first group is the secret, or all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// With what every such key begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// What follows it: alnum, word, dotted, base64, escaped, upper, serial, hex or uuid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<String>,
    /// How many characters follow it: `20`, `20..40` or `20..`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
}

/// Why settings are no rules.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// A rule says nothing of what it finds, or two things.
    #[error("redaction rule `{id}` needs either a `pattern` or a `prefix`")]
    Neither {
        /// Whose.
        id: String,
    },
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
        let pattern = match (&self.pattern, &self.prefix) {
            (Some(pattern), None) => pattern.clone(),
            (None, Some(prefix)) => {
                let alphabet = self.alphabet.as_deref().unwrap_or("word");
                let length = self.length.as_deref().unwrap_or("16..");
                let Some(alphabet) = Alphabet::named(alphabet) else {
                    let names: Vec<&str> = ALPHABETS.iter().map(|known| known.name).collect();
                    return Err(RuleError::Alphabet {
                        id: self.id.clone(),
                        alphabet: alphabet.to_owned(),
                        known: names.join(", "),
                    });
                };
                let count = bounds(length).ok_or_else(|| RuleError::Length {
                    id: self.id.clone(),
                    length: length.to_owned(),
                })?;
                let border = prefix.starts_with(|c: char| c.is_ascii_alphanumeric());
                let border = if border { r"\b" } else { "" };
                format!(
                    "{border}({}{}{count})",
                    regex::escape(prefix),
                    alphabet.class()
                )
            }
            _ => {
                let id = self.id.clone();
                return Err(RuleError::Neither { id });
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
