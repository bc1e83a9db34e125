//! Why a session could not be opened, kept, asked or compacted, whoever runs it.

use std::path::PathBuf;

use longhaul_model::Failure;
use longhaul_tokens::Tokens;
use longhaul_transcript::Format;

use crate::checkpoints;
use crate::live::UndoFailure;
use longhaul_compaction::compact::CompactionFailure;

impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        Error::Transcript(error.into())
    }
}

/// Why a session could not be opened, kept or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session's file refused.
    #[error(transparent)]
    Transcript(#[from] longhaul_transcript::Error),
    /// The context could not be laid out.
    #[error(transparent)]
    Assembly(#[from] longhaul_assembly::Error),
    /// The window cannot be used.
    #[error("the window cannot be used: {0}")]
    Window(#[from] longhaul_tokens::WindowError),
    /// There is nobody to ask.
    #[error("no model is configured")]
    NoModel,
    /// The model failed. The session keeps what was said, and what went wrong.
    #[error("{0}")]
    Model(Box<Failure>),
    /// The context does not fit and cannot be made to.
    #[error(
        "the context does not fit: {tokens} tokens, and no request may have more than {hard} of \
         the {window} of this window; {reason}"
    )]
    ContextOverflow {
        /// Its size.
        tokens: Tokens,
        /// What a request may have.
        hard: Tokens,
        /// The window.
        window: Tokens,
        /// What was tried, or is in the way.
        reason: String,
    },
    /// The user stopped it. What had arrived is kept.
    #[error("stopped")]
    Cancelled,
    /// The model called tools without end.
    #[error("the model made {0} requests in one turn without coming to an end")]
    TooManyRounds(u32),
    /// A manual compaction that did not come about.
    #[error(transparent)]
    Compaction(#[from] CompactionFailure),
    /// Nothing to take back.
    #[error(transparent)]
    Undo(#[from] UndoFailure),
    /// Nothing may be written here.
    #[error("nothing may be written here")]
    ReadOnly,
    /// Another process is at work in the session.
    #[error(transparent)]
    Busy(checkpoints::Error),
    /// Another process was.
    #[error("another process compacted this session meanwhile")]
    Changed,
    /// A host changes a list that is not known here.
    #[error("the list {token:?} is not known here; give it whole")]
    UnknownList {
        /// What the host calls it.
        token: String,
    },
    /// The list and what was kept of it could not be brought together.
    #[error("the host's list does not fit what was kept of it in {path}")]
    Unaligned {
        /// The mirror.
        path: PathBuf,
    },
    /// It is not a file that pi writes.
    #[error("{path} is a session of {format}, not of pi")]
    NotPi {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        format: Format,
    },
}

impl Error {
    /// One word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Transcript(_) | Error::NotPi { .. } => "session",
            Error::Assembly(_) => "assembly",
            Error::Window(_) => "window",
            Error::NoModel => "no_model",
            Error::Model(_) => "model",
            Error::ContextOverflow { .. } => "context_overflow",
            Error::Cancelled => "cancelled",
            Error::TooManyRounds(_) => "too_many_rounds",
            Error::Compaction(_) | Error::Changed => "compaction",
            Error::Undo(_) => "undo",
            Error::ReadOnly => "read_only",
            Error::Busy(_) => "busy",
            Error::UnknownList { .. } | Error::Unaligned { .. } => "list",
        }
    }

    /// Whether somebody stopped it.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Error::Cancelled)
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::Transcript(error) => return error.remedy(),
            Error::Assembly(_) | Error::Compaction(_) | Error::Undo(_) => return None,
            Error::Cancelled | Error::Changed | Error::NotPi { .. } => return None,
            Error::Window(_) => {
                "give the model's real window: with --window 200k, or in pi as `contextWindow` of \
                 the model in models.json"
                    .into()
            }
            Error::NoModel => {
                "name one with --model provider/name, such as anthropic/claude-sonnet-4-5".into()
            }
            Error::Model(failure) => failure.error.remedy(),
            Error::ContextOverflow { .. } => {
                "say less at once, unpin something, choose a model with a larger window, or begin \
                 a fresh session from this one (`longhaul session handoff`); should the window be \
                 smaller than the server's, give it with `models` in the configuration, and \
                 forget what was once learnt from an error (`longhaul context windows --forget`)"
                    .into()
            }
            Error::TooManyRounds(_) => {
                "look at what it was doing (`longhaul session show`), then tell it what to do next"
                    .into()
            }
            Error::ReadOnly => {
                "`sandbox.readOnly` is set; `longhaul config show --origin sandbox` says where"
                    .into()
            }
            Error::Busy(error) => return error.remedy(),
            Error::UnknownList { .. } => "give the whole list".into(),
            Error::Unaligned { path } => format!(
                "`longhaul session verify {}` says what is wrong with it; moved away, it is made \
                 anew from the host's messages",
                path.display()
            ),
        })
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure.error {
            longhaul_model::Error::Cancelled => Error::Cancelled,
            _ => Error::Model(Box::new(failure)),
        }
    }
}

/// The result of working with a session.
pub type Result<T, E = Error> = std::result::Result<T, E>;
