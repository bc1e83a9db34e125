//! Asking language models. One trait, plain data in and plain data out; what a
//! provider's wire format looks like stays inside this room.
//!
//! | question | answer |
//! |---|---|
//! | which model, from whom? | a [`ModelSpec`], such as `anthropic/claude-opus-5-5` |
//! | how is it reached? | [`connect`], with the keys handed in and [`Limits`] on time and retries |
//! | how is a model asked? | [`Model::ask`] with a [`Request`] |
//! | what arrives meanwhile? | [`Delta`]s |
//! | what comes of it? | an [`Answer`], or a [`Failure`] with what had arrived by then |
//! | what went wrong, and what now? | an [`Error`], and its [`remedy`](Error::remedy) |
//! | what is a text as a vector? | [`Embeddings`] |
//! | how large, how dear is the model? | its [`ModelInfo`] and [`Prices`], from the [`Catalogue`] above the one table of models ([`listed`]) |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod answer;
mod catalogue;
mod client;
mod complaint;
mod error;
mod key;
mod limits;
mod model;
mod provider;
mod request;
mod spec;
mod sse;
mod table;
mod wire;

pub use answer::{Answer, Delta, Failure, Stop, Usage};
pub use catalogue::{Catalogue, Known};
pub use client::{Embeddings, connect, connect_with};
pub use error::{Error, Phase};
pub use futures_util::future::BoxFuture;
pub use limits::Limits;
pub use model::{Model, ModelInfo, Prices};
pub use provider::{Protocol, Provider};
pub use request::{
    BrokenArguments, Content, Effort, Message, Request, Role, SystemBlock, ToolCall, ToolChoice,
    ToolDefinition, ToolResult,
};
pub use spec::ModelSpec;
pub use table::{Listed, listed};
pub use tokio_util::sync::CancellationToken;
