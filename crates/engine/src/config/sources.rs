//! What a configuration is made from, besides the defaults.

use std::path::PathBuf;

use super::FoundBy;
use super::key::VARIABLE_PREFIX;

/// Our configuration file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it lies; its ending decides the format.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// How it was come by.
    pub found_by: FoundBy,
}

/// OpenClaw's configuration file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClawFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// A setting from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The flag as typed: `--window`, `--set`.
    pub name: String,
    /// The setting: `compaction.contextWindow`.
    pub key: String,
    /// Its value, as text.
    pub value: String,
}

/// Everything a configuration is made from, besides the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// OpenClaw's file, if there is one.
    pub openclaw: Option<OpenClawFile>,
    /// Our file, if there is one.
    pub file: Option<ConfigFile>,
    /// Variables; those of other programs are passed over.
    pub environment: Vec<(String, String)>,
    /// Flags, later ones winning.
    pub flags: Vec<Flag>,
}

impl Sources {
    /// With the variables of an environment, ours picked out.
    pub fn with_environment<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Sources
    where
        N: Into<String>,
        V: Into<String>,
    {
        let pairs = variables.into_iter().map(|(n, v)| (n.into(), v.into()));
        self.environment
            .extend(pairs.filter(|(name, _)| name.starts_with(VARIABLE_PREFIX)));
        self
    }
}
