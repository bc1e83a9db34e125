//! What stops an assembly, and what only has to be told.
//!
//! An [`Error`] means that there is no context. A [`Problem`] means that there is
//! one without the file or skill it names: it goes to the user, never to the
//! model, and is never fatal to a turn.

use std::path::{Path, PathBuf};

use longhaul_tokens::Tokens;
use serde::Serialize;

use crate::PartName;

/// Why there is no context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A part leaves no room for itself.
    #[error(
        "the {part} does not fit: {tokens} tokens, {over} more than the {cap} that are left for it in a window of {window}"
    )]
    OverBudget {
        /// The part that is too large.
        part: PartName,
        /// Its size.
        tokens: Tokens,
        /// The most it could have had.
        cap: Tokens,
        /// By how much it is too large.
        over: Tokens,
        /// The whole window.
        window: Tokens,
    },

    /// The reserves alone fill the window.
    #[error(
        "a window of {window} tokens has no room beside its reserves ({response} for the answer, {tools} for tools)"
    )]
    NoRoom {
        /// The whole window.
        window: Tokens,
        /// Left for the answer.
        response: Tokens,
        /// Left for tool definitions.
        tools: Tokens,
    },

    /// The folder that was asked for is not there.
    #[error("{} is not a folder ({reason})", path.display())]
    NoWorkspace {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },

    /// Neither flag nor session nor configuration names a workspace.
    #[error("no workspace is known")]
    WorkspaceUnknown,

    /// A glob that cannot be read. A rule that is not understood cannot be
    /// followed, so it is not ignored.
    #[error("`{pattern}` in {setting} is not a glob: {reason}")]
    Pattern {
        /// Where it stands in the configuration.
        setting: &'static str,
        /// As written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },

    /// An attachment that no provider would take.
    #[error("the attached {mime} cannot be sent: {reason}")]
    Attachment {
        /// Its MIME type.
        mime: String,
        /// Why not.
        reason: &'static str,
    },
}

impl Error {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Error::OverBudget { part, .. } => part.remedy(),
            Error::NoRoom { .. } => {
                "lower `budget.responseReserveTokens`, or give the model's real window with `--window`"
            }
            Error::NoWorkspace { .. } => "check the path given by `--workspace`",
            Error::WorkspaceUnknown => {
                "name one with `--workspace`, or set `workspace` in longhaul.yaml"
            }
            Error::Pattern { .. } => {
                "correct the pattern: `*` any text, `?` one character, `[ab]`, `{a,b}`"
            }
            Error::Attachment { .. } => {
                "attach an image as base64 with its MIME type, or name a file by its path"
            }
        }
    }
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something the user should know about a file, a skill or a tool that was left
/// out or shortened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "problem", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Problem {
    /// The system would not let us read it.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },

    /// A folder, a pipe or a device where a file should be.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },

    /// The file is binary.
    #[error("{} is not text; it has {bytes} bytes", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },

    /// Bytes that are no UTF-8 were replaced.
    #[error("{} is not UTF-8; what could not be read is shown as \u{FFFD}", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },

    /// The path leads out of the folder it must stay in.
    #[error("{} leads out of the workspace, to {}; it is not read", path.display(), target.display())]
    Outside {
        /// As named.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },

    /// The file is longer than its limit; its middle is left out.
    #[error("{} has {chars} characters; {left_out} in its middle are left out", path.display())]
    Shortened {
        /// The file.
        path: PathBuf,
        /// Its length.
        chars: u64,
        /// How many are missing.
        left_out: u64,
    },

    /// The file is so large that only its ends were read.
    #[error("{} has {bytes} bytes; only its beginning and end were read", path.display())]
    Enormous {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },

    /// The files before it have used up what all may have together.
    #[error("{} is left out: the workspace files before it fill their limit", path.display())]
    NoRoomLeft {
        /// The file.
        path: PathBuf,
    },

    /// A skill that cannot be used.
    #[error("skill {}:{line}: {reason}", path.display())]
    BrokenSkill {
        /// Its `SKILL.md`.
        path: PathBuf,
        /// Where in it.
        line: u64,
        /// What is wrong.
        reason: String,
    },

    /// The list of skills was too long for the prompt.
    #[error(
        "the list of skills is too long: {shortened} descriptions shortened, {left_out} skills left out"
    )]
    SkillsShortened {
        /// Skills listed with less than their description.
        shortened: usize,
        /// Skills not listed at all.
        left_out: usize,
    },

    /// More folders or matches than one would look through.
    #[error("{} holds too many entries; the first {looked_at} were looked at", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
        /// How many were looked at.
        looked_at: usize,
    },

    /// Two tools of one name; providers refuse that.
    #[error("two tools are called `{name}`; the first one counts")]
    SameTool {
        /// The name.
        name: String,
    },

    /// A tool whose parameters are no JSON object; providers refuse that.
    #[error("the parameters of tool `{name}` are not a JSON object; the tool is left out")]
    BrokenTool {
        /// The name.
        name: String,
    },

    /// A glob that cannot be read.
    #[error("`{pattern}` in {setting} is not a glob: {reason}")]
    BadPattern {
        /// Where it stands in the configuration.
        setting: &'static str,
        /// As written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },

    /// The session's own folder is gone, so another one was taken.
    #[error("the session's folder {} is gone", path.display())]
    FolderGone {
        /// The folder.
        path: PathBuf,
    },
}

impl Problem {
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
        Problem::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn broken_skill(path: &Path, line: u64, reason: impl Into<String>) -> Problem {
        Problem::BrokenSkill {
            path: path.to_owned(),
            line,
            reason: reason.into(),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Problem::Unreadable { .. } => "check who owns it and its permissions",
            Problem::NotAFile { .. } => "put a text file there, or remove it",
            Problem::NotText { .. } | Problem::NotUtf8 { .. } => "save it as UTF-8 text",
            Problem::Outside { .. } => "copy the file into the workspace instead of linking to it",
            Problem::Shortened { .. } | Problem::Enormous { .. } => {
                "shorten the file, or raise `bootstrap.maxChars`"
            }
            Problem::NoRoomLeft { .. } => {
                "shorten the files before it, or raise `bootstrap.totalMaxChars`"
            }
            Problem::BrokenSkill { .. } => {
                "a skill begins with `---`, `name:` and `description:` lines, `---`"
            }
            Problem::SkillsShortened { .. } => "remove skills that are not used here",
            Problem::TooMany { .. } => "name a narrower folder or pattern",
            Problem::SameTool { .. } => "rename one of them, or deny it in `tools.deny`",
            Problem::BrokenTool { .. } => "give the tool a JSON Schema of type object",
            Problem::BadPattern { .. } => {
                "correct the pattern: `*` any text, `**` any folders, `?` one character, `[ab]`"
            }
            Problem::FolderGone { .. } => "name the workspace with `--workspace`",
        }
    }
}
