//! What may be wrong with memory files, in words, and what can be done.

use longhaul_files::Fault;
use longhaul_index::{DEPTH, Unseen, megabytes};
use serde::Serialize;

use crate::{Error, Result};

/// Why a link is not read, where nobody knows more.
pub(super) const ASTRAY: &str =
    "it is a link that leads out of memory, and is neither read nor indexed";
/// Why something is not read that is there.
const NO_FILE: &str = "it is not a plain file";

/// Something that should not stay so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The file, in the workspace.
    pub file: String,
    /// The line, from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong.
    pub trouble: Trouble,
    /// Why `lint --fix` leaves to a person what it would mend elsewhere.
    pub hold: Option<Hold>,
}

/// What keeps a line from being mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Hold {
    /// It is no UTF-8.
    Bytes,
    /// It has a secret, which would be lost or stand in a second file.
    Secret,
    /// It stays for what else it says or points to.
    Live,
}

impl Finding {
    pub(super) fn new(file: &str, line: Option<usize>, trouble: Trouble) -> Finding {
        Finding {
            file: file.to_owned(),
            line,
            trouble,
            hold: None,
        }
    }

    /// What `lint --fix` does about it, or what a person can do.
    pub fn remedy(&self) -> String {
        let remedy = self.trouble.remedy();
        match self.hold {
            None => remedy.to_owned(),
            Some(Hold::Bytes) => format!("save the file as UTF-8 first, then {remedy}"),
            Some(Hold::Secret) => format!("take the secret out of the line first, then {remedy}"),
            Some(Hold::Live) => {
                "correct that pointer or take it out; the line stays for what else it says".into()
            }
        }
    }

    /// Whether `lint --fix` can mend it.
    pub fn is_fixable(&self) -> bool {
        let mended = matches!(
            self.trouble,
            Trouble::Missing
                | Trouble::LongLine { .. }
                | Trouble::DeadPointer { .. }
                | Trouble::NotIgnored
        );
        mended && self.hold.is_none()
    }
}

/// What may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Trouble {
    /// A file of the layout is not there.
    #[error("is not there")]
    Missing,
    /// A line is too long for a pointer.
    #[error("has {chars} characters; a pointer has at most {most}")]
    LongLine {
        /// Its characters.
        chars: usize,
        /// How many it may have.
        most: usize,
    },
    /// The file is too large to be in every prompt.
    #[error("has {tokens} tokens; it may have {most}, because every prompt carries it")]
    TooManyTokens {
        /// Its tokens.
        tokens: u32,
        /// How many it may have.
        most: u32,
    },
    /// A line points to a file that is not there.
    #[error("points to {target}, which is not there")]
    DeadPointer {
        /// What it points to.
        target: String,
    },
    /// A line points to a section that its file does not have.
    #[error("points to {target}#{anchor}, and that file has no such section")]
    DeadAnchor {
        /// The file, which is there.
        target: String,
        /// The section, which is not.
        anchor: String,
    },
    /// A line points out of the workspace.
    #[error("points to {target}, which is outside the workspace")]
    OutsidePointer {
        /// What it points to.
        target: String,
    },
    /// The file is too large to be read.
    #[error(
        "has {} and was not read; a memory file may have {}",
        megabytes(*bytes),
        megabytes(*most)
    )]
    TooLarge {
        /// Its bytes.
        bytes: u64,
        /// How many are read.
        most: u64,
    },
    /// The file cannot be read for another reason.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
    /// The folder lies too deep to be looked into.
    #[error(
        "lies too deep and is not indexed; folders are looked into {most} levels below memory and \
         memories"
    )]
    TooDeep {
        /// How many levels below a folder of memory are.
        most: usize,
    },
    /// Bytes of the file are no UTF-8; the line is the first that has such.
    #[error("has bytes that are no UTF-8 (in {lines} of its lines)")]
    NotUtf8 {
        /// How many lines have some.
        lines: usize,
    },
    /// The file has a zero byte, as no text has.
    #[error("has a zero byte at {at}, as only binary files have, and is left out of searches")]
    Binary {
        /// Where, from 0.
        at: usize,
    },
    /// A folder of memory is a link to another folder of the workspace, which a
    /// search does not follow.
    #[error(
        "is a link to the folder {target}: what is in it is written and dreamt of, but a search \
         does not follow links to folders"
    )]
    LinkedFolder {
        /// The other folder.
        target: String,
    },
    /// A secret stands in it.
    #[error("has a secret in it, or what looks like one")]
    Secret,
    /// The workspace is kept in git, and `memories/` with it.
    #[error("is kept in git and may hold private notes")]
    NotIgnored,
}

impl Trouble {
    /// What kept a file from being read, where only that file is concerned.
    pub(super) fn of(error: Error) -> Result<Trouble> {
        Ok(match error {
            Error::TooLarge { bytes, most, .. } => Trouble::TooLarge { bytes, most },
            Error::Outside { .. } => Trouble::Unreadable {
                reason: "it leads out of the workspace".into(),
            },
            Error::NoMemory { .. } => Trouble::Unreadable {
                reason: ASTRAY.into(),
            },
            Error::File(error) => Trouble::Unreadable {
                reason: match error.fault {
                    Fault::NotAFile(_) => NO_FILE.into(),
                    fault => fault.to_string(),
                },
            },
            other => return Err(other),
        })
    }

    /// What keeps something in a folder of memory from being looked at.
    pub(super) fn unseen(why: Unseen) -> Trouble {
        match why {
            Unseen::TooDeep => Trouble::TooDeep { most: DEPTH },
            Unseen::NoFile => Trouble::Unreadable {
                reason: NO_FILE.into(),
            },
            Unseen::Unreadable(reason) => Trouble::Unreadable { reason },
        }
    }

    /// What can be done about it.
    pub(super) fn remedy(&self) -> &'static str {
        match self {
            Trouble::Missing => "`longhaul memory init` makes it",
            Trouble::LongLine { .. } => "move the text to memories/project.md and leave a pointer",
            Trouble::TooManyTokens { .. } => {
                "take out what is no longer needed; dreaming makes room for what it promotes"
            }
            Trouble::DeadPointer { .. } => "move the line to memories/errors.md",
            Trouble::DeadAnchor { .. } => "point to a section that is there, or take the line out",
            Trouble::OutsidePointer { .. } => "point to a file of the workspace",
            Trouble::TooLarge { .. } => {
                "keep what is still needed in smaller files, and move it out of the way"
            }
            Trouble::Unreadable { .. } => {
                "check what it is and who may read it, or move it out of the way"
            }
            Trouble::TooDeep { .. } => "move what is in it further up",
            Trouble::NotUtf8 { .. } => {
                "save the file as UTF-8; such a line is read with \u{fffd} in it and never rewritten"
            }
            Trouble::Binary { .. } => "take it out of the memory folders, or save it as text",
            Trouble::LinkedFolder { .. } => "replace the link by the folder itself",
            Trouble::Secret => {
                "take it out by hand, since this may be the only place it stands in; whoever saw the \
                 file knows it, so change it where it is used"
            }
            Trouble::NotIgnored => "add `memories/` to .gitignore",
        }
    }
}

/// What `lint --fix` did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fixed {
    /// Files that were changed or made.
    pub files: Vec<String>,
    /// What could not be mended.
    pub left: Vec<Finding>,
}
