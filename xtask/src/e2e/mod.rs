//! `cargo xtask e2e`: the whole of it, with nothing played by a stand-in.

mod install;
mod model;
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
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.what {
        Some(What::Model(args)) => model::run(args),
        None => {
            println!("Tests with real programs; slow, and not part of `cargo xtask test`:\n");
            println!("  cargo xtask e2e model    chats with a real model over every protocol");
            Ok(())
        }
    }
}
