//! What is typed for `serve`.

use std::net::SocketAddr;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "The address that is printed has a one-time token: it opens once. Programs send \
    the token of --token-env as Authorization: Bearer TOKEN; /api/openapi.json describes what \
    they may ask."
)]
pub(crate) struct ServeArgs {
    /// Listen at this address (port 0 takes a free one)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// Begin with this session: a key, an id, a unique start of one, a label or a path
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// Allow what changes something: pins, recalls, undo, dreams, the sample
    #[arg(long)]
    pub(crate) write: bool,

    /// Take the token for programs from this environment variable [default: a new one]
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,

    /// Also answer to this name in the Host header; needed for an address that
    /// others can reach
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
}
