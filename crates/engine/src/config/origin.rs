//! Where a value came from, and remarks about it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Built in.
    Default,
    /// OpenClaw's configuration, under a key of its own.
    OpenClaw {
        /// The file.
        path: PathBuf,
        /// The key there.
        key: String,
    },
    /// Our file.
    File {
        /// The file.
        path: PathBuf,
        /// Its line, from 1, where known.
        line: Option<u64>,
    },
    /// A variable.
    Environment {
        /// Its name.
        variable: String,
    },
    /// The command line.
    Flag {
        /// The flag as typed: `--window`.
        name: String,
    },
}

impl Origin {
    /// Which layer counts above which.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Origin::Default => 0,
            Origin::OpenClaw { .. } => 1,
            Origin::File { .. } => 2,
            Origin::Environment { .. } => 3,
            Origin::Flag { .. } => 4,
        }
    }
}

/// `default`, `openclaw.json agents.defaults.…`, `longhaul.yaml:12`,
/// `$LONGHAUL_…`, `--window`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::OpenClaw { path, key } => write!(f, "{} {key}", path.display()),
            Origin::File { path, line: None } => write!(f, "{}", path.display()),
            Origin::File {
                path,
                line: Some(line),
            } => write!(f, "{}:{line}", path.display()),
            Origin::Environment { variable } => write!(f, "${variable}"),
            Origin::Flag { name } => f.write_str(name),
        }
    }
}

/// Something worth knowing that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it is about.
    pub origin: Origin,
    /// A sentence.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}
