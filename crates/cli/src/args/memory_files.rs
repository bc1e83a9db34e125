//! What is typed for the memory files.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryFilesCommand {
    /// Make the memory files that are not there yet; what is there stays
    Init(InitArgs),
    /// Check the limits of MEMORY.md and its pointers
    Lint(LintArgs),
    /// Check that what MEMORY.md points to is still what it was
    Verify(VerifyArgs),
    /// What the memory holds, at a glance
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The project's name [default: the workspace's folder]
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,

    /// Make an AGENTS.md with roles and rules even where there is a CLAUDE.md
    #[arg(long, conflicts_with = "no_agents")]
    pub(crate) agents: bool,

    /// Make no AGENTS.md
    #[arg(long)]
    pub(crate) no_agents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Mend what can be mended; no line is lost
    #[arg(long)]
    pub(crate) fix: bool,

    /// Do not ask
    #[arg(long, short, requires = "fix")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Mark stale lines in MEMORY.md, and unmark the others
    #[arg(long, conflicts_with = "accept")]
    pub(crate) mark: bool,

    /// Take everything as true today, and remove the marks
    #[arg(long)]
    pub(crate) accept: bool,
}
