//! What can be wrong with a configuration, and what to do about it.

use std::fmt;
use std::path::PathBuf;

use super::{KeyPath, Origin};

/// Everything that is wrong, in the order it was found; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl ConfigError {
    /// Success when there is no problem.
    pub(super) fn unless_none(problems: Vec<Problem>) -> Result<(), ConfigError> {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(ConfigError { problems })
        }
    }

    /// The problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether a variable is among them, which no change of a file mends.
    pub fn has_unknown_variable(&self) -> bool {
        let unknown = |problem: &Problem| matches!(problem, Problem::UnknownVariable { .. });
        self.problems.iter().any(unknown)
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
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A file named by hand that is not there.
    #[error(
        "there is no {}, which {named_by} names; correct the path, or leave it out to use the defaults",
        path.display()
    )]
    NoSuchFile {
        /// The file.
        path: PathBuf,
        /// `--config` or `LONGHAUL_CONFIG`.
        named_by: &'static str,
    },
    /// A file that is there and cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Several configuration files side by side.
    #[error(
        "{} has more than one configuration file ({}); keep one, so that it is clear which counts",
        folder.display(),
        files.join(", ")
    )]
    SeveralFiles {
        /// The folder.
        folder: PathBuf,
        /// The files' names.
        files: Vec<String>,
    },
    /// A file of some other kind.
    #[error(
        "{} is not a configuration file by its name; it must end in .yaml, .yml, .json5 or .json",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A text that cannot be parsed.
    #[error("{}, line {line}, column {column}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
        /// What the parser says.
        reason: String,
    },
    /// A file that holds something other than keys.
    #[error(
        "{} holds {found} where keys belong; begin with a section, such as `compaction:`",
        path.display()
    )]
    NoKeys {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: &'static str,
    },
    /// The same key twice in a mapping.
    #[error("`{key}` stands twice ({origin}); keep one of them")]
    Twice {
        /// The key.
        key: KeyPath,
        /// The second place.
        origin: Origin,
    },
    /// Two names of one setting with different values in the same place.
    #[error("`{key}` and `{other}` are the same setting, and differ ({origin}); keep one of them")]
    Contradiction {
        /// The one.
        key: KeyPath,
        /// The other.
        other: KeyPath,
        /// The second place.
        origin: Origin,
    },
    /// A key that does not exist.
    #[error("there is no setting `{key}` ({origin}); {hint}")]
    UnknownKey {
        /// The key.
        key: KeyPath,
        /// Where it stands.
        origin: Origin,
        /// What was probably meant.
        hint: String,
    },
    /// A variable of ours that sets nothing.
    #[error("${variable}: no setting has this name, so correct or unset it; {hint}")]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// What was probably meant.
        hint: String,
    },
    /// A value that the setting cannot take.
    #[error("`{key}` cannot be {value} ({origin}); it must be {expected}")]
    Invalid {
        /// The key.
        key: KeyPath,
        /// The value, shortened.
        value: String,
        /// Where it stands.
        origin: Origin,
        /// What it could be.
        expected: String,
    },
    /// Settings that do not go together.
    #[error("{reason} ({origin})")]
    Inconsistent {
        /// The settings.
        keys: Vec<KeyPath>,
        /// Where the highest of them was set.
        origin: Origin,
        /// Why, and what to do.
        reason: String,
    },
    /// A secret in a place where secrets do not belong. The value is not repeated.
    #[error("`{key}` holds a secret ({origin}), and secrets are never read from there; {advice}")]
    Secret {
        /// The key.
        key: KeyPath,
        /// Where it stands.
        origin: Origin,
        /// What to do.
        advice: String,
    },
    /// A setting that a workspace must not make for its user.
    #[error(
        "`{key}` is not taken from the workspace ({origin}), because whoever wrote the workspace \
         {could}; set it in the state folder's longhaul.yaml, or name \
         this file with --config if you trust it"
    )]
    NotFromWorkspace {
        /// The key.
        key: KeyPath,
        /// Where it stands.
        origin: Origin,
        /// What somebody else could do with it.
        could: String,
    },
}
