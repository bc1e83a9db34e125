//! Changes of the memory as data: promotions, and what takes them back.

use jiff::Timestamp;
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
    pub(super) edits: Vec<Edit>,
    /// The candidates.
    pub turns: Vec<Turn>,
    /// What becomes of the files, where it is planned or was made just now; changed
    /// ones only.
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

    /// Candidates whose pointers leave to make room.
    pub fn demoted(&self) -> impl Iterator<Item = &str> {
        let others = self.turns.iter().filter(|turn| turn.id != self.candidate);
        let left = others.filter(|turn| matches!(turn.after, Status::Demoted { .. }));
        left.map(|turn| turn.id.as_str())
    }
}

/// One step of a change: a part of a page that comes, or one that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Edit {
    pub(super) way: Way,
    #[serde(flatten)]
    pub(super) part: Part,
}

/// Which way an edit goes; taken back, it goes the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Way {
    In,
    Out,
}

/// A part of a page. It says what is to be found and what is left, not where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "camelCase")]
pub(super) enum Part {
    /// The file itself.
    File { file: String },
    /// A heading at the end of a file, with its signs.
    Heading { file: String, line: String },
    /// A statement at the end of a file: what stands below the heading of its
    /// candidate.
    Statement {
        file: String,
        id: String,
        lines: Vec<String>,
    },
    /// That a statement holds no longer: what is added to the line that says since
    /// when it did.
    Ending {
        file: String,
        id: String,
        line: String,
        ending: String,
    },
    /// A pointer in `MEMORY.md`, and the lines above it up to its heading, the nearest
    /// first.
    Pointer {
        id: String,
        line: String,
        above: Vec<String>,
    },
    /// When `MEMORY.md` was changed: what it says, and what it said before.
    Time { now: String, before: String },
}

impl Edit {
    /// The same edit taken back.
    pub(super) fn reversed(&self) -> Edit {
        Edit {
            way: match self.way {
                Way::In => Way::Out,
                Way::Out => Way::In,
            },
            part: self.part.clone(),
        }
    }

    pub(super) fn file(&self) -> &str {
        match &self.part {
            Part::File { file }
            | Part::Heading { file, .. }
            | Part::Statement { file, .. }
            | Part::Ending { file, .. } => file,
            Part::Pointer { .. } | Part::Time { .. } => MEMORY,
        }
    }

    /// Whether it is something that others may have come to need since.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.part, Part::File { .. } | Part::Heading { .. })
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
    pub before: Status,
    /// What it becomes.
    pub after: Status,
}

impl Turn {
    pub(super) fn of(candidate: &Candidate, after: Status) -> Turn {
        Turn {
            id: candidate.id.clone(),
            before: candidate.status.clone(),
            after,
        }
    }
}
