//! What comes out: values that know where they came from.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Config, KeyPath, Note, Origin, catalogue};

/// A configuration that knows where each of its values came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The values.
    pub config: Config,
    /// Where each setting came from.
    pub origins: BTreeMap<KeyPath, Origin>,
    /// What is worth knowing and stopped nothing.
    pub notes: Vec<Note>,
}

/// A setting, its value, and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The setting.
    pub key: KeyPath,
    /// Its value.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

impl Resolved {
    /// Every setting, in the order of the schema.
    pub fn rows(&self) -> Vec<Row> {
        let tree = serde_json::to_value(&self.config).unwrap_or_default();
        catalogue::key_paths()
            .map(|key| Row {
                value: tree.pointer(&key.pointer()).cloned().unwrap_or_default(),
                origin: self.origin(&key),
                key,
            })
            .collect()
    }

    /// Where a setting came from.
    pub fn origin(&self, key: &KeyPath) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }
}
