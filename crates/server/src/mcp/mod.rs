//! The Model Context Protocol, over standard input and output or HTTP.
//!
//! Any client can ask what left a context, what is remembered, how full a
//! session is, and have its work saved or handed over. Sessions of other agents
//! are read and never written to; the only thing that is written is a
//! checkpoint, into our own store.
//!
//! | question | answer |
//! |---|---|
//! | what is served, and from where? | a [`Desk`](crate::desk::Desk), which the program fills in |
//! | how do clients come in? | [`serve_stdio`], [`serve_http`] behind a [`Gate`], within [`HttpLimits`](crate::http::HttpLimits) |
//! | what may they call? | `recall`, `memory_search`, `memory_get`, `context_status`, `checkpoint`, `handoff` |
//! | what may they read? | `longhaul://session/…`, `longhaul://checkpoint/…/…` |
//!
//! What a tool cannot do is a result with the reason and the remedy, for the
//! model to read; a protocol error is kept for what only a broken client does.

mod door;
mod http;
mod resources;
mod tools;

pub use door::serve_stdio;
pub use http::{Gate, serve_http};

/// Why a door closed that nobody asked to close.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A client on standard input did not speak the protocol.
    #[error("the client did not begin as the protocol has it: {reason}")]
    Beginning {
        /// What it did instead.
        reason: String,
    },
    /// The connection broke.
    #[error("the connection broke: {reason}")]
    Broken {
        /// How.
        reason: String,
    },
    /// The HTTP server failed.
    #[error("cannot serve on {address}: {source}")]
    Http {
        /// Where.
        address: std::net::SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// What to do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Error::Beginning { .. } => Some(
                "`longhaul mcp` is started by an MCP client; the manual has a line for each".into(),
            ),
            Error::Http { .. } => Some("choose another port with --http 127.0.0.1:PORT".into()),
            Error::Broken { .. } => None,
        }
    }
}
