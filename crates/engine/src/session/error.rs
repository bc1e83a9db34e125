//! Why a turn did not end with an answer.

use longhaul_model::Failure;
use longhaul_tokens::Tokens;

use crate::live::CompactionFailure;

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
    Undo(#[from] crate::live::UndoFailure),
    /// Nothing may be written here.
    #[error("nothing may be written here")]
    ReadOnly,
    /// Another process is at work in the session.
    #[error(transparent)]
    Busy(crate::checkpoints::Error),
}

impl Error {
    /// One word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Transcript(_) => "session",
            Error::Assembly(_) => "assembly",
            Error::Window(_) => "window",
            Error::NoModel => "no_model",
            Error::Model(_) => "model",
            Error::ContextOverflow { .. } => "context_overflow",
            Error::Cancelled => "cancelled",
            Error::TooManyRounds(_) => "too_many_rounds",
            Error::Compaction(_) => "compaction",
            Error::Undo(_) => "undo",
            Error::ReadOnly => "read_only",
            Error::Busy(_) => "busy",
        }
    }

    /// What can be done about it.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Error::Transcript(error) => return error.remedy(),
            Error::Assembly(_) | Error::Compaction(_) | Error::Undo(_) | Error::Cancelled => {
                return None;
            }
            Error::Window(_) => "give the model's real window, such as --window 200k".into(),
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
        })
    }
}

impl From<crate::compactor::Error> for Error {
    fn from(error: crate::compactor::Error) -> Error {
        use crate::compactor::Error as Why;
        match error {
            Why::Transcript(error) => Error::Transcript(error),
            Why::Busy(error) => Error::Busy(error),
            Why::Cancelled => Error::Cancelled,
            Why::Changed => CompactionFailure::Failed(error.to_string()).into(),
        }
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

/// The module's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
