//! What counts as a secret, beside what always does.

use longhaul_redact::{Finds, RedactorSettings, Rule};
use longhaul_tokens::settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// What is taken for a secret, beyond what comes with the program.
    pub struct Redaction {
        /// Further names whose values are secret; case, `-` and `_` do not matter.
        names: Vec<String> = Vec::new(),
        /// Texts that look like secrets and are none, such as keys of examples.
        keep: Vec<String> = Vec::new(),
        /// Further rules.
        rules: Vec<RedactionRule> = Vec::new(),
        /// Ids of rules that are not wanted; `longhaul redact --rules` lists them.
        off: Vec<String> = Vec::new(),
    }
}

/// A rule: either a pattern, or how its keys begin and what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedactionRule {
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

impl Redaction {
    /// The settings of a redactor, or what is wrong with a rule.
    pub fn settings(&self) -> Result<RedactorSettings, String> {
        let rules: Result<Vec<Rule>, String> = self.rules.iter().map(RedactionRule::rule).collect();
        Ok(RedactorSettings {
            names: self.names.clone(),
            keep: self.keep.clone(),
            rules: rules?,
            off: self.off.clone(),
        })
    }
}

impl RedactionRule {
    fn rule(&self) -> Result<Rule, String> {
        let finds = match (&self.pattern, &self.prefix) {
            (Some(pattern), None) => Finds::Pattern(pattern.clone()),
            (None, Some(prefix)) => Finds::Key {
                prefix: prefix.clone(),
                alphabet: self.alphabet.clone().unwrap_or_else(|| "word".to_owned()),
                length: self.length.clone().unwrap_or_else(|| "16..".to_owned()),
            },
            _ => {
                return Err(format!(
                    "redaction rule `{}` needs either a `pattern` or a `prefix`",
                    self.id
                ));
            }
        };
        Ok(Rule {
            id: self.id.clone(),
            finds,
        })
    }
}
