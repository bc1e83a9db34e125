//! `cargo xtask e2e`: the whole of it, with nothing played by a stand-in.

#[cfg(unix)]
mod codex;
mod install;
mod mcp;
mod model;
#[cfg(unix)]
mod openclaw;
mod pi;
mod server;

use crate::Result;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Chat with a real model over every protocol, through several compactions
    Model(model::Args),
    /// Drive a conversation through a real OpenClaw with our plugin in its slot
    #[cfg(unix)]
    Openclaw(openclaw::Args),
    /// Type into the real Codex while it works, and read what it wrote
    #[cfg(unix)]
    Codex(codex::Args),
    /// Ask `longhaul mcp` for everything with the official Python client
    Mcp,
    /// Work in the real pi with its extension, through prunings and compactions
    Pi(pi::Args),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.what {
        Some(What::Model(args)) => model::run(args),
        #[cfg(unix)]
        Some(What::Openclaw(args)) => openclaw::run(args),
        #[cfg(unix)]
        Some(What::Codex(args)) => codex::run(args),
        Some(What::Mcp) => mcp::run(),
        Some(What::Pi(args)) => pi::run(args),
        None => {
            println!(
                "\
Tests with real programs; slow, and not part of `cargo xtask test`:

  cargo xtask e2e model       chats with a real model over every protocol
  cargo xtask e2e openclaw    a conversation through OpenClaw with our plugin
  cargo xtask e2e codex       types into the real Codex while it works
  cargo xtask e2e mcp         asks longhaul mcp with the official client
  cargo xtask e2e pi          works in the real pi with its extension"
            );
            Ok(())
        }
    }
}
