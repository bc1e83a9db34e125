//! Asking language models. One trait, plain data in and plain data out; what a
//! provider's wire format looks like stays inside this room.
//!
//! | question | answer |
//! |---|---|
//! | how is a model asked? | [`Model::ask`] with a [`Request`] |
//! | what arrives meanwhile? | [`Delta`]s |
//! | what comes of it? | an [`Answer`], or a [`Failure`] with what had arrived by then |
//! | what went wrong, and what now? | an [`Error`], and its [`remedy`](Error::remedy) |
//! | how large, how dear is the model? | its [`ModelInfo`] and [`Prices`] |

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answer;
mod error;
mod model;
mod request;

pub use answer::{Answer, Delta, Failure, Stop, Usage};
pub use error::{Error, Phase};
pub use futures_util::future::BoxFuture;
pub use model::{Model, ModelInfo, Prices};
pub use request::{
    BrokenArguments, Content, Effort, Message, Request, Role, SystemBlock, ToolCall, ToolChoice,
    ToolDefinition, ToolResult,
};
pub use tokio_util::sync::CancellationToken;
