//! The name of a setting.

use std::fmt;

use serde::Serialize;

/// What every variable of ours begins with.
pub(super) const VARIABLE_PREFIX: &str = "LONGHAUL_";

/// A setting by its path: `compaction.prune.enabled`, or a place within a list,
/// `dreaming.triggers[0].cron`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct KeyPath(String);

impl KeyPath {
    /// The path as written.
    pub fn new(path: impl Into<String>) -> KeyPath {
        KeyPath(path.into())
    }

    /// With dots between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The variable that sets it: `LONGHAUL_COMPACTION_PRUNE_ENABLED`.
    pub fn variable(&self) -> String {
        let mut name = String::from(VARIABLE_PREFIX);
        for c in self.0.chars() {
            match c {
                '.' => name.push('_'),
                c if c.is_ascii_uppercase() => {
                    name.push('_');
                    name.push(c);
                }
                c => name.push(c.to_ascii_uppercase()),
            }
        }
        name
    }

    pub(super) fn root() -> KeyPath {
        KeyPath(String::new())
    }

    pub(super) fn child(&self, name: &str) -> KeyPath {
        if self.0.is_empty() {
            KeyPath(name.to_owned())
        } else {
            KeyPath(format!("{self}.{name}"))
        }
    }

    pub(super) fn item(&self, index: usize) -> KeyPath {
        KeyPath(format!("{self}[{index}]"))
    }

    /// Where it is in a tree of JSON values.
    pub(super) fn pointer(&self) -> String {
        format!("/{}", self.0.replace('.', "/"))
    }

    /// The section a key is in, and its own name.
    pub(super) fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('.').unwrap_or(("", &self.0))
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
