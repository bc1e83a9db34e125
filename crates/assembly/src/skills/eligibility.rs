//! Eligibility: whether a skill can work on this machine.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

/// What there is on this machine. The caller looks; nothing here does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// The operating system, as Rust or Node name it: `linux`, `macos` or
    /// `darwin`, `windows` or `win32`.
    pub os: String,
    /// Programs on the search path.
    pub binaries: BTreeSet<String>,
    /// Names of environment variables that are set.
    pub variables: BTreeSet<String>,
    /// Settings of the agent that are on, by path.
    pub settings: BTreeSet<String>,
}

/// What a skill needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    pub(super) bins: Vec<String>,
    pub(super) any_bins: Vec<String>,
    pub(super) env: Vec<String>,
    pub(super) config: Vec<String>,
    pub(super) os: Vec<String>,
    /// Listed whatever else is missing.
    pub(super) always: bool,
}

/// Where OpenClaw and its earlier names, or ours, keep them; else they are
/// directly in the metadata.
const KEYS: [&str; 4] = ["openclaw", "longhaul", "clawdbot", "clawdis"];

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Stored {
    requires: Requires,
    os: Names,
    always: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Requires {
    bins: Names,
    any_bins: Names,
    env: Names,
    config: Names,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    Many(Vec<String>),
    One(String),
}

impl Default for Names {
    fn default() -> Names {
        Names::Many(Vec::new())
    }
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Vec<String> {
        match names {
            Names::Many(names) => names,
            Names::One(name) => vec![name],
        }
    }
}

impl Requirements {
    /// Reads the `metadata` of a skill; other programs' keys are none of ours.
    pub(super) fn read(metadata: &Value) -> Result<Requirements, String> {
        // Some write the whole of it as JSON in a string.
        let unpacked = match metadata {
            Value::String(text) => serde_saphyr::from_str(text).map_err(|e| e.to_string())?,
            _ => Value::Null,
        };
        let metadata = if unpacked.is_null() {
            metadata
        } else {
            &unpacked
        };
        let ours = KEYS.iter().find_map(|key| metadata.get(key));
        // Some leave the program's key out. What is no object is of another's
        // making.
        let bare = metadata.get("requires").is_some_and(Value::is_object);
        let Some(place) = ours
            .filter(|ours| !bare || ours.get("requires").is_some())
            .or(bare.then_some(metadata))
        else {
            return Ok(Requirements::default());
        };
        let read = |value: &Value| -> Result<Stored, String> {
            serde_json::from_value(value.clone()).map_err(|e| e.to_string())
        };
        let requires = read(place)?.requires;
        let Stored { os, always, .. } = read(ours.unwrap_or(place))?;
        Ok(Requirements {
            bins: requires.bins.into(),
            any_bins: requires.any_bins.into(),
            env: requires.env.into(),
            config: requires.config.into(),
            os: os.into(),
            always,
        })
    }

    /// What is missing on `host`; nothing if the skill can be used.
    pub(super) fn missing(&self, host: &Host) -> Option<String> {
        let here = system(&host.os);
        if !self.os.is_empty() && !self.os.iter().any(|os| system(os) == here) {
            return Some(format!("it is for {}", self.os.join(", ")));
        }
        if self.always {
            return None;
        }
        let first_missing = |wanted: &[String], there: &BTreeSet<String>| {
            wanted.iter().find(|name| !there.contains(*name)).cloned()
        };
        if let Some(program) = first_missing(&self.bins, &host.binaries) {
            return Some(format!("the program `{program}` is not installed"));
        }
        if !self.any_bins.is_empty() && !self.any_bins.iter().any(|p| host.binaries.contains(p)) {
            return Some(format!("none of {} is installed", self.any_bins.join(", ")));
        }
        if let Some(variable) = first_missing(&self.env, &host.variables) {
            return Some(format!("the variable {variable} is not set"));
        }
        first_missing(&self.config, &host.settings)
            .map(|key| format!("the setting {key} is not on"))
    }
}

fn system(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "darwin" | "macos" => "macos".to_owned(),
        "win32" | "windows" => "windows".to_owned(),
        other => other.to_owned(),
    }
}
