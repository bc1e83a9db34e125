//! Why something that was asked for over HTTP is not given.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

/// What is wrong, and what to do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Refusal {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    /// The words.
    pub error: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Refusal {
        Refusal {
            status,
            error: error.into(),
        }
    }

    /// What was asked for does not exist.
    pub(crate) fn unknown(error: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, error)
    }

    /// It exists, and cannot be read or changed.
    pub(crate) fn failed(error: impl std::fmt::Display, remedy: Option<String>) -> Refusal {
        let error = match remedy {
            Some(remedy) => format!("{error}. Remedy: {remedy}."),
            None => format!("{error}."),
        };
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }
}

impl From<longhaul_transcript::Error> for Refusal {
    fn from(error: longhaul_transcript::Error) -> Refusal {
        Refusal::failed(&error, error.remedy())
    }
}

impl From<longhaul_memory::Error> for Refusal {
    fn from(error: longhaul_memory::Error) -> Refusal {
        Refusal::failed(&error, error.remedy())
    }
}

impl From<longhaul_files::Error> for Refusal {
    fn from(error: longhaul_files::Error) -> Refusal {
        Refusal::failed(&error, error.remedy())
    }
}
