//! What is typed for `hook`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "Agents run: hook pre-compact, post-compact, session-start, stop. A hook ends with 0 whatever happens: it says what went wrong on standard \
    error and never holds the agent up."
)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    pub(crate) command: HookCommand,

    /// Give up after so many seconds
    #[arg(
        long,
        global = true,
        default_value_t = 5,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=600)
    )]
    pub(crate) give_up_after: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Before a compaction: save the state of the work
    #[command(alias = "PreCompact", hide = true)]
    PreCompact,
    /// After a compaction: make what left the context findable
    #[command(alias = "PostCompact", hide = true)]
    PostCompact,
    /// When a session starts: after a compaction, give the state of the work back
    #[command(alias = "SessionStart", hide = true)]
    SessionStart,
    /// When the agent stops: note the state of the work
    #[command(alias = "Stop", hide = true)]
    Stop,
    /// Put the hooks into an agent's settings
    Install(HookPlaceArgs),
    /// Take the hooks out of an agent's settings
    Uninstall(HookPlaceArgs),
    #[command(external_subcommand)]
    Unknown(Vec<OsString>),
}

#[derive(Debug, Args)]
pub(crate) struct HookPlaceArgs {
    /// For Claude Code
    #[arg(long, required = true)]
    pub(crate) claude_code: bool,

    /// In the user's settings, for every project (the default)
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,

    /// In the workspace's settings, for everybody who works there
    #[arg(long)]
    pub(crate) project: bool,

    /// Show what would be written; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl HookCommand {
    /// Whether an agent runs this, which it must not hurt.
    pub(crate) fn is_event(&self) -> bool {
        !matches!(self, HookCommand::Install(_) | HookCommand::Uninstall(_))
    }
}
