//! Changes of the memory as data: promotions, and what takes them back.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Status};
use crate::files::{MEMORY, shown};

/// One change of the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Its number, from 1.
    pub number: u32,
    /// When.
    pub at: Timestamp,
    /// The candidate that was promoted, or whose promotion was taken back.
    pub candidate: String,
    /// The change that this one takes back.
    pub undoes: Option<u32>,
    /// What it does to the files, or takes back.
    pub edits: Vec<Edit>,
    /// The candidates.
    pub turns: Vec<Turn>,
    /// What became of the files, where it was made just now.
    #[serde(skip)]
    pub pages: Vec<PageChange>,
}

impl Change {
    /// What it is, in words.
    pub(super) fn what(&self) -> String {
        match self.undoes {
            None => format!("the promotion of {}", self.candidate),
            Some(_) => format!("the undoing of {}", self.candidate),
        }
    }
}

/// One step of a promotion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "camelCase")]
pub enum Edit {
    /// A file that is not there is made.
    AddFile {
        /// The file, in the workspace.
        file: String,
    },
    /// A heading comes to the end of a file.
    AddHeading {
        /// The file, in the workspace.
        file: String,
        /// The heading, with its signs.
        line: String,
    },
    /// A statement comes to the end of a file.
    AddStatement {
        /// The file, in the workspace.
        file: String,
        /// The candidate.
        id: String,
        /// What stands below its heading.
        lines: Vec<String>,
    },
    /// A statement is said to hold no longer.
    EndStatement {
        /// The file, in the workspace.
        file: String,
        /// The candidate.
        id: String,
        /// The line that says since when it holds.
        line: String,
        /// What is added to it.
        ending: String,
    },
    /// `MEMORY.md` gets a pointer.
    AddPointer {
        /// The candidate.
        id: String,
        /// The heading it stands below.
        heading: String,
        /// The pointer.
        line: String,
    },
    /// `MEMORY.md` loses a pointer.
    RemovePointer {
        /// The candidate.
        id: String,
        /// The pointer.
        line: String,
        /// The lines above it up to its heading, the nearest first.
        above: Vec<String>,
    },
    /// `MEMORY.md` says when it was changed.
    SetTime {
        /// What it said.
        before: String,
        /// What it says.
        after: String,
    },
}

impl Edit {
    pub(super) fn file(&self) -> &str {
        match self {
            Edit::AddFile { file }
            | Edit::AddHeading { file, .. }
            | Edit::AddStatement { file, .. }
            | Edit::EndStatement { file, .. } => file,
            Edit::AddPointer { .. } | Edit::RemovePointer { .. } | Edit::SetTime { .. } => MEMORY,
        }
    }

    /// Whether it is something that others may have come to need since.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Edit::AddFile { .. } | Edit::AddHeading { .. })
    }
}

/// What one file becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageChange {
    /// The file, in the workspace.
    pub file: String,
    /// What it was; nothing where it was not there.
    pub before: Option<String>,
    /// What it becomes; nothing where it goes.
    pub after: Option<String>,
}

impl PageChange {
    /// What it was and what it becomes, to be shown: both texts stand for their
    /// bytes, also for those that are no text.
    pub fn shown(&self) -> (String, String) {
        let text = |text: &Option<String>| shown(text.as_deref().unwrap_or_default());
        (text(&self.before), text(&self.after))
    }
}

/// A line that an undo leaves, because it was edited since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    /// The file, in the workspace.
    pub file: String,
    /// Its line after the undo, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The candidate.
    pub id: String,
    /// What it was.
    pub before: Standing,
    /// What it becomes.
    pub after: Standing,
}

/// The part of a candidate that promotions change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// Its status.
    pub status: Status,
    /// The day until which it held.
    pub valid_until: Option<Date>,
}

impl Standing {
    pub(super) fn of(candidate: &Candidate) -> Standing {
        Standing {
            status: candidate.status.clone(),
            valid_until: candidate.valid_until,
        }
    }
}
