//! What is typed for `mcp`.

use std::net::SocketAddr;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Without --http the protocol is spoken on standard input and output, as \
    clients start it. The newest session of the workspace is meant where a tool names none."
)]
pub(crate) struct McpArgs {
    /// Serve over HTTP at this address (127.0.0.1:8765; port 0 takes a free one)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,

    /// Take the token from this environment variable [default: a new one, printed once]
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,

    /// Also answer to this name in the Host header; needed for an address that
    /// others can reach
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// Let a web page of this origin ask (such as `https://app.example.com:443`)
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
}
