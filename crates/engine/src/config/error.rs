//! What can be wrong with a configuration, and what to do about it.

use std::fmt;

use super::{KeyPath, Origin};

/// Everything that is wrong, in the order it was found; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl ConfigError {
    /// Success when there is no problem.
    pub(super) fn unless_none(problems: Vec<Problem>) -> Result<(), ConfigError> {
        match problems.is_empty() {
            true => Ok(()),
            false => Err(ConfigError { problems }),
        }
    }

    /// The problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether a variable is among them, which no change of a file mends.
    pub fn has_unknown_variable(&self) -> bool {
        self.problems.iter().any(|problem| problem.is_variable)
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> ConfigError {
        ConfigError {
            problems: vec![problem],
        }
    }
}

/// One line a problem.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.problems.iter().map(|p| p.message.as_str()).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

/// One thing that is wrong: where, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    message: String,
    /// Whether it is a variable of ours that sets nothing.
    is_variable: bool,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>) -> Problem {
        Problem {
            message: message.into(),
            is_variable: false,
        }
    }

    pub(super) fn unknown_key(key: &KeyPath, origin: &Origin, hint: &str) -> Problem {
        Problem::new(format!("there is no setting `{key}` ({origin}); {hint}"))
    }

    pub(super) fn unknown_variable(variable: &str, hint: &str) -> Problem {
        Problem {
            message: format!(
                "${variable}: no setting has this name, so correct or unset it; {hint}"
            ),
            is_variable: true,
        }
    }

    /// A value that a setting cannot take; `expected` follows "it must be".
    pub(super) fn invalid(key: &KeyPath, value: &str, origin: &Origin, expected: &str) -> Problem {
        Problem::new(format!(
            "`{key}` cannot be {value} ({origin}); it must be {expected}"
        ))
    }

    /// A secret in a place where secrets do not belong. It is not repeated.
    pub(super) fn secret(key: &KeyPath, origin: &Origin, advice: &str) -> Problem {
        Problem::new(format!(
            "`{key}` holds a secret ({origin}), and secrets are never read from there; {advice}"
        ))
    }
}
